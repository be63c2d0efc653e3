//! What is wrong with rows, with their numbers: the first of each kind, those of each run among them, and how many more
//! there are.

use std::collections::{BTreeMap, HashMap};

use model::{Severity, Warning, WarningCounts};

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
    /// Where the last one is listed.
    last: usize,
}

/// Warnings of a run.
#[derive(Debug)]
struct RunCount {
    /// Whether the first one of each kind is listed.
    is_listed: bool,
    /// By kind, how many are not listed.
    unlisted: BTreeMap<&'static str, u64>,
}

/// Collects them.
#[derive(Debug, Default)]
pub(super) struct RowWarnings {
    counts: BTreeMap<(String, &'static str), KindCount>,
    listed: Vec<Warning>,
    runs: HashMap<String, RunCount>,
    /// By kind, how many of no run are not listed.
    unlisted: BTreeMap<&'static str, u64>,
}

impl RowWarnings {
    /// Says something of a row.
    pub(super) fn add_for_row(
        &mut self,
        path: &str,
        row: u64,
        code: &'static str,
        action: RowAction,
        message: &str,
    ) {
        if self.count(path, code, false) {
            self.listed.push(warning(path, code, action, format!("Row {row} {message}")));
        } else {
            *self.unlisted.entry(code).or_default() += 1;
        }
    }

    /// Says something of a run of this key at a row.
    pub(super) fn add_for_run(
        &mut self,
        run: &str,
        path: &str,
        row: u64,
        code: &'static str,
        action: RowAction,
        message: &str,
    ) {
        let is_first = self.is_first_of_run(run, code);
        if self.count(path, code, is_first) {
            self.listed.push(warning(path, code, action, format!("Row {row} {message}")).with_run(run));
        } else if let Some(count) = self.runs.get_mut(run) {
            *count.unlisted.entry(code).or_default() += 1;
        }
    }

    /// Whether it is the first of its kind of one of the runs of which that is listed.
    fn is_first_of_run(&mut self, run: &str, code: &'static str) -> bool {
        if !self.runs.contains_key(run) {
            let is_listed = self.runs.len() < RUNS_LISTED;
            self.runs.insert(run.to_owned(), RunCount { is_listed, unlisted: BTreeMap::new() });
        }
        self.runs.get_mut(run).is_some_and(|count| {
            let is_first = !count.unlisted.contains_key(code);
            count.unlisted.entry(code).or_default();
            is_first && count.is_listed
        })
    }

    /// Counts one of this kind. Whether it is listed, behind the others.
    fn count(&mut self, path: &str, code: &'static str, is_first_of_run: bool) -> bool {
        let count = match self.counts.get_mut(&(path.to_owned(), code)) {
            Some(count) => count,
            None => self.counts.entry((path.to_owned(), code)).or_default(),
        };
        count.all += 1;
        let is_listed = count.all <= LISTED || is_first_of_run;
        if is_listed {
            count.listed += 1;
            count.last = self.listed.len();
        }
        is_listed
    }

    /// Hands them over. What is not listed is counted with its run, and mentioned in the last one of its kind.
    pub(super) fn write_to(mut self, report: &mut Report) {
        for count in self.counts.values().filter(|count| count.all > count.listed) {
            if let Some(last) = self.listed.get_mut(count.last) {
                let unlisted_count = count.all - count.listed;
                last.message.push_str(&format!(" {unlisted_count} more of the same kind are not listed."));
            }
        }
        report.warn_all(self.listed);
        let run_counts = self.runs.into_iter().map(|(run, count)| (Some(run), count.unlisted));
        for (run, unlisted) in run_counts.chain([(None, self.unlisted)]) {
            let counts = by_severity(&unlisted);
            if counts.total() > 0 {
                *report.not_kept.warnings.entry(run).or_default() += counts;
            }
        }
    }
}

fn warning(path: &str, code: &'static str, action: RowAction, message: String) -> Warning {
    match action {
        RowAction::Repaired => Warning::repaired(path, code, message),
        RowAction::Skipped => Warning::skipped(path, code, message),
        RowAction::Differently => Warning::read_differently(path, code, message),
    }
}

fn by_severity(unlisted: &BTreeMap<&'static str, u64>) -> WarningCounts {
    let mut counts = WarningCounts::default();
    for (code, count) in unlisted {
        match Severity::from_code(code) {
            Severity::Note => counts.notes += count,
            Severity::Repair => counts.repairs += count,
            Severity::Warning => counts.warnings += count,
        }
    }
    counts
}
