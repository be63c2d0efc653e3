//! OpenCode: chat completions, JSON lines, and a session id that it chooses and prints in every line.
//!
//! Sessions are in an SQLite file below `~/.local/share/opencode`. If a first call ends before it prints anything, the id of
//! its session is in the log, else `--continue` resumes the last session of the folder. With an earlier session in HOME,
//! neither identifies the session of the call.

use model::EndReason;

use crate::call_end::{Signs, decide, fault};
use crate::readers::opencode::read;
use crate::shell::is_id;
use crate::{AMBIGUOUS, Call, CommandEnd, Outcome};

const LOGS: &str = ".local/share/opencode/log";
/// Why no session can be continued.
pub(super) const NO_SESSION: &str = "no session in its output, and an earlier one lies in HOME";

/// The outcome of a call.
pub(super) fn outcome(call: &Call<'_>, ended: &CommandEnd<'_>) -> Outcome {
    let read = read(ended.stdout);
    let mut signs = Signs::default();
    match (&read.error, read.finish.as_deref()) {
        (Some((name, message, status)), _) => {
            let reason = match name.as_str() {
                "ContextOverflowError" => EndReason::ContextOverflow,
                "ProviderAuthError" => EndReason::Endpoint,
                _ => fault(*status, message),
            };
            signs.failed(reason, &format!("{name}: {message}"));
        }
        (None, Some("stop")) => signs.finished = ended.exit.code == Some(0),
        (None, Some("length")) => {
            signs.failed(EndReason::AgentError, "the model's answer was longer than an answer may be");
        }
        _ => {}
    }
    let is_known = call.session.is_some_and(|s| s.id.is_some());
    let looks = !is_known && call.earlier.is_none();
    let id = read.session.filter(|id| is_id(id)).or_else(|| if looks { from_log(ended.home) } else { None });
    let mut session = crate::next_session(call.session, id);
    if call.earlier.is_some() && session.id.is_none() {
        session.memory.insert(AMBIGUOUS.to_owned(), "1".to_owned());
    }
    let usage = read.record.tokens();
    let (end, message) = decide(ended, &read.record, signs);
    Outcome {
        session: Some(session),
        steps: read.record.into_steps(),
        usage,
        cost_usd: read.cost_usd,
        end,
        message,
    }
}

/// The id of the session in the log, if there is exactly one.
fn from_log(home: &files::Tree) -> Option<String> {
    let mut found = None::<String>;
    for entry in home.list(LOGS).iter().filter(|e| !e.is_folder()).take(20) {
        let (bytes, _) = home.read_range(&files::join(LOGS, &entry.name), 0, 1 << 20).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        for line in text.lines().filter(|line| line.contains(" message=created ")) {
            let id = line.split(" id=").nth(1)?.split_whitespace().next().filter(|id| is_id(id))?;
            if id.starts_with("ses_") && found.replace(id.to_owned()).is_some_and(|other| other != id) {
                return None;
            }
        }
    }
    found
}
