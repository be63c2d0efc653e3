//! The format of harness files.

use std::collections::BTreeMap;

use model::EndReason;
use serde::{Deserialize, Deserializer};

use super::template::Quote;
use crate::outcome_code::Program;
use crate::{Api, Needs};

/// A harness file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) name: String,
    #[serde(default)]
    pub(super) title: Option<String>,
    pub(super) image: String,
    pub(super) version: String,
    pub(super) api: Api,
    #[serde(default)]
    pub(super) other_apis: Vec<Api>,
    pub(super) probe: Vec<String>,
    /// Its output and its files in HOME are those of this program, so code reads them.
    #[serde(default)]
    pub(super) outcome: Option<Program>,
    #[serde(default)]
    pub(super) needs: Option<Needs>,
    pub(super) commands: Commands,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) files: Vec<File>,
    #[serde(default)]
    pub(super) gateway: Mode,
    #[serde(default)]
    pub(super) direct: Mode,
    #[serde(default)]
    pub(super) session: Session,
    #[serde(default)]
    pub(super) transcript: Transcript,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(default)]
    pub(super) success: Success,
    #[serde(default)]
    pub(super) failure: Failure,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Commands {
    pub(super) first: Vec<String>,
    /// Without it, `first` is the command of all calls.
    #[serde(default)]
    pub(super) later: Option<Vec<String>>,
    /// The command of a later call if the id of the session is unknown: it continues the last session.
    #[serde(default)]
    pub(super) later_without_id: Option<Vec<String>>,
    /// Variables of later calls, in addition.
    #[serde(default)]
    pub(super) later_env: BTreeMap<String, String>,
    /// The request is the standard input.
    #[serde(default)]
    pub(super) stdin: bool,
}

/// What applies only with the gateway, or only in direct mode.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mode {
    /// The name of the model for the program, with `{model}` in it. Without it, the name of the model.
    #[serde(default)]
    pub(super) model: Option<String>,
    /// Instead of the commands of both modes.
    #[serde(default)]
    pub(super) commands: Option<Commands>,
    /// In addition to the variables of both modes.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// In addition to the files of both modes.
    #[serde(default)]
    pub(super) files: Vec<File>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
    #[serde(default)]
    pub(super) quote: Quote,
}

/// Who chooses the id of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SessionSource {
    /// The agent finds its session itself.
    None,
    /// Stamina Lab chooses the id.
    Caller,
    /// It is in JSON lines of the output.
    Stdout,
    /// It is a part of the name of a file.
    Files,
    /// The code that reads its outcome finds it.
    Outcome,
    /// The session is a file that Stamina Lab names.
    File,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Session {
    #[serde(default)]
    pub(super) from: Option<SessionSource>,
    #[serde(default)]
    pub(super) key: Option<String>,
    #[serde(default)]
    pub(super) files: Option<String>,
    /// The file of the session. A restarted session has another one beside it.
    #[serde(default)]
    pub(super) file: Option<String>,
    /// Ids are UUIDs. Others are not used.
    #[serde(default)]
    pub(super) uuid: bool,
}

impl Session {
    /// Who chooses the id. Without a setting, the agent finds its session itself, with other arguments in later calls.
    pub(super) fn source(&self) -> SessionSource {
        self.from.unwrap_or(SessionSource::None)
    }

    pub(super) fn key_parts(&self) -> Vec<&str> {
        self.key.as_deref().unwrap_or_default().split('.').collect()
    }

    /// `a/b/x*y` as folder `a/b`, `x` and `y`.
    pub(super) fn pattern(&self) -> Option<(&str, &str, &str)> {
        let (before, after) = self.files.as_deref()?.split_once('*')?;
        let (folder, before) = before.rsplit_once('/').unwrap_or(("", before));
        (!after.contains(['*', '/'])).then_some((folder, before, after))
    }
}

/// The notation of a transcript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reader {
    #[default]
    None,
    ClaudeStreamJson,
    QwenStreamJson,
    OpenaiMessagesJsonl,
    OpencodeJsonl,
    OpenhandsJsonl,
    VibeJsonl,
    CodexJsonl,
    PiJsonl,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Transcript {
    #[serde(default)]
    pub(super) reader: Reader,
    /// A file of JSON lines that grows. Without it, standard output.
    #[serde(default)]
    pub(super) file: Option<String>,
    /// The file is one JSON document. These are the keys of the list whose elements are read like lines.
    #[serde(default)]
    pub(super) list: Option<String>,
    /// How a call ended is in these lines, and not in standard output.
    #[serde(default)]
    pub(super) has_end: bool,
}

/// What a count includes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Cumulative {
    /// One request to the model. The counts are added.
    Request,
    /// This call. The last count is used.
    #[default]
    Call,
    /// The session so far. The last count is used, minus that of the last call.
    Session,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Usage {
    /// A JSON file. Without it, the lines of the transcript.
    #[serde(default)]
    pub(super) file: Option<String>,
    /// The file has JSON lines and grows.
    #[serde(default)]
    pub(super) lines: bool,
    #[serde(default)]
    pub(super) counts: Cumulative,
    #[serde(default)]
    pub(super) input: Option<String>,
    #[serde(default)]
    pub(super) cached: Option<String>,
    #[serde(default)]
    pub(super) output: Option<String>,
    /// `input` does not include cached tokens.
    #[serde(default)]
    pub(super) input_without_cached: bool,
    #[serde(default)]
    pub(super) cost_usd: Option<String>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Success {
    #[serde(default)]
    pub(super) exit_code: Option<i64>,
    /// `last_line` is the last line that has this.
    #[serde(default)]
    pub(super) among: Option<toml::Table>,
    #[serde(default)]
    pub(super) last_line: Option<toml::Table>,
    #[serde(default)]
    pub(super) file: Option<ResultFile>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResultFile {
    pub(super) path: String,
    pub(super) has: toml::Table,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Failure {
    /// A JSON file. Without it, the JSON lines of the output.
    #[serde(default)]
    pub(super) file: Option<String>,
    /// Keys of the message in it.
    #[serde(default)]
    pub(super) message: Option<String>,
    /// Keys of the status of the endpoint in it.
    #[serde(default)]
    pub(super) status: Option<String>,
    /// Words of a message, with their reasons.
    #[serde(default)]
    pub(super) reasons: Reasons,
}

/// Words and their reasons, in the order of the file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Reasons(Vec<(String, EndReason)>);

impl Reasons {
    pub(super) fn iter(&self) -> impl Iterator<Item = &(String, EndReason)> {
        self.0.iter()
    }
}

impl<'de> Deserialize<'de> for Reasons {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const REASONS: [EndReason; 8] = [
            EndReason::AgentTimeout,
            EndReason::AgentError,
            EndReason::ContextOverflow,
            EndReason::ToolCallFormat,
            EndReason::LoopDetected,
            EndReason::KilledItself,
            EndReason::GaveUp,
            EndReason::Endpoint,
        ];
        let table = BTreeMap::<String, String>::deserialize(deserializer)?;
        let read = |(words, reason): (String, String)| match REASONS.iter().find(|r| r.as_str() == reason) {
            Some(reason) => Ok((words, *reason)),
            None => Err(serde::de::Error::custom(format!(
                "{reason} is not one of the reasons {}",
                REASONS.map(EndReason::as_str).join(", ")
            ))),
        };
        table.into_iter().map(read).collect::<Result<_, _>>().map(Self)
    }
}
