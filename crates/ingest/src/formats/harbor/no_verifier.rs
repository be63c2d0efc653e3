//! Trials whose verifier was switched off (`verifier.disable`): nothing can pass there.
//!
//! No verdict then says nothing of the agent. Nor do its exceptions count: they would be the only trials with a verdict, and
//! the pass rate 0. So a person stopped such a trial before its tests.

use model::{CAUSE, DECIDED_AS, DECIDED_BY, EndReason, Ending, Verdict, Warning};

use crate::readers::json::Node;

use super::step::GradedStep;

/// Whether the configuration of a trial switches its verifier off.
pub(super) fn is_off(config: &Node) -> bool {
    config.descendant(&["verifier", "disable"]).and_then(Node::truth) == Some(true)
}

/// Whether an end without a verdict counts all the same: it came from outside.
pub(super) fn is_from_outside(reason: EndReason) -> bool {
    reason.default_ending() == Ending::Censored
}

/// Makes of a step without a verdict one that was stopped. A reward that somebody left there is a verdict.
pub(super) fn mark_stopped(graded_step: &mut GradedStep) {
    let attempt = &mut graded_step.attempt;
    if attempt.verdict != Verdict::Error || attempt.end_reason.is_some_and(is_from_outside) {
        return;
    }
    attempt.verdict = Verdict::Unfinished;
    attempt.end_reason = Some(EndReason::Cancelled);
    for field in [CAUSE, DECIDED_AS, DECIDED_BY] {
        attempt.extra.remove(field);
    }
    graded_step.unrecognized = false;
}

/// Says that nothing was graded.
pub(super) fn warning(path: &str) -> Warning {
    let message = "The verifier was switched off: nothing says whether the agent passed. The trial counts as stopped before its tests, and is not scored.";
    Warning::read_differently(path, "harbor.verifier_off", message)
}
