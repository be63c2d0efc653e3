//! The decision table: what happened, which try, what the probe answered → what happens next, and whose fault it is.
//!
//! Every function here is pure. Facts come in, a decision goes out. Nothing here waits, asks the endpoint, or takes a lock:
//! `forward.rs`, `in_flight.rs` and `fault_attribution.rs` gather the facts and carry the decisions out. The rules are stated in
//! `docs/harnesses.md`, *Whose fault an error is*; the tests name the sentence of each row.
//!
//! An attempt that ends as the endpoint's is *censored*: it does not count against the agent. So an agent that is about to fail
//! must not be able to cause that.

use axum::http::StatusCode;

use super::error_codes::is_owner_error;
use crate::overflow;
use crate::record::Termination;

/// To whom a fault is attributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultOwner {
    /// The time that it takes is lost to the endpoint.
    Endpoint,
    /// It changes nothing for the agent.
    Agent,
}

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Send a probe, then decide again.
    Probe,
    /// Send the request once more after a wait.
    Retry(FaultOwner),
    /// Pass on to the agent what came, or an error that describes it.
    PassOn(FaultOwner),
    /// End the attempt and attribute that to the endpoint.
    EndAsEndpoint,
    /// The end of the attempt is attributed to the agent.
    EndAsAgent,
    /// The end of the attempt is attributed to the endpoint while the attempt may be retried, and then to the agent: an agent
    /// could cause it at will.
    RetryAttempt,
}

/// Which API a request uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    /// One that the harness speaks.
    Harness,
    /// Another one that costs something: the harness does not need it.
    Other,
    /// One that costs nothing: a list of models, a count of tokens.
    Free,
}

/// What a probe answered: a small request of the gateway, with the key and the model of the run and nothing of the agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProbeAnswer {
    /// No probe was sent.
    NotSent,
    /// The endpoint answered it.
    Answered,
    /// The endpoint refused it with an error for the owner of the key or the settings.
    Refused,
    /// The endpoint has another fault, or stayed silent.
    Failed,
}

/// What the status and the body of an error answer mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorClass {
    /// The request was invalid, or no retry applies: the agent receives the answer.
    Request,
    /// The context is too long: the agent receives the answer.
    ContextOverflow,
    /// Only the owner of the key or the settings can fix it.
    Refusal,
    /// It passes: rate limits, overload, errors of the server.
    Transient,
}

/// Classifies an error answer.
pub(crate) fn classify_error(api: Api, status: StatusCode, body: &str) -> ErrorClass {
    match (api, status.as_u16()) {
        (Api::Harness | Api::Other, 413) => ErrorClass::ContextOverflow,
        (_, 400 | 413 | 422 | 500..=503) if overflow::is_reported(body) => ErrorClass::ContextOverflow,
        (Api::Harness, _) if is_owner_error(status, body) => ErrorClass::Refusal,
        (Api::Harness | Api::Other, 408 | 409 | 425 | 429 | 500 | 502..=599) => ErrorClass::Transient,
        _ => ErrorClass::Request,
    }
}

/// What an error within an answer of status 200 means, before the agent received any of it. `is_request_error`: by its code,
/// the request was invalid. `is_metered`: the answer reports its usage, so it is worth passing on.
pub(crate) fn classify_reported_error(error: &str, is_request_error: bool, is_metered: bool) -> ErrorClass {
    if overflow::is_reported(error) {
        ErrorClass::ContextOverflow
    } else if is_request_error || is_metered {
        ErrorClass::Request
    } else {
        ErrorClass::Transient
    }
}

/// How a try of a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Refused with an error for the owner of the key or the settings.
    Refused,
    /// The same, after a probe was answered although an earlier try was refused.
    RefusedAgain,
    /// A fault that passes, a broken connection, or an answer that is unusable before the agent received any of it.
    Fault,
    /// The endpoint sent nothing for as long as the gateway waits.
    Silence,
}

