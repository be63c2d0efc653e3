//! The attempts at a step, one after the other, until the step is decided.

use std::time::Instant;

use model::{EndReason, Verdict};
use sandbox::SandboxError;

use super::after_attempt::{Chain, Decision, NextAttempt, NextStep, Outcome, after_attempt};
use super::end::StepsEnd;
use super::file::StepFile;
use super::retry_origin::retry_origin;
use super::reward;
use super::snapshot::StateBeforeStep;
use super::step_result::StepResult;
use super::trial::Trial;
use crate::{RunError, clock, may_begin, retry_attempt};

/// What came of a step.
pub(super) enum AfterStep {
    /// The next one begins, from this snapshot if it was made already.
    Next(Option<StateBeforeStep>),
    Ended(StepsEnd),
}

/// What came of an attempt.
enum AttemptEnd {
    /// It is not recorded, and is retried.
    NotRecorded,
    /// The next attempt at the step begins.
    Retry,
    /// The step is decided. The snapshot of the next one is there if it was made already.
    Decided(Option<StateBeforeStep>),
    Ended(StepsEnd),
}

/// The time at which an attempt begins, preparations included.
struct AttemptStart {
    started: Instant,
    started_at: String,
}

impl AttemptStart {
    fn now() -> Self {
        Self { started: Instant::now(), started_at: clock::now() }
    }
}

