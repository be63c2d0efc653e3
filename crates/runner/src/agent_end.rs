//! Why the call of an agent ended: the first of a budget, the container's limits, and what the harness reports.

use gateway::{EndedBy, EndpointFault, FaultTreatment, Scope, StopReason};
use model::EndReason;

use crate::agent::AgentCall;
use crate::dropped_attempt::Unrecorded;
use crate::record::{Exception, MESSAGE, exception};

/// Why an agent's call did not end well; empty if it did.
pub(crate) struct AgentEnd {
    pub(crate) reason: Option<EndReason>,
    pub(crate) exception: Option<Exception>,
}

/// Why the agent's call ended, by what ended it and what the harness reports. The error is a fault of the endpoint or the
/// container. `may_retry`: the attempt can be retried, so an end that an agent could cause at will is excused. Some faults wait for
/// the tests ([`fault_unless_passed`]).
pub(crate) fn agent_end(
    called: &AgentCall,
    budget: Option<&StopReason>,
    wall_seconds: u64,
    may_retry: bool,
) -> Result<AgentEnd, Unrecorded> {
    let exit = called.end.exit;
    let outcome = &called.outcome;
    let message = outcome.message.as_deref().unwrap_or_default();
    let end_of = |reason, kind: &str, message: &str| AgentEnd {
        reason: Some(reason),
        exception: Some(exception(kind, message)),
    };
    let judged_at_once = called.blamed.as_ref().filter(|fault| !awaits_tests(called, fault));
    if let Some(fault) = judged_at_once.and_then(|fault| excused(called, fault, may_retry)) {
        return Err(fault);
    }
    if let Some(over @ StopReason::Budget { .. }) = budget {
        return Ok(budget_spent(over));
    }
    if exit.timed_out && outcome.end == Some(EndReason::Endpoint) && called.summary.is_none() {
        return Err(Unrecorded::Endpoint(message.to_owned()));
    }
    if called.ran_out_of_time() {
        let limit = format!("the wall limit of {wall_seconds} s ended it");
        return Ok(end_of(EndReason::AgentTimeout, "AgentTimeout", &limit));
    }
    if exit.disk_full {
        return Ok(end_of(
            EndReason::AgentError,
            "DiskLimit",
            "the disk limit of the container ended it; its changes were undone",
        ));
    }
    if exit.code.is_none() && !exit.stopped && !exit.timed_out {
        return Err(Unrecorded::Containers {
            cause: "the agent's container was lost".to_owned(),
            is_gone: false,
        });
    }
    if exit.out_of_memory && outcome.end == Some(EndReason::AgentError) {
        return Ok(end_of(
            EndReason::AgentError,
            "MemoryLimit",
            "the memory limit of the container ended it",
        ));
    }
    let overflow = called.summary.as_ref().and_then(|recorded| match &recorded.stop_reason {
        Some(StopReason::ContextOverflow { message }) => Some(message),
        _ => None,
    });
    if let (Some(message), Some(_)) = (overflow, outcome.end) {
        return Ok(end_of(EndReason::ContextOverflow, "ContextOverflow", message));
    }
    match outcome.end {
        None => Ok(AgentEnd { reason: None, exception: None }),
        Some(EndReason::Endpoint) if called.summary.is_none() => {
            Err(Unrecorded::Endpoint(message.to_owned()))
        }
        // Its harness could not be started. A retry would fail too.
        Some(EndReason::Environment) => Err(Unrecorded::Refused(message.to_owned())),
        // The gateway saw no fault and the endpoint answers, so the end is attributed to the agent.
        Some(EndReason::Endpoint) => Ok(end_of(EndReason::AgentError, "AgentError", message)),
        Some(reason) => {
            Ok(AgentEnd { reason: Some(reason), exception: Some(exception(reason.as_str(), message)) })
        }
    }
}

/// Whether a fault counts only where the tests do not pass: a harness that reports success may have finished its work before, and
/// so may one that ended by itself on a fault that is not the endpoint's for certain. A run without an answer needs no tests: no
/// agent has worked.
fn awaits_tests(called: &AgentCall, fault: &EndpointFault) -> bool {
    let is_answered = !matches!(fault.treatment, FaultTreatment::RunUnanswered { .. });
    let exit = called.end.exit;
    let may_have_finished = match called.ended_by() {
        Some(EndedBy::Finished) => true,
        Some(EndedBy::HarnessExit | EndedBy::HarnessReport) => {
            fault.treatment == FaultTreatment::RetriedThenAgent && exit.code.is_some() && !exit.disk_full
        }
        _ => false,
    };
    is_answered && may_have_finished
}

