//! The command-line programs of agents: how each is called, continued and read.
//!
//! Each is a TOML file in `data/harnesses`, in the format that users write (`docs/harnesses.md`), except the mock agent.
//! `outcome_code` has code for what the format cannot say.
//!
//! A [`Harness`] turns a [`Call`] (request and session) into an [`Invocation`] (command, environment, files in HOME). It
//! turns the result of the command ([`CommandEnd`]) into an [`Outcome`] (session, steps, usage, end). It starts no process. It
//! reads only the given bytes, and HOME through a [`files::Tree`] that confines it. All of this is hostile, because an agent
//! or its tools wrote it.
//!
//! **In the container** HOME is [`HOME`] and the working folder is [`WORKSPACE`]. Only these two outlive the attempt.
//!
//! **Success** needs the success mark of the harness and at least one model request at the gateway. The exit code alone
//! never decides it.

mod built_in;
mod call_end;
mod growing_lines;
mod harness_file;
mod lines;
mod mock;
mod needs;
mod outcome_code;
mod readers;
mod record;
mod shell;
mod text;
mod usage;

use std::collections::BTreeMap;

use model::{EndReason, Step, Tokens};
use serde::{Deserialize, Serialize};

pub use self::built_in::{all, find};
pub use self::harness_file::{FILE_CAP, HarnessFile, load};
pub use self::mock::Mock;
pub use self::needs::Needs;

/// HOME of the agent inside a container.
pub const HOME: &str = "/agent";
/// The working folder inside a container.
pub const WORKSPACE: &str = "/workspace";

/// The three APIs of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// `POST /v1/chat/completions`.
    ChatCompletions,
    /// `POST /v1/responses`.
    Responses,
    /// `POST /v1/messages`.
    Messages,
}

/// The address of the model for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Without a slash at the end and without `/v1`: `http://127.0.0.1:47110/a/6f3c…`. Harnesses that need `/v1` add it.
    /// Empty in direct mode: the harness then finds its endpoint in forwarded variables, and `model` is passed on unchanged.
    pub base_url: String,
    /// The key that the agent sends. It is valid only in this attempt.
    pub key: String,
    /// The name of the model.
    pub model: String,
    /// Size of the model's context in tokens, for harnesses that need it.
    pub context_window: u64,
}

impl Endpoint {
    /// Whether the harness finds its endpoint itself.
    pub fn is_direct(&self) -> bool {
        self.base_url.is_empty()
    }
}

/// One call of an agent: one attempt at a turn.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
    /// The change request, or the feedback on the last attempt.
    pub prompt: &'a str,
    /// The session after the last call of the episode; `None` at the first call, and at a restarted session.
    pub session: Option<&'a Session>,
    /// For a restarted session: the session before it. HOME still has the files of that session, which this call must ignore.
    pub earlier: Option<&'a Session>,
    /// A new UUID (v4 form, lower case) for harnesses whose caller chooses the id of the session. The runner derives it, so
    /// that it is the same for the same episode of the same run.
    pub session_id: &'a str,
    /// The address of the model.
    pub endpoint: &'a Endpoint,
    /// The wall limit of the attempt in seconds. The container enforces it. A harness with a limit of its own may get a
    /// slightly smaller one.
    pub seconds: u64,
    /// HOME for this call: [`HOME`] in a container, a folder of the host without one.
    pub home: &'a str,
    /// The workspace for this call: [`WORKSPACE`] in a container, a folder of the host without one.
    pub workspace: &'a str,
}

/// The session of an agent. The journal stores it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The id that the harness uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Calls so far.
    pub calls: u32,
    /// Other state of the harness, such as cumulative counts that the next call subtracts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub memory: BTreeMap<String, String>,
}

/// A file to write into HOME before the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeFile {
    /// Relative to HOME, with `/`.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// A command to run in the container, with `/workspace` as its folder and no standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Program and arguments, without a shell. One argument has at most 128 KiB.
    pub argv: Vec<String>,
    /// Variables in addition to HOME, which is always set.
    pub env: Vec<(String, String)>,
    /// Written before the command starts.
    pub files: Vec<HomeFile>,
}

/// How a command in a container ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Exit {
    /// The exit code; `None` = the container was lost.
    pub code: Option<i64>,
    /// The wall limit ended it.
    pub timed_out: bool,
    /// The memory limit ended it.
    pub out_of_memory: bool,
    /// The disk limit ended it.
    pub disk_full: bool,
}

/// The result of a command.
pub struct CommandEnd<'a> {
    /// How it ended.
    pub exit: Exit,
    /// Standard output, possibly cut in the middle (the runner keeps head and tail).
    pub stdout: &'a [u8],
    /// Standard error, likewise.
    pub stderr: &'a [u8],
    /// HOME after the call.
    pub home: &'a files::Tree,
    /// Model requests at the gateway; `None` in direct mode.
    pub model_requests: Option<u32>,
    /// Whether the call changed a file of the workspace.
    pub changed: bool,
    /// Whether an earlier call of the episode started the program of the harness, so that the image has it.
    pub worked: bool,
}

/// The outcome of a call, from the view of the harness.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// The session for the next call, also after a failure, if known.
    pub session: Option<Session>,
    /// The steps of the agent in this call, from 1. The request is not a step.
    pub steps: Vec<Step>,
    /// Tokens of this call as the harness counts them. They check the gateway, and are the only count in direct mode.
    pub usage: Tokens,
    /// Cost of this call in US dollars as the harness counts it.
    pub cost_usd: Option<f64>,
    /// `None` = success. [`EndReason::Endpoint`] is only the view of the harness; the gateway decides.
    pub end: Option<EndReason>,
    /// The message of the harness about a failure: one line, control characters escaped.
    pub message: Option<String>,
}

