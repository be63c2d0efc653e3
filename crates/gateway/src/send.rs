//! Sends a request to the endpoint until it answers, or until the decision table ends that.

use std::time::{Duration, SystemTime};

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use bytes::{Bytes, BytesMut};
use tokio::time::Instant;

use crate::attempt_state::AttemptState;
use crate::fault_attribution::table::{
    self, Decision, ErrorClass, Failure, FaultOwner, NextTry, ProbeAnswer,
};
use crate::in_flight::InFlightRequest;
use crate::record::StopReason;
use crate::refusal::Refusal;
use crate::request::{self, OutgoingRequest, RequestKind};
use crate::retry;
use crate::state::GatewayState;
use crate::text::{error_message, seconds};
use crate::upstream::{Reply, Source};
use crate::usage::{Meter, UNFINISHED_STREAM};

/// A plain answer up to this size is read whole before the agent receives it, so that one that breaks off can be retried.
const BUFFERED_ANSWER: usize = 8 << 20;
/// How long the beginning of a stream is held back while it has no content, so that one that breaks off can be retried. Clients
/// wait longer than that for the head of an answer.
const HOLD: Duration = Duration::from_secs(20);
/// Most bytes of an error answer that are read.
const LONGEST_ERROR: usize = 256 << 10;

/// An answer that is ready for the agent.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// What was read of it, without what is hidden from the agent.
    pub(crate) first: Bytes,
    /// Where the rest comes from.
    pub(crate) rest: Option<Source>,
}

/// A failed try.
struct FailedTry {
    failure: Failure,
    /// Status of the answer. 0 = no answer.
    status: u16,
    /// One line.
    message: String,
    /// The wait that the endpoint asks for.
    requested_wait: Option<Duration>,
    /// The error answer, for the case that it is the agent's own.
    answer: Option<Answer>,
}

impl FailedTry {
    fn fault(message: String) -> Self {
        Self { failure: Failure::Fault, status: 0, message, requested_wait: None, answer: None }
    }

    fn silence(message: String) -> Self {
        Self { failure: Failure::Silence, ..Self::fault(message) }
    }
}

/// Refuses a paid request of an attempt that is stopped.
pub(crate) fn refuse_if_stopped(
    gateway: &GatewayState,
    attempt: &AttemptState,
    kind: RequestKind,
) -> Result<(), Refusal> {
    match attempt.check_stop(&gateway.recorder) {
        Some(reason) if kind.is_paid() => Err(Refusal::stopped(&reason)),
        _ => Ok(()),
    }
}

/// Sends a request until it is answered, or until the decision table passes the failure on or ends the attempt.
pub(crate) async fn send_with_retries(
    request: &InFlightRequest,
    outgoing: &OutgoingRequest,
    hides_usage: bool,
) -> Result<Answer, Refusal> {
    let gateway = &*request.gateway;
    let mut tries = 0;
    // When the endpoint refused the request although it answered a probe.
    let mut refused_at: Option<Instant> = None;
    loop {
        // While this request waited, another one may have spent the budget, or ended the attempt.
        refuse_if_stopped(gateway, &request.attempt, outgoing.kind)?;
        tries += 1;
        request.start_try(tries);
        let mut failed = match send_once(request, outgoing, hides_usage).await {
            Ok(answer) => {
                request.set_answered();
                return Ok(answer);
            }
            Err(failed) => failed,
        };
        let failed_at = Instant::now();
        let message = gateway.scrub(&failed.message);
        request.fail_try(failed.status);
        if failed.failure == Failure::Refused && refused_at.is_some() {
            failed.failure = Failure::RefusedAgain;
        }
        let next = retry::next_try(&gateway.retry, tries, failed.requested_wait);
        let (decision, probe) = decide(request, &failed, next, refused_at).await;
        let reason = match (outgoing.kind, failed.failure, probe, next) {
            // Of a refusal that a probe confirms, neither tries nor waits matter.
            (RequestKind::Free, ..)
            | (_, Failure::Refused | Failure::RefusedAgain, ProbeAnswer::Refused, _)
            | (_, _, _, NextTry::Allowed) => message.clone(),
            (_, _, _, NextTry::WaitTooLong) => {
                format!("{message}; it asks for a wait of more than ten minutes")
            }
            (_, _, _, NextTry::NoneLeft) if tries == 1 => format!("{message} (1 try)"),
            (_, _, _, NextTry::NoneLeft) => format!("{message} ({tries} tries)"),
        };
        if matches!(
            decision,
            Decision::Retry(FaultOwner::Endpoint)
                | Decision::PassOn(FaultOwner::Endpoint)
                | Decision::EndAsEndpoint
        ) {
            request.add_fault(failed.status, &message);
        }
        let requested_wait = match decision {
            Decision::Retry(FaultOwner::Endpoint) => {
                request.show_waiting(failed.status, tries + 1);
                failed.requested_wait
            }
            Decision::Retry(FaultOwner::Agent) => {
                if failed.failure == Failure::Refused {
                    refused_at = Some(failed_at);
                }
                None
            }
            Decision::EndAsEndpoint => {
                let reason = StopReason::Endpoint { message: reason };
                request.attempt.stop(reason.clone());
                return Err(Refusal::stopped(&reason));
            }
            Decision::PassOn(FaultOwner::Agent) => {
                let Some(answer) = failed.answer else {
                    request.progress().ended_in_silence = true;
                    return Err(Refusal::new(StatusCode::GATEWAY_TIMEOUT, reason));
                };
                let mut progress = request.progress();
                progress.status = answer.status.as_u16();
                progress.error = Some(message);
                drop(progress);
                return Ok(answer);
            }
            Decision::PassOn(FaultOwner::Endpoint)
            | Decision::Probe
            | Decision::EndAsAgent
            | Decision::RetryAttempt => {
                return Err(Refusal::new(StatusCode::BAD_GATEWAY, reason));
            }
        };
        let wait = retry::wait(&gateway.retry, tries, request.seed(), requested_wait);
        tracing::debug!(%message, tries, ?wait, "the request is retried");
        tokio::time::sleep(wait).await;
    }
}