/// The fault of the endpoint on which a harness ended that may have finished its work. It counts where the tests do not pass.
pub(crate) fn fault_unless_passed(called: &AgentCall) -> Option<&EndpointFault> {
    called.blamed.as_ref().filter(|fault| awaits_tests(called, fault))
}

/// The fault that excuses a call; `None` if the call is not excused.
pub(crate) fn excused(called: &AgentCall, fault: &EndpointFault, may_retry: bool) -> Option<Unrecorded> {
    let cause = fault.reason.clone();
    match fault.treatment {
        FaultTreatment::Censored => Some(Unrecorded::Endpoint(cause)),
        FaultTreatment::RetriedThenAgent => may_retry.then_some(Unrecorded::Endpoint(cause)),
        FaultTreatment::RunUnanswered { was_asked } => {
            let message = called.outcome.message.as_deref().map(|message| model::one_line(message, MESSAGE));
            let message = message
                .filter(|message| !message.is_empty())
                .or_else(|| (!was_asked).then(|| silent_end(called)));
            Some(Unrecorded::Unanswered { cause, message, is_unasked: !was_asked })
        }
    }
}

/// How a harness ended that printed no message.
fn silent_end(called: &AgentCall) -> String {
    match called.end.exit.code {
        Some(code) => format!("exit code {code}, without a message"),
        None => "no exit code and no message".to_owned(),
    }
}

/// The end by a budget. The budget of an attempt is part of the task, so an agent that used it up has failed. The budgets of
/// an episode and the run only limit the observation, and are not attributed to the agent.
pub(crate) fn budget_spent(stop_reason: &StopReason) -> AgentEnd {
    let (reason, message) = match stop_reason {
        StopReason::Budget { scope, limit } => {
            let (reason, owner) = match scope {
                Scope::Attempt => (EndReason::AttemptBudget, "attempt"),
                Scope::Episode => (EndReason::Budget, "episode"),
                Scope::Run => (EndReason::Budget, "run"),
            };
            (reason, format!("the {owner}'s budget of {limit} is spent"))
        }
        StopReason::Endpoint { message } | StopReason::ContextOverflow { message } => {
            (EndReason::Budget, message.clone())
        }
    };
    AgentEnd { reason: Some(reason), exception: Some(exception("Budget", &message)) }
}

/// Checks that the agent reached the gateway, while no call of the episode has worked yet. On a bridge a firewall may block
/// it, and then the agent had no model.
pub(crate) fn check_reached_gateway(called: &AgentCall) -> Result<(), Unrecorded> {
    let silent = called.summary.as_ref().is_some_and(|recorded| recorded.records.is_empty());
    if !silent || called.outcome.end != Some(EndReason::Endpoint) {
        return Ok(());
    }
    let message = called.outcome.message.as_deref().unwrap_or_default();
    Err(Unrecorded::Containers {
        cause: format!("no request of the agent has reached the gateway: {message}"),
        is_gone: false,
    })
}

/// The end of an attempt that is given up because of something outside.
pub(crate) fn end_from_outside(reason: EndReason, message: &str) -> AgentEnd {
    let kind = if reason == EndReason::Endpoint { "EndpointError" } else { "EnvironmentError" };
    AgentEnd { reason: Some(reason), exception: Some(exception(kind, message)) }
}

#[cfg(test)]
mod tests {
    use harness::Outcome;

    use super::*;

    fn budget(scope: Scope, limit: &str) -> StopReason {
        StopReason::Budget { scope, limit: limit.to_owned() }
    }

    #[test]
    fn time_that_the_endpoint_took_is_attributed_to_the_endpoint() {
        let budget_end = budget(Scope::Attempt, "seconds");
        let waited = called(EndReason::AgentTimeout, false, Some("429"), false);
        assert!(
            matches!(agent_end(&waited, Some(&budget_end), 60, true), Err(Unrecorded::Endpoint(cause)) if cause == "429")
        );
        let worked = called(EndReason::AgentTimeout, false, None, false);
        assert_eq!(
            agent_end(&worked, Some(&budget_end), 60, true).unwrap().reason,
            Some(EndReason::AttemptBudget)
        );
    }

    /// A harness that ends itself a little before the limit does not say why it was late.
    #[test]
    fn a_harness_that_stops_at_its_own_time_limit_has_timed_out() {
        assert!(called(EndReason::AgentTimeout, false, None, false).ran_out_of_time());
        assert!(called(EndReason::AgentError, true, None, false).ran_out_of_time());
        assert!(!called(EndReason::AgentError, false, None, false).ran_out_of_time());
        assert!(!called(EndReason::GaveUp, true, None, false).ran_out_of_time());
    }

    #[test]
    fn a_harness_that_cannot_be_started_is_not_attributed_to_the_agent() {
        let unstarted = called(EndReason::Environment, false, None, false);
        assert!(matches!(agent_end(&unstarted, None, 60, true), Err(Unrecorded::Refused(_))));
    }