/// Whether another try is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextTry {
    /// Tries are left.
    Allowed,
    /// This was the last one.
    NoneLeft,
    /// The endpoint asks for a longer wait than the gateway grants (`Retry-After` above ten minutes).
    WaitTooLong,
}

/// Decides what follows a failed try.
#[allow(clippy::match_same_arms, reason = "one arm per rule of the documentation")]
pub(crate) fn after_failed_try(api: Api, failure: Failure, next: NextTry, probe: ProbeAnswer) -> Decision {
    use Decision::{EndAsEndpoint, PassOn, Probe, Retry};
    use FaultOwner::{Agent, Endpoint};

    match (api, failure, probe, next) {
        // A list of models is no reason to end an attempt, nor to keep an agent waiting.
        (Api::Free, ..) => PassOn(Endpoint),

        // The agent may have asked for what is refused, or for an answer that takes this long.
        (_, Failure::Refused | Failure::RefusedAgain | Failure::Silence, ProbeAnswer::NotSent, _) => Probe,

        (_, Failure::Refused | Failure::RefusedAgain, ProbeAnswer::Refused, _) => EndAsEndpoint,
        // Keys and models have been refused by mistake: one more try, even after the last.
        (_, Failure::Refused, ProbeAnswer::Answered, _) => Retry(Agent),
        (_, Failure::RefusedAgain, ProbeAnswer::Answered, _) => PassOn(Agent),

        (_, Failure::Silence, ProbeAnswer::Answered, NextTry::Allowed) => Retry(Agent),
        // Every probe was answered. No attempt is censored for requests that take this long.
        (_, Failure::Silence, ProbeAnswer::Answered, _) => PassOn(Agent),

        (_, _, _, NextTry::Allowed) => Retry(Endpoint),
        (Api::Harness, _, _, NextTry::NoneLeft | NextTry::WaitTooLong) => EndAsEndpoint,
        // The harness does not need this API, so the attempt continues.
        (Api::Other, _, _, NextTry::NoneLeft | NextTry::WaitTooLong) => PassOn(Endpoint),
    }
}

/// How much of an answer has arrived, by what the answer itself states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerState {
    /// Something is missing.
    Partial,
    /// All of it.
    Complete,
    /// It reports an error that the request did not cause.
    Faulty,
}

/// Who ended an answer early. `ended_by` is what was observed.
pub(crate) fn termination(ended_by: Option<Termination>, answer: AnswerState) -> Option<Termination> {
    match (ended_by, answer) {
        (Some(Termination::Endpoint), _) | (_, AnswerState::Faulty) => Some(Termination::Endpoint),
        // Many clients hang up without reading the last bytes.
        (Some(Termination::Agent | Termination::Closed), AnswerState::Complete) => None,
        (ended_by, _) => ended_by,
    }
}

/// Whether the agent reads its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// It accepts what comes.
    Reading,
    /// It has let the endpoint wait, longer than [`crate::Retry::reads`].
    Stalled,
}

/// Who broke a connection that breaks in the middle of an answer. Endpoints close connections on which nobody reads.
pub(crate) fn connection_breaker(reader: Reader) -> Termination {
    match reader {
        Reader::Reading => Termination::Endpoint,
        Reader::Stalled => Termination::Agent,
    }
}

/// Decides what follows an answer that the endpoint broke off after the agent had received a part of it: `in_a_row` such
/// answers, of at most `most`.
pub(crate) fn after_broken_answer(in_a_row: u32, most: u32) -> Decision {
    if in_a_row >= most.max(1) { Decision::EndAsEndpoint } else { Decision::PassOn(FaultOwner::Endpoint) }
}

/// What ended an attempt that the gateway did not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedBy {
    /// Its limit of time.
    TimeLimit,
    /// Its harness, which reports that the endpoint failed. Clients give up earlier than the gateway does.
    HarnessReport,
    /// Its harness, which reports another failure. Each harness has words of its own for the same fault.
    HarnessExit,
    /// Its harness, which reports success. What the gateway saw then counts only where the tests do not pass.
    Finished,
    /// Its agent: it spent a budget of the attempt, or exceeded a limit of its container other than time.
    Agent,
}