/// What the decision table says of a failed try, after a probe where it asks for one, and what the probe answered.
async fn decide(
    request: &InFlightRequest,
    failed: &FailedTry,
    next: NextTry,
    refused_at: Option<Instant>,
) -> (Decision, ProbeAnswer) {
    let GatewayState { faults, backend, recorder, .. } = &*request.gateway;
    let api = faults.api(request.kind);
    let decision = table::after_failed_try(api, failed.failure, next, ProbeAnswer::NotSent);
    if decision != Decision::Probe {
        return (decision, ProbeAnswer::NotSent);
    }
    let mut newer_than = None;
    if failed.failure != Failure::Silence {
        // The agent may hang up before the probe is answered. Until then the refusal is its own.
        request.clear_fault();
        newer_than = refused_at;
    }
    let (key, route) = (&request.attempt.key, request.kind.route());
    let probe = faults.probe_after_failure(backend, recorder, key, route, failed.status, newer_than).await;
    (table::after_failed_try(api, failed.failure, next, probe), probe)
}

async fn send_once(
    request: &InFlightRequest,
    outgoing: &OutgoingRequest,
    hides_usage: bool,
) -> Result<Answer, FailedTry> {
    let gateway = &*request.gateway;
    let silence = gateway.longest_silence();
    let sending = gateway.backend.send(outgoing, request.attempt.task.as_ref());
    match tokio::time::timeout(silence, sending).await {
        Ok(Ok(reply)) if reply.status.is_success() => read_answer(request, reply, hides_usage).await,
        Ok(Ok(reply)) => read_error(request, reply).await,
        Ok(Err(reason)) => Err(FailedTry::fault(reason)),
        Err(_) => Err(FailedTry::silence(format!("no answer for {}", seconds(silence)))),
    }
}

