//! A request in flight, together with its attempt and the gateway.
//!
//! A request is finished exactly once, by whoever ends it: the end of the answer, the agent that hangs up (its
//! [`RequestGuard`] is dropped), or the close of the attempt. So nothing is missing from an attempt, and nothing is counted
//! twice.
//!
//! Locks are taken in the order request, attempt, accounts.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use model::lock;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::attempt_state::{AttemptLog, AttemptState, Overflow};
use crate::clock;
use crate::cost::RequestCost;
use crate::fault_attribution::stall_tracker::{FinishedRequest, UnansweredRequest};
use crate::fault_attribution::table::{self, AnswerState, Decision};
use crate::hash;
use crate::log::{RequestFault, RequestStart, is_answer};
use crate::record::{AttemptKey, Guess, Record, StopReason, Termination, WaitingRequest};
use crate::request::RequestKind;
use crate::request_state::{Progress, RequestState};
use crate::state::GatewayState;
use crate::usage::{Meter, Tally};

/// Tokens of an answer that are reserved where the request sets no limit, and at most where it does.
const USUAL_ANSWER: u64 = 4096;
const LONGEST_ANSWER: u64 = 65_536;
/// How long a request waits for others that may spend what is left of a budget. An agent that reads its answer slowly must not
/// block those of other episodes forever.
const RESERVATION_PATIENCE: Duration = Duration::from_mins(1);
/// Describes an answer that ends too early.
const BROKEN_CONNECTION: &str = "the connection broke off";
/// Describes an answer that stopped because the context was full.
const FULL_CONTEXT: &str = "the model stopped because its context window was full";

/// A request in flight.
#[derive(Debug, Clone)]
pub(crate) struct InFlightRequest {
    state: Arc<RequestState>,
    pub(crate) attempt: Arc<AttemptState>,
    pub(crate) gateway: Arc<GatewayState>,
}

impl Deref for InFlightRequest {
    type Target = RequestState;

    fn deref(&self) -> &RequestState {
        &self.state
    }
}

/// Closes an attempt: later requests receive 410, those in flight are interrupted and counted. Repeatable.
pub(crate) fn close_attempt(gateway: &Arc<GatewayState>, attempt: &Arc<AttemptState>) {
    gateway.attempts.remove(&attempt.token);
    for state in attempt.close() {
        let request = InFlightRequest { state, attempt: Arc::clone(attempt), gateway: Arc::clone(gateway) };
        request.finish(Some(Termination::Closed));
    }
}

/// Begins a request. `None` = the attempt is closed.
pub(crate) fn begin_request(
    gateway: &Arc<GatewayState>,
    attempt: &Arc<AttemptState>,
    kind: RequestKind,
    route: String,
    request_bytes: usize,
) -> Option<RequestGuard> {
    let state = attempt.begin_request(kind, route, request_bytes)?;
    let request = InFlightRequest { state, attempt: Arc::clone(attempt), gateway: Arc::clone(gateway) };
    Some(RequestGuard { request, permits: Vec::new() })
}

impl InFlightRequest {
    /// Whether a fault of it counts for its attempt.
    fn concerns_endpoint(&self) -> bool {
        self.gateway.faults.concerns(self.kind)
    }

    /// The seed of its waits.
    pub(crate) fn seed(&self) -> u64 {
        let AttemptKey { episode, turn, attempt } = &self.attempt.key;
        hash::fnv1a(&format!("{episode}/{turn}/{attempt}/{}", self.id))
    }

    /// Reserves what it may cost, for an answer of at most `longest_answer` tokens. Waits while requests in flight may spend
    /// what is left of a budget. Fails where a budget is spent by then.
    pub(crate) async fn reserve(&self, longest_answer: Option<u64>) -> Result<(), StopReason> {
        let output = longest_answer.map_or(USUAL_ANSWER, |longest| longest.min(LONGEST_ANSWER));
        let recorder = &self.gateway.recorder;
        let most = recorder.guess(&RequestCost::estimated(self.estimated_input(), output));
        let until = Instant::now() + RESERVATION_PATIENCE;
        loop {
            let mut finished = std::pin::pin!(recorder.next_finished());
            // Enabled before the check: a request that finishes in between must not be missed.
            finished.as_mut().enable();
            if let Some(reason) = self.attempt.check_stop(recorder) {
                return Err(reason);
            }
            if self.try_reserve(most, Instant::now() >= until) {
                return Ok(());
            }
            let _ = tokio::time::timeout_at(until, finished).await;
        }
    }

    fn try_reserve(&self, most: Guess, force: bool) -> bool {
        let mut progress = self.progress();
        if progress.is_finished {
            return true;
        }
        let mut log = lock(&self.attempt.log);
        let episode = &self.attempt.key.episode;
        let is_reserved = self.gateway.recorder.reserve(&mut log.account, episode, most, force);
        progress.reserved = is_reserved.then_some(most);
        is_reserved
    }

