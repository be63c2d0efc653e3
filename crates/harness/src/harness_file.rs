//! A harness that a TOML file describes: its commands, its session, and where transcript, usage and success are.
//!
//! `docs/harnesses.md` documents the format, and a test runs its example. Loading checks the whole file, so that a run
//! does not fail at a misspelled placeholder in its third turn.

mod bounded;
mod check;
mod document;
mod finished_call;
mod format;
mod list;
mod session;
mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::{EndReason, Tokens};
use serde_json::Value;

use self::finished_call::FinishedCall;
use self::format::{Cumulative, Document, Reader, SessionSource};
use self::template::{PlaceholderValues, names};
use crate::call_end::{Signs, TAIL, decide, fault};
use crate::growing_lines::GrowingLines;
use crate::lines::{count_at, objects, plain_tail, status_at, text_at};
use crate::readers::{chat, codex, opencode, openhands, pi, stream, vibe};
use crate::record::Record;
use crate::shell::Command;
use crate::usage::{Meter, known_usage};
use crate::{
    AMBIGUOUS, Api, Call, CommandEnd, Harness, HarnessError, Invocation, Needs, Outcome, Session,
    keep_session_file, next_session, text,
};

/// Most bytes of a harness file.
pub const FILE_CAP: u64 = 1 << 20;
/// Most bytes of a file in HOME with a transcript or a result.
const HOME_CAP: u64 = 64 << 20;

/// A harness that a file describes.
#[derive(Debug)]
pub struct HarnessFile {
    description: Document,
    text: String,
}

impl HarnessFile {
    /// The text of its file.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Loads a harness from a TOML file (`docs/harnesses.md`) at an absolute path without links. Resolve a path from a user
/// first ([`files::confined_path::resolved`]). Errors name the file, and the key or line.
pub fn load(path: &Path) -> Result<HarnessFile, HarnessError> {
    let wrong = |reason: String| HarnessError::File { path: path.display().to_string(), reason };
    let bytes = files::confined_path::read_file(path, FILE_CAP).map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8 text".to_owned()))?;
    parse(&text).map_err(wrong)
}

/// Reads a harness file that comes with Stamina Lab.
pub(crate) fn built_in(text: &str) -> Result<HarnessFile, String> {
    read(text, true)
}

/// Reads the text of a harness file.
fn parse(text: &str) -> Result<HarnessFile, String> {
    read(text, false)
}

fn read(text: &str, is_built_in: bool) -> Result<HarnessFile, String> {
    let description: Document = toml::from_str(text).map_err(|error| {
        // The error must not quote the text, because the settings may name any file of this machine.
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let problem =
            if is_foreign(text) { "this is no key or value of a harness file" } else { error.message() };
        format!("line {line}, column {column}: {problem}")
    })?;
    description.check(is_built_in)?;
    Ok(HarnessFile { description, text: text.to_owned() })
}

/// Whether it is TOML for something else: a message about a key or a value would quote it.
fn is_foreign(text: &str) -> bool {
    toml::from_str::<toml::Table>(text)
        .is_ok_and(|table| !["name", "image"].iter().all(|key| table.contains_key(*key)))
}

impl Harness for HarnessFile {
    fn name(&self) -> &str {
        &self.description.name
    }

    fn title(&self) -> &str {
        self.description.title.as_deref().unwrap_or(&self.description.name)
    }

    fn image(&self) -> &str {
        &self.description.image
    }

    fn version(&self) -> &str {
        &self.description.version
    }

    fn api(&self) -> Api {
        self.description.api
    }

    fn apis(&self) -> Vec<Api> {
        let others = self.description.other_apis.iter().copied().filter(|api| *api != self.description.api);
        std::iter::once(self.description.api).chain(others).collect()
    }

    fn probe(&self) -> Vec<String> {
        self.description.probe.clone()
    }

    fn needs(&self) -> Option<Needs> {
        self.description.needs
    }

