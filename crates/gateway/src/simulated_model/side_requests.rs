//! Requests of a harness beside the work of the agent: titles, summaries of a long conversation, tests of the endpoint. They have
//! no tools, or ask for a summary explicitly.

use serde_json::Value;

use super::conversation::Conversation;
use super::offered_tools::{OfferedTools, fill_value};
use super::{Task, progress};

/// How harnesses that keep the tools ask for a summary.
const SUMMARY: &[&str] = &[
    "handoff summary",
    "context checkpoint compaction",
    "detailed summary of the conversation",
    "summary of our conversation",
    "summarize the conversation",
    // words: ok (the text of a harness)
    "summarise the conversation",
    "compact the conversation",
    "context-aware state summary",
];

/// The answer to such a request. `None` = the agent is at work.
pub(super) fn answer(
    conversation: &Conversation,
    offered: &OfferedTools<'_>,
    task: &Task,
    done: usize,
) -> Option<String> {
    if conversation.most_tokens == Some(1) {
        return Some("ok".to_owned());
    }
    if let Some(form) = &conversation.answer_schema {
        return Some(fill_value("answer", &as_object(form), "REST server").to_string());
    }
    let last = conversation.last_request().unwrap_or_default().to_lowercase();
    let summary = SUMMARY.iter().any(|words| last.contains(words));
    if !summary && !offered.is_empty() {
        return None;
    }
    // The instructions of a title generator name it.
    if !summary && (conversation.instructs("title generator") || last.contains("generate a title")) {
        return Some("REST server".to_owned());
    }
    if task.solution.is_some() {
        return Some(format!(
            "The task is solved step by step; this is step {}.{}",
            task.turn,
            progress::summary(task, done)
        ));
    }
    Some(format!(
        "The task is a REST server in /workspace: server.py holds it, run.sh starts it on $PORT. It is worked on turn by \
         turn; this is turn {}. Each request says what changes, and the files are written anew.{}",
        task.turn,
        progress::summary(task, done)
    ))
}

/// A schema with the type of an object, which it may omit.
fn as_object(form: &Value) -> Value {
    let mut form = form.clone();
    if let Some(map) = form.as_object_mut() {
        map.entry("type").or_insert_with(|| Value::from("object"));
    }
    form
}
