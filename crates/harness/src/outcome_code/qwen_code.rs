//! Qwen Code: chat completions, the notation of Claude Code on standard output, and a session id that the caller chooses.
//!
//! Its `result.usage` counts the whole resumed session, so the usage is the sum over the answers of this call. It stops
//! after five equal calls in a row ("Loop detection halted the run").

use model::EndReason;

use crate::call_end::{Signs, decide, fault};
use crate::lines::text_at;
use crate::readers::stream::{self, Input};
use crate::shell::is_id;
use crate::{Call, CommandEnd, Outcome};

/// The outcome of a call.
pub(super) fn outcome(call: &Call<'_>, ended: &CommandEnd<'_>) -> Outcome {
    let read = stream::read(ended.stdout, Input::WithCached);
    let mut signs = Signs::default();
    if let Some(result) = &read.result {
        let failed = result.get("is_error").and_then(serde_json::Value::as_bool) != Some(false)
            || text_at(result, &["subtype"]) != Some("success");
        if failed {
            let message = text_at(result, &["error", "message"])
                .or_else(|| text_at(result, &["subtype"]))
                .unwrap_or("the result says that it failed");
            signs.failed(fault(None, message), message);
        } else {
            signs.finished = true;
        }
    } else if matches!(ended.exit.code, Some(53 | 55)) {
        signs.failed(EndReason::AgentError, "a limit of Qwen Code ended it");
    }
    let used = call.session.and_then(|s| s.id.as_deref()).unwrap_or(call.session_id);
    let id = read.session.filter(|id| is_id(id)).unwrap_or_else(|| used.to_owned());
    // If the first call never started its session, there is none to resume.
    let begun = call.session.is_some_and(|s| s.id.is_some()) || read.begun;
    let session = crate::next_session(call.session, begun.then_some(id));
    let usage = read.record.tokens();
    let (end, message) = decide(ended, &read.record, signs);
    Outcome { session: Some(session), steps: read.record.into_steps(), usage, cost_usd: None, end, message }
}