    fn invocation(&self, call: &Call<'_>) -> Result<Invocation, HarnessError> {
        let description = &self.description;
        if call.endpoint.is_direct() && description.needs_endpoint() {
            return Err(HarnessError::NoDirect { harness: self.title().to_owned() });
        }
        let used = description.call_parts(call.endpoint.is_direct());
        let id = self.session_of(call)?;
        let placeholders = PlaceholderValues::new(call, id.as_deref(), self.session_file(call), used.model);
        let is_later = match description.session.source() {
            // An id that cannot be used is a session that cannot be continued.
            SessionSource::Caller => self.known_id(call).is_some(),
            _ => call.session.is_some(),
        };
        let commands = used.commands;
        let argv = match (is_later, id.is_some(), &commands.later, &commands.later_without_id) {
            (true, false, _, Some(without_id)) => without_id,
            (true, _, Some(later), _) => later,
            _ => &commands.first,
        };
        let mut command = Command::new(argv.iter().map(|part| placeholders.filled(part)));
        if commands.stdin {
            command = command.prompt_on_stdin(call);
        } else if used.has_prompt_file() {
            command = command.prompt_file(call);
        }
        let mut env = used.env;
        if is_later {
            let more = commands.later_env.iter();
            env.extend(more.map(|(name, value)| (name.as_str(), value.as_str())));
        }
        for (name, value) in env {
            command = command.env(name, placeholders.filled(value));
        }
        for file in &used.files {
            command = command.file(&file.path, placeholders.quoted(&file.text, file.quote));
        }
        command.files(self.files_before(call)).done(self.title())
    }

    fn has_begun(&self, session: &Session) -> bool {
        // With one command for all calls, the program starts a session that it does not know.
        let starts_any = self.description.commands.later.is_none();
        self.description.session.source() != SessionSource::Caller || starts_any || session.id.is_some()
    }

    fn outcome(&self, call: &Call<'_>, ended: &CommandEnd<'_>) -> Outcome {
        let description = &self.description;
        if let Some(program) = description.outcome {
            return program.outcome(call, ended);
        }
        let known = call.session.and_then(|s| s.id.clone());
        let id = match description.session.source() {
            // The code of a program finds its id itself.
            SessionSource::None | SessionSource::Outcome | SessionSource::File => None,
            SessionSource::Caller => Some(known.unwrap_or_else(|| call.session_id.to_owned())),
            SessionSource::Stdout => objects(ended.stdout)
                .filter_map(|line| text_at(&line, &description.session.key_parts()).map(str::to_owned))
                .rfind(|id| self.is_usable(id))
                .or(known),
            // With an earlier session there is a file in any case.
            SessionSource::Files if call.earlier.is_some() => known,
            SessionSource::Files => known.or_else(|| self.only_file(ended.home)),
        };
        let mut session = next_session(call.session, id.clone());
        if let (None, Some(earlier)) = (call.session, call.earlier) {
            session.memory = self.carried_over(earlier);
        }
        if let (Some(file), Some(usual)) = (self.session_file(call), &description.session.file) {
            keep_session_file(&mut session, &file, usual);
        }
        let used = description.call_parts(call.endpoint.is_direct());
        if session.id.is_none() && call.earlier.is_some() && used.commands.later_without_id.is_some() {
            session.memory.insert(AMBIGUOUS.to_owned(), "1".to_owned());
        }
        let placeholders = PlaceholderValues::new(call, id.as_deref(), self.session_file(call), used.model);
        let mut finished = FinishedCall {
            ended,
            session: &mut session,
            placeholders: &placeholders,
            too_large: BTreeSet::new(),
        };
        let (record, new) = self.transcript(&mut finished);
        let bill = self.usage(&mut finished, &record, new.as_deref());
        let end_lines = new.as_deref().filter(|_| description.transcript.has_end).unwrap_or(ended.stdout);
        let mut signs = Signs { finished: self.succeeded(&mut finished, end_lines), ..Signs::default() };
        // Also if it is not needed: its present state belongs to this call and not to a later one.
        let failure =
            self.description.failure.file.as_ref().map(|path| finished.written_path("failure", path));
        if !signs.finished {
            self.failure(&mut finished, failure.flatten(), end_lines, &mut signs);
        }
        let too_large = finished.too_large;
        let transcript = description.transcript.file.as_ref().map(|path| placeholders.filled(path));
        let unread = description.transcript.reader == Reader::None
            || transcript.is_some_and(|path| record.is_empty() && too_large.contains(&path));
        let (usage, cost_usd) = known_usage(bill, signs.finished || unread || record.is_answered());
        let (end, message) = if unread && signs.finished {
            // Without a transcript it is unknown whether it called a tool.
            match decide(ended, &record, signs) {
                (Some(EndReason::GaveUp), _) => {
                    (Some(EndReason::NoChange), Some("it ended without changing a file".to_owned()))
                }
                other => other,
            }
        } else {
            decide(ended, &record, signs)
        };
        let message = if end.is_some() { with_unread(message, &too_large) } else { message };
        Outcome { session: Some(session), steps: record.into_steps(), usage, cost_usd, end, message }
    }
}

impl HarnessFile {
    /// The memory about files in HOME that stays valid for a restarted session. Files with the session in their path do not
    /// count, because the new session has others.
    fn carried_over(&self, earlier: &Session) -> BTreeMap<String, String> {
        let is_shared = |path: Option<&String>| {
            path.is_some_and(|path| !names(path).any(|name| name.starts_with("session")))
        };
        let transcript = is_shared(self.description.transcript.file.as_ref());
        let usage = is_shared(self.description.usage.as_ref().and_then(|usage| usage.file.as_ref()));
        let is_kept = |key: &str| match key {
            "read:transcript" => transcript,
            "read:usage" => usage,
            key => key.starts_with("stamp:"),
        };
        earlier.memory.iter().filter(|(key, _)| is_kept(key)).map(|(k, v)| (k.clone(), v.clone())).collect()
    }

