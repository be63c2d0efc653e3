//! What is wrong with the tree itself, each thing said once.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use model::{Severity, Warning, WarningCounts};

/// Most warnings that are kept. A hostile folder has as many as it likes.
const MOST_WARNINGS: usize = 5_000;
/// Most further ones that are counted.
const MOST_COUNTED: usize = 100_000;

#[derive(Debug, Default)]
pub(super) struct TreeWarnings(Mutex<CollectedWarnings>);

/// The warnings that a tree met: the first 5,000 by path, and how many there are beside them, up to 100,000.
#[derive(Debug, Clone, Default)]
pub struct CollectedWarnings {
    /// A set, because folders are listed more than once, and sorted, because several threads list.
    listed: BTreeSet<Warning>,
    /// The severity of each further one, by a hash of the warning.
    beyond: HashMap<u64, Severity>,
}

fn hash(warning: &Warning) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&warning.path, &warning.code, &warning.message, warning.treatment).hash(&mut hasher);
    hasher.finish()
}

impl CollectedWarnings {
    fn add(&mut self, warning: Warning) {
        if self.contains(&warning) {
            return;
        }
        self.listed.insert(warning);
        // Which ones are listed does not depend on the order in which they were met.
        if self.listed.len() > MOST_WARNINGS
            && let Some(last) = self.listed.pop_last()
            && self.beyond.len() < MOST_COUNTED
        {
            self.beyond.insert(hash(&last), Severity::from_code(&last.code));
        }
    }

    fn contains(&self, warning: &Warning) -> bool {
        self.listed.contains(warning) || !self.beyond.is_empty() && self.beyond.contains_key(&hash(warning))
    }

    /// Those that `known` does not have, and how many there are beside them.
    pub fn without(&self, known: &Self) -> (Vec<Warning>, WarningCounts) {
        let listed = self.listed.iter().filter(|warning| !known.contains(warning)).cloned().collect();
        let hashes_known: HashSet<u64> =
            if self.beyond.is_empty() { HashSet::new() } else { known.listed.iter().map(hash).collect() };
        let mut counts = WarningCounts::default();
        for (hash, severity) in &self.beyond {
            if !known.beyond.contains_key(hash) && !hashes_known.contains(hash) {
                counts.add_severity(*severity);
            }
        }
        (listed, counts)
    }
}

impl TreeWarnings {
    pub(super) fn skipped(&self, path: &str, code: &str, message: &str) {
        self.add(Warning::skipped(path, code, format!("{message}.")));
    }

    pub(super) fn add(&self, warning: Warning) {
        model::lock(&self.0).add(warning);
    }

    pub(super) fn collected_warnings(&self) -> CollectedWarnings {
        model::lock(&self.0).clone()
    }

    /// The listed ones; where there are more, the last one stands for them.
    pub(super) fn all(&self) -> Vec<Warning> {
        let (mut all, beyond) = self.collected_warnings().without(&CollectedWarnings::default());
        all.extend(Warning::not_listed(beyond));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(number: usize) -> Warning {
        Warning::skipped(format!("f{number:05}"), "link.skipped", "A link.")
    }

    #[test]
    fn the_first_of_too_many_warnings_by_path_are_listed_and_the_others_counted() {
        let met = |order: &mut dyn Iterator<Item = usize>| {
            let warnings = TreeWarnings::default();
            for number in order {
                warnings.add(link(number));
            }
            warnings.add(Warning::skipped("z", "folder.loop", "A loop."));
            // Listed again.
            warnings.add(link(MOST_WARNINGS + 1));
            warnings
        };
        let count = MOST_WARNINGS + 10;
        let (forward, backward) = (met(&mut (0..count)), met(&mut (0..count).rev()));
        let (listed, beyond) = forward.collected_warnings().without(&CollectedWarnings::default());
        assert_eq!((listed.len(), listed.last()), (MOST_WARNINGS, Some(&link(MOST_WARNINGS - 1))));
        assert_eq!(beyond, WarningCounts { notes: 10, repairs: 0, warnings: 1 });
        assert_eq!(backward.collected_warnings().without(&CollectedWarnings::default()), (listed, beyond));
        assert_eq!(forward.all().last().map(|entry| entry.code.as_str()), Some("warnings.too_many"));
        // What another tree met of the same is nothing new.
        let (new, beyond) = backward.collected_warnings().without(&forward.collected_warnings());
        assert_eq!((new, beyond), (Vec::new(), WarningCounts::default()));
    }
}
