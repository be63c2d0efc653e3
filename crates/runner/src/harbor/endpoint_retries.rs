//! Attempts at a step that the endpoint has ended: they are retried as often as attempts at scenarios are, and then recorded. Each
//! retry begins in a container that is what it was before the attempt: from the snapshot of the step, or from the image of the
//! task where nothing was played before. Where there is neither, the attempt is recorded at once.

use gateway::{EndpointFault, FaultTreatment};
use model::EndReason;
use sandbox::SandboxError;

use super::after_attempt::is_tried_again;
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

/// Whether a failed attempt whose harness ended by itself is the endpoint's, if it ended on a fault of it: for good, or only while
/// it may be retried.
fn is_excused(treatment: FaultTreatment, may_repeat: bool) -> bool {
    match treatment {
        FaultTreatment::RetriedThenAgent => may_repeat,
        FaultTreatment::Censored | FaultTreatment::RunUnanswered { .. } => true,
    }
}

/// Attributes a failed attempt to the endpoint where its fault excuses it. `has_room` also decides whether it is retried: time goes
/// by, and a verdict that was dropped for a retry must not end as the endpoint's.
fn excuse(played: &mut StepResult, fault: &EndpointFault, has_room: bool) {
    if is_excused(fault.treatment, has_room) {
        played.attribute_to_endpoint(&fault.reason);
    }
    played.has_room_for_repeat = Some(has_room);
}

/// Whether an attempt that the endpoint ended may be retried after so many retries.
fn may_repeat(origin: Option<RetryOrigin>, repeats: u32) -> bool {
    origin.is_some() && repeats < REPEATS
}

impl Trial<'_> {
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
            (Some(RetryOrigin::TaskImage), _) if self.is_retry => self.open_again().await,
            _ => Ok(None),
        }
    }

    /// Whether the attempt that is played is retried, should the endpoint end it: a spent budget allows no retry.
    pub(super) async fn has_room_for_repeat(&self) -> bool {
        may_repeat(self.retry_origin, self.repeats.recent_count())
            && self.context.spent_budget_of_episode(&self.status, &self.planned.name).await.is_none()
    }

    /// Attributes an attempt to the endpoint whose harness ended by itself although its last request met a fault, where the
    /// verifier did not pass it.
    pub(super) async fn excuse_failure(&self, played: &mut StepResult) {
        let fault = played.call.as_mut().and_then(|call| call.fault_unless_passed.take());
        let Some(fault) = fault.filter(|_| !played.has_passed()) else { return };
        // What something else outside has ended stays that.
        let is_of_agent = played.raised.as_ref().is_none_or(|(reason, _)| is_tried_again(*reason));
        if is_of_agent {
            excuse(played, &fault, self.has_room_for_repeat().await);
        }
    }

    /// Whether an attempt is retried because the endpoint has ended it; if so, after the wait. What it has spent stays spent.
    pub(super) async fn is_repeated(&mut self, played: &StepResult) -> bool {
        let EndedBy::Endpoint(cause) = ended_by(played) else { return false };
        let has_room = match played.has_room_for_repeat {
            Some(has_room) => has_room,
            None => self.has_room_for_repeat().await,
        };
        if !has_room {
            return false;
        }
        self.repeats.add();
        self.status.set_repeats(self.repeats);
        self.is_retry = true;
        self.context.count_endpoint(false);
        let cause = self.context.scrub.text(cause);
        tracing::warn!("{}: step {}, attempt {}: {cause}", self.planned.name, self.number, self.attempt);
        self.count_dropped().await;
        let repeats = self.repeats.recent_count();
        retry_attempt::wait_before_retry(self.context, self.planned, &self.status, &cause, repeats).await;
        true
    }

    /// Why the endpoint has ended an attempt that is not retried any more, if it has.
    pub(super) fn cause_of_the_endpoint(&self, played: &StepResult) -> Option<String> {
        match ended_by(played) {
            EndedBy::Endpoint(cause) if !self.repeats.are_left() => Some(self.context.scrub.text(cause)),
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
    fn a_failed_attempt_whose_harness_reports_success_is_the_endpoints_while_it_may_be_retried() {
        assert!(is_excused(FaultTreatment::RetriedThenAgent, true));
        assert!(!is_excused(FaultTreatment::RetriedThenAgent, false), "then it counts as it is");
        // No answer of the attempt was complete.
        assert!(is_excused(FaultTreatment::Censored, false));

        let reward = |number: f64| StepResult {
            rewards: Some([("reward".to_owned(), number)].into()),
            tests: Some(b"1 passed".to_vec()),
            kept_files: ["verifier/reward.txt", "artifacts/verifier"]
                .map(|path| sandbox::ContainerFile { path: path.to_owned(), content: Vec::new() })
                .into(),
            ..StepResult::default()
        };
        assert!(reward(1.0).has_passed() && !reward(0.5).has_passed() && !StepResult::default().has_passed());
        let mut failed = reward(0.5);
        failed.raise(EndReason::VerifierError, "Kind", "why");
        failed.attribute_to_endpoint("broke off");
        assert_eq!(ended_by(&failed), EndedBy::Endpoint("broke off"));
        assert!(failed.is_over && failed.rewards.is_none() && failed.tests.is_none());
        let kept: Vec<_> = failed.kept_files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(kept, ["artifacts/verifier"]);
    }

    /// Time goes by: a budget can be spent a moment after it was asked for.
    #[test]
    fn a_verdict_is_dropped_only_for_a_retry_that_follows() {
        let fault = |treatment| EndpointFault { reason: "broke off".to_owned(), treatment };
        for has_room in [true, false] {
            let mut failed = StepResult {
                rewards: Some([("reward".to_owned(), 0.5)].into()),
                // A retry was left when its call ended.
                has_room_for_repeat: Some(true),
                ..StepResult::default()
            };
            excuse(&mut failed, &fault(FaultTreatment::RetriedThenAgent), has_room);
            assert_eq!(ended_by(&failed) == EndedBy::Endpoint("broke off"), has_room);
            assert_eq!(failed.rewards.is_none(), has_room);
            assert_eq!(failed.has_room_for_repeat, Some(has_room), "the retry is decided by the same answer");
        }
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