    /// The steps of this call, and their JSON lines if they are from a file.
    fn transcript(&self, finished: &mut FinishedCall<'_, '_>) -> (Record, Option<Vec<u8>>) {
        let description = &self.description.transcript;
        let ended = finished.ended;
        let new = description.file.as_ref().map(|path| {
            let mut lines = Vec::new();
            let mut keep = |line: &Value| {
                lines.extend_from_slice(line.to_string().as_bytes());
                lines.push(b'\n');
            };
            let path = finished.placeholders.filled(path);
            match &description.list {
                None => GrowingLines::new(finished.session, "transcript", ended.home, &path).read(keep),
                Some(keys) => finished.elements(&path, &key_path(keys), &mut keep),
            }
            lines
        });
        let bytes = new.as_deref().unwrap_or(ended.stdout);
        let record = match description.reader {
            Reader::None => Record::default(),
            Reader::ClaudeStreamJson => stream::read(bytes, stream::Input::WithoutCached).record,
            Reader::QwenStreamJson => stream::read(bytes, stream::Input::WithCached).record,
            Reader::OpenaiMessagesJsonl => {
                let mut record = Record::default();
                objects(bytes).for_each(|line| chat::message(&mut record, &line));
                record
            }
            Reader::OpencodeJsonl => opencode::read(bytes).record,
            Reader::OpenhandsJsonl => openhands::read(bytes).record,
            Reader::VibeJsonl => vibe::read(bytes).record,
            Reader::CodexJsonl => codex::read(bytes).record,
            Reader::PiJsonl => pi::read(bytes),
        };
        (record, new)
    }

    fn usage(
        &self,
        finished: &mut FinishedCall<'_, '_>,
        record: &Record,
        transcript: Option<&[u8]>,
    ) -> (Tokens, Option<f64>) {
        let Some(description) = &self.description.usage else { return (record.tokens(), None) };
        let count = |value: &Value, keys: &Option<String>| count_at(value, &key_path(keys.as_deref()?));
        let read = |value: &Value| {
            let cost = description.cost_usd.as_ref().and_then(|keys| {
                crate::lines::value_at(value, &key_path(keys))?
                    .as_f64()
                    .filter(|c| c.is_finite() && *c >= 0.0)
            });
            let tokens = Tokens {
                input: count(value, &description.input),
                cached: count(value, &description.cached),
                output: count(value, &description.output),
            };
            let cached_input = if description.input_without_cached { tokens.cached.unwrap_or(0) } else { 0 };
            (Tokens { input: tokens.input.map(|n| n.saturating_add(cached_input)), ..tokens }, cost)
        };
        let usage_from_lines = |bytes: &[u8]| {
            let mut found = objects(bytes).map(|line| read(&line)).filter(|(tokens, _)| !tokens.is_unknown());
            match description.counts {
                // One line per model request.
                Cumulative::Request => {
                    found.fold((Tokens::default(), None), |(sum, total), (tokens, cost)| {
                        let total = match (total, cost) {
                            (None, cost) => cost,
                            (total, None) => total,
                            (Some(total), Some(cost)) => Some(total + cost),
                        };
                        (sum.plus(tokens), total)
                    })
                }
                Cumulative::Call | Cumulative::Session => found.next_back().unwrap_or_default(),
            }
        };
        let (tokens, cost) = match &description.file {
            Some(path) if description.lines => {
                let mut new = Vec::new();
                let path = finished.placeholders.filled(path);
                GrowingLines::new(finished.session, "usage", finished.ended.home, &path).read(|line| {
                    new.extend_from_slice(line.to_string().as_bytes());
                    new.push(b'\n');
                });
                usage_from_lines(&new)
            }
            Some(path) => {
                let keys =
                    [&description.input, &description.cached, &description.output, &description.cost_usd];
                let value = finished
                    .written_path("usage", path)
                    .and_then(|path| finished.document(&path, &tops(keys)));
                value.map(|value| read(&value)).unwrap_or_default()
            }
            None => usage_from_lines(transcript.unwrap_or(finished.ended.stdout)),
        };
        if description.counts == Cumulative::Session {
            let mut meter = Meter::new(finished.session);
            (meter.tokens(tokens), meter.cost(cost))
        } else {
            (tokens, cost)
        }
    }

