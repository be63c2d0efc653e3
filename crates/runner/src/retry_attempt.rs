//! Retries an attempt that something outside ended, from its snapshot, a few times; then records it as ended from outside.

use std::sync::Arc;
use std::time::Duration;

use model::{EndReason, Verdict};
use tokio_util::sync::CancellationToken;

use crate::agent_end::{self, AgentEnd};
use crate::attempt::{Attempt, DroppedAttempt, FinishedAttempt};
use crate::blocking::blocking;
use crate::connections;
use crate::dropped_attempt::{REPEATS, Repeats, Unrecorded};
use crate::episode::{Episode, NextAction};
use crate::live::Phase;
use crate::record::AttemptRecord;
use crate::run_context::{Ending, RunConnections, RunContext};
use crate::scenarios::TurnData;
use crate::state::{Journal, PlannedEpisode};
use crate::status::Status;
use crate::{RunError, clock, may_begin};

/// Wait before the first retry; doubled each time.
const FIRST_WAIT: Duration = Duration::from_secs(5);
/// How often an engine may disappear in one attempt before that counts as such a retry.
const MOST_DISAPPEARANCES: u32 = 10;

/// Why a run without a complete answer of its model ends, and what to do. `is_unasked`: its harness ended before its first
/// request.
pub(crate) fn never_answered(cause: &str, is_unasked: bool) -> String {
    let check = if is_unasked {
        "how the harness is called, its image and its settings"
    } else {
        "the endpoint's address, key, model and API, and the size of its context"
    };
    // Another sentence follows.
    let cause = cause.trim_end().trim_end_matches('.');
    format!(
        "no request of the run was ever answered completely, after {REPEATS} retries of an attempt: {cause}. Check {check}, then \
         resume"
    )
}

/// Why an attempt ended, with the last message of its harness.
pub(crate) fn cause_with_message(cause: String, message: Option<String>, title: &str) -> String {
    match message {
        None => cause,
        Some(message) => format!("{cause}, and {title} ended with: {message}"),
    }
}

/// Waits before a retry of an attempt that something outside ended, the `repeats`-th from 1. The end of the run and a control
/// request end the wait.
pub(crate) async fn wait_before_retry(
    context: &RunContext,
    planned: &PlannedEpisode,
    status: &Status,
    cause: &str,
    repeats: u32,
) {
    status.phase(Phase::Waiting, &model::one_line(cause, 120));
    let now = context.stop.child_token();
    tokio::select! {
        () = tokio::time::sleep(wait_time(repeats)) => {}
        // The run stops, or a control request asks for a retry now.
        () = now.cancelled() => {}
        never = retry_on_request(context, planned, status, &now) => match never {},
    }
}

/// Whether a dropped attempt is given up. `is_final`: no retry is left, or none would help. `has_budget`: budgets allow a retry.
fn is_given_up(is_final: bool, is_unanswered: bool, has_budget: bool) -> bool {
    // If another episode was answered meanwhile, a retry shows what caused the end of one without an answer.
    is_final && !is_unanswered || !has_budget
}

/// How long the `repeats`-th retry waits, from 1.
fn wait_time(repeats: u32) -> Duration {
    FIRST_WAIT.saturating_mul(1 << repeats.saturating_sub(1).min(20))
}

/// Marks earlier retry requests as fulfilled: the attempt begins.
pub(crate) fn fulfill_control_requests(context: &RunContext, planned: &PlannedEpisode, status: &Status) {
    let requested = context.control_requests.borrow().retry.get(&planned.name).copied().unwrap_or(0);
    if requested > status.retries() {
        status.set_retries(requested);
    }
}

