//! `vibe-jsonl`: entries of a Mistral Vibe session: `message` (user, assistant) and `effect` (a call with its result).

use std::collections::HashSet;

use serde_json::Value;

use crate::lines::{message_text, objects, text_at, value_at};
use crate::record::Record;
use crate::text;

/// The result of reading.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    /// The steps.
    pub(crate) record: Record,
    /// `sessionId`.
    pub(crate) session: Option<String>,
}

/// Reads standard output.
pub(crate) fn read(stdout: &[u8]) -> Entries {
    let mut entries = Entries::default();
    let mut seen_ids = HashSet::new();
    for entry in objects(stdout) {
        if let Some(session) = text_at(&entry, &["sessionId"]) {
            entries.session = Some(session.to_owned());
        }
        if text_at(&entry, &["id"]).is_some_and(|id| !seen_ids.insert(id.to_owned())) {
            continue;
        }
        let record = &mut entries.record;
        let time = || entry.get("createdAt").and_then(Value::as_i64).and_then(text::time_of_millis);
        match (text_at(&entry, &["type"]), text_at(&entry, &["role"])) {
            (Some("message"), Some("assistant")) => {
                record.agent(time());
                for part in entry.get("content").and_then(Value::as_array).into_iter().flatten() {
                    match text_at(part, &["type"]) {
                        Some("reasoning" | "thinking") => record.add_reasoning(&message_text(part)),
                        _ => record.add_text(&message_text(part)),
                    }
                }
            }
            (Some("effect"), _) => effect(record, &entry),
            _ => {}
        }
    }
    entries
}

fn effect(record: &mut Record, entry: &Value) {
    let id = text_at(entry, &["id"]);
    let name = text_at(entry, &["detail", "toolName"]).unwrap_or_default();
    record.call(id, name, value_at(entry, &["detail", "input"]).unwrap_or(&Value::Null));
    let status = text_at(entry, &["state", "status"]).unwrap_or_default();
    // words: ok (the word of the harness)
    if !matches!(status, "completed" | "failed" | "error" | "cancelled" | "rejected") {
        return;
    }
    let text = ["outputText", "error", "reason"]
        .iter()
        .filter_map(|key| value_at(entry, &["state", key]).map(message_text))
        .find(|text| !text.is_empty())
        .unwrap_or_default();
    let success = value_at(entry, &["state", "display", "success"]).and_then(Value::as_bool).unwrap_or(true);
    record.result(id, &text, Some(status != "completed" || !success));
    let millis = value_at(entry, &["state", "durationMs"]).and_then(Value::as_f64);
    record.seconds(millis.filter(|ms| *ms > 0.0).map(|ms| ms / 1000.0));
}
