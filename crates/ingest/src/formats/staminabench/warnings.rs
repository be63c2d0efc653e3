//! Warnings of one part, with a limit for each kind: a thousand contradictions need no thousand lines.

use std::collections::BTreeMap;

use model::{Attempt, TestResult, Warning};

use crate::format::Report;

/// Warnings of one code that are kept of one part.
const EACH: u32 = 20;
/// Tests that are kept of one part, over all its attempts; a test with long messages counts for several.
const TESTS: usize = 1_000_000;

/// Collects the warnings of a part.
pub(super) struct PartWarnings<'a> {
    report: &'a mut Report,
    counts: BTreeMap<String, (u32, Warning)>,
    tests_left: usize,
}

impl<'a> PartWarnings<'a> {
    /// Into a report.
    pub(super) fn new(report: &'a mut Report) -> Self {
        Self { report, counts: BTreeMap::new(), tests_left: TESTS }
    }

    /// Keeps a warning, unless there are enough of its kind.
    pub(super) fn warn(&mut self, warning: Warning) {
        let (count, _) = self.counts.entry(warning.code.clone()).or_insert_with(|| (0, warning.clone()));
        *count += 1;
        if *count <= EACH {
            self.report.warn(warning);
        }
    }

    /// Keeps no more of tests than memory should bear: first those that passed go, then all.
    pub(super) fn keep_tests(&mut self, attempt: &mut Attempt, path: &str) {
        let weight = |t: &TestResult| {
            let text = |t: &Option<String>| t.as_ref().map_or(0, String::len);
            1 + (t.id.len() + text(&t.message) + text(&t.expected) + text(&t.actual)) / 256
        };
        let total = |tests: &[TestResult]| tests.iter().map(weight).sum::<usize>();
        if total(&attempt.tests) > self.tests_left {
            attempt.tests.retain(TestResult::is_failing);
            let mut left = self.tests_left;
            let kept = attempt.tests.iter().take_while(|t| {
                let fits = weight(t) <= left;
                left = left.saturating_sub(weight(t));
                fits
            });
            let kept = kept.count();
            attempt.tests.truncate(kept);
            self.warn(Warning::skipped(
                path,
                "tests.too_many",
                "There are more tests in this scenario than are kept in memory. Of further ones some are only counted.",
            ));
        }
        self.tests_left -= total(&attempt.tests);
    }

    /// Counts a file that was parsed.
    pub(super) fn read_file(&mut self) {
        self.report.files_read += 1;
    }

    /// Says how many warnings were left out.
    pub(super) fn finish(self, folder: &str) {
        for (code, (count, first)) in self.counts {
            if count > EACH {
                let message = format!(
                    "{} more warnings of this kind ({code}) in this scenario are not listed",
                    count - EACH
                );
                self.report.warn(Warning {
                    path: folder.to_owned(),
                    code,
                    message,
                    treatment: first.treatment,
                    run: None,
                });
            }
        }
    }
}
