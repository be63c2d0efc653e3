//! `openhands-jsonl`: events of an OpenHands conversation, one JSON object per line between lines of text: `ActionEvent` (a
//! call), `ObservationEvent` (its result), `AgentErrorEvent` (a call that could not be made), `MessageEvent`,
//! `ConversationErrorEvent` (the end, though the process exits with 0).

use serde_json::Value;

use crate::lines::{Line, lines, message_text, text_at};
use crate::record::Record;
use crate::shell::is_uuid;

/// The result of reading.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// The steps.
    pub(crate) record: Record,
    /// Id of the conversation with dashes, from the lines at the end.
    pub(crate) session: Option<String>,
    /// The last `ConversationErrorEvent`: code and detail.
    pub(crate) error: Option<(String, String)>,
}

/// Reads standard output.
pub(crate) fn read(stdout: &[u8]) -> Events {
    let mut events = Events::default();
    for line in lines(stdout) {
        match line {
            Line::Json(event) => read_event(&mut events, &event),
            Line::Text(text) => {
                let plain = model::strip_ansi(&text);
                if let Some(id) =
                    plain.trim().strip_prefix("Conversation ID:").and_then(|id| dashed(id.trim()))
                {
                    events.session = Some(id);
                }
            }
        }
    }
    events
}

fn read_event(events: &mut Events, event: &Value) {
    let record = &mut events.record;
    let time = || text_at(event, &["timestamp"]).map(str::to_owned);
    let id = text_at(event, &["tool_call_id"]);
    match text_at(event, &["kind"]) {
        Some("ActionEvent") => {
            record.agent(time());
            record.add_reasoning(text_at(event, &["reasoning_content"]).unwrap_or_default());
            record.add_text(&event.get("thought").map(message_text).unwrap_or_default());
            let name = text_at(event, &["tool_name"]).unwrap_or_default();
            let arguments = crate::lines::value_at(event, &["tool_call", "arguments"])
                .or_else(|| event.get("action"))
                .unwrap_or(&Value::Null);
            record.call(id, name, arguments);
            if name == "finish" {
                record.ending();
                record.add_text(text_at(event, &["action", "message"]).unwrap_or_default());
            }
        }
        Some("ObservationEvent") => {
            let observation = event.get("observation").unwrap_or(&Value::Null);
            let text = observation.get("content").map(message_text).unwrap_or_default();
            let exit = observation.get("exit_code").and_then(Value::as_i64);
            let failed = observation.get("is_error").and_then(Value::as_bool).unwrap_or(false);
            record.result(id, &text, Some(failed || exit.is_some_and(|code| code > 0)));
        }
        Some("AgentErrorEvent") => {
            let text = text_at(event, &["error"]).unwrap_or_default();
            record.agent(time());
            record.call(id, text_at(event, &["tool_name"]).unwrap_or_default(), &Value::Null);
            record.malformed();
            record.result(id, text, Some(true));
        }
        Some("MessageEvent") if text_at(event, &["source"]) == Some("agent") => {
            record.agent(time());
            let message = event.get("llm_message").unwrap_or(&Value::Null);
            record.add_reasoning(text_at(message, &["reasoning_content"]).unwrap_or_default());
            record.add_text(&message.get("content").map(message_text).unwrap_or_default());
        }
        Some("ConversationErrorEvent") => {
            let text = |key| text_at(event, &[key]).unwrap_or_default().to_owned();
            events.error = Some((text("code"), text("detail")));
        }
        _ => {}
    }
}

/// An id of 32 hex digits as a UUID with dashes.
pub(crate) fn dashed(id: &str) -> Option<String> {
    if id.len() != 32 || !id.is_ascii() {
        return is_uuid(id).then(|| id.to_owned());
    }
    let dashed = [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]].join("-");
    is_uuid(&dashed).then_some(dashed)
}