/// Why a call cannot start.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The harness takes its prompt only as an argument, and this prompt is too long.
    #[error("{harness} takes its request as one argument of at most 128 KiB; this one has {bytes} bytes")]
    PromptTooLong {
        /// The harness.
        harness: String,
        /// Size of the prompt in bytes.
        bytes: usize,
    },
    /// A later call needs the id of the session, but the last call left none.
    #[error("{harness} left no session to continue: {reason}")]
    NoSession {
        /// The harness.
        harness: String,
        /// What was searched, and where.
        reason: String,
    },
    /// The harness needs the address and the key of an endpoint in a file.
    #[error("{harness} cannot be used in direct mode, because its endpoint is in a file; use the gateway")]
    NoDirect {
        /// The harness.
        harness: String,
    },
    /// A harness file with an error.
    #[error("{path}: {reason}")]
    File {
        /// The TOML file.
        path: String,
        /// The error in it.
        reason: String,
    },
    /// There is no harness of this name.
    #[error("no harness is called {name}; there are {known}")]
    Unknown {
        /// The given name.
        name: String,
        /// The known names.
        known: String,
    },
}

/// The command-line program of an agent.
pub trait Harness: Send + Sync {
    /// The name in settings, in lower case: `mini_swe`, `opencode`.
    fn name(&self) -> &str;
    /// The label that people read: `mini-swe-agent`.
    fn title(&self) -> &str;
    /// Its default image: `stamina/mini-swe-agent:2.4.6`.
    fn image(&self) -> &str;
    /// The version in this image.
    fn version(&self) -> &str;
    /// The API through which it calls its model.
    fn api(&self) -> Api;
    /// All APIs that it requires, [`Harness::api`] first. A fault of the endpoint on one of them is not attributed to the
    /// agent.
    fn apis(&self) -> Vec<Api> {
        vec![self.api()]
    }
    /// A command that prints the version. It checks whether an image works.
    fn probe(&self) -> Vec<String>;
    /// What it requires from an endpoint in addition to its API; `None` = unknown.
    fn needs(&self) -> Option<Needs> {
        None
    }
    /// The command for a call.
    fn invocation(&self, call: &Call<'_>) -> Result<Invocation, HarnessError>;
    /// Whether a session can be continued. If its first call never started it, the next call starts another one.
    fn has_begun(&self, session: &Session) -> bool {
        let _ = session;
        true
    }
    /// The outcome of a call. It never fails: what cannot be read is missing, with a message.
    fn outcome(&self, call: &Call<'_>, ended: &CommandEnd<'_>) -> Outcome;
}

/// The session after a call: one more call, with the new id, else the earlier one.
fn next_session(before: Option<&Session>, id: Option<String>) -> Session {
    let mut session = before.cloned().unwrap_or_default();
    session.calls += 1;
    session.id = id.or(session.id);
    session
}

/// Key in the memory of a session: its id is unknown, and the last session in HOME may be an earlier one.
const AMBIGUOUS: &str = "ambiguous";
/// Key in the memory of a session: the file of its trajectory in HOME. It is missing for the usual file.
const SESSION_FILE: &str = "trajectory";

/// The file of the session of a call, below HOME, for harnesses whose session is a file that Stamina Lab names. It is
/// `usual` (which ends in `.json`), or another file beside it for a restarted session, because HOME has the earlier one.
fn session_file(call: &Call<'_>, usual: &str) -> String {
    let stem = usual.trim_end_matches(".json");
    let known = call.session.and_then(|session| session.memory.get(SESSION_FILE));
    let known = known.filter(|path| is_beside(path, stem));
    match (known, call.session, call.earlier) {
        (Some(known), ..) => known.clone(),
        (None, None, Some(_)) => format!("{stem}-{}.json", call.session_id),
        (None, ..) => usual.to_owned(),
    }
}

/// Stores the file of a session for its next call.
fn keep_session_file(session: &mut Session, file: &str, usual: &str) {
    if file != usual {
        session.memory.insert(SESSION_FILE.to_owned(), file.to_owned());
    }
}

/// Whether a path is the file of another session beside the usual file: `STEM-ID.json`. The memory of a session may come
/// from a foreign folder, and its file is written.
fn is_beside(path: &str, stem: &str) -> bool {
    let id = path.strip_prefix(stem).and_then(|rest| rest.strip_prefix('-')?.strip_suffix(".json"));
    id.is_some_and(|id| id.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-'))
}

#[cfg(test)]
mod tests {
    use super::is_beside;

    #[test]
    fn the_session_of_a_foreign_folder_cannot_name_other_files() {
        let stem = ".stamina/mock_session";
        assert!(is_beside(".stamina/mock_session-3487e9b4-c0d0.json", stem));
        let elsewhere = ["/../../../etc/x", "-/../../../x", "-..", ".json", "-a/b", "-a\0"];
        for rest in elsewhere {
            assert!(!is_beside(&format!("{stem}{rest}.json"), stem), "{rest}");
        }
        assert!(!is_beside("/etc/passwd", stem) && !is_beside(".stamina/mock_session-a.jsonl", stem));
    }
}