    #[test]
    fn an_unreachable_gateway_is_not_attributed_to_the_agent() {
        let mut unreached = called(EndReason::Endpoint, false, None, false);
        assert!(check_reached_gateway(&unreached).is_ok(), "it was asked");
        unreached.summary = Some(gateway::AttemptSummary::default());
        assert!(matches!(
            check_reached_gateway(&unreached),
            Err(Unrecorded::Containers { is_gone: false, .. })
        ));
        unreached.outcome.end = Some(EndReason::GaveUp);
        assert!(check_reached_gateway(&unreached).is_ok(), "it gave up by itself");
        assert!(
            check_reached_gateway(&called(EndReason::Endpoint, false, None, true)).is_ok(),
            "there is no gateway"
        );
    }

    #[test]
    fn an_earlier_out_of_memory_of_a_child_does_not_hide_the_end_reason() {
        for (end, expected) in [(EndReason::NoChange, "no_change"), (EndReason::AgentError, "MemoryLimit")] {
            let mut ended = called(end, false, None, false);
            ended.end.exit.out_of_memory = true;
            let ended = agent_end(&ended, None, 60, true).unwrap();
            assert_eq!(ended.exception.unwrap().kind, expected);
        }
    }

    fn fault(reason: &str, treatment: FaultTreatment) -> EndpointFault {
        EndpointFault { reason: reason.to_owned(), treatment }
    }

    /// An agent can ask for a very long answer.
    #[test]
    fn an_end_that_an_agent_can_cause_is_excused_only_while_the_attempt_can_be_retried() {
        let mut ended = called(EndReason::AgentTimeout, true, None, false);
        ended.blamed = Some(fault("sent nothing for 40 s", FaultTreatment::RetriedThenAgent));
        assert!(
            matches!(agent_end(&ended, None, 60, true), Err(Unrecorded::Endpoint(cause)) if cause.starts_with("sent"))
        );
        assert_eq!(fault_unless_passed(&ended), None, "its limit ended it in the middle of its work");
        assert_eq!(agent_end(&ended, None, 60, false).unwrap().reason, Some(EndReason::AgentTimeout));
        ended.blamed = Some(fault("broke off", FaultTreatment::Censored));
        assert!(matches!(agent_end(&ended, None, 60, false), Err(Unrecorded::Endpoint(_))));
    }

    /// Its tests come first: an attempt that passes is passed.
    #[test]
    fn a_fault_on_which_a_harness_ended_that_may_have_finished_waits_for_the_tests() {
        let mut ended = called(EndReason::AgentError, false, None, false);
        for treatment in [FaultTreatment::RetriedThenAgent, FaultTreatment::Censored] {
            ended.outcome.end = None;
            ended.blamed = Some(fault("broke off", treatment));
            assert_eq!(agent_end(&ended, None, 60, true).unwrap().reason, None, "{treatment:?}");
            assert_eq!(fault_unless_passed(&ended), ended.blamed.as_ref(), "{treatment:?}");
        }
        // One that reports a failure is judged at once where the fault is the endpoint's for certain.
        for end in [EndReason::AgentError, EndReason::KilledItself, EndReason::Endpoint] {
            ended.outcome.end = Some(end);
            ended.blamed = Some(fault("broke off", FaultTreatment::Censored));
            assert!(matches!(agent_end(&ended, None, 60, true), Err(Unrecorded::Endpoint(_))));
            assert_eq!(fault_unless_passed(&ended), None, "{end:?}");
            ended.blamed = Some(fault("429", FaultTreatment::RetriedThenAgent));
            assert!(agent_end(&ended, None, 60, true).is_ok(), "{end:?}");
            let excuse = |may_retry| excused(&ended, ended.blamed.as_ref().unwrap(), may_retry);
            assert!(excuse(true).is_some() && excuse(false).is_none(), "an agent can end its harness");
            assert_eq!(fault_unless_passed(&ended), ended.blamed.as_ref(), "{end:?}");
            // A container over its limit is not tested.
            ended.end.exit.disk_full = true;
            assert_eq!(fault_unless_passed(&ended), None, "{end:?}");
            ended.end.exit.disk_full = false;
        }
        ended.outcome.end = None;
        ended.blamed = Some(fault("it failed", FaultTreatment::RunUnanswered { was_asked: true }));
        assert!(matches!(agent_end(&ended, None, 60, true), Err(Unrecorded::Unanswered { .. })));
        assert_eq!(fault_unless_passed(&ended), None, "no agent has worked");
    }

