//! Claude Code: the messages API, stream-json on standard output, and a session id that the caller chooses.
//!
//! `result.usage` counts this call, `total_cost_usd` the whole session. For unknown models it invents a cost and marks it
//! (`costBasis`: `unknown`). After SIGINT it exits with code 0. It refuses to run as root.

use model::{EndReason, Tokens};
use serde_json::Value;

use crate::call_end::{Signs, decide, fault};
use crate::lines::{count_at, message_text, text_at};
use crate::readers::stream::{self, Input};
use crate::shell::is_id;
use crate::{Call, CommandEnd, Outcome};

/// The outcome of a call.
pub(super) fn outcome(call: &Call<'_>, ended: &CommandEnd<'_>) -> Outcome {
    let read = stream::read(ended.stdout, Input::WithoutCached);
    let mut signs = Signs::default();
    let mut usage = read.record.tokens();
    let mut cost_usd = None;
    if let Some(result) = &read.result {
        usage = result.get("usage").map_or(usage, result_usage);
        cost_usd = cost(result);
        let is_error = result.get("is_error").and_then(Value::as_bool) != Some(false);
        if !is_error && text_at(result, &["subtype"]) == Some("success") {
            signs.finished = true;
        } else {
            let message = text_at(result, &["result"])
                .map(str::to_owned)
                .or_else(|| result.get("errors").map(message_text))
                .filter(|text| !text.is_empty())
                .unwrap_or_else(|| text_at(result, &["subtype"]).unwrap_or("is_error").to_owned());
            let reason = match text_at(result, &["terminal_reason"]) {
                Some("prompt_too_long") => EndReason::ContextOverflow,
                Some("aborted_streaming" | "aborted_tools" | "aborted") => EndReason::KilledItself,
                Some("max_turns") => EndReason::AgentError,
                _ => fault(count_at(result, &["api_error_status"]), &message),
            };
            signs.failed(reason, &message);
        }
    }
    let begun = call.session.is_some_and(|s| s.id.is_some()) || read.begun;
    let used = call.session.and_then(|s| s.id.as_deref()).unwrap_or(call.session_id);
    let id = read.session.filter(|id| is_id(id)).unwrap_or_else(|| used.to_owned());
    let session = crate::next_session(call.session, begun.then_some(id));
    let (end, message) = decide(ended, &read.record, signs);
    Outcome { session: Some(session), steps: read.record.into_steps(), usage, cost_usd, end, message }
}

/// `result.usage`. Zeros mean that no request got an answer, or that no answer told its usage.
fn result_usage(usage: &Value) -> Tokens {
    let count = |key| count_at(usage, &[key]);
    let cached = count("cache_read_input_tokens");
    let cached_input = cached.unwrap_or(0).saturating_add(count("cache_creation_input_tokens").unwrap_or(0));
    Tokens {
        input: count("input_tokens").map(|n| n.saturating_add(cached_input)),
        cached,
        output: count("output_tokens"),
    }
}

/// The cost of this call, if Claude Code knows the price of each model.
fn cost(result: &Value) -> Option<f64> {
    let models = result.get("model_usage_since_last_result")?.as_object()?;
    let mut sum = None;
    for model in models.values() {
        if text_at(model, &["costBasis"]) == Some("unknown") {
            return None;
        }
        *sum.get_or_insert(0.0) += model.get("costUSD")?.as_f64()?;
    }
    sum.filter(|c: &f64| c.is_finite() && *c >= 0.0)
}
