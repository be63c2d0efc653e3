//! What is wrong with rows, said with their numbers: the first of each kind, those of each run among them, and how many more
//! there are.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::Warning;

use crate::format_trait::Report;

/// Warnings of one kind that are listed of a file.
const LISTED: u64 = 20;
/// Runs of which the first warning of a kind is listed beyond that, so that their pages say it.
const RUNS_LISTED: usize = 200;

/// What was done about it.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowAction {
    Repaired,
    Skipped,
    Differently,
}

/// How many warnings there are of one kind.
#[derive(Debug, Default)]
struct KindCount {
    all: u64,
    listed: u64,
}

/// Collects them.
#[derive(Debug, Default)]
pub(super) struct RowWarnings {
    counts: BTreeMap<(String, &'static str), KindCount>,
    listed: Vec<Warning>,
    /// The kinds of warnings of each run.
    runs: HashMap<String, BTreeSet<&'static str>>,
}

impl RowWarnings {
    /// Says something of a row.
    pub(super) fn row(&mut self, path: &str, row: u64, code: &'static str, done: RowAction, what: &str) {
        if self.count(path, code, false) {
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
        let is_first = self.is_first_of_run(run, code);
        if self.count(path, code, is_first) {
            self.list(path, code, done, format!("Row {row} {what}"));
            if let Some(last) = self.listed.pop() {
                self.listed.push(last.of_run(run));
            }
        }
    }

    /// Whether it is the first of its kind of one of the runs of which that is listed.
    fn is_first_of_run(&mut self, run: &str, code: &'static str) -> bool {
        if let Some(codes) = self.runs.get_mut(run) {
            return codes.insert(code);
        }
        let is_first = self.runs.len() < RUNS_LISTED;
        if is_first {
            self.runs.insert(run.to_owned(), BTreeSet::from([code]));
        }
        is_first
    }

    /// Counts one of this kind. Whether it is listed.
    fn count(&mut self, path: &str, code: &'static str, is_first_of_run: bool) -> bool {
        let count = match self.counts.get_mut(&(path.to_owned(), code)) {
            Some(count) => count,
            None => self.counts.entry((path.to_owned(), code)).or_default(),
        };
        count.all += 1;
        let is_listed = count.all <= LISTED || is_first_of_run;
        count.listed += u64::from(is_listed);
        is_listed
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
        for ((path, code), count) in self.counts.into_iter().filter(|(_, count)| count.all > count.listed) {
            let more = count.all - count.listed;
            let what = format!("{more} more of the same kind are not listed.");
            report.warn(Warning::read_differently(path, code, what));
        }
    }
}
