//! The decision table: what an attempt at a step came to, and where in the trial it stands → what follows it.
//!
//! Every function here is pure. `attempts.rs` gathers the facts and carries the decision out; the rules are stated in
//! `docs/cli.md`, *Tasks of Harbor*.

use model::EndReason;

/// What an attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    /// It did not pass, and the agent answers for that.
    Failed,
    /// Something outside the agent has ended it.
    EndedFromOutside,
}

impl Outcome {
    pub(super) fn new(has_passed: bool, reason: EndReason) -> Self {
        match (has_passed, is_tried_again(reason)) {
            (true, _) => Self::Passed,
            (false, true) => Self::Failed,
            (false, false) => Self::EndedFromOutside,
        }
    }
}

/// Whether another attempt at the step is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextAttempt {
    /// Attempts are left.
    Allowed,
    /// This was the last one.
    NoneLeft,
    /// The container is broken, and no snapshot was kept before the step.
    NoContainer,
}

/// What the trial has after the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextStep {
    /// Nothing: it is the last one.
    None,
    /// A step that begins in the container as this one leaves it.
    Chained,
    /// A step that is played by itself, whatever this one left.
    ByItself,
}

/// Whether a step may follow by the rules of the task and the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chain {
    Continues,
    /// Not after an attempt without a reward or with one under its least, in a container that is broken, or with `fail_stop` after
    /// one that did not pass.
    Breaks,
}

/// What follows an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// Another attempt at the step.
    Retry,
    /// The next step, in the container as it is, which is kept before.
    NextInChain,
    /// The step is decided, and nothing that follows needs its container.
    StepDecided,
    /// The end of the trial. A resume does not continue after the attempt.
    End,
    /// The same, until a resume retries the attempt.
    EndUntilResume,
}

/// Whether a step that did not pass for this reason gets another attempt: not where something outside has ended it.
pub(super) fn is_tried_again(reason: EndReason) -> bool {
    !crate::live::is_resumable(reason)
}

/// Decides what follows an attempt.
#[allow(clippy::match_same_arms, reason = "one arm per rule of the documentation")]
pub(super) const fn after_attempt(
    outcome: Outcome,
    next_attempt: NextAttempt,
    next_step: NextStep,
    chain: Chain,
) -> Decision {
    use Outcome::{EndedFromOutside, Failed, Passed};

    match (outcome, next_attempt, next_step, chain) {
        // Also after what would end the trial: the last attempt at a step decides it.
        (Failed, NextAttempt::Allowed, _, _) => Decision::Retry,

        (_, _, NextStep::None, _) => Decision::StepDecided,

        // The next step does not begin with what this one left, whatever it came to.
        (Passed | Failed, _, NextStep::ByItself, _) => Decision::StepDecided,
        (EndedFromOutside, _, NextStep::ByItself, Chain::Continues) => Decision::StepDecided,

        (_, _, NextStep::Chained, Chain::Continues) => Decision::NextInChain,
        (Passed | Failed, _, NextStep::Chained, Chain::Breaks) => Decision::End,

        // What something outside has ended is retried by a resume.
        (EndedFromOutside, _, NextStep::Chained | NextStep::ByItself, Chain::Breaks) => {
            Decision::EndUntilResume
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_agent_has_to_answer_for_is_tried_again() {
        let outside = [
            EndReason::Endpoint,
            EndReason::Environment,
            EndReason::Budget,
            EndReason::Cancelled,
            EndReason::Unfinished,
        ];
        for reason in outside {
            assert!(!is_tried_again(reason), "{reason:?}");
            assert_eq!(Outcome::new(false, reason), Outcome::EndedFromOutside, "{reason:?}");
            assert_eq!(Outcome::new(true, reason), Outcome::Passed, "{reason:?}");
        }
        for reason in [EndReason::TestsFailed, EndReason::AgentTimeout, EndReason::KilledItself] {
            assert!(is_tried_again(reason), "{reason:?}");
            assert_eq!(Outcome::new(false, reason), Outcome::Failed, "{reason:?}");
        }
    }

    #[test]
    fn the_table_has_a_row_for_each_rule() {
        use Chain::{Breaks, Continues};
        use Decision::{End, EndUntilResume, NextInChain, Retry, StepDecided};
        use NextAttempt::{Allowed, NoContainer, NoneLeft};
        use NextStep::{ByItself, Chained};
        use Outcome::{EndedFromOutside, Failed, Passed};

        let rows = [
            // A step that did not pass gets its further attempts, in the last step too and whatever would end the trial.
            (Failed, Allowed, Chained, Continues, Retry),
            (Failed, Allowed, Chained, Breaks, Retry),
            (Failed, Allowed, ByItself, Breaks, Retry),
            (Failed, Allowed, NextStep::None, Breaks, Retry),
            // Without a snapshot a broken container has no further attempt: the step is decided.
            (Failed, NoContainer, Chained, Breaks, End),
            (Failed, NoContainer, NextStep::None, Breaks, StepDecided),
            // One that passed gets none, nor one that something outside has ended.
            (Passed, Allowed, Chained, Continues, NextInChain),
            (EndedFromOutside, Allowed, Chained, Breaks, EndUntilResume),
            // A chain goes through all its steps, whatever fails, until one has no reward or too small a one.
            (Failed, NoneLeft, Chained, Continues, NextInChain),
            (EndedFromOutside, NoneLeft, Chained, Continues, NextInChain),
            (Failed, NoneLeft, Chained, Breaks, End),
            // A reward under the least of a step ends the chain even if the step passes.
            (Passed, NoneLeft, Chained, Breaks, End),
            (Passed, Allowed, Chained, Breaks, End),
            // Steps by themselves do not depend on each other.
            (Passed, Allowed, ByItself, Breaks, StepDecided),
            (Failed, NoneLeft, ByItself, Breaks, StepDecided),
            (Failed, NoContainer, ByItself, Breaks, StepDecided),
            (EndedFromOutside, Allowed, ByItself, Continues, StepDecided),
            // An endpoint or an engine that has gone would end the next one too.
            (EndedFromOutside, Allowed, ByItself, Breaks, EndUntilResume),
            // After the last step nothing is left to end.
            (Passed, Allowed, NextStep::None, Breaks, StepDecided),
            (Failed, NoneLeft, NextStep::None, Continues, StepDecided),
            (EndedFromOutside, Allowed, NextStep::None, Breaks, StepDecided),
        ];
        for (outcome, next_attempt, next_step, chain, decision) in rows {
            assert_eq!(
                after_attempt(outcome, next_attempt, next_step, chain),
                decision,
                "{outcome:?}, {next_attempt:?}, {next_step:?}, {chain:?}"
            );
        }
    }
}
