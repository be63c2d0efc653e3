//! The harnesses that come with Stamina Lab.

use std::sync::LazyLock;

use crate::{Harness, HarnessError, HarnessFile, Mock, harness_file};

/// The harness files, in the order of the lists.
const FILES: [&str; 9] = [
    include_str!("../../../data/harnesses/mini_swe.toml"),
    include_str!("../../../data/harnesses/openhands.toml"),
    include_str!("../../../data/harnesses/opencode.toml"),
    include_str!("../../../data/harnesses/qwen_code.toml"),
    include_str!("../../../data/harnesses/kimi_cli.toml"),
    include_str!("../../../data/harnesses/kimi_code.toml"),
    include_str!("../../../data/harnesses/vibe.toml"),
    include_str!("../../../data/harnesses/claude_code.toml"),
    include_str!("../../../data/harnesses/codex.toml"),
];

/// The harnesses of [`FILES`]. A test reads each file, so none is skipped here.
static BUILT_IN_FILES: LazyLock<Vec<HarnessFile>> =
    LazyLock::new(|| FILES.iter().filter_map(|text| harness_file::built_in(text).ok()).collect());

static ALL: LazyLock<Vec<&'static dyn Harness>> = LazyLock::new(|| {
    let mut all: Vec<&'static dyn Harness> = Vec::new();
    all.extend(BUILT_IN_FILES.iter().map(|harness| -> &'static dyn Harness { harness }));
    all.push(&Mock);
    all
});

/// The built-in harnesses.
pub fn all() -> &'static [&'static dyn Harness] {
    &ALL
}

/// The built-in harness of a name, in any case (`OPENCODE` is `opencode`).
pub fn find(name: &str) -> Result<&'static dyn Harness, HarnessError> {
    let wanted = name.trim().to_lowercase();
    all().iter().copied().find(|h| h.name() == wanted).ok_or_else(|| HarnessError::Unknown {
        name: model::one_line(name, 100),
        known: all().iter().map(|h| h.name()).collect::<Vec<_>>().join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_harness() {
        for text in FILES {
            harness_file::built_in(text).unwrap_or_else(|reason| panic!("{reason} in\n{text}"));
        }
        let names: Vec<_> = all().iter().map(|harness| harness.name()).collect();
        assert_eq!((names.len(), names[0], names[9]), (10, "mini_swe", "mock"));
    }
}
