//! `openai-messages-jsonl`: chat messages of the chat completions API, one JSON object per line
//! (`{"role": "assistant", "content": …, "tool_calls": […]}`, `{"role": "tool", "tool_call_id": …, "content": …}`).
//!
//! Kimi CLI, Kimi Code and the mock agent print these. Kimi adds lines with the role `meta`.

use model::Tokens;
use serde_json::Value;

use crate::lines::{count_at, message_text, text_at};
use crate::record::Record;

/// Reads one message. Lines of other roles are ignored.
pub(crate) fn message(record: &mut Record, message: &Value) {
    match text_at(message, &["role"]) {
        Some("assistant") => {
            record.agent(None);
            for key in ["reasoning_content", "reasoning"] {
                record.add_reasoning(text_at(message, &[key]).unwrap_or_default());
            }
            content(record, message.get("content").unwrap_or(&Value::Null));
            for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                let function = call.get("function").unwrap_or(call);
                record.call(
                    text_at(call, &["id"]),
                    text_at(function, &["name"]).unwrap_or_default(),
                    function.get("arguments").unwrap_or(&Value::Null),
                );
            }
            if let Some(usage) = message.get("usage") {
                record.spent(usage_of(usage), None);
            }
        }
        Some("tool") => {
            let text = message.get("content").map(message_text).unwrap_or_default();
            let is_error = message.get("is_error").and_then(Value::as_bool);
            // The answer of Kimi Code to arguments that are not JSON, which it records as `{}`.
            if text.starts_with("Invalid args for tool \"") {
                record.malformed();
            }
            record.result(text_at(message, &["tool_call_id"]), &text, is_error);
        }
        _ => {}
    }
}

fn content(record: &mut Record, content: &Value) {
    let Value::Array(parts) = content else { return record.add_text(&message_text(content)) };
    for part in parts {
        let thought = ["think", "thinking", "reasoning"].iter().find_map(|key| text_at(part, &[key]));
        match thought {
            Some(thought) => record.add_reasoning(thought),
            None => record.add_text(&message_text(part)),
        }
    }
}

/// `usage` of a chat completion: prompt tokens include cached ones.
pub(crate) fn usage_of(usage: &Value) -> Tokens {
    Tokens {
        input: count_at(usage, &["prompt_tokens"]),
        cached: count_at(usage, &["prompt_tokens_details", "cached_tokens"]),
        output: count_at(usage, &["completion_tokens"]),
    }
}
