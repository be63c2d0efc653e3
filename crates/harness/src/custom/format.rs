//! The format of harness files, and their validation.

use std::collections::BTreeMap;

use model::EndReason;
use serde::{Deserialize, Deserializer};

use super::template::{NAMES, Quote, names};
use crate::Api;

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
    pub(super) commands: Commands,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) files: Vec<File>,
    #[serde(default)]
    pub(super) session: Session,
    #[serde(default)]
    pub(super) transcript: Transcript,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
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
    /// The request is the standard input.
    #[serde(default)]
    pub(super) stdin: bool,
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
pub(super) enum From {
    /// The agent finds its session itself.
    None,
    /// Stamina Lab chooses the id.
    Caller,
    /// It is in JSON lines of the output.
    Stdout,
    /// It is a part of the name of a file.
    Files,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Session {
    #[serde(default)]
    from: Option<From>,
    #[serde(default)]
    pub(super) key: Option<String>,
    #[serde(default)]
    pub(super) files: Option<String>,
}

impl Session {
    /// Who chooses the id. Without a setting, the agent finds its session itself, with other arguments in later calls.
    pub(super) fn source(&self) -> From {
        self.from.unwrap_or(From::None)
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
}

#[derive(Debug, Default, Deserialize)]
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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Success {
    #[serde(default)]
    pub(super) exit_code: Option<i64>,
    #[serde(default)]
    pub(super) last_line: Option<toml::Table>,
    #[serde(default)]
    pub(super) file: Option<ResultFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResultFile {
    pub(super) path: String,
    pub(super) has: toml::Table,
}

#[derive(Debug, Default, Deserialize)]
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
#[derive(Debug, Default)]
pub(super) struct Reasons(Vec<(String, EndReason)>);

impl Reasons {
    pub(super) fn iter(&self) -> impl Iterator<Item = &(String, EndReason)> {
        self.0.iter()
    }
}

impl<'de> Deserialize<'de> for Reasons {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const MEANT: [EndReason; 8] = [
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
        let read = |(words, reason): (String, String)| match MEANT.iter().find(|r| r.as_str() == reason) {
            Some(reason) => Ok((words, *reason)),
            None => Err(serde::de::Error::custom(format!(
                "{reason} is not one of the reasons {}",
                MEANT.map(EndReason::as_str).join(", ")
            ))),
        };
        table.into_iter().map(read).collect::<Result<_, _>>().map(Self)
    }
}

impl Document {
    /// Whether a placeholder needs the gateway.
    pub(super) fn needs_endpoint(&self) -> bool {
        self.texts().any(|(_, text)| names(text).any(|name| matches!(name, "base_url" | "key")))
    }

    /// All texts with placeholders, with their keys.
    fn texts(&self) -> impl Iterator<Item = (String, &str)> {
        list("commands.first", &self.commands.first)
            .into_iter()
            .chain(list("commands.later", self.commands.later.as_deref().unwrap_or_default()))
            .chain(self.env.iter().map(|(name, value)| (format!("env.{name}"), value.as_str())))
            .chain(
                self.files
                    .iter()
                    .enumerate()
                    .map(|(n, file)| (format!("files[{n}].text"), file.text.as_str())),
            )
            .chain(one("transcript.file", self.transcript.file.as_ref()))
            .chain(one("usage.file", self.usage.as_ref().and_then(|u| u.file.as_ref())))
            .chain(one("success.file.path", self.success.file.as_ref().map(|f| &f.path)))
            .chain(one("failure.file", self.failure.file.as_ref()))
    }

    /// Checks the rules that TOML cannot express. The error names the key.
    pub(super) fn check(&self) -> Result<(), String> {
        let word = |text: &str| {
            !text.is_empty()
                && text.len() <= 40
                && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        };
        if !word(&self.name) {
            return Err(format!(
                "name: {:?} is not a word of at most 40 lower-case letters, digits and _",
                self.name
            ));
        }
        if crate::all().iter().any(|known| known.name() == self.name) {
            return Err(format!("name: {} is the name of a harness that comes with Stamina Lab", self.name));
        }
        for (key, text) in [("image", &self.image), ("version", &self.version)] {
            if text.trim().is_empty() || text.chars().any(char::is_whitespace) {
                return Err(format!("{key}: it is empty or has a blank in it"));
            }
        }
        for (key, list) in [
            ("probe", Some(&self.probe)),
            ("commands.first", Some(&self.commands.first)),
            ("commands.later", self.commands.later.as_ref()),
        ] {
            if list.is_some_and(|list| list.first().is_none_or(String::is_empty)) {
                return Err(format!("{key}: it names no program"));
            }
        }
        for (key, text) in self.texts() {
            if let Some(unknown) = names(text).find(|name| !NAMES.contains(name)) {
                let known = NAMES.map(|name| format!("{{{name}}}")).join(" ");
                return Err(format!("{key}: there is no placeholder {{{unknown}}}; there are {known}"));
            }
        }
        self.check_commands()?;
        for (n, file) in self.files.iter().enumerate() {
            below_home(&format!("files[{n}].path"), &file.path)?;
        }
        for (key, path) in [
            ("transcript.file", self.transcript.file.as_deref()),
            ("usage.file", self.usage.as_ref().and_then(|u| u.file.as_deref())),
            ("success.file.path", self.success.file.as_ref().map(|f| f.path.as_str())),
            ("failure.file", self.failure.file.as_deref()),
            ("session.files", self.session.files.as_deref()),
        ] {
            path.map_or(Ok(()), |path| below_home(key, path))?;
        }
        for name in self.env.keys() {
            if name.is_empty() || name.contains(['=', '\0']) || name == "HOME" {
                return Err(format!("env.{name}: this variable cannot be set"));
            }
        }
        self.check_session()?;
        if self.transcript.file.is_some() && self.transcript.reader == Reader::None {
            return Err("transcript.file: it needs a transcript.reader".to_owned());
        }
        if self.transcript.list.is_some() && self.transcript.file.is_none() {
            return Err("transcript.list: it needs a document, which transcript.file names".to_owned());
        }
        if self.usage.as_ref().is_some_and(|usage| usage.lines && usage.file.is_none()) {
            return Err("usage.lines: it needs a file, which usage.file names".to_owned());
        }
        if self.failure.file.is_some() && self.failure.message.is_none() {
            return Err("failure.file: it needs a failure.message".to_owned());
        }
        let success = &self.success;
        if success.last_line.is_none() && success.file.is_none() {
            return Err(
                "success: it needs last_line or file, because an exit code alone is not enough".to_owned()
            );
        }
        Ok(())
    }

    fn check_commands(&self) -> Result<(), String> {
        let both = [
            ("commands.first", Some(&self.commands.first)),
            ("commands.later", self.commands.later.as_ref()),
        ];
        for (key, argv) in both.into_iter().filter_map(|(key, argv)| Some((key, argv?))) {
            let has = |wanted: &str| argv.iter().any(|part| names(part).any(|name| name == wanted));
            let in_file =
                self.files.iter().any(|f| names(&f.text).any(|n| matches!(n, "prompt" | "prompt_file")));
            let in_env = self.env.values().any(|v| names(v).any(|n| matches!(n, "prompt" | "prompt_file")));
            if !(has("prompt") || has("prompt_file") || self.commands.stdin || in_file || in_env) {
                return Err(format!(
                    "{key}: the request is missing: use {{prompt}}, {{prompt_file}} or stdin = true"
                ));
            }
            // The script of a shell must not contain text from a request, the name of a model or a container.
            let shell = argv
                .first()
                .and_then(|p| p.rsplit('/').next())
                .is_some_and(|p| matches!(p, "sh" | "bash" | "dash" | "zsh" | "ash" | "busybox"));
            let script = argv.iter().position(|part| part.starts_with('-') && part.ends_with('c'));
            if let (true, Some(script)) = (shell, script.and_then(|at| argv.get(at + 1)))
                && let Some(name) = names(script).next()
            {
                return Err(format!(
                    "{key}: {{{name}}} inside a shell's script would be read as shell; give it as a further argument and use \"$1\""
                ));
            }
        }
        if !self
            .commands
            .first
            .iter()
            .chain(self.commands.later.iter().flatten())
            .any(|part| names(part).any(|n| n == "session"))
            && self.session.source() != From::None
            && !self.files.iter().any(|f| names(&f.text).any(|n| n == "session"))
            && !self.env.values().any(|v| names(v).any(|n| n == "session"))
        {
            return Err(
                "session.from: no command uses {session}, so no session would be continued".to_owned()
            );
        }
        let first_knows = self.session.source() == From::Caller;
        if !first_knows && self.commands.first.iter().any(|part| names(part).any(|name| name == "session")) {
            return Err("commands.first: {session} is not known before the first call, unless session.from = \"caller\"".to_owned());
        }
        Ok(())
    }

    fn check_session(&self) -> Result<(), String> {
        let session = &self.session;
        match session.from {
            Some(From::Stdout) if session.key.as_deref().is_none_or(str::is_empty) => {
                Err("session.key: session.from = \"stdout\" needs the key of the id in its JSON lines"
                    .to_owned())
            }
            Some(From::Files) if session.pattern().is_none() => {
                Err("session.files: session.from = \"files\" needs a path with one *, in its last part"
                    .to_owned())
            }
            None if self.commands.later.is_none() => Err(
                "session.from: without it and without commands.later every call would begin a new session; a harness that \
                 finds its session itself says session.from = \"none\""
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }
}

fn list<'a>(key: &str, texts: &'a [String]) -> Vec<(String, &'a str)> {
    texts.iter().enumerate().map(|(n, text)| (format!("{key}[{n}]"), text.as_str())).collect()
}

fn one<'a>(key: &str, text: Option<&'a String>) -> Option<(String, &'a str)> {
    text.map(|text| (key.to_owned(), text.as_str()))
}

/// A path below HOME.
fn below_home(key: &str, path: &str) -> Result<(), String> {
    let outside = path.is_empty()
        || path.starts_with(['/', '~'])
        || path.contains(['\\', '\0'])
        || path.split('/').any(|part| matches!(part, "" | "." | ".."));
    if outside {
        return Err(format!("{key}: {path:?} is not a path below HOME: relative, with /, without .."));
    }
    Ok(())
}
