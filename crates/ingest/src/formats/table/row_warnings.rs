//! What is wrong with rows, said with their numbers: the first of each kind, and how many there are.

use std::collections::BTreeMap;

use model::Warning;

use crate::format_trait::Report;

/// Warnings of one kind that are listed.
const LISTED: u64 = 20;

/// What was done about it.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowAction {
    Repaired,
    Skipped,
    Differently,
}

/// Collects them.
#[derive(Debug, Default)]
pub(super) struct RowWarnings {
    counts: BTreeMap<(String, &'static str), u64>,
    listed: Vec<Warning>,
}

impl RowWarnings {
    /// Says something of a row.
    pub(super) fn row(&mut self, path: &str, row: u64, code: &'static str, done: RowAction, what: &str) {
        if self.is_new(path, code) {
            self.list(path, code, done, format!("Row {row} {what}"));
        }
    }

    /// Says something of a run of this key at a row.
    pub(super) fn of_run(
        &mut self,
        run: &str,
        path: &str,
        row: u64,
        code: &'static str,
        done: RowAction,
        what: &str,
    ) {
        if self.is_new(path, code) {
            self.list(path, code, done, format!("Row {row} {what}"));
            if let Some(last) = self.listed.pop() {
                self.listed.push(last.of_run(run));
            }
        }
    }

    /// Whether one of this kind is still listed. Counts it.
    fn is_new(&mut self, path: &str, code: &'static str) -> bool {
        let count = match self.counts.get_mut(&(path.to_owned(), code)) {
            Some(count) => count,
            None => self.counts.entry((path.to_owned(), code)).or_default(),
        };
        *count += 1;
        *count <= LISTED
    }

    fn list(&mut self, path: &str, code: &'static str, done: RowAction, what: String) {
        self.listed.push(match done {
            RowAction::Repaired => Warning::repaired(path, code, what),
            RowAction::Skipped => Warning::skipped(path, code, what),
            RowAction::Differently => Warning::read_differently(path, code, what),
        });
    }

    /// Hands them over.
    pub(super) fn settle(self, report: &mut Report) {
        report.warn_all(self.listed);
        for ((path, code), count) in self.counts.into_iter().filter(|(_, count)| *count > LISTED) {
            let more = count - LISTED;
            let what = format!("{more} more of the same kind are not listed.");
            report.warn(Warning::read_differently(path, code, what));
        }
    }
}
