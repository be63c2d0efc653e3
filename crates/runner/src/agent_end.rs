//! Why the agent's side of an attempt ended: the first of a budget, the container's limits, what the harness says.

use gateway::{EndpointFault, Excuse, Scope, StopReason};
use model::EndReason;

use crate::agent::AgentCall;
use crate::attempt::Unrecorded;
use crate::record::{self, Exception};

/// Longest message that is kept of a failure.
const MESSAGE: usize = 2000;

/// How the agent's side ended, where it did not end well.
pub(crate) struct AgentEnd {
    pub(crate) reason: Option<EndReason>,
    pub(crate) exception: Option<Exception>,
}

/// Why the agent's call ended, by what ended it and what the harness says. A fault is attributed to the endpoint or the container.
/// `may_retry`: the attempt can be retried, so that an end is excused that an agent could cause at will.
pub(crate) fn agent_end(
    called: &AgentCall,
    budget: Option<&StopReason>,
    wall_seconds: u64,
    may_retry: bool,
) -> Result<AgentEnd, Unrecorded> {
    let exit = called.end.exit;
    let outcome = &called.outcome;
    let said = outcome.message.as_deref().unwrap_or_default();
    let of = |reason, kind: &str, message: &str| AgentEnd {
        reason: Some(reason),
        exception: Some(exception(kind, message)),
    };
    if let Some(fault) = called.blamed.as_ref().and_then(|fault| excused(called, fault, may_retry)) {
        return Err(fault);
    }
    if let Some(over @ StopReason::Budget { .. }) = budget {
        return Ok(budget_spent(over));
    }
    if exit.timed_out && outcome.end == Some(EndReason::Endpoint) && called.seen.is_none() {
        return Err(Unrecorded::Endpoint(said.to_owned()));
    }
    if called.ran_out_of_time() {
        let limit = format!("the wall limit of {wall_seconds} s ended it");
        return Ok(of(EndReason::AgentTimeout, "AgentTimeout", &limit));
    }
    if exit.disk_full {
        return Ok(of(
            EndReason::AgentError,
            "DiskLimit",
            "the disk limit of the container ended it; its changes were undone",
        ));
    }
    if exit.code.is_none() && !exit.stopped && !exit.timed_out {
        return Err(Unrecorded::Containers {
            why: "the agent's container was lost".to_owned(),
            is_gone: false,
        });
    }
    if exit.out_of_memory && outcome.end == Some(EndReason::AgentError) {
        return Ok(of(EndReason::AgentError, "MemoryLimit", "the memory limit of the container ended it"));
    }
    let overflow = called.seen.as_ref().and_then(|seen| match &seen.stop_reason {
        Some(StopReason::ContextOverflow { message }) => Some(message),
        _ => None,
    });
    if let (Some(message), Some(_)) = (overflow, outcome.end) {
        return Ok(of(EndReason::ContextOverflow, "ContextOverflow", message));
    }
    match outcome.end {
        None => Ok(AgentEnd { reason: None, exception: None }),
        Some(EndReason::Endpoint) if called.seen.is_none() => Err(Unrecorded::Endpoint(said.to_owned())),
        // Its harness could not be started. Another attempt would be no different.
        Some(EndReason::Environment) => Err(Unrecorded::Refused(said.to_owned())),
        // The gateway saw no fault and the endpoint answers, so it was none of the endpoint's.
        Some(EndReason::Endpoint) => Ok(of(EndReason::AgentError, "AgentError", said)),
        Some(reason) => {
            Ok(AgentEnd { reason: Some(reason), exception: Some(exception(reason.as_str(), said)) })
        }
    }
}

/// The fault that excuses a call, as far as it does.
fn excused(called: &AgentCall, fault: &EndpointFault, may_retry: bool) -> Option<Unrecorded> {
    let why = fault.reason.clone();
    match fault.excuse {
        Excuse::ForGood => Some(Unrecorded::Endpoint(why)),
        Excuse::Retried => may_retry.then_some(Unrecorded::Endpoint(why)),
        Excuse::RunUnanswered { was_asked } => {
            let said = called.outcome.message.as_deref().map(|said| record::one_line(said, MESSAGE));
            let said =
                said.filter(|said| !said.is_empty()).or_else(|| (!was_asked).then(|| silent_end(called)));
            Some(Unrecorded::Unanswered { why, said, is_unasked: !was_asked })
        }
    }
}

