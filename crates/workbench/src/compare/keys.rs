//! Names of settings, so that the same setting is found under the names of different sources.

use settings::is_harness_section;

/// Parts that say nothing about what a setting is.
const EMPTY: [&str; 3] = ["kwargs", "restful_server_gen_iterative", "restful_server_gen"];

/// Sections of harnesses that configurations of StaminaBench have and that are not played here.
const NOT_PLAYED_HERE: [&str; 1] = ["mimo_code"];

/// Whether a configuration has the settings of a harness under this name.
fn is_of_a_harness(section: &str) -> bool {
    is_harness_section(section) || NOT_PLAYED_HERE.contains(&section)
}

/// The name of a setting, in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    parts: Vec<String>,
    /// Whether it stands in the section of a harness.
    pub(crate) is_of_harness: bool,
}

impl Key {
    /// Takes a name apart: `agent.kwargs.temperature`, `mini_swe.temperature` and `opencode.temperature` are all
    /// `agent.temperature`; places in lists are left out.
    pub(crate) fn new(name: &str, harness: Option<&str>) -> Self {
        let name = name.to_lowercase();
        let mut parts: Vec<&str> =
            name.split('.').filter(|part| !EMPTY.contains(part) && part.parse::<u32>().is_err()).collect();
        let harness = harness.map(str::to_lowercase);
        let mut is_of_harness = parts.len() > 1 && parts[0] == "agent";
        if parts.len() > 1 && (is_of_a_harness(parts[0]) || harness.as_deref() == Some(parts[0])) {
            parts[0] = "agent";
            is_of_harness = true;
        }
        Self { parts: parts.into_iter().map(str::to_owned).collect(), is_of_harness }
    }

    /// Whether a pattern names it: the last parts of the name, `*` standing for anything inside a part; behind `^` the
    /// whole name.
    pub(crate) fn matches_pattern(&self, pattern: &str) -> bool {
        let (whole, pattern) = pattern.strip_prefix('^').map_or((false, pattern), |rest| (true, rest));
        let wanted: Vec<&str> = pattern.split('.').collect();
        let Some(skip) = self.parts.len().checked_sub(wanted.len()) else { return false };
        (!whole || skip == 0)
            && self.parts[skip..].iter().zip(wanted).all(|(part, wanted)| matches(wanted, part))
    }

    /// One text for the same setting.
    pub(crate) fn text(&self) -> String {
        self.parts.join(".")
    }
}

/// Whether `text` is `pattern`, where `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        let Some(index) = rest.find(piece) else { return false };
        rest = &rest[index + piece.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_different_sources_meet() {
        for (name, harness) in [
            ("agent.kwargs.temperature", Some("terminus-2")),
            ("mini_swe.temperature", None),
            ("mimo_code.temperature", None),
            ("Goose.temperature", Some("goose")),
        ] {
            let key = Key::new(name, harness);
            assert!(
                key.matches_pattern("temperature")
                    && key.matches_pattern("agent.temperature")
                    && key.matches_pattern("^agent.temperature")
            );
            assert!(key.is_of_harness && key.text() == "agent.temperature", "{name}");
        }
        let key = Key::new("datasets.0.task_names", None);
        assert!(
            key.matches_pattern("datasets.task_names")
                && !key.matches_pattern("^task_names")
                && !key.is_of_harness
        );
        assert!(!Key::new("agent", None).is_of_harness);
    }

    #[test]
    fn a_star_stands_for_anything_in_a_part() {
        assert!(matches("n_concurrent*", "n_concurrent_trials") && matches("*_at", "started_at"));
        assert!(matches("*cpu*", "override_cpus") && !matches("*cpu*", "cp"));
        assert!(matches("a*b*c", "a1b2c") && !matches("a*b*c", "a1c") && !matches("ab", "abc"));
    }
}
