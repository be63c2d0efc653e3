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
    if let Some(Over::Budget { scope, of: what }) = budget {
        let scope = if *scope == Scope::Attempt { "attempt" } else { "episode" };
        return Ok(of(EndReason::Budget, "Budget", &format!("the {scope}'s budget of {what} is spent")));
    }
    // What the harness tells of a call that ran out of time is finer than that it did: it may have finished and only
    // not exited, or have lost itself in calls that can not be read.
    let told = match outcome.end {
        Some(EndReason::Endpoint) => called.seen.is_none(),
        end => {
            matches!(end, None | Some(EndReason::ToolCallFormat | EndReason::NoChange | EndReason::GaveUp))
        }
    };
    if exit.timed_out && !told {
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
        // The gateway saw no fault, so it was none of the endpoint's.
        Some(EndReason::Endpoint) => Ok(of(EndReason::AgentError, "AgentError", said)),
        Some(reason) => {
            Ok(AgentEnd { reason: Some(reason), exception: Some(exception(reason.as_str(), said)) })
        }
    }
}

/// A failure as it is recorded.
pub(crate) fn exception(kind: &str, message: &str) -> Exception {
    Exception { kind: kind.to_owned(), message: record::one_line(message, MESSAGE) }
}
