//! The agents' command-line programs: how each is called, continued and read.
//!
//! A [`Harness`] turns a [`Call`] (the request of an attempt, the session so far) into an [`Invocation`] (command, environment,
//! files in HOME), and what the command left behind ([`Ended`]) into an [`Outcome`] (session, steps, usage, how it
//! ended). It starts nothing and reads nothing but the bytes that it is given and the agent's HOME through a
//! [`files::Tree`], which cannot be left: all of it was written by an agent, or by tools that an agent ran.
//!
//! **In the container** HOME is [`HOME`], the working folder is [`WORKSPACE`]; both outlive the attempt, nothing else does.
//!
//! **Done** is decided by the harness's own success mark and at least one model request that the gateway saw, never by
//! the exit code alone.

/// What is known of a built-in harness without running it: word, title, recipe of its image, version, API, probe.
macro_rules! facts {
    ($name:literal, $title:literal, $recipe:literal, $version:literal, $api:ident, [$($probe:literal),+]) => {
        fn name(&self) -> &'static str {
            $name
        }

        fn title(&self) -> &'static str {
            $title
        }

        fn image(&self) -> &'static str {
            concat!("stamina/", $recipe, ":", $version)
        }

        fn version(&self) -> &'static str {
            $version
        }

        fn api(&self) -> crate::Api {
            crate::Api::$api
        }

        fn probe(&self) -> Vec<String> {
            [$($probe),+].map(str::to_owned).into()
        }
    };
}

mod claude_code;
mod codex;
mod custom;
mod ends;
mod kimi_cli;
mod kimi_code;
mod lines;
mod mini_swe;
mod mock;
mod needs;
mod opencode;
mod openhands;
mod qwen_code;
mod readers;
mod record;
mod shell;
mod text;
mod usage;
mod vibe;
mod wire;

use std::collections::BTreeMap;

use model::{EndReason, Step, Tokens};
use serde::{Deserialize, Serialize};

pub use self::claude_code::ClaudeCode;
pub use self::codex::Codex;
pub use self::custom::{Custom, FILE_CAP, load};
pub use self::kimi_cli::KimiCli;
pub use self::kimi_code::KimiCode;
pub use self::mini_swe::MiniSwe;
pub use self::mock::Mock;
pub use self::needs::{Needs, needs};
pub use self::opencode::OpenCode;
pub use self::openhands::OpenHands;
pub use self::qwen_code::QwenCode;
pub use self::vibe::Vibe;

/// The agent's HOME inside a container.
pub const HOME: &str = "/agent";
/// The working folder inside a container.
pub const WORKSPACE: &str = "/workspace";

/// The three ways to talk to a model.
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

/// Where the model is, as the agent sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Without a slash at the end and without `/v1`: `http://127.0.0.1:47110/a/6f3c…`. Harnesses that want `/v1` add it.
    /// Empty in direct mode: then the harness finds its endpoint in the variables that are forwarded, and `model` is passed
    /// on as it stands.
    pub base_url: String,
    /// What the agent sends as its key; worth nothing outside this attempt.
    pub key: String,
    /// The model's name.
    pub model: String,
    /// Tokens that the model's context holds, for harnesses that want to know.
    pub context_window: u64,
}

impl Endpoint {
    /// Whether the harness is left to find its endpoint itself.
    pub fn is_direct(&self) -> bool {
        self.base_url.is_empty()
    }

    fn v1(&self) -> String {
        format!("{}/v1", self.base_url)
    }
}

/// One call of an agent: one attempt at a turn.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
    /// The request, or the feedback on the last attempt.
    pub prompt: &'a str,
    /// What the last call of the episode left; `None` at the first, and where a session begins anew.
    pub session: Option<&'a Session>,
    /// Where a session begins anew: the last one before it. HOME holds what it left, and none of that is of this call.
    pub earlier: Option<&'a Session>,
    /// A fresh UUID (v4 form, lower case) for harnesses whose caller chooses the session's id. Derived by the runner, so
    /// the same episode of the same run has the same one.
    pub session_id: &'a str,
    /// Where the model is.
    pub endpoint: &'a Endpoint,
    /// The wall limit of the attempt in seconds: the container enforces it; a harness that has its own may be told a little less.
    pub seconds: u64,
    /// Where HOME and the workspace are for this call: [`HOME`] and [`WORKSPACE`] in a container, host folders without one.
    pub home: &'a str,
    /// See `home`.
    pub workspace: &'a str,
}

/// What continues an agent's session; kept in the journal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The harness's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Calls so far.
    pub calls: u32,
    /// Whatever else the harness needs to remember, such as cumulative counts that the next call subtracts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub memory: BTreeMap<String, String>,
}

/// A file to lay into HOME before the call.
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
    /// Program and arguments; no shell in between. One argument holds at most 128 KiB.
    pub argv: Vec<String>,
    /// Beside HOME, which is always set.
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

/// What a command left behind.
pub struct Ended<'a> {
    /// How it ended.
    pub exit: Exit,
    /// Standard output, perhaps cut in the middle (the runner keeps head and tail).
    pub stdout: &'a [u8],
    /// Standard error, likewise.
    pub stderr: &'a [u8],
    /// HOME after the call.
    pub home: &'a files::Tree,
    /// Model requests that the gateway saw; `None` in direct mode.
    pub model_requests: Option<u32>,
    /// Whether a file of the workspace differs from before.
    pub changed: bool,
    /// Whether a call of the episode before this one could start the harness's program, so that its image has it.
    pub worked: bool,
}

