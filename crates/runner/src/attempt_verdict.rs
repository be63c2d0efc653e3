//! The verdict of an attempt: one table for scenarios and for tasks of Harbor.

use model::Verdict;

/// The result of the tests of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SuiteOutcome {
    /// The tests passed.
    Passed,
    /// The tests ran and did not pass.
    Failed,
    /// Tests that print their cases printed none: there was nothing to test.
    NoCases,
    /// The tests did not run, or left no result.
    NoResult,
}

/// The verdict of an attempt. `is_cut_off`: something outside the agent ended it (the endpoint, a budget of the run). That decides
/// only where the tests give no result: such an attempt says nothing of its agent.
pub(crate) const fn attempt_verdict(tests: SuiteOutcome, is_cut_off: bool) -> Verdict {
    match (tests, is_cut_off) {
        (SuiteOutcome::Passed, _) => Verdict::Passed,
        (SuiteOutcome::Failed, _) => Verdict::Failed,
        (SuiteOutcome::NoResult, true) => Verdict::Unfinished,
        (SuiteOutcome::NoCases, _) | (SuiteOutcome::NoResult, false) => Verdict::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_decide_and_only_without_a_result_what_ended_the_attempt() {
        for (tests, is_cut_off, verdict) in [
            (SuiteOutcome::Passed, false, Verdict::Passed),
            (SuiteOutcome::Passed, true, Verdict::Passed),
            (SuiteOutcome::Failed, false, Verdict::Failed),
            (SuiteOutcome::Failed, true, Verdict::Failed),
            (SuiteOutcome::NoCases, false, Verdict::Error),
            (SuiteOutcome::NoCases, true, Verdict::Error),
            (SuiteOutcome::NoResult, false, Verdict::Error),
            (SuiteOutcome::NoResult, true, Verdict::Unfinished),
        ] {
            assert_eq!(attempt_verdict(tests, is_cut_off), verdict, "{tests:?} {is_cut_off}");
        }
    }
}