    /// Whether the call has the success mark; `end_lines` are the JSON lines that tell how it ended.
    fn succeeded(&self, finished: &mut FinishedCall<'_, '_>, end_lines: &[u8]) -> bool {
        let description = &self.description.success;
        // Checked in any case: its present state belongs to this call and not to a later one.
        let fresh =
            description.file.as_ref().map(|wanted| (finished.written_path("success", &wanted.path), wanted));
        let code = description.exit_code.is_none_or(|code| finished.ended.exit.code == Some(code));
        let last = description.last_line.as_ref().is_none_or(|wanted| {
            let mut lines = objects(end_lines).rev();
            let line = lines.find(|line| description.among.as_ref().is_none_or(|among| has(line, among)));
            line.is_some_and(|line| has(&line, wanted))
        });
        let file = fresh.is_none_or(|(fresh, wanted)| {
            let keys: Vec<_> = wanted.has.keys().map(String::as_str).collect();
            fresh
                .and_then(|path| finished.document(&path, &keys))
                .is_some_and(|value| has(&value, &wanted.has))
        });
        code && last && file
    }

    /// Records the failure that the harness reports: the message at the named key, else its last plain lines, if they match a
    /// known reason. `file` is the document with the message, if this call has written it.
    fn failure(
        &self,
        finished: &mut FinishedCall<'_, '_>,
        file: Option<String>,
        end_lines: &[u8],
        signs: &mut Signs,
    ) {
        let description = &self.description.failure;
        let ended = finished.ended;
        if let Some(message) = &description.message {
            let keys = key_path(message);
            let status = description.status.as_deref().map(key_path).unwrap_or_default();
            let read = |value: Value| Some((text_at(&value, &keys)?.to_owned(), status_at(&value, &status)));
            let found = match (&description.file, file) {
                (Some(_), path) => {
                    let tops = tops([&description.message, &description.status]);
                    path.and_then(|path| finished.document(&path, &tops)).and_then(read)
                }
                (None, _) => objects(end_lines).rev().find_map(read),
            };
            if let Some((message, status)) = found {
                signs.failed(self.reason(status, &message), &message);
                return;
            }
        }
        for output in [ended.stdout, ended.stderr] {
            let tail = plain_tail(&output[output.len().saturating_sub(TAIL)..], TAIL);
            let message = text::last_lines(&tail, 3);
            let reason = self.reason(None, &message);
            if reason != EndReason::AgentError {
                signs.failed(reason, &message);
                return;
            }
        }
    }

    fn reason(&self, status: Option<u64>, message: &str) -> EndReason {
        let low = message.to_lowercase();
        let named =
            self.description.failure.reasons.iter().find(|(words, _)| low.contains(&words.to_lowercase()));
        named.map_or_else(|| fault(status, message), |(_, reason)| *reason)
    }
}

/// A path of keys. It is empty for the document itself.
fn key_path(keys: &str) -> Vec<&str> {
    if keys.is_empty() { Vec::new() } else { keys.split('.').collect() }
}

/// The first keys of paths.
fn tops<const N: usize>(paths: [&Option<String>; N]) -> Vec<&str> {
    paths.into_iter().flatten().filter_map(|keys| keys.split('.').next()).collect()
}

/// A message, with the files that could not be read.
fn with_unread(message: Option<String>, too_large: &BTreeSet<String>) -> Option<String> {
    if too_large.is_empty() {
        return message;
    }
    let named: Vec<_> = too_large.iter().map(|path| format!("~/{path}")).collect();
    let unread = format!("{} could not be read: too large", named.join(", "));
    Some(text::message(&message.map_or_else(|| unread.clone(), |message| format!("{message}; {unread}"))))
}

/// Whether a value has all wanted keys and values, also those in tables.
fn has(value: &Value, wanted: &toml::Table) -> bool {
    wanted.iter().all(|(key, wanted)| match (value.get(key), wanted) {
        (Some(value), toml::Value::Table(inner)) => has(value, inner),
        (Some(Value::String(text)), toml::Value::String(wanted)) => text == wanted,
        (Some(Value::Bool(is)), toml::Value::Boolean(wanted)) => is == wanted,
        (Some(Value::Number(n)), toml::Value::Integer(wanted)) => n.as_i64() == Some(*wanted),
        _ => false,
    })
}

#[cfg(test)]
mod tests;
