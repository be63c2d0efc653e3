//! Attempts at a step that the endpoint has ended: they are retried as often as attempts at scenarios are, and then recorded. Each
//! retry begins in a container that is what it was before the attempt: from the snapshot of the step, or from the image of the
//! task where nothing was played before. Where there is neither, the attempt is recorded at once.

use model::EndReason;
use sandbox::SandboxError;

use super::retry_origin::RetryOrigin;
use super::snapshot::StateBeforeStep;
use super::step_result::StepResult;
use super::trial::Trial;
use crate::dropped_attempt::REPEATS;
use crate::record::Exception;
use crate::retry_attempt;
use crate::run_context::Ending;

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
fn may_repeat(origin: Option<RetryOrigin>, repeats: u32) -> bool {
    origin.is_some() && repeats < REPEATS
}

impl Trial<'_> {
    /// Whether the attempt that is played may be retried, should the endpoint end it.
    pub(super) fn may_repeat(&self) -> bool {
        may_repeat(self.retry_origin, self.repeats)
    }

    /// Makes the container what it was before the attempt that is played. `before` is the step's snapshot. Why it is not, if it
    /// cannot be.
    pub(super) async fn begin_attempt_again(
        &mut self,
        before: Option<&StateBeforeStep>,
    ) -> Result<Option<(EndReason, Exception)>, SandboxError> {
        match (self.retry_origin, before) {
            (Some(RetryOrigin::Snapshot), Some(before)) => {
                // In a chain that goes on in one container the processes of earlier steps are missing, as after a resume.
                self.is_resumed |= !self.restores() && self.number > 1;
                self.restore(before).await
            }
            (Some(RetryOrigin::TaskImage), _) if self.repeats > 0 => self.open_again().await,
            _ => Ok(None),
        }
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

    /// Why the endpoint has ended an attempt that is not retried any more, if it has.
    pub(super) fn cause_of_the_endpoint(&self, played: &StepResult) -> Option<String> {
        match ended_by(played) {
            EndedBy::Endpoint(cause) if self.repeats >= REPEATS => Some(self.context.scrub.text(cause)),
            _ => None,
        }
    }

    /// Ends the run after an attempt that the endpoint has ended, if no request of the run was ever answered completely: the next
    /// trials would end the same way, without a result about the agent.
    pub(super) async fn end_run_without_answers(&self, cause: &str) {
        if self.context.is_never_answered().await {
            self.context.end(Ending::Broken(retry_attempt::never_answered(cause, false)));
        }
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
    fn an_attempt_that_the_endpoint_ends_is_retried_three_times_where_its_container_can_be_made_again() {
        let retries = |origin| (0..=10).find(|repeats| !may_repeat(origin, *repeats));
        assert_eq!(retries(Some(RetryOrigin::Snapshot)), Some(3));
        assert_eq!(retries(Some(RetryOrigin::TaskImage)), Some(3));
        assert_eq!(retries(None), Some(0));
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
