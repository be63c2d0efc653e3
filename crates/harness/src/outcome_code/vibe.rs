//! Mistral Vibe: chat completions, entries as JSON lines, and an `export.json` on every exit except after SIGKILL, with the
//! outcome and the usage of this call.
//!
//! Calls whose arguments are not JSON are not in its output: it drops them and sends the request again. Only the journal of
//! its session has them.
//!
//! It waits for minutes for a failing endpoint, so it gets a slightly smaller limit than the wall limit of the attempt. After
//! SIGTERM it exits with code 3 and the outcome `terminated`.

use model::{EndReason, Tokens};
use serde::Deserialize;
use serde_json::Value;

use crate::call_end::{Signs, decide, fault};
use crate::lines::{objects, text_at, too_many_values, value_at};
use crate::readers::vibe::read;
use crate::shell::is_id;
use crate::{Call, CommandEnd, Outcome};

const EXPORT: &str = ".stamina/vibe/export.json";
const SESSIONS: &str = ".vibe/logs/session/unified";
/// Where no id was found.
pub(super) const NO_SESSION: &str =
    "no entry in its output, nor just one folder in ~/.vibe/logs/session/unified";
/// How many bytes at the end of a journal are read, and how many of its files.
const JOURNAL: (u64, usize) = (8 << 20, 4);
/// Most bytes of an export.
const CAP: u64 = 16 << 20;

/// The outcome of a call.
pub(super) fn outcome(call: &Call<'_>, ended: &CommandEnd<'_>) -> Outcome {
    let mut read = read(ended.stdout);
    let export = ended.home.read_json::<Export>(EXPORT, CAP).ok();
    let mut signs = Signs::default();
    if let Some(export) = &export {
        let message = export.error.as_ref().and_then(|e| e.message.as_deref());
        match export.outcome.as_deref() {
            Some("finished") => signs.finished = true,
            Some("deadline") => signs.failed(EndReason::AgentTimeout, "the time ran out"),
            Some("terminated") => {
                signs.failed(EndReason::KilledItself, "the harness was ended by a signal while it worked");
            }
            Some(outcome @ ("infrastructure_failure" | "config_error")) => {
                let message = message.unwrap_or(outcome);
                signs.failed(fault(status(message), message), message);
            }
            Some(outcome) => signs.failed(EndReason::AgentError, message.unwrap_or(outcome)),
            None => {}
        }
    }
    let known = call.session.and_then(|s| s.id.clone());
    let exported = export.as_ref().and_then(|e| e.session_id.clone());
    let id = read
        .session
        .take()
        .or(exported)
        .filter(|id| is_id(id))
        .or(known)
        // With an earlier session there is one in any case.
        .or_else(|| if call.earlier.is_none() { only_session(ended.home) } else { None });
    for _ in 0..id.as_deref().map_or(0, |id| count_malformed(ended.home, id)).min(100) {
        read.record.add_malformed_call();
    }
    let usage = export.as_ref().and_then(|e| e.usage).unwrap_or_default();
    let usage = Tokens { input: usage.input, cached: usage.cached, output: usage.output };
    let cost_usd = export.and_then(|e| e.cost_usd).filter(|c| *c > 0.0 && c.is_finite());
    let session = crate::next_session(call.session, id);
    let (end, message) = decide(ended, &read.record, signs);
    Outcome { session: Some(session), steps: read.record.into_steps(), usage, cost_usd, end, message }
}

/// The status in `Client error '400 Bad Request' for url …`.
fn status(message: &str) -> Option<u64> {
    message.split_once(" error '")?.1.get(..3)?.parse().ok()
}

/// Malformed calls of the last turn after the last valid one, from the answers of the model in the journal of the session.
fn count_malformed(home: &files::Tree, id: &str) -> usize {
    let folder = format!("{SESSIONS}/{id}/journal");
    let names: Vec<_> = home
        .list(&folder)
        .into_iter()
        .filter(|e| !e.is_folder() && e.size > 0)
        .map(|e| (e.name, e.size))
        .collect();
    let mut unread = 0;
    for (name, size) in &names[names.len().saturating_sub(JOURNAL.1)..] {
        let path = files::join(&folder, name);
        let Ok((bytes, _)) = home.read_range(&path, size.saturating_sub(JOURNAL.0), JOURNAL.0) else {
            continue;
        };
        for line in objects(&bytes) {
            if text_at(&line, &["payload", "method"]) == Some("turn/start") {
                unread = 0;
            }
            let parts = value_at(&line, &["payload", "result", "result", "parts"]).and_then(Value::as_array);
            for arguments in parts.into_iter().flatten().filter_map(|part| text_at(part, &["arguments_json"]))
            {
                let is_read = !too_many_values(arguments.as_bytes())
                    && serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object());
                unread = if is_read { 0 } else { unread + 1 };
            }
        }
    }
    unread
}

/// The session, if there is exactly one.
fn only_session(home: &files::Tree) -> Option<String> {
    let mut ids =
        home.list(SESSIONS).into_iter().filter(files::Entry::is_folder).map(|e| e.name).filter(|n| is_id(n));
    let only = ids.next()?;
    ids.next().is_none().then_some(only)
}

#[derive(Debug, Deserialize)]
struct Export {
    #[serde(default)]
    outcome: Option<String>,
    #[serde(default)]
    error: Option<Error>,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    cost_usd: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Error {
    #[serde(default)]
    message: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Usage {
    #[serde(default, rename = "input_tokens")]
    input: Option<u64>,
    #[serde(default, rename = "cached_input_tokens")]
    cached: Option<u64>,
    #[serde(default, rename = "output_tokens")]
    output: Option<u64>,
}
