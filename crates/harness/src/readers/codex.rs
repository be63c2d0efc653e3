//! `codex-jsonl`: the output of `codex exec --json`. It has `thread.started`, `turn.started`, items that start and complete
//! (`command_execution`, `agent_message`, `reasoning`, `file_change`, …), and `turn.completed` with the usage of the whole
//! thread, or `turn.failed`.
//!
//! It does not tell which items belong to one answer of the model, so each item is a step.

use std::collections::HashSet;

use model::Tokens;
use serde_json::Value;

use crate::lines::{count_at, message_text, objects, text_at, value_at};
use crate::record::Record;

/// The result of reading.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// The steps.
    pub(crate) record: Record,
    /// `thread_id`.
    pub(crate) session: Option<String>,
    /// Usage of the thread so far, if a turn completed.
    pub(crate) total: Option<Tokens>,
    /// Whether the last line is `turn.completed`.
    pub(crate) completed: bool,
    /// The message of `turn.failed`.
    pub(crate) failed: Option<String>,
    /// The message of the last line, if it is an error before a retry.
    pub(crate) retrying: Option<String>,
}

/// Reads standard output.
pub(crate) fn read(stdout: &[u8]) -> Events {
    let mut events = Events::default();
    let mut begun = HashSet::new();
    for line in objects(stdout) {
        let kind = text_at(&line, &["type"]).unwrap_or_default();
        events.completed = kind == "turn.completed";
        events.retrying = None;
        match kind {
            "thread.started" => events.session = text_at(&line, &["thread_id"]).map(str::to_owned),
            "turn.completed" => events.total = line.get("usage").map(usage_of),
            "turn.failed" => {
                events.failed =
                    Some(text_at(&line, &["error", "message"]).unwrap_or("the turn failed").to_owned());
            }
            "error" => events.retrying = text_at(&line, &["message"]).map(str::to_owned),
            "item.started" | "item.updated" | "item.completed" => {
                let item = line.get("item").unwrap_or(&Value::Null);
                read_item(&mut events.record, &mut begun, item, kind == "item.completed");
            }
            _ => {}
        }
    }
    events
}

fn read_item(record: &mut Record, begun: &mut HashSet<String>, item: &Value, complete: bool) {
    let id = text_at(item, &["id"]);
    match text_at(item, &["type"]) {
        Some("agent_message") if complete => {
            record.agent(None);
            record.add_text(text_at(item, &["text"]).unwrap_or_default());
        }
        Some("reasoning") if complete => {
            record.agent(None);
            record.add_reasoning(text_at(item, &["text"]).unwrap_or_default());
        }
        // For example that it does not know the model.
        Some("error") if complete => {
            record.add_system_message(text_at(item, &["message"]).unwrap_or_default());
        }
        Some("agent_message" | "reasoning" | "error" | "todo_list") | None => {}
        Some(kind) => {
            if begun.insert(id.unwrap_or_default().to_owned()) {
                record.agent(None);
                let mut arguments = item.clone();
                if let Value::Object(map) = &mut arguments {
                    for key in ["id", "type", "aggregated_output", "exit_code", "status", "result", "error"] {
                        map.remove(key);
                    }
                }
                record.call(id, text_at(item, &["tool"]).unwrap_or(kind), &arguments);
            }
            if complete {
                let exit = item.get("exit_code").and_then(Value::as_i64);
                let failed =
                    text_at(item, &["status"]) == Some("failed") || exit.is_some_and(|code| code != 0);
                let text = item
                    .get("aggregated_output")
                    .or_else(|| item.get("result"))
                    .or_else(|| value_at(item, &["error", "message"]))
                    .map(message_text)
                    .unwrap_or_default();
                record.result(id, &text, Some(failed));
            }
        }
    }
}

/// A `usage` of the responses API: input includes cached.
pub(crate) fn usage_of(usage: &Value) -> Tokens {
    Tokens {
        input: count_at(usage, &["input_tokens"]),
        cached: count_at(usage, &["cached_input_tokens"]),
        output: count_at(usage, &["output_tokens"]),
    }
}
