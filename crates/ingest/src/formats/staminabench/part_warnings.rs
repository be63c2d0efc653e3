//! Warnings of one part, with a limit for each kind: a thousand contradictions need no thousand lines.

use std::collections::BTreeMap;

use model::{Attempt, Warning};

use crate::format_trait::Report;
use crate::readers::kept_tests::KeptTests;

/// Warnings of one code that are kept of one part.
const EACH: u32 = 20;

/// Collects the warnings of a part.
pub(super) struct PartWarnings<'a> {
    report: &'a mut Report,
    counts: BTreeMap<String, (u32, Warning)>,
    tests: KeptTests,
}

impl<'a> PartWarnings<'a> {
    /// Into a report.
    pub(super) fn new(report: &'a mut Report) -> Self {
        Self { report, counts: BTreeMap::new(), tests: KeptTests::new() }
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
        if self.tests.keep(attempt) {
            self.warn(Warning::skipped(
                path,
                "tests.too_many",
                "There are more tests in this scenario than are kept in memory. Of further ones some are only counted.",
            ));
        }
    }

    /// Counts a file that was parsed.
    pub(super) fn read_file(&mut self) {
        self.report.files_read += 1;
    }

    /// Says how many warnings were left out.
    pub(super) fn finish(self, folder: &str) {
        for (code, (count, first)) in self.counts {
            if count > EACH {
                let more = model::counted((count - EACH).into(), "more warning");
                let verb = if count - EACH == 1 { "is" } else { "are" };
                let message = format!("{more} of this kind ({code}) in this scenario {verb} not listed");
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
