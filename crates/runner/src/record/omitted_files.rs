//! What of a workspace or a container was not kept, as the record of an attempt names it.

use crate::copy::{CopyReport, MOST_NAMED};
use crate::secrets::SecretFilter;

/// Most bytes of a name. A list of [`MOST_NAMED`] such names is small enough for readers to keep it as it stands.
const LONGEST: usize = 200;
/// What stands at the end of a name that is cut.
const CUT: &str = "…";

/// Names in their order, and how many more there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OmittedFiles {
    pub(crate) names: Vec<String>,
    pub(crate) more: u64,
}

impl OmittedFiles {
    /// Of so many, of which at least [`MOST_NAMED`] are named, or all.
    pub(crate) fn new(names: impl IntoIterator<Item = String>, count: u64) -> Self {
        let mut names: Vec<String> = names.into_iter().map(shortened).collect();
        names.sort();
        names.truncate(MOST_NAMED);
        let more = count.saturating_sub(names.len() as u64);
        Self { names, more }
    }

    /// What a copy left out. Names are an agent's words, too.
    pub(crate) fn from_copy(copied: &CopyReport, scrub: &SecretFilter) -> Self {
        let names = copied.named.iter().map(|name| String::from_utf8_lossy(&scrub.bytes(name)).into_owned());
        Self::new(names, copied.left_out)
    }
}

fn shortened(name: String) -> String {
    if name.len() <= LONGEST {
        return name;
    }
    let mut end = LONGEST - CUT.len();
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{CUT}", &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_few_and_short_and_the_others_are_counted() {
        let names = (0..30).map(|n| format!("{n:02}{}", "é".repeat(200)));
        let left_out = OmittedFiles::new(names, 34);
        assert_eq!((left_out.names.len(), left_out.more), (MOST_NAMED, 14));
        assert!(left_out.names.iter().all(|name| name.len() <= LONGEST && name.ends_with("é…")));
        assert_eq!(OmittedFiles::new(["b".to_owned(), "a".to_owned()], 2).names, ["a", "b"]);
        assert_eq!(OmittedFiles::new([], 0), OmittedFiles::default());
    }
}