    /// A try starts. The endpoint works on it from now on.
    pub(crate) fn start_try(&self, tries: u32) {
        let mut progress = self.progress();
        progress.start_try(tries);
        // One that is finished already, as its attempt was closed, is not sent.
        if self.kind.is_paid() && !progress.is_finished {
            let account = &mut lock(&self.attempt.log).account;
            let entered = self.gateway.recorder.work_begins(Some(account), &self.attempt.key.episode);
            progress.working_since = Some(entered);
        }
    }

    /// A try failed. The endpoint works on it no longer.
    pub(crate) fn fail_try(&self, status: u16) {
        let mut progress = self.progress();
        progress.fail_try(status);
        self.end_work(&mut progress);
    }

    fn end_work(&self, progress: &mut Progress) {
        if let Some(since) = progress.working_since.take() {
            let account = &mut lock(&self.attempt.log).account;
            let episode = &self.attempt.key.episode;
            progress.machine_seconds += self.gateway.recorder.work_ends(Some(account), episode, since);
        }
    }

    /// Logs that it is about to be sent.
    pub(crate) fn log_begin(&self) {
        if !self.kind.is_paid() {
            return;
        }
        let recorder = &self.gateway.recorder;
        recorder.request_begun(&RequestStart {
            number: self.number(),
            key: self.attempt.key.clone(),
            at: self.arrived_at.clone(),
            guess: recorder.guess(&RequestCost::estimated(self.estimated_input(), 0)),
        });
    }

    /// Attributes a failed try to the endpoint.
    pub(crate) fn add_fault(&self, status: u16, message: &str) {
        self.progress().add_fault(message);
        self.log_fault(status);
    }

    /// Attributes nothing to the endpoint, or not yet: the agent may hang up before a probe is answered.
    pub(crate) fn clear_fault(&self) {
        self.progress().clear_fault();
        if self.concerns_endpoint() {
            self.attempt.set_waiting(self.id, None);
        }
    }

    /// Shows observers of the attempt that it waits for its next try.
    pub(crate) fn show_waiting(&self, status: u16, next_try: u32) {
        if self.concerns_endpoint() {
            let most_tries = self.gateway.retry.tries;
            self.attempt.set_waiting(self.id, Some(WaitingRequest { status, next_try, most_tries }));
        }
    }

    /// The endpoint has answered. From now on the agent waits for the rest of the answer.
    pub(crate) fn set_answered(&self) {
        let (lost, fault) = {
            let mut progress = self.progress();
            progress.touch();
            // The wait for this answer itself is not lost.
            let until = progress.try_started;
            (progress.lost_since.take().map(|since| (since, until)), progress.fault.take())
        };
        if let Some((since, until)) = lost
            && self.concerns_endpoint()
        {
            lock(&self.attempt.log).stalls.add_lost(since, until, fault);
            self.attempt.set_waiting(self.id, None);
        }
    }

    fn log_fault(&self, status: u16) {
        if self.kind.is_paid() {
            self.gateway.recorder.request_faulted(&RequestFault {
                fault: status,
                key: self.attempt.key.clone(),
                at: clock::now(),
                number: self.number(),
            });
        }
    }

