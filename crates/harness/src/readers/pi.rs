//! `pi-jsonl`: the session file of pi and its `--mode json`. Both wrap messages: `{"type": "message", "message": {…}}` in the
//! file, and `"message_end"` in the output.
//!
//! The content of a message is a list of parts. Tool calls are parts (`toolCall`), and their results are messages of the role
//! `toolResult`.

use model::Tokens;
use serde_json::Value;

use crate::lines::{count_at, message_text, objects, text_at};
use crate::record::Record;

/// Reads JSON lines. Lines about parts of a message, tools and the session are ignored.
pub(crate) fn read(bytes: &[u8]) -> Record {
    let mut record = Record::default();
    for line in objects(bytes) {
        if matches!(text_at(&line, &["type"]), Some("message" | "message_end"))
            && let Some(message) = line.get("message")
        {
            read_message(&mut record, message, text_at(&line, &["timestamp"]));
        }
    }
    record
}

fn read_message(record: &mut Record, message: &Value, time: Option<&str>) {
    match text_at(message, &["role"]) {
        Some("assistant") => {
            record.agent(time.map(str::to_owned));
            for part in message.get("content").and_then(Value::as_array).into_iter().flatten() {
                match text_at(part, &["type"]) {
                    Some("toolCall") => record.call(
                        text_at(part, &["id"]),
                        text_at(part, &["name"]).unwrap_or_default(),
                        part.get("arguments").unwrap_or(&Value::Null),
                    ),
                    Some("thinking") => {
                        record.add_reasoning(text_at(part, &["thinking"]).unwrap_or_default());
                    }
                    _ => record.add_text(&message_text(part)),
                }
            }
            record.spent(usage_of(message.get("usage").unwrap_or(&Value::Null)), None);
            if let Some(error) = text_at(message, &["errorMessage"]) {
                record.add_system_message(error);
            }
        }
        Some("toolResult") => {
            let text = message.get("content").map(message_text).unwrap_or_default();
            // The answer to arguments that are not JSON, which pi records as `{}`.
            if text.starts_with("Validation failed for tool \"")
                && text.trim_end().ends_with("arguments:\n{}")
            {
                record.malformed();
            }
            let is_error = message.get("isError").and_then(Value::as_bool);
            record.result(text_at(message, &["toolCallId"]), &text, is_error);
        }
        _ => {}
    }
}

/// Tokens of a `usage`, whose input leaves cached tokens out. All zeros are unknown: pi writes them where an answer told no usage.
fn usage_of(usage: &Value) -> Tokens {
    let count = |key| count_at(usage, &[key]);
    let (fresh, cached, output) = (count("input"), count("cacheRead"), count("output"));
    let cached_input = cached.unwrap_or(0).saturating_add(count("cacheWrite").unwrap_or(0));
    if fresh.unwrap_or(0) == 0 && cached_input == 0 && output.unwrap_or(0) == 0 {
        return Tokens::default();
    }
    Tokens { input: fresh.map(|n| n.saturating_add(cached_input)), cached, output }
}