/// How a harness ended that said nothing.
fn silent_end(called: &AgentCall) -> String {
    match called.end.exit.code {
        Some(code) => format!("exit code {code}, without a message"),
        None => "no exit code and no message".to_owned(),
    }
}

/// The end by a budget. What one attempt may spend is part of the task, so an agent that used it up has failed at it; what an
/// episode or the run may spend says how long anybody looks on, and counts for nothing against the agent.
pub(crate) fn budget_spent(over: &StopReason) -> AgentEnd {
    let (reason, message) = match over {
        StopReason::Budget { scope, limit } => {
            let (reason, whose) = match scope {
                Scope::Attempt => (EndReason::AttemptBudget, "attempt"),
                Scope::Episode => (EndReason::Budget, "episode"),
                Scope::Run => (EndReason::Budget, "run"),
            };
            (reason, format!("the {whose}'s budget of {limit} is spent"))
        }
        StopReason::Endpoint { message } | StopReason::ContextOverflow { message } => {
            (EndReason::Budget, message.clone())
        }
    };
    AgentEnd { reason: Some(reason), exception: Some(exception("Budget", &message)) }
}

/// Whether there was a way to the gateway, as long as no call of the episode has worked: on a bridge there may be none (a
/// firewall), and a model that was never asked has done nothing.
pub(crate) fn reached(called: &AgentCall) -> Result<(), Unrecorded> {
    let silent = called.seen.as_ref().is_some_and(|seen| seen.records.is_empty());
    if !silent || called.outcome.end != Some(EndReason::Endpoint) {
        return Ok(());
    }
    let said = called.outcome.message.as_deref().unwrap_or_default();
    Err(Unrecorded::Containers {
        why: format!("no request of the agent has reached the gateway: {said}"),
        is_gone: false,
    })
}

/// A failure as it is recorded.
pub(crate) fn exception(kind: &str, message: &str) -> Exception {
    Exception { kind: kind.to_owned(), message: record::one_line(message, MESSAGE) }
}

/// The end by something outside, as often as it was tried.
pub(crate) fn given_up(reason: EndReason, why: &str) -> AgentEnd {
    let kind = if reason == EndReason::Endpoint { "EndpointError" } else { "EnvironmentError" };
    AgentEnd { reason: Some(reason), exception: Some(exception(kind, why)) }
}

#[cfg(test)]
mod tests {
    use harness::Outcome;

    use super::*;

    fn budget(scope: Scope, of: &str) -> StopReason {
        StopReason::Budget { scope, limit: of.to_owned() }
    }

    #[test]
    fn an_attempts_time_that_the_endpoint_took_is_not_the_agents() {
        let over = budget(Scope::Attempt, "seconds");
        let waited = called(EndReason::AgentTimeout, false, Some("429"), false);
        assert!(
            matches!(agent_end(&waited, Some(&over), 60, true), Err(Unrecorded::Endpoint(why)) if why == "429")
        );
        let worked = called(EndReason::AgentTimeout, false, None, false);
        assert_eq!(agent_end(&worked, Some(&over), 60, true).unwrap().reason, Some(EndReason::AttemptBudget));
    }

    /// A harness that ends itself a little before the limit does not say why it was late.
    #[test]
    fn a_harness_that_watches_the_time_itself_is_late_like_one_that_is_ended() {
        assert!(called(EndReason::AgentTimeout, false, None, false).ran_out_of_time());
        assert!(called(EndReason::AgentError, true, None, false).ran_out_of_time());
        assert!(!called(EndReason::AgentError, false, None, false).ran_out_of_time());
        assert!(!called(EndReason::GaveUp, true, None, false).ran_out_of_time());
    }

