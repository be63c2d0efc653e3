//! Kimi CLI: chat completions, chat messages as JSON lines, and a session id that the caller chooses, which starts or
//! continues a session. Its makers have archived it; 1.52.0 is a stub that does nothing and exits with 0.
//!
//! Errors are plain lines on standard output, wrapped at 80 columns. Tokens are only in the `wire.jsonl` of the session,
//! which grows from call to call. The memory of the session stores the read position.

use model::{EndReason, Tokens};
use serde_json::Value;

use crate::call_end::{Signs, TAIL, decide, fault};
use crate::growing_lines::GrowingLines;
use crate::lines::{Line, count_at, lines, text_at, value_at};
use crate::readers::chat;
use crate::record::Record;
use crate::shell::is_uuid;
use crate::{Call, CommandEnd, Outcome};

const SESSIONS: &str = ".kimi/sessions";

/// The outcome of a call.
pub(super) fn outcome(call: &Call<'_>, ended: &CommandEnd<'_>) -> Outcome {
    let (mut record, mut signs) = (Record::default(), Signs::default());
    // The success mark: the last line is an answer without a tool call.
    let mut answered = false;
    for line in lines(ended.stdout) {
        answered = false;
        if let Line::Json(line) = line {
            answered = text_at(&line, &["role"]) == Some("assistant")
                && line.get("tool_calls").and_then(Value::as_array).is_none_or(Vec::is_empty);
            chat::message(&mut record, &line);
        }
    }
    signs.finished = answered && ended.exit.code == Some(0);
    if !signs.finished {
        let printed = unwrapped(ended.stdout);
        let printed = printed.trim();
        if printed.starts_with("Interrupted by user") {
            signs.failed(EndReason::KilledItself, "the harness was ended by SIGINT while it worked");
        } else if !printed.is_empty() {
            signs.failed(fault(None, printed), printed);
        }
    }
    let id = call.session.and_then(|s| s.id.clone()).unwrap_or_else(|| call.session_id.to_owned());
    let mut session = crate::next_session(call.session, Some(id.clone()));
    let mut usage = Tokens::default();
    if is_uuid(&id) {
        for folder in ended.home.list(SESSIONS).into_iter().filter(files::Entry::is_folder).take(20) {
            let path = format!("{SESSIONS}/{}/{id}/wire.jsonl", folder.name);
            GrowingLines::new(&mut session, "wire", ended.home, &path).read(|line| {
                let message = line.get("message").unwrap_or(&Value::Null);
                usage = usage.plus(tokens(message));
            });
        }
    }
    let (end, message) = decide(ended, &record, signs);
    Outcome { session: Some(session), steps: record.into_steps(), usage, cost_usd: None, end, message }
}

/// The plain lines at the end, joined. It wraps at 80 columns, inside words and after blanks.
fn unwrapped(stdout: &[u8]) -> String {
    let tail = &stdout[stdout.len().saturating_sub(TAIL)..];
    let mut all = String::new();
    for line in lines(tail) {
        if let Line::Text(text) = line {
            let full = text.chars().count() >= 79;
            all.push_str(&text);
            if text.chars().count() == 79 || !full {
                all.push(' ');
            }
        }
    }
    all
}

/// Tokens of a `StatusUpdate`, also from a sub-agent.
fn tokens(message: &Value) -> Tokens {
    match text_at(message, &["type"]) {
        Some("StatusUpdate") => value_at(message, &["payload", "token_usage"]).map(parts).unwrap_or_default(),
        Some("SubagentEvent") => match value_at(message, &["payload", "event"]) {
            Some(inner) if text_at(inner, &["type"]) == Some("StatusUpdate") => tokens(inner),
            _ => Tokens::default(),
        },
        _ => Tokens::default(),
    }
}

fn parts(usage: &Value) -> Tokens {
    let count = |key| count_at(usage, &[key]);
    let sum = ["input_other", "input_cache_read", "input_cache_creation"].iter().filter_map(|k| count(k));
    Tokens {
        input: count("input_other").map(|_| sum.fold(0, u64::saturating_add)),
        cached: count("input_cache_read"),
        output: count("output"),
    }
}
