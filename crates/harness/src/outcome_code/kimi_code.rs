//! Kimi Code, the successor of Kimi CLI: chat completions, chat messages and `meta` lines as JSON lines, and a session id
//! that it chooses.
//!
//! The request can only be an argument. Output of tools goes to standard error unchanged, so only a line at the end that
//! starts with `error: failed to run prompt:` is its own message. Tokens are in `wire.jsonl` files below the session, one per
//! agent, which grow from call to call.

use model::{EndReason, Tokens};
use serde_json::Value;

use crate::call_end::{Signs, TAIL, decide, fault};
use crate::growing_lines::GrowingLines;
use crate::lines::{Line, count_at, lines, objects, text_at};
use crate::readers::chat;
use crate::record::Record;
use crate::shell::is_id;
use crate::{Call, CommandEnd, Outcome, text};

const STATE: &str = ".kimi-code";
const INDEX: &str = ".kimi-code/session_index.jsonl";
/// Where no id was found.
pub(super) const NO_SESSION: &str =
    "no session.resume_hint in its output, nor a last line in ~/.kimi-code/session_index.jsonl";

/// The outcome of a call.
pub(super) fn outcome(call: &Call<'_>, ended: &CommandEnd<'_>) -> Outcome {
    let (mut record, mut signs) = (Record::default(), Signs::default());
    let mut id = None;
    let mut retrying = None;
    for line in lines(ended.stdout) {
        retrying = None;
        let Line::Json(line) = line else { continue };
        chat::message(&mut record, &line);
        match text_at(&line, &["type"]) {
            Some("session.resume_hint") if text_at(&line, &["role"]) == Some("meta") => {
                id = text_at(&line, &["session_id"]).map(str::to_owned);
                signs.finished = ended.exit.code == Some(0);
            }
            Some("turn.step.retrying") => {
                let message = text_at(&line, &["error_message"]).unwrap_or_default().to_owned();
                retrying = Some((count_at(&line, &["status_code"]), message));
            }
            _ => {}
        }
    }
    if !signs.finished {
        if let Some(message) = own_error(ended.stderr) {
            signs.failed(fault(status(&message), &message), &message);
        } else if let Some((status, message)) = retrying {
            let reason = fault(status, &message);
            signs.waits_for_endpoint = reason == EndReason::Endpoint;
            signs.failed(reason, &message);
        }
    }
    let id = id
        .or_else(|| call.session.and_then(|s| s.id.clone()))
        // The last line may belong to an earlier session.
        .or_else(|| if call.earlier.is_none() { from_index(ended.home) } else { None })
        .filter(|id| is_id(id));
    let mut session = crate::next_session(call.session, id);
    let mut usage = Tokens::default();
    if let Some(id) = session.id.clone() {
        let agents = ended
            .home
            .list(&format!("{STATE}/sessions"))
            .into_iter()
            .filter(files::Entry::is_folder)
            .take(20)
            .map(|workspace| format!("{STATE}/sessions/{}/{id}/agents", workspace.name));
        for folder in agents {
            for agent in ended.home.list(&folder).into_iter().filter(files::Entry::is_folder).take(200) {
                let path = format!("{folder}/{}/wire.jsonl", agent.name);
                GrowingLines::new(&mut session, &agent.name, ended.home, &path).read(|line| {
                    if text_at(line, &["type"]) == Some("usage.record") {
                        usage = usage.plus(line.get("usage").map(parts).unwrap_or_default());
                    }
                });
            }
        }
    }
    let (end, message) = decide(ended, &record, signs);
    Outcome { session: Some(session), steps: record.into_steps(), usage, cost_usd: None, end, message }
}

/// The text after `error: failed to run prompt:` in the last lines of standard error.
fn own_error(stderr: &[u8]) -> Option<String> {
    let tail = String::from_utf8_lossy(&stderr[stderr.len().saturating_sub(TAIL)..]);
    let tail = text::last_lines(&tail, 3);
    let message = tail.lines().find_map(|line| line.strip_prefix("error: failed to run prompt: "))?;
    Some(message.to_owned())
}

/// The status in `provider.api_error: 500 mock internal error`.
fn status(message: &str) -> Option<u64> {
    message.split_once("_error: ")?.1.get(..3)?.parse().ok()
}

/// The session of the last line of the index.
fn from_index(home: &files::Tree) -> Option<String> {
    let size = home.entry(INDEX)?.size;
    let (bytes, _) = home.read_range(INDEX, size.saturating_sub(1 << 16), 1 << 16).ok()?;
    objects(&bytes).rev().find_map(|line| text_at(&line, &["sessionId"]).map(str::to_owned))
}

fn parts(usage: &Value) -> Tokens {
    let count = |key| count_at(usage, &[key]);
    let sum = ["inputOther", "inputCacheRead", "inputCacheCreation"].iter().filter_map(|k| count(k));
    Tokens {
        input: count("inputOther").map(|_| sum.fold(0, u64::saturating_add)),
        cached: count("inputCacheRead"),
        output: count("output"),
    }
}