/// Which answers of a model were complete when an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// No answer in the whole run.
    NoneInRun,
    /// No answer in this attempt: its agent has not acted.
    NoneInAttempt,
    /// One or more of this attempt.
    Some,
}

/// How much of its time an attempt lost to faults of the endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LostTime {
    /// A tenth of its limit or more.
    TenthOrMore,
    /// Less.
    Less,
}

/// The state of the last request when its attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastRequest {
    /// There was none.
    NotSent,
    /// It was answered, or another request was answered while it waited.
    Answered,
    /// It was answered with an error that the agent received.
    Refused,
    /// The endpoint broke its answer off, or reported an error in the middle of it.
    Broken,
    /// Unanswered: it was retried after a fault, or its client gave up after one.
    Faulted,
    /// Unanswered, and silent for a tenth of the limit or a minute, requests before it since the last answer included. The endpoint
    /// sent nothing to the harness in this attempt.
    SilentThroughout,
    /// The same for more than half of the limit, and the endpoint sent something before.
    SilentForMost,
    /// The same for a tenth of the limit or a minute.
    Silent,
    /// Unanswered, and silent for a shorter time.
    BrieflySilent,
}

/// Decides whose the end of an attempt is.
#[allow(clippy::match_same_arms, reason = "one arm per rule of the documentation")]
pub(crate) fn after_end(
    ended_by: EndedBy,
    answers: Answers,
    lost: LostTime,
    last: LastRequest,
    probe: ProbeAnswer,
) -> Decision {
    use Decision::{EndAsAgent, EndAsEndpoint, Probe, RetryAttempt};
    use EndedBy::{Agent, Finished, HarnessExit, TimeLimit};
    use LastRequest::{
        Answered, BrieflySilent, Broken, Faulted, NotSent, Refused, Silent, SilentForMost, SilentThroughout,
    };

    match (ended_by, answers, lost, last, probe) {
        // No model has ever said a word, so nothing is its agent's.
        (_, Answers::NoneInRun, ..) => EndAsEndpoint,
        (Agent, ..) => EndAsAgent,
        (TimeLimit, _, LostTime::TenthOrMore, _, _) => EndAsEndpoint,
        // It may be a request beside the work, such as one for a title.
        (Finished, Answers::Some, _, Broken, _) => RetryAttempt,
        // Whatever the harness calls it, and however often it tried.
        (_, _, _, Broken, _) => EndAsEndpoint,
        // The harness may have been ended while it waited.
        (HarnessExit | Finished, Answers::Some, _, Faulted, _) => RetryAttempt,
        (_, _, _, Faulted, _) => EndAsEndpoint,
        // The agent may keep a request open, or ask for a very long answer: also with the first request of an attempt, by what
        // it left in its workspace before. Some harnesses give a silent request up before the limit strikes.
        (_, _, _, Silent | SilentForMost | SilentThroughout, ProbeAnswer::NotSent) => Probe,
        (
            HarnessExit | Finished,
            Answers::Some,
            _,
            Silent | SilentForMost | SilentThroughout,
            ProbeAnswer::Refused | ProbeAnswer::Failed,
        ) => RetryAttempt,
        (_, _, _, Silent | SilentForMost | SilentThroughout, ProbeAnswer::Refused | ProbeAnswer::Failed) => {
            EndAsEndpoint
        }
        (_, _, _, SilentForMost | SilentThroughout, ProbeAnswer::Answered) => RetryAttempt,
        (_, _, _, Silent, ProbeAnswer::Answered) => EndAsAgent,
        (_, _, _, Answered | Refused | NotSent | BrieflySilent, _) => EndAsAgent,
    }
}

#[cfg(test)]
mod tests;
