//! `claude-stream-json`: the notation of `claude --output-format stream-json`, which Qwen Code writes as well.
//!
//! It has lines `system`, `assistant`, `user` (results of tools), `stream_event` and one `result`. One answer of the model
//! is several `assistant` lines. Claude Code repeats the id of the message and its usage in each. Qwen Code gives each line
//! its own id, and usage 0 to all except the last.

use model::Tokens;
use serde_json::Value;

use crate::lines::{count_at, message_text, objects, text_at};
use crate::record::Record;

/// What `input_tokens` includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// The whole prompt (Qwen Code).
    WithCached,
    /// The part that was neither read from a cache nor written to it (Anthropic, Claude Code).
    WithoutCached,
}

/// The result of reading.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// The steps.
    pub(crate) record: Record,
    /// `session_id`.
    pub(crate) session: Option<String>,
    /// Whether the session was started: a line of type `system` or later was printed.
    pub(crate) begun: bool,
    /// The last line of type `result`.
    pub(crate) result: Option<Value>,
}

/// Reads standard output.
pub(crate) fn read(stdout: &[u8], input: Input) -> Stream {
    let mut stream = Stream::default();
    // The current message, and whether a tool answered after it.
    let (mut current, mut answered) = (None::<String>, true);
    for line in objects(stdout) {
        if let Some(session) = text_at(&line, &["session_id"]) {
            stream.session = Some(session.to_owned());
            stream.begun = true;
        }
        let record = &mut stream.record;
        match text_at(&line, &["type"]) {
            Some("assistant") => {
                let message = line.get("message").unwrap_or(&Value::Null);
                let parts = message.get("content").unwrap_or(&Value::Null);
                let words = message_text(parts);
                // A message of the harness about a failed request, printed as one of the agent.
                if text_at(message, &["model"]) == Some("<synthetic>") || words.starts_with("[API Error: ") {
                    record.add_system_message(&words);
                    answered = true;
                    continue;
                }
                let id = text_at(message, &["id"]).map(str::to_owned);
                let usage = usage_of(message.get("usage").unwrap_or(&Value::Null), input);
                let same = current.is_some() && current == id;
                if answered || !(same || record.is_without_tokens()) {
                    record.agent(text_at(&line, &["timestamp"]).map(str::to_owned));
                }
                content(record, parts);
                if !same && usage != Tokens::default() {
                    let output = usage.output.filter(|_| input == Input::WithCached);
                    record.spent(Tokens { output, ..usage }, None);
                }
                (current, answered) = (id, false);
            }
            Some("user") => {
                let parts = line.get("message").and_then(|m| m.get("content")).and_then(Value::as_array);
                for part in parts.into_iter().flatten() {
                    if text_at(part, &["type"]) == Some("tool_result") {
                        let text = part.get("content").map(message_text).unwrap_or_default();
                        let is_error = part.get("is_error").and_then(Value::as_bool);
                        record.result(text_at(part, &["tool_use_id"]), &text, is_error);
                        answered = true;
                    }
                }
            }
            Some("result") => stream.result = Some(line),
            _ => {}
        }
    }
    stream
}

fn content(record: &mut Record, parts: &Value) {
    let Value::Array(parts) = parts else { return record.add_text(&message_text(parts)) };
    for part in parts {
        match text_at(part, &["type"]) {
            Some("tool_use") => {
                let input = part.get("input").unwrap_or(&Value::Null);
                record.call(text_at(part, &["id"]), text_at(part, &["name"]).unwrap_or_default(), input);
                // The form in which Claude Code records arguments that are not JSON.
                if input.get("__unparsedToolInput").is_some() {
                    record.malformed();
                }
            }
            Some("thinking") => record.add_reasoning(text_at(part, &["thinking"]).unwrap_or_default()),
            _ => record.add_text(&message_text(part)),
        }
    }
}

/// Tokens of a `usage`. All zeros are unknown: both programs write them when they do not know the usage yet.
pub(crate) fn usage_of(usage: &Value, input: Input) -> Tokens {
    let count = |key| count_at(usage, &[key]);
    let (fresh, cached, output) =
        (count("input_tokens"), count("cache_read_input_tokens"), count("output_tokens"));
    if fresh.unwrap_or(0) == 0 && cached.unwrap_or(0) == 0 && output.unwrap_or(0) == 0 {
        return Tokens::default();
    }
    let cached_input = match input {
        Input::WithCached => 0,
        Input::WithoutCached => {
            cached.unwrap_or(0).saturating_add(count("cache_creation_input_tokens").unwrap_or(0))
        }
    };
    Tokens { input: fresh.map(|n| n.saturating_add(cached_input)), cached, output }
}