/// What a call came to, as the harness tells it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// For the next call. Also after a failure, as far as it can be told.
    pub session: Option<Session>,
    /// What the agent did in this call, from 1; the request itself is not a step.
    pub steps: Vec<Step>,
    /// Tokens of this call by the harness's own count: a cross-check of the gateway, the only count in direct mode.
    pub usage: Tokens,
    /// Cost in US dollars by the harness's own count.
    pub cost_usd: Option<f64>,
    /// `None` = the agent ended its turn as it should. [`EndReason::Endpoint`] here is the harness's view; the gateway's wins.
    pub end: Option<EndReason>,
    /// What the harness said about a failure: one line, control characters escaped.
    pub message: Option<String>,
}

/// Why a call cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The harness takes its prompt as an argument only, and this one does not fit.
    #[error("{harness} takes its request as one argument of at most 128 KiB; this one has {bytes} bytes")]
    PromptTooLong {
        /// Which harness.
        harness: String,
        /// Bytes of the prompt.
        bytes: usize,
    },
    /// A call after the first needs the session's id, and the last call left none.
    #[error("{harness} left no session to continue: {why}")]
    NoSession {
        /// Which harness.
        harness: String,
        /// What was looked for, and where.
        why: String,
    },
    /// The harness needs an address and a key of its own.
    #[error(
        "{harness} cannot be used in direct mode, because its endpoint stands in a file; use the gateway"
    )]
    NoDirect {
        /// Which harness.
        harness: String,
    },
    /// A harness file that cannot be understood.
    #[error("{path}: {why}")]
    File {
        /// The TOML file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is no such harness.
    #[error("no harness is called {name}; there are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}

/// An agent's command-line program.
pub trait Harness: Send + Sync {
    /// The word of the configuration in lower case: `mini_swe`, `opencode`.
    fn name(&self) -> &str;
    /// What a person reads: `mini-swe-agent`.
    fn title(&self) -> &str;
    /// The image it runs in by default: `stamina/mini-swe-agent:2.4.6`.
    fn image(&self) -> &str;
    /// The version that the image carries.
    fn version(&self) -> &str;
    /// How it talks to its model.
    fn api(&self) -> Api;
    /// All APIs that it cannot do without, [`Harness::api`] first: a fault of the endpoint on one of them is not
    /// attributed to the agent.
    fn apis(&self) -> Vec<Api> {
        vec![self.api()]
    }
    /// A command that prints the version, to see whether an image works.
    fn probe(&self) -> Vec<String>;
    /// What to run for a call.
    fn invocation(&self, call: &Call<'_>) -> Result<Invocation, HarnessError>;
    /// Whether a session can be continued. One that its first call never began cannot: the next call begins another.
    fn has_begun(&self, session: &Session) -> bool {
        let _ = session;
        true
    }
    /// What came of it. Never fails: what cannot be read is missing from the outcome, with a message.
    fn outcome(&self, call: &Call<'_>, ended: &Ended<'_>) -> Outcome;
}

static ALL: [&dyn Harness; 10] =
    [&MiniSwe, &OpenHands, &OpenCode, &QwenCode, &KimiCli, &KimiCode, &Vibe, &ClaudeCode, &Codex, &Mock];

/// The harnesses that need no file.
pub fn all() -> &'static [&'static dyn Harness] {
    &ALL
}

/// The harness of a name, in any case (`OPENCODE` is `opencode`).
pub fn find(name: &str) -> Result<&'static dyn Harness, HarnessError> {
    let wanted = name.trim().to_lowercase();
    all().iter().copied().find(|h| h.name() == wanted).ok_or_else(|| HarnessError::Unknown {
        name: text::message(name),
        known: all().iter().map(|h| h.name()).collect::<Vec<_>>().join(", "),
    })
}

/// The session after a call: one call more, with the id that is known now or was known before.
fn next_session(before: Option<&Session>, id: Option<String>) -> Session {
    let mut session = before.cloned().unwrap_or_default();
    session.calls += 1;
    session.id = id.or(session.id);
    session
}

/// Which file of HOME holds the trajectory of a session, in its memory; not there where it is the usual one.
const SESSION_FILE: &str = "trajectory";

/// The file of a call's session, below HOME, for harnesses whose session is a file that Stamina Lab names: `usual` (it ends in
/// `.json`), or one of its own beside it where the session begins anew while HOME holds an earlier one.
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

/// Remembers a session's file for its next call.
fn keep_session_file(session: &mut Session, file: &str, usual: &str) {
    if file != usual {
        session.memory.insert(SESSION_FILE.to_owned(), file.to_owned());
    }
}

/// Whether a path is that of a further session beside the usual file: `STEM-ID.json`. A session's memory may come with a folder
/// of somebody else, and its file is written.
fn is_beside(path: &str, stem: &str) -> bool {
    let id = path.strip_prefix(stem).and_then(|rest| rest.strip_prefix('-')?.strip_suffix(".json"));
    id.is_some_and(|id| id.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-'))
}

#[cfg(test)]
mod tests {
    use super::is_beside;

    #[test]
    fn a_session_that_comes_with_a_folder_names_no_file_elsewhere() {
        let stem = ".stamina/mock_session";
        assert!(is_beside(".stamina/mock_session-3487e9b4-c0d0.json", stem));
        let elsewhere = ["/../../../etc/x", "-/../../../x", "-..", ".json", "-a/b", "-a\0"];
        for rest in elsewhere {
            assert!(!is_beside(&format!("{stem}{rest}.json"), stem), "{rest}");
        }
        assert!(!is_beside("/etc/passwd", stem) && !is_beside(".stamina/mock_session-a.jsonl", stem));
    }
}
