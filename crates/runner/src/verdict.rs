//! Why the agent's side of an attempt ended: the first of a budget, the box's limits, what the harness says.

use gateway::{Over, Scope};
use model::EndReason;

use crate::agent::Called;
use crate::attempt::Fault;
use crate::record::{self, Exception};

/// Longest message that is kept of a failure.
const MESSAGE: usize = 2000;

/// How the agent's side ended, where it did not end well.
pub(crate) struct AgentEnd {
    pub(crate) reason: Option<EndReason>,
    pub(crate) exception: Option<Exception>,
}

/// Why the agent's call ended, by what ended it and what the harness says. A fault is none of the agent's.
pub(crate) fn agent_end(
    called: &Called,
    budget: Option<&Over>,
    wall_seconds: u64,
) -> Result<AgentEnd, Fault> {
    let exit = called.end.exit;
    let outcome = &called.outcome;
    let said = outcome.message.as_deref().unwrap_or_default();
    let of = |reason, kind: &str, message: &str| AgentEnd {
        reason: Some(reason),
        exception: Some(exception(kind, message)),
    };
    if let Some(over @ Over::Budget { .. }) = budget {
        return Ok(budget_spent(over));
    }
    if let Some(why) = &called.blamed {
        return Err(Fault::Endpoint(why.clone()));
    }
    if exit.timed_out && outcome.end == Some(EndReason::Endpoint) && called.seen.is_none() {
        return Err(Fault::Endpoint(said.to_owned()));
    }
    if called.ran_out_of_time() {
        let limit = format!("the wall limit of {wall_seconds} s ended it");
        return Ok(of(EndReason::AgentTimeout, "AgentTimeout", &limit));
    }
    if exit.disk_full {
        return Ok(of(
            EndReason::AgentError,
            "DiskLimit",
            "the disk limit of the box ended it; its changes were undone",
        ));
    }
    if exit.code.is_none() && !exit.stopped && !exit.timed_out {
        return Err(Fault::Boxes { why: "the agent's box was lost".to_owned(), gone: false });
    }
    if exit.out_of_memory && outcome.end.is_some() {
        return Ok(of(EndReason::AgentError, "MemoryLimit", "the memory limit of the box ended it"));
    }
    let overflow = called.seen.as_ref().and_then(|seen| match &seen.over {
        Some(Over::ContextOverflow { message }) => Some(message),
        _ => None,
    });
    if let (Some(message), Some(_)) = (overflow, outcome.end) {
        return Ok(of(EndReason::ContextOverflow, "ContextOverflow", message));
    }
    match outcome.end {
        None => Ok(AgentEnd { reason: None, exception: None }),
        Some(EndReason::Endpoint) if called.seen.is_none() => Err(Fault::Endpoint(said.to_owned())),
        // The gateway saw no fault and the endpoint answers, so it was none of the endpoint's.
        Some(EndReason::Endpoint) => Ok(of(EndReason::AgentError, "AgentError", said)),
        Some(reason) => {
            Ok(AgentEnd { reason: Some(reason), exception: Some(exception(reason.as_str(), said)) })
        }
    }
}

/// The end by a budget. What one attempt may spend is part of the task, so an agent that used it up has failed at it; what an
/// episode or the run may spend says how long anybody looks on, and counts for nothing against the agent.
pub(crate) fn budget_spent(over: &Over) -> AgentEnd {
    let (reason, message) = match over {
        Over::Budget { scope, of } => {
            let (reason, whose) = match scope {
                Scope::Attempt => (EndReason::AttemptBudget, "attempt"),
                Scope::Episode => (EndReason::Budget, "episode"),
                Scope::Run => (EndReason::Budget, "run"),
            };
            (reason, format!("the {whose}'s budget of {of} is spent"))
        }
        Over::Endpoint { message } | Over::ContextOverflow { message } => {
            (EndReason::Budget, message.clone())
        }
    };
    AgentEnd { reason: Some(reason), exception: Some(exception("Budget", &message)) }
}

/// A failure as it is recorded.
pub(crate) fn exception(kind: &str, message: &str) -> Exception {
    Exception { kind: kind.to_owned(), message: record::one_line(message, MESSAGE) }
}

#[cfg(test)]
mod tests {
    use harness::Outcome;

    use super::*;

    fn called(end: EndReason, timed_out: bool, blamed: Option<&str>, direct: bool) -> Called {
        let mut called = Called {
            end: sandbox::BoxEnd::default(),
            outcome: Outcome { end: Some(end), message: Some("said".to_owned()), ..Outcome::default() },
            seen: (!direct).then(gateway::Seen::default),
            over: None,
            blamed: blamed.map(str::to_owned),
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
            match (agent_end(&called(end, timed_out, blamed, direct), None, 60), expected) {
                (Ok(end), Ok(reason)) => assert_eq!(end.reason, Some(reason), "{shown}"),
                (Err(Fault::Endpoint(why)), Err(said)) => assert_eq!(why, said, "{shown}"),
                (Ok(end), Err(said)) => panic!("{shown}: {:?}, and not {said}", end.reason),
                (Err(fault), _) => panic!("{shown}: {fault:?}"),
            }
        }
    }
}