/// Stops the attempt in flight when a control request asks for a retry; never returns.
pub(crate) async fn retry_on_request(
    context: &RunContext,
    planned: &PlannedEpisode,
    status: &Status,
    stop: &CancellationToken,
) -> std::convert::Infallible {
    let mut control_requests = context.control_requests.clone();
    loop {
        let requested = control_requests.borrow_and_update().retry.get(&planned.name).copied().unwrap_or(0);
        if requested > status.retries() {
            status.set_retries(requested);
            stop.cancel();
        }
        if control_requests.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Episode<'_> {
    /// Runs an attempt until it is recorded; `None` if the run ends before.
    pub(crate) async fn attempt(
        &mut self,
        data: &Arc<TurnData>,
        attempt: u32,
    ) -> Result<Option<NextAction>, RunError> {
        let mut disappearances = 0;
        let mut repeats = self.status.repeats(data.turn, attempt);
        loop {
            // A paused run begins no retries either.
            if !may_begin::wait_out_a_pause(self.context, &self.status).await {
                return Ok(None);
            }
            fulfill_control_requests(self.context, self.planned, &self.status);
            let stop = self.context.stop.child_token();
            let connections = self.context.connections().await;
            let running_attempt = self.attempt_of(data, attempt, &connections, &stop, repeats);
            let played = tokio::select! {
                played = running_attempt.play() => played,
                // This only stops the attempt; the other branch returns when it has ended.
                never = retry_on_request(self.context, self.planned, &self.status, &stop) => match never {},
            };
            let DroppedAttempt { fault, untested, has_budget } = match played {
                Ok(played) => {
                    let cut_off = played.record.verdict == Verdict::Unfinished;
                    let next = self.commit(data, played).await?;
                    // A budget ended the run, but not the episode.
                    return Ok((!cut_off).then_some(next));
                }
                Err(dropped) => dropped,
            };
            self.count_dropped().await?;
            if self.context.stop.is_cancelled() {
                return Ok(None);
            }
            // Whether the run had no answer, and whether this attempt asked for none.
            let (mut is_unanswered, mut is_unasked) = (false, false);
            let is_last = !repeats.are_left();
            let (reason, cause, is_final) = match fault {
                // A control request asks for a retry.
                Unrecorded::Stopped => continue,
                Unrecorded::Files(error) => return Err(error),
                Unrecorded::Containers { cause, is_gone: true } if disappearances < MOST_DISAPPEARANCES => {
                    disappearances += 1;
                    self.status.phase(Phase::Waiting, "the container engine does not answer");
                    if !connections::wait(self.context, &connections, &cause).await {
                        return Ok(None);
                    }
                    // The clock of the episode has run on.
                    if self.context.spent_budget_of_episode(&self.status, &self.planned.name).await.is_none()
                    {
                        continue;
                    }
                    (EndReason::Environment, cause, true)
                }
                Unrecorded::Containers { cause, .. } => (EndReason::Environment, cause, is_last),
                Unrecorded::Endpoint(cause) => (EndReason::Endpoint, cause, is_last),
                Unrecorded::Unanswered { cause, message, is_unasked: sent_none } => {
                    (is_unanswered, is_unasked) = (true, sent_none);
                    let reason = if is_unasked { EndReason::Environment } else { EndReason::Endpoint };
                    (reason, cause_with_message(cause, message, self.context.harness.title()), is_last)
                }
                // A retry would fail too.
                Unrecorded::Refused(cause) => (EndReason::Environment, cause, true),
            };
            let cause = self.context.scrub.text(&cause);
            tracing::warn!("{}: turn {}, attempt {attempt}: {cause}", self.planned.name, data.turn);
            // A spent budget allows no retry.
            let has_budget = match has_budget {
                Some(has_budget) => has_budget,
                None => {
                    let name = &self.planned.name;
                    self.context.spent_budget_of_episode(&self.status, name).await.is_none()
                }
            };
            let is_endpoint = reason == EndReason::Endpoint;
            if is_final && (is_endpoint || is_unanswered) && self.context.is_never_answered().await {
                repeats.give_up();
                self.status.set_repeats(repeats);
                // The next episodes would end the same way, without a result about the agent.
                self.context.end(Ending::Broken(never_answered(&cause, is_unasked)));
                return Ok(None);
            }
            if is_given_up(is_final, is_unanswered, has_budget) {
                // Before it is recorded: a resume that takes the record back has retries left.
                repeats.give_up();
                self.status.set_repeats(repeats);
                let end = agent_end::end_from_outside(reason, &cause);
                let played = match untested {
                    Some(untested) => {
                        self.attempt_of(data, attempt, &connections, &stop, repeats)
                            .record_given_up(*untested, end)
                            .await?
                    }
                    None => self.unplayed_attempt(attempt, end, repeats),
                };
                let next = self.commit(data, played).await?;
                // Once it is recorded: a resume plays it again after a kill before, and would count it twice.
                if is_endpoint {
                    self.context.count_endpoint(true);
                }
                return Ok(Some(next));
            }
            repeats.add();
            self.status.set_repeats(repeats);
            if is_endpoint {
                self.context.count_endpoint(false);
            }
            wait_before_retry(self.context, self.planned, &self.status, &cause, repeats.recent_count()).await;
        }
    }

    fn attempt_of<'a>(
        &'a self,
        data: &'a Arc<TurnData>,
        number: u32,
        connections: &'a RunConnections,
        stop: &'a CancellationToken,
        repeats: Repeats,
    ) -> Attempt<'a> {
        Attempt {
            context: self.context,
            connections,
            owner: &self.owner,
            folders: &self.folders,
            results: &self.results,
            status: &self.status,
            data,
            number,
            known: &self.known,
            task: self.task(data, number),
            stop,
            repeats,
        }
    }

    /// Writes down the spending of a dropped attempt, which has no record.
    async fn count_dropped(&mut self) -> Result<(), RunError> {
        self.known.spent = self.context.spent_of(&self.status, &self.planned.name).await;
        self.known.seconds = self.status.seconds();
        let spent = self.known.spent;
        self.status.set(|shown| shown.spent = spent);
        let (before, state) = (self.known.clone(), self.context.paths.state(&self.planned.name));
        blocking(move || Journal { before, after: None }.write(&state)).await?;
        self.context.tell_spent(None).await;
        Ok(())
    }

    /// The record of an attempt that is given up before its agent did anything.
    fn unplayed_attempt(&self, attempt: u32, end: AgentEnd, repeats: Repeats) -> FinishedAttempt {
        let now = clock::now();
        let record = AttemptRecord {
            attempt,
            verdict: Verdict::Unfinished,
            end_reason: end.reason,
            started_at: now.clone(),
            finished_at: now,
            exception: end.exception,
            repeats: repeats.count,
            ..AttemptRecord::default()
        };
        FinishedAttempt { record, after: self.known.clone(), spent_budget: None, own_seconds: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_retry_waits_twice_as_long_as_the_one_before() {
        let seconds: Vec<u64> = (1..=REPEATS).map(|repeats| wait_time(repeats).as_secs()).collect();
        assert_eq!(seconds, [5, 10, 20]);
        assert!(wait_time(u32::MAX) >= wait_time(9), "no number is too large");
    }

    #[test]
    fn an_attempt_is_given_up_without_a_retry_that_is_left_and_without_a_budget() {
        assert!(!is_given_up(false, false, true));
        assert!(is_given_up(true, false, true));
        assert!(!is_given_up(true, true, true), "a retry shows what caused the end");
        for (is_final, is_unanswered) in [(false, false), (true, false), (false, true), (true, true)] {
            assert!(is_given_up(is_final, is_unanswered, false), "a spent budget allows no retry");
        }
    }
}