    #[test]
    fn what_nothing_could_have_done_better_is_not_the_agents() {
        let unstarted = called(EndReason::Environment, false, None, false);
        assert!(matches!(agent_end(&unstarted, None, 60, true), Err(Unrecorded::Refused(_))));
    }

    #[test]
    fn a_gateway_that_was_never_reached_is_not_the_agents() {
        let mut unreached = called(EndReason::Endpoint, false, None, false);
        assert!(reached(&unreached).is_ok(), "it was asked");
        unreached.seen = Some(gateway::AttemptSummary::default());
        assert!(matches!(reached(&unreached), Err(Unrecorded::Containers { is_gone: false, .. })));
        unreached.outcome.end = Some(EndReason::GaveUp);
        assert!(reached(&unreached).is_ok(), "it gave up by itself");
        assert!(reached(&called(EndReason::Endpoint, false, None, true)).is_ok(), "there is no gateway");
    }

    #[test]
    fn memory_that_a_child_used_up_long_before_does_not_hide_how_it_ended() {
        for (end, expected) in [(EndReason::NoChange, "no_change"), (EndReason::AgentError, "MemoryLimit")] {
            let mut ended = called(end, false, None, false);
            ended.end.exit.out_of_memory = true;
            let ended = agent_end(&ended, None, 60, true).unwrap();
            assert_eq!(ended.exception.unwrap().kind, expected);
        }
    }

    fn fault(reason: &str, excuse: Excuse) -> EndpointFault {
        EndpointFault { reason: reason.to_owned(), excuse }
    }

    /// An agent can end its harness while it waits for the endpoint.
    #[test]
    fn what_an_agent_can_cause_is_excused_only_while_the_attempt_can_be_retried() {
        let mut ended = called(EndReason::KilledItself, false, None, false);
        ended.blamed = Some(fault("429; no answer had come", Excuse::Retried));
        assert!(
            matches!(agent_end(&ended, None, 60, true), Err(Unrecorded::Endpoint(why)) if why.starts_with("429"))
        );
        assert_eq!(agent_end(&ended, None, 60, false).unwrap().reason, Some(EndReason::KilledItself));
        ended.blamed = Some(fault("broke off", Excuse::ForGood));
        assert!(matches!(agent_end(&ended, None, 60, false), Err(Unrecorded::Endpoint(_))));
    }

    /// A harness that breaks before its first request is not the endpoint's failure, and has words of its own.
    #[test]
    fn what_a_run_without_an_answer_came_to_is_told_in_the_words_of_whoever_was_asked() {
        let mut ended = called(EndReason::AgentError, false, None, false);
        let mut told = |message: Option<&str>, was_asked| {
            ended.outcome.message = message.map(str::to_owned);
            ended.blamed = Some(fault("it failed", Excuse::RunUnanswered { was_asked }));
            let Err(Unrecorded::Unanswered { why, said, is_unasked }) = agent_end(&ended, None, 60, false)
            else {
                panic!("nothing is the agent's")
            };
            assert_eq!((why.as_str(), is_unasked), ("it failed", !was_asked));
            said
        };
        let message = Some(" unknown option\n--modle ");
        for was_asked in [true, false] {
            assert_eq!(told(message, was_asked).as_deref(), Some("unknown option --modle"));
        }
        assert_eq!(told(None, true), None);
        assert_eq!(told(None, false).as_deref(), Some("exit code 1, without a message"));
    }

