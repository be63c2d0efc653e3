//! Codex CLI: only the responses API, JSON lines, and a thread id that it chooses, in the first line.
//!
//! Usage is cumulative over the thread, so the count of the last call is subtracted. After a kill, it is in the rollout
//! file of the thread. Codex retries a refused connection forever. When it exits, it ends the processes of the agent.

use model::{EndReason, Tokens};

use crate::call_end::{Signs, decide, fault};
use crate::lines::{message_text, objects, text_at, value_at};
use crate::readers::codex::{read, usage_of};
use crate::shell::is_uuid;
use crate::usage::Meter;
use crate::{Call, CommandEnd, Outcome};

const SESSIONS: &str = ".codex/sessions";
/// Where no id was found.
pub(super) const NO_SESSION: &str = "no thread.started in its output, nor just one file in ~/.codex/sessions";
/// Its answer to a call whose arguments are not JSON.
const MALFORMED_ANSWER: &str = "failed to parse function arguments";
/// How many bytes at the end of a rollout are read.
const TAIL: u64 = 4 << 20;
/// How many bytes at the end of its log are searched for malformed calls.
const TAIL_OF_LOG: usize = 64 * 1024;

/// The outcome of a call.
pub(super) fn outcome(call: &Call<'_>, ended: &CommandEnd<'_>) -> Outcome {
    let mut read = read(ended.stdout);
    let mut signs = Signs { finished: read.completed, ..Signs::default() };
    if let Some(message) = read.failed.as_deref().or(read.retrying.as_deref()) {
        let ran_out = message.contains("ran out of room");
        signs.failed(
            if ran_out { EndReason::ContextOverflow } else { fault(status(message), message) },
            message,
        );
    }
    signs.waits_for_endpoint = read.retrying.is_some() && signs.reason == Some(EndReason::Endpoint);
    let known = call.session.and_then(|s| s.id.clone());
    let rollouts = rollouts(ended.home);
    let id = read.session.filter(|id| is_uuid(id)).or(known).or_else(|| match rollouts.as_slice() {
        // With an earlier session there is one in any case.
        [(_, only)] if call.earlier.is_none() => Some(only.clone()),
        _ => None,
    });
    let rollout = id
        .as_deref()
        .and_then(|id| rollouts.iter().rev().find(|(_, session_id)| session_id == id))
        .map_or_else(Rollout::default, |(path, _)| Rollout::read(ended.home, path));
    // Malformed calls are not items of its output.
    let unread = rollout.unread.unwrap_or_else(|| {
        if read.record.working_calls() == 0 { unread_calls_in_log(ended.stderr) } else { 0 }
    });
    for _ in 0..unread.min(100) {
        read.record.add_malformed_call();
    }
    let total = read.total.or(rollout.total);
    let mut session = crate::next_session(call.session, id);
    let usage = Meter::new(&mut session).tokens(total.unwrap_or_default());
    let (end, message) = decide(ended, &read.record, signs);
    Outcome { session: Some(session), steps: read.record.into_steps(), usage, cost_usd: None, end, message }
}

/// The status in `unexpected status 401 Unauthorized: …`.
fn status(message: &str) -> Option<u64> {
    message.split_once("status ")?.1.get(..3)?.parse().ok()
}

/// The rollout files, path and thread, oldest first: `sessions/2026/11/21/rollout-…-<thread>.jsonl`.
fn rollouts(home: &files::Tree) -> Vec<(String, String)> {
    let folders = |path: &str| {
        let mut found = home.list(path);
        found.retain(files::Entry::is_folder);
        // An episode does not run for years. With more folders than that, the result may be wrong.
        found.into_iter().rev().take(40).rev().map(move |e| files::join(path, &e.name)).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for day in folders(SESSIONS).iter().flat_map(|y| folders(y)).flat_map(|m| folders(&m)) {
        for entry in home.list(&day).into_iter().filter(|e| !e.is_folder()).take(1000) {
            let Some(name) = entry.name.strip_suffix(".jsonl") else { continue };
            let Some(id) = name.len().checked_sub(36).and_then(|start| name.get(start..)) else { continue };
            if is_uuid(id) {
                found.push((files::join(&day, &entry.name), id.to_owned()));
            }
        }
    }
    found
}

/// The end of a rollout file, which has all messages between model and program.
#[derive(Debug, Default)]
struct Rollout {
    /// Usage of the thread so far.
    total: Option<Tokens>,
    /// Malformed calls of the last turn after the last valid one; `None` = no start of a turn was found.
    unread: Option<usize>,
}

impl Rollout {
    fn read(home: &files::Tree, path: &str) -> Self {
        let mut found = Self::default();
        let Some(size) = home.entry(path).map(|entry| entry.size) else { return found };
        let Ok((bytes, _)) = home.read_range(path, size.saturating_sub(TAIL), TAIL) else { return found };
        for line in objects(&bytes) {
            match text_at(&line, &["payload", "type"]) {
                Some("task_started") => found.unread = Some(0),
                Some("function_call_output" | "custom_tool_call_output") => {
                    let output =
                        value_at(&line, &["payload", "output"]).map(message_text).unwrap_or_default();
                    if let Some(unread) = &mut found.unread {
                        *unread = if output.starts_with(MALFORMED_ANSWER) { *unread + 1 } else { 0 };
                    }
                }
                Some("token_count") => {
                    let total = value_at(&line, &["payload", "info", "total_token_usage"]).map(usage_of);
                    found.total = total.or(found.total);
                }
                _ => {}
            }
        }
        found
    }
}

/// Malformed calls in its log on standard error, for a call without a rollout.
fn unread_calls_in_log(stderr: &[u8]) -> usize {
    let log = String::from_utf8_lossy(&stderr[stderr.len().saturating_sub(TAIL_OF_LOG)..]);
    let logged = format!("error={MALFORMED_ANSWER}: ");
    log.lines().filter(|line| line.contains(&logged)).count()
}