    /// A harness that fails before its first request is not attributed to the endpoint, and has a message of its own.
    #[test]
    fn a_run_without_an_answer_reports_the_last_message_of_its_harness() {
        let mut ended = called(EndReason::AgentError, false, None, false);
        let mut message_of = |message: Option<&str>, was_asked| {
            ended.outcome.message = message.map(str::to_owned);
            ended.blamed = Some(fault("it failed", FaultTreatment::RunUnanswered { was_asked }));
            let Err(Unrecorded::Unanswered { cause, message, is_unasked }) =
                agent_end(&ended, None, 60, false)
            else {
                panic!("nothing is the agent's")
            };
            assert_eq!((cause.as_str(), is_unasked), ("it failed", !was_asked));
            message
        };
        let message = Some(" unknown option\n--modle ");
        for was_asked in [true, false] {
            assert_eq!(message_of(message, was_asked).as_deref(), Some("unknown option --modle"));
        }
        assert_eq!(message_of(None, true), None);
        assert_eq!(message_of(None, false).as_deref(), Some("exit code 1, without a message"));
    }

    /// Which ends the gateway judges, and as what.
    #[test]
    fn the_gateway_judges_every_end_that_the_endpoint_may_have_caused() {
        let end_of = |end: Option<EndReason>, stop_reason: Option<StopReason>| {
            let mut ended = called(EndReason::AgentError, false, None, false);
            (ended.outcome.end, ended.stop_reason) = (end, stop_reason);
            ended.ended_by()
        };
        let failed = Some(EndReason::AgentError);
        let overflow = Some(StopReason::ContextOverflow { message: "too long".to_owned() });
        assert_eq!(end_of(failed, overflow), Some(EndedBy::HarnessExit), "a later request may have failed");
        assert_eq!(end_of(failed, None), Some(EndedBy::HarnessExit));
        assert_eq!(end_of(Some(EndReason::Endpoint), None), Some(EndedBy::HarnessReport));
        for success in [None, Some(EndReason::NoChange), Some(EndReason::GaveUp)] {
            assert_eq!(end_of(success, None), Some(EndedBy::Finished), "{success:?}");
        }
        assert_eq!(end_of(Some(EndReason::Environment), None), None);
        let attempt = |limit| Some(budget(Scope::Attempt, limit));
        assert_eq!(end_of(failed, attempt("seconds")), Some(EndedBy::TimeLimit));
        assert_eq!(end_of(failed, attempt("tokens")), Some(EndedBy::Agent));
        assert_eq!(end_of(failed, Some(budget(Scope::Episode, "tokens"))), None);
        assert_eq!(end_of(failed, Some(StopReason::Endpoint { message: String::new() })), None);
        let mut limited = called(EndReason::AgentError, false, None, false);
        limited.end.exit.out_of_memory = true;
        assert_eq!(limited.ended_by(), Some(EndedBy::Agent));
        limited.end.exit = sandbox::ContainerEnd::default().exit;
        assert_eq!(limited.ended_by(), None, "its container is lost");
    }

    fn called(end: EndReason, timed_out: bool, blamed: Option<&str>, direct: bool) -> AgentCall {
        let record = serde_json::from_value(serde_json::json!({
            "episode": "scenario_0", "turn": 1, "attempt": 1, "at": "2026-01-01T00:00:00.000Z",
            "route": "POST /v1/chat/completions", "model": null, "tokens": {"input": 1, "cached": null, "output": 1},
            "cost_usd": null, "seconds": 1.0, "status": 200, "retries": 0, "faults": [], "cut": null, "unmetered": false,
            "probe": false, "number": 1
        }));
        let recorded =
            gateway::AttemptSummary { records: vec![record.unwrap()], ..gateway::AttemptSummary::default() };
        let mut called = AgentCall {
            end: sandbox::ContainerEnd::default(),
            outcome: Outcome { end: Some(end), message: Some("said".to_owned()), ..Outcome::default() },
            summary: (!direct).then_some(recorded),
            stop_reason: None,
            blamed: blamed.map(|reason| fault(reason, FaultTreatment::Censored)),
        };
        called.end.exit.code = Some(if timed_out { 124 } else { 1 });
        called.end.exit.timed_out = timed_out;
        called
    }

    #[test]
    fn an_end_that_the_endpoint_caused_is_not_attributed_to_the_agent() {
        for (end, timed_out, blamed, direct, expected) in [
            (EndReason::AgentTimeout, true, None, false, Ok(EndReason::AgentTimeout)),
            (EndReason::AgentTimeout, true, Some("429"), false, Err("429")),
            // Clients report this for many errors.
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
                (Err(Unrecorded::Endpoint(cause)), Err(message)) => assert_eq!(cause, message, "{shown}"),
                (Ok(end), Err(message)) => panic!("{shown}: {:?}, and not {message}", end.reason),
                (Err(fault), _) => panic!("{shown}: {fault:?}"),
            }
        }
    }
}
