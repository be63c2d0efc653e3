//! Attempts at a step that the endpoint has ended: they are retried from the snapshot of the step, as often as attempts at
//! scenarios are, and then recorded. Without a snapshot the container is no more what it was before the attempt, so the trial ends
//! at once.

use model::EndReason;

use super::step_result::StepResult;
use super::trial::Trial;
use crate::dropped_attempt::REPEATS;
use crate::retry_attempt;

/// What something outside has ended of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndedBy<'a> {
    /// Nothing: it is recorded as it is.
    Itself,
    /// The endpoint, and why.
    Endpoint(&'a str),
}

/// What something outside has ended of an attempt.
fn ended_by(played: &StepResult) -> EndedBy<'_> {
    match &played.raised {
        Some((EndReason::Endpoint, exception)) => EndedBy::Endpoint(&exception.message),
        _ => EndedBy::Itself,
    }
}

/// Whether an attempt that the endpoint ended may be retried after so many retries.
fn may_repeat(has_snapshot: bool, repeats: u32) -> bool {
    has_snapshot && repeats < REPEATS
}

impl Trial<'_> {
    /// Whether the attempt that is played may be retried, should the endpoint end it.
    pub(super) fn may_repeat(&self) -> bool {
        may_repeat(self.context.settings.restore_before_try, self.repeats)
    }

    /// Whether an attempt is retried because the endpoint has ended it; if so, after the wait. What it has spent stays spent.
    pub(super) async fn is_repeated(&mut self, played: &StepResult) -> bool {
        let EndedBy::Endpoint(cause) = ended_by(played) else { return false };
        // A spent budget allows no retry.
        let is_repeated = self.may_repeat()
            && self.context.spent_budget_of_episode(&self.status, &self.planned.name).await.is_none();
        self.context.count_endpoint(!is_repeated);
        if !is_repeated {
            return false;
        }
        self.repeats += 1;
        let cause = self.context.scrub.text(cause);
        tracing::warn!("{}: step {}, attempt {}: {cause}", self.planned.name, self.number, self.attempt);
        self.count_dropped().await;
        retry_attempt::wait_before_retry(self.context, self.planned, &self.status, &cause, self.repeats)
            .await;
        true
    }

    /// Shows and tells what an attempt has spent that is not recorded.
    pub(super) async fn count_dropped(&self) {
        let spent = self.context.spent_of(&self.status, &self.planned.name).await;
        self.status.set(|shown| shown.spent = spent);
        self.context.tell_spent(None).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_that_the_endpoint_ends_is_retried_three_times_where_a_snapshot_is_kept() {
        let (mut repeats, mut without) = (0, 0);
        while may_repeat(true, repeats) {
            repeats += 1;
        }
        while may_repeat(false, without) {
            without += 1;
        }
        assert_eq!((repeats, without), (3, 0));
    }

    #[test]
    fn only_a_fault_of_the_endpoint_is_retried() {
        let played = |reason| {
            let mut played = StepResult::default();
            played.raise(reason, "Kind", "why");
            played
        };
        assert_eq!(ended_by(&played(EndReason::Endpoint)), EndedBy::Endpoint("why"));
        let others = [
            EndReason::Environment,
            EndReason::AgentTimeout,
            EndReason::AgentError,
            EndReason::Budget,
            EndReason::KilledItself,
            EndReason::VerifierError,
        ];
        for reason in others {
            assert_eq!(ended_by(&played(reason)), EndedBy::Itself, "{reason:?}");
        }
        assert_eq!(ended_by(&StepResult::default()), EndedBy::Itself);
        // What went wrong first decides.
        let mut later = played(EndReason::AgentError);
        later.raise(EndReason::Endpoint, "EndpointError", "gone");
        assert_eq!(ended_by(&later), EndedBy::Itself);
    }
}