    /// What is asked of the gateway about an end, and about which ends it is asked.
    #[test]
    fn the_gateway_is_asked_about_every_end_that_may_be_the_endpoints() {
        use gateway::EndedBy;
        let of = |end: Option<EndReason>, over: Option<StopReason>| {
            let mut ended = called(EndReason::AgentError, false, None, false);
            (ended.outcome.end, ended.over) = (end, over);
            ended.ended_by()
        };
        let failed = Some(EndReason::AgentError);
        let overflow = Some(StopReason::ContextOverflow { message: "too long".to_owned() });
        assert_eq!(of(failed, overflow), Some(EndedBy::HarnessExit), "a later request may have failed");
        assert_eq!(of(failed, None), Some(EndedBy::HarnessExit));
        assert_eq!(of(Some(EndReason::Endpoint), None), Some(EndedBy::HarnessReport));
        assert_eq!(of(None, None), Some(EndedBy::Agent), "it finished");
        assert_eq!(of(Some(EndReason::Environment), None), None);
        let attempt = |limit| Some(budget(Scope::Attempt, limit));
        assert_eq!(of(failed, attempt("seconds")), Some(EndedBy::TimeLimit));
        assert_eq!(of(failed, attempt("tokens")), Some(EndedBy::Agent));
        assert_eq!(of(failed, Some(budget(Scope::Episode, "tokens"))), None);
        assert_eq!(of(failed, Some(StopReason::Endpoint { message: String::new() })), None);
        let mut limited = called(EndReason::AgentError, false, None, false);
        limited.end.exit.out_of_memory = true;
        assert_eq!(limited.ended_by(), Some(EndedBy::Agent));
        limited.end.exit = sandbox::ContainerEnd::default().exit;
        assert_eq!(limited.ended_by(), None, "its container is lost");
    }

    fn called(end: EndReason, timed_out: bool, blamed: Option<&str>, direct: bool) -> AgentCall {
        let asked = serde_json::from_value(serde_json::json!({
            "episode": "scenario_0", "turn": 1, "attempt": 1, "at": "2026-01-01T00:00:00.000Z",
            "route": "POST /v1/chat/completions", "model": null, "tokens": {"input": 1, "cached": null, "output": 1},
            "cost_usd": null, "seconds": 1.0, "status": 200, "retries": 0, "faults": [], "cut": null, "unmetered": false,
            "probe": false, "number": 1
        }));
        let seen =
            gateway::AttemptSummary { records: vec![asked.unwrap()], ..gateway::AttemptSummary::default() };
        let mut called = AgentCall {
            end: sandbox::ContainerEnd::default(),
            outcome: Outcome { end: Some(end), message: Some("said".to_owned()), ..Outcome::default() },
            seen: (!direct).then_some(seen),
            over: None,
            blamed: blamed.map(|why| fault(why, Excuse::ForGood)),
        };
        called.end.exit.code = Some(if timed_out { 124 } else { 1 });
        called.end.exit.timed_out = timed_out;
        called
    }

    #[test]
    fn an_end_that_the_endpoint_is_to_blame_for_is_none_of_the_agents() {
        for (end, timed_out, blamed, direct, expected) in [
            (EndReason::AgentTimeout, true, None, false, Ok(EndReason::AgentTimeout)),
            (EndReason::AgentTimeout, true, Some("429"), false, Err("429")),
            // Clients say so of whatever they do not like.
            (EndReason::Endpoint, true, None, false, Ok(EndReason::AgentTimeout)),
            (EndReason::Endpoint, true, Some("silent"), false, Err("silent")),
            (EndReason::Endpoint, false, None, false, Ok(EndReason::AgentError)),
            (EndReason::Endpoint, false, Some("silent"), false, Err("silent")),
            (EndReason::Endpoint, true, None, true, Err("said")),
            (EndReason::Endpoint, false, None, true, Err("said")),
            (EndReason::ToolCallFormat, true, None, false, Ok(EndReason::ToolCallFormat)),
        ] {
            let shown = format!("{end:?} {timed_out} {blamed:?} {direct}");
            match (agent_end(&called(end, timed_out, blamed, direct), None, 60, true), expected) {
                (Ok(end), Ok(reason)) => assert_eq!(end.reason, Some(reason), "{shown}"),
                (Err(Unrecorded::Endpoint(why)), Err(said)) => assert_eq!(why, said, "{shown}"),
                (Ok(end), Err(said)) => panic!("{shown}: {:?}, and not {said}", end.reason),
                (Err(fault), _) => panic!("{shown}: {fault:?}"),
            }
        }
    }
}