impl Trial<'_> {
    /// Plays the attempts at a step that are left, from `first` on. `before` is its snapshot where it was made already.
    pub(super) async fn play_step_attempts(
        &mut self,
        step: &StepFile,
        number: u32,
        first: u32,
        before: Option<StateBeforeStep>,
    ) -> Result<AfterStep, RunError> {
        let mut first_begun = Some(AttemptStart::now());
        self.begin(step, number).await?;
        let before = match before {
            Some(before) => Some(before),
            None => match self.keep(number).await {
                Ok(None) => None,
                Ok(Some(before)) => {
                    self.keep_record(&before, None).await?;
                    Some(before)
                }
                Err(error) => return Ok(AfterStep::Ended(self.broken(&error))),
            },
        };
        let limit = self.rules().attempts;
        let (mut attempt, mut next) = (first, None);
        while attempt <= limit {
            let begun = if let Some(begun) = first_begun.take() {
                begun
            } else if self.is_retry {
                // The attempt was begun in time: its retry is limited as a call is.
                if !may_begin::wait_out_a_pause(self.context, &self.status).await {
                    return Ok(AfterStep::Ended(StepsEnd::Unfinished));
                }
                AttemptStart::now()
            } else {
                if let Some(ended) = self.wait_while_paused().await {
                    return Ok(AfterStep::Ended(ended));
                }
                AttemptStart::now()
            };
            match Box::pin(self.play_attempt(step, attempt, before.as_ref(), begun)).await? {
                AttemptEnd::NotRecorded => {}
                AttemptEnd::Retry => attempt = attempt.saturating_add(1),
                AttemptEnd::Decided(kept) => {
                    next = kept;
                    break;
                }
                AttemptEnd::Ended(ended) => return Ok(AfterStep::Ended(ended)),
            }
        }
        if let Some(before) = before.as_ref().filter(|_| self.next_step() == NextStep::ByItself) {
            let advanced = self.advance(before, step).await;
            if let Some(ended) = self.unless_prepared(advanced) {
                return Ok(AfterStep::Ended(ended));
            }
        }
        Ok(AfterStep::Next(next))
    }

    /// Plays an attempt at the step that is played, and records it unless it is retried. `before` is the step's snapshot.
    async fn play_attempt(
        &mut self,
        step: &StepFile,
        attempt: u32,
        before: Option<&StateBeforeStep>,
        begun: AttemptStart,
    ) -> Result<AttemptEnd, RunError> {
        self.attempt = attempt;
        self.repeats = self.status.repeats(self.number, attempt);
        self.calls = self.trajectory.summaries().iter().map(|turn| turn.attempts).sum::<u32>() + 1;
        self.status.set(|shown| shown.attempt = attempt);
        self.retry_origin = retry_origin(self.number, attempt, before.is_some(), self.restores());
        if (self.restores() || self.is_retry) && !self.is_as_kept {
            let prepared = self.begin_attempt_again(before).await;
            if let Some(ended) = self.unless_prepared(prepared) {
                return Ok(AttemptEnd::Ended(ended));
            }
        }
        let has_snapshot = before.is_some() && self.restores();
        let played = Box::pin(self.step_unless_retried(step, has_snapshot)).await;
        if self.context.stop.is_cancelled() {
            return Ok(AttemptEnd::Ended(StepsEnd::Unfinished));
        }
        if self.stop.is_cancelled() {
            // The attempt is retried from its snapshot. What it has spent stays spent.
            self.stop = self.context.stop.child_token();
            self.count_dropped().await;
            return Ok(AttemptEnd::NotRecorded);
        }
        let mut played = match played {
            Ok(played) => played,
            Err(error) => return Ok(AttemptEnd::Ended(self.broken(&error))),
        };
        self.excuse_failure(&mut played).await;
        if self.is_repeated(&played).await {
            return Ok(AttemptEnd::NotRecorded);
        }
        let cause = self.cause_of_the_endpoint(&played);
        let end = self.record_and_decide(step, played, before, begun).await;
        if let Some(cause) = cause {
            self.end_run_without_answers(&cause).await;
        }
        end
    }

    /// Records an attempt, and decides what follows it.
    async fn record_and_decide(
        &mut self,
        step: &StepFile,
        played: StepResult,
        before: Option<&StateBeforeStep>,
        AttemptStart { started, started_at }: AttemptStart,
    ) -> Result<AttemptEnd, RunError> {
        let (number, attempt) = (self.number, self.attempt);
        let is_broken = played.is_over;
        let has_no_reward = played.raised.is_some() && played.rewards.is_none();
        let is_below = reward::first_key_below(&step.min_reward, played.rewards.as_ref()).is_some();
        let verifier_output = self.verifier_output(&played);
        let spent_budget = played.call.as_ref().and_then(|call| call.spent_budget.clone());
        let mut record = self.record(step, number, played, started, started_at).await?;
        (self.is_resumed, self.is_retry) = (false, false);
        let has_passed = record.verdict == Verdict::Passed;
        let reason = record.end_reason.unwrap_or(EndReason::TestsFailed);
        let next_attempt = if attempt >= self.rules().attempts {
            NextAttempt::NoneLeft
        } else if is_broken && !(before.is_some() && self.restores()) {
            NextAttempt::NoContainer
        } else {
            NextAttempt::Allowed
        };
        let stops = !has_passed && self.context.settings.fail_stop;
        let breaks = is_broken || has_no_reward || is_below || stops;
        let chain = if breaks { Chain::Breaks } else { Chain::Continues };
        let outcome = Outcome::new(has_passed, reason);
        let decision = after_attempt(outcome, next_attempt, self.next_step(), chain);
        record.ends_chain = decision == Decision::End;
        // The next step is kept before this attempt counts: whichever of both a kill leaves, it has its snapshot.
        let kept = match before {
            Some(before) if decision == Decision::NextInChain => {
                self.keep_next(before, number, attempt).await?
            }
            _ => Ok(None),
        };
        let is_lost = reason == EndReason::Endpoint;
        if is_lost {
            // A resume that takes the record back has retries left.
            self.repeats.give_up();
            self.status.set_repeats(self.repeats);
        }
        self.commit(number, record, spent_budget).await?;
        if is_lost {
            // Once it is recorded: a resume plays it again after a kill before, and would count it twice.
            self.context.count_endpoint(true);
        }
        let kept = match kept {
            Ok(kept) => kept,
            Err(error) => return Ok(AttemptEnd::Ended(self.broken(&error))),
        };
        if let Some((before, _)) = before.zip(kept.as_ref()) {
            self.drop_snapshot(before).await;
        }
        Ok(match decision {
            Decision::Retry => {
                self.keep_feedback(reason, verifier_output.as_deref());
                AttemptEnd::Retry
            }
            Decision::NextInChain | Decision::StepDecided => AttemptEnd::Decided(kept),
            Decision::End | Decision::EndUntilResume => AttemptEnd::Ended(StepsEnd::Finished(reason, None)),
        })
    }

    /// What the trial has after the step that is played.
    fn next_step(&self) -> NextStep {
        if self.number >= self.planned.turns {
            NextStep::None
        } else if self.plays_alone() {
            NextStep::ByItself
        } else {
            NextStep::Chained
        }
    }

    /// Keeps the container for the step that follows, and records that. The inner error is one of the engine.
    async fn keep_next(
        &self,
        before: &StateBeforeStep,
        number: u32,
        attempt: u32,
    ) -> Result<Result<Option<StateBeforeStep>, SandboxError>, RunError> {
        let next = match self.keep(number + 1).await {
            Ok(next) => next,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(next) = &next {
            self.keep_record(before, Some((attempt, next))).await?;
        }
        Ok(Ok(next))
    }

    /// Runs an attempt. If it begins from a snapshot, a control request can ask for a retry from there, which cancels `stop`.
    async fn step_unless_retried(
        &mut self,
        step: &StepFile,
        has_snapshot: bool,
    ) -> Result<StepResult, SandboxError> {
        let (context, planned, status, stop) =
            (self.context, self.planned, self.status.clone(), self.stop.clone());
        if !has_snapshot {
            return self.step(step).await;
        }
        retry_attempt::fulfill_control_requests(context, planned, &status);
        tokio::select! {
            played = self.step(step) => played,
            // The attempt ends by itself once it is stopped; this only stops it.
            never = retry_attempt::retry_on_request(context, planned, &status, &stop) => match never {},
        }
    }
}