/// Reads an answer, or its beginning, before the agent receives any of it.
async fn read_answer(
    request: &InFlightRequest,
    mut reply: Reply,
    hides_usage: bool,
) -> Result<Answer, FailedTry> {
    let gateway = &*request.gateway;
    let events = is_event_stream(&reply.headers);
    let mut meter = Meter::new(request.kind.route(), events);
    if !request::is_plain(&reply.headers) {
        meter.set_unreadable();
    }
    // The bytes for the agent: all of them, or those without the usage that it did not ask for.
    let mut bytes = BytesMut::new();
    let mut visible = Vec::new();
    let mut rest = None;
    let mut hold_until: Option<Instant> = None;
    loop {
        let reading = next_piece(gateway, &mut reply.body);
        let piece = match hold_until {
            None => reading.await?,
            Some(until) => match tokio::time::timeout_at(until, reading).await {
                Ok(piece) => piece?,
                Err(_) => {
                    rest = Some(reply.body);
                    break;
                }
            },
        };
        match piece {
            Some(piece) => {
                request.progress().touch();
                meter.push(&piece, hides_usage.then_some(&mut visible));
                if !hides_usage {
                    bytes.extend_from_slice(&piece);
                }
                let is_ready = events && meter.is_past_its_beginning();
                if is_ready {
                    request.progress().first_content = Some(Instant::now());
                }
                if is_ready || bytes.len().max(visible.len()) > BUFFERED_ANSWER {
                    rest = Some(reply.body);
                    break;
                }
                if hold_until.is_none() && meter.has_events() {
                    hold_until = Some(Instant::now() + HOLD);
                }
            }
            None => {
                let end = meter.end();
                if hides_usage {
                    visible.extend_from_slice(&end);
                }
                break;
            }
        }
    }
    let first = if hides_usage { Bytes::from(visible) } else { bytes.freeze() };
    if request.kind.is_paid() && events && first.is_empty() && rest.is_none() {
        return Err(FailedTry::fault("the endpoint sent an empty stream".to_owned()));
    }
    if rest.is_none() && meter.breaks_off() {
        return Err(FailedTry::fault(UNFINISHED_STREAM.to_owned()));
    }
    if let Some(flaw) = meter.flaw() {
        return Err(FailedTry::fault(flaw.to_owned()));
    }
    let mut overflow = None;
    if let Some(error) = meter.error() {
        let is_metered = meter.tally().is_complete();
        match table::classify_reported_error(error, meter.is_request_error(), is_metered) {
            ErrorClass::ContextOverflow => overflow = Some(gateway.scrub(error)),
            ErrorClass::Request => {}
            ErrorClass::Transient | ErrorClass::Refusal => {
                return Err(FailedTry::fault(format!("the endpoint sent an error: {error}")));
            }
        }
    }
    let mut progress = request.progress();
    progress.status = reply.status.as_u16();
    progress.simulated_tokens = reply.simulated_tokens;
    progress.overflow = overflow;
    progress.meter = request.kind.is_paid().then_some(meter);
    drop(progress);
    Ok(Answer { status: reply.status, headers: reply.headers, first, rest })
}

/// Reads an error answer and classifies it.
async fn read_error(request: &InFlightRequest, mut reply: Reply) -> Result<Answer, FailedTry> {
    let gateway = &*request.gateway;
    request.progress().touch();
    let mut bytes = BytesMut::new();
    // The status counts, also where its body breaks off.
    while let Ok(Some(piece)) = next_piece(gateway, &mut reply.body).await {
        bytes.extend_from_slice(&piece);
        if bytes.len() > LONGEST_ERROR {
            bytes.truncate(LONGEST_ERROR);
            break;
        }
    }
    let text = gateway.backend.scrub(&String::from_utf8_lossy(&bytes));
    let status = reply.status.as_u16();
    let message = error_message(&text);
    let class = table::classify_error(gateway.faults.api(request.kind), reply.status, &text);
    let requested_wait = retry::requested_wait(&reply.headers, SystemTime::now());
    let answer = Answer { status: reply.status, headers: reply.headers, first: text.into(), rest: None };
    let failure = match class {
        ErrorClass::Refusal => Failure::Refused,
        ErrorClass::Transient => Failure::Fault,
        ErrorClass::Request | ErrorClass::ContextOverflow => {
            let shown = gateway.scrub(&format!("{}: {message}", reply.status));
            let mut progress = request.progress();
            progress.status = status;
            progress.error = Some(shown.clone());
            progress.overflow = (class == ErrorClass::ContextOverflow).then_some(shown);
            drop(progress);
            return Ok(answer);
        }
    };
    let message =
        if message.is_empty() { reply.status.to_string() } else { format!("{}: {message}", reply.status) };
    let answer = (failure == Failure::Refused).then_some(answer);
    Err(FailedTry { failure, status, message, requested_wait, answer })
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}

async fn next_piece(gateway: &GatewayState, source: &mut Source) -> Result<Option<Bytes>, FailedTry> {
    let silence = gateway.longest_silence();
    match tokio::time::timeout(silence, source.next()).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(reason)) => Err(FailedTry::fault(reason)),
        Err(_) => Err(FailedTry::silence(format!("the endpoint sent nothing for {}", seconds(silence)))),
    }
}