    /// Finishes it. `ended_by` is who ended it early, by what was observed. The first call counts.
    pub(crate) fn finish(&self, ended_by: Option<Termination>) {
        let mut progress = self.progress();
        if std::mem::replace(&mut progress.is_finished, true) {
            return;
        }
        self.end_work(&mut progress);
        let paid = self.kind.is_paid();
        let is_success = (200..300).contains(&progress.status);
        let error =
            progress.meter.as_ref().and_then(|meter| meter.error().map(|error| self.gateway.scrub(error)));
        let reports_error = is_success && error.is_some();
        let state = answer_state(&progress, is_success);
        let termination = table::termination(ended_by, state);
        let status = match (progress.status, termination) {
            (0, Some(Termination::Closed)) => 410,
            (0, _) => 499,
            (status, _) => status,
        };
        let accepted = paid && progress.accepted && (is_success || progress.status == 0);
        let tally = match (accepted, progress.simulated_tokens) {
            (false, _) => Tally::default(),
            (true, Some(tokens)) => Tally { tokens, written: None },
            (true, None) => progress.meter.as_ref().map(Meter::tally).unwrap_or_default(),
        };
        if termination == Some(Termination::Endpoint) {
            progress.faults.push(0);
            progress.lost_since.get_or_insert(self.started);
            progress.fault = Some(error.unwrap_or_else(|| BROKEN_CONNECTION.to_owned()));
            self.log_fault(0);
        } else if reports_error && progress.error.is_none() {
            progress.error = error;
        }
        let mut fallback = RequestCost::estimated(self.estimated_input(), 0).fallback;
        fallback.output = progress.meter.as_ref().map(Meter::guess);
        let cost = RequestCost {
            answered: paid && is_success,
            accepted,
            was_sent: accepted || paid && progress.tries > 0,
            tally,
            fallback,
            machine_seconds: progress.machine_seconds,
        };

        let is_whole = accepted && is_success && termination.is_none() && !reports_error;
        let stream = progress.stream_times().filter(|_| is_whole);

        let mut log = lock(&self.attempt.log);
        let record = Record {
            key: self.attempt.key.clone(),
            at: self.arrived_at.clone(),
            route: self.route.clone(),
            model: progress.model.take(),
            tokens: tally.tokens,
            seconds: self.started.elapsed().as_secs_f64(),
            status,
            retries: progress.tries.saturating_sub(1),
            faults: std::mem::take(&mut progress.faults),
            termination,
            reports_error,
            stream,
            number: self.number(),
            ..Record::default()
        };
        let reserved = progress.reserved.take();
        let record = self.gateway.recorder.request_finished(Some(&mut log.account), reserved, &cost, record);
        let is_complete = is_answer(&record);
        log.finish_request(self.id, record);
        if is_complete {
            self.gateway.faults.set_run_answered();
        }
        match self.kind.route() {
            Some(_) if self.concerns_endpoint() => {
                self.attribute_finish(&mut log, &mut progress, termination, is_success, is_complete);
            }
            Some(route) => log.stalls.add_other_api(route, is_complete, progress.error.take()),
            None => {}
        }
        drop(log);
        self.gateway.recorder.wake_waiting();
        self.attempt.set_waiting(self.id, None);
    }

    /// Keeps what its finish says of the endpoint and of the context.
    fn attribute_finish(
        &self,
        log: &mut AttemptLog,
        progress: &mut Progress,
        termination: Option<Termination>,
        is_success: bool,
        is_complete: bool,
    ) {
        let now = Instant::now();
        let fault = progress.fault.take();
        let is_broken = termination == Some(Termination::Endpoint);
        if let Some(since) = progress.lost_since.take() {
            log.stalls.add_lost(since, now, fault.clone());
        }
        if is_success && !is_broken {
            log.stalls.add_answered(progress.try_started, progress.last_sign);
        }
        let is_unanswered = termination.is_some() || progress.ended_in_silence;
        if let Some(route) = self.kind.route().filter(|_| is_unanswered) {
            let silent_since = progress.heard_at;
            let fault = fault.clone();
            log.stalls.add_unanswered(UnansweredRequest {
                route,
                silent_since,
                given_up_at: now,
                fault,
                is_broken,
            });
        }
        log.stalls.add_finished(FinishedRequest {
            began: self.started,
            was_heard: progress.was_heard,
            is_complete,
            error: progress.error.take(),
        });
        let is_full = progress.meter.as_ref().is_some_and(Meter::reports_full_context);
        match progress.overflow.take().or_else(|| is_full.then(|| FULL_CONTEXT.to_owned())) {
            Some(message) => log.overflow = Some(Overflow { received_at: now, message }),
            // Whatever came of a later request, a full context is no longer the last that happened.
            None => drop(log.overflow.take_if(|last| is_complete || self.started >= last.received_at)),
        }
        if is_success && termination.is_none() {
            log.broken_answers = 0;
        }
        if !is_broken {
            return;
        }
        log.broken_answers += 1;
        let count = log.broken_answers;
        if table::after_broken_answer(count, self.gateway.retry.tries) == Decision::EndAsEndpoint {
            let last = fault.unwrap_or_else(|| BROKEN_CONNECTION.to_owned());
            let message = format!("{count} answers in a row broke off in the middle; the last: {last}");
            self.attempt.stop(StopReason::Endpoint { message });
        }
    }
}

fn answer_state(progress: &Progress, is_success: bool) -> AnswerState {
    let Some(meter) = progress.meter.as_ref() else { return AnswerState::Partial };
    let is_request_error = progress.overflow.is_some() || meter.is_request_error();
    if is_success && meter.error().is_some() && !is_request_error {
        AnswerState::Faulty
    } else if meter.is_complete() {
        AnswerState::Complete
    } else {
        AnswerState::Partial
    }
}

/// Finishes a request as interrupted by the agent when it is dropped, if nothing else has finished it.
#[derive(Debug)]
pub(crate) struct RequestGuard {
    pub(crate) request: InFlightRequest,
    /// Returned when the request has finished.
    permits: Vec<OwnedSemaphorePermit>,
}

impl RequestGuard {
    /// Keeps a permit as long as the request is in flight.
    pub(crate) fn keep(&mut self, permit: Option<OwnedSemaphorePermit>) {
        self.permits.extend(permit);
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.request.finish(Some(Termination::Agent));
    }
}
