//! Requests of a harness that are not the agent at work: titles, summaries of a conversation that becomes too long,
//! trials whether the endpoint answers. They have no tools, or ask for a summary in so many words.

use serde_json::Value;

use super::conversation::Conversation;
use super::tools::{Hands, filled};
use super::{Task, progress};

/// How harnesses that leave the tools in ask for a summary.
const SUMMARY: &[&str] = &[
    "handoff summary",
    "context checkpoint compaction",
    "detailed summary of the conversation",
    "summary of our conversation",
    "summarize the conversation",
    "summarise the conversation",
    "compact the conversation",
    "context-aware state summary",
];

/// What to say if it is such a request.
pub(super) fn answer(asked: &Conversation, hands: &Hands<'_>, task: &Task, done: usize) -> Option<String> {
    if asked.most == Some(1) {
        return Some("ok".to_owned());
    }
    if let Some(form) = &asked.form {
        return Some(filled("answer", &whole(form), "REST server").to_string());
    }
    let last = asked.asked().unwrap_or_default().to_lowercase();
    let summary = SUMMARY.iter().any(|words| last.contains(words));
    if !summary && !hands.are_tied() {
        return None;
    }
    // A title generator says so in its instructions.
    if !summary && (asked.was_told("title generator") || last.contains("generate a title")) {
        return Some("REST server".to_owned());
    }
    Some(format!(
        "The task is a REST server in /workspace: server.py holds it, run.sh starts it on $PORT. It is worked on turn by \
         turn; this is turn {}. Each request says what changes, and the files are written anew.{}",
        task.turn,
        progress::summed_up(task, done)
    ))
}

/// A schema of an object, also where it does not say so.
fn whole(form: &Value) -> Value {
    let mut form = form.clone();
    if let Some(map) = form.as_object_mut() {
        map.entry("type").or_insert_with(|| Value::from("object"));
    }
    form
}
