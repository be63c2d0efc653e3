//! What a log of pytest says: its numbers and its tests.

use model::TestResult;

/// The numbers of pytest's last line. A category that pytest does not name is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    /// Passed.
    pub passed: u32,
    /// Failed in their body.
    pub failed: u32,
    /// Failed outside their body: fixtures, collection.
    pub errors: u32,
    /// Skipped.
    pub skipped: u32,
    /// Failed as expected.
    pub xfailed: u32,
    /// Passed although expected to fail (not strict).
    pub xpassed: u32,
    /// Left out by `-k` or `-m`.
    pub deselected: u32,
    /// Run again by a plugin.
    pub reruns: u32,
    /// Collected and not run (`--collect-only`).
    pub collected_only: u32,
    /// Seconds that the session took.
    pub seconds: Option<f64>,
}

impl Counts {
    /// Tests passed, and tests that gave a verdict: passed, failed, errors. Skipped ones and expected failures are in
    /// neither; a test that passed unexpectedly is in both.
    pub const fn passed_of_total(&self) -> (u32, u32) {
        let passed = self.passed.saturating_add(self.xpassed);
        (passed, passed.saturating_add(self.failed).saturating_add(self.errors))
    }
}

/// What a pytest log says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PytestLog {
    /// Tests by id in the order in which they are first named. Verbose logs name all, others only those that did not
    /// pass.
    pub tests: Vec<TestResult>,
    /// The numbers: of the last line, or counted from the lines where [`PytestLog::truncated`].
    pub counts: Counts,
    /// Whether pytest's last line is there.
    pub has_summary: bool,
    /// Whether the log ends before pytest did: neither the last line nor the mark `[100%]`.
    pub truncated: bool,
    /// Whether the log breaks off although its progress is complete: what failed may have no message.
    pub breaks_off: bool,
    /// Tests that were to be run.
    pub collected: Option<u32>,
    /// Files that could not be collected.
    pub collection_errors: u32,
    /// Why pytest stopped early: `Interrupted: 2 errors during collection`, `stopping after 1 failures`.
    pub stopped: Option<String>,
    /// The last line of an error inside pytest or one of its plugins.
    pub internal_error: Option<String>,
    /// Whether pytest-timeout ended a test, or pytest itself.
    pub timed_out: bool,
    /// The test that was announced and has no outcome: the one running when the log ends.
    pub running: Option<String>,
    /// Sessions that the text holds; the last one is what is read.
    pub sessions: u32,
    /// Whether anything in the text is pytest's.
    pub is_pytest: bool,
}

impl PytestLog {
    /// Tests passed and tests that gave a verdict; `None` where the log ends early or is not pytest's.
    pub fn passed_of_total(&self) -> Option<(u32, u32)> {
        (self.is_pytest && !self.truncated).then(|| self.counts.passed_of_total())
    }

    /// Whether every test passed and pytest came to its own end. `None` where the log does not show it.
    pub fn all_passed(&self) -> Option<bool> {
        let (passed, total) = self.counts.passed_of_total();
        if !self.is_pytest {
            None
        } else if passed < total || self.internal_error.is_some() || self.stopped.is_some() {
            Some(false)
        } else if self.truncated {
            None
        } else {
            Some(total > 0)
        }
    }

    /// The tests that failed or raised.
    pub fn failing(&self) -> impl Iterator<Item = &TestResult> {
        self.tests.iter().filter(|t| t.is_failing())
    }
}
