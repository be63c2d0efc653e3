//! What is wrong with the tree itself, each thing said once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use model::Warning;

/// Most warnings that are kept. A hostile folder has as many as it likes.
const MOST_WARNINGS: usize = 5_000;

#[derive(Debug, Default)]
pub(super) struct TreeWarnings(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// A set, because folders are listed more than once, and sorted, because several threads list.
    warnings: BTreeSet<Warning>,
    full: bool,
}

impl TreeWarnings {
    pub(super) fn skipped(&self, path: &str, code: &str, message: &str) {
        self.add(Warning::skipped(path, code, format!("{message}.")));
    }

    pub(super) fn add(&self, warning: Warning) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.warnings.len() < MOST_WARNINGS {
            kept.warnings.insert(warning);
        } else {
            kept.full = true;
        }
    }

    pub(super) fn all(&self) -> Vec<Warning> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = kept.warnings.iter().cloned().collect();
        if kept.full {
            all.push(Warning::skipped(
                "",
                "warnings.too_many",
                format!("There is more to say of names and files than {MOST_WARNINGS} warnings. Only the first ones are listed."),
            ));
        }
        all
    }
}
