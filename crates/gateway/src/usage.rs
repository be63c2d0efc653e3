//! Reads what an answer says about its own cost, while it passes through.
//!
//! | API | plain answer | stream |
//! |---|---|---|
//! | chat completions | `usage` | `usage` of the last chunk that has one |
//! | responses | `usage` | `response.usage` of `response.completed`, `.incomplete`, `.failed` |
//! | messages | `usage` | `message.usage` of `message_start`, overridden by `usage` of `message_delta` |
//!
//! A stream ends with `[DONE]` (or, where a server leaves that out, once a choice has its `finish_reason`), with one of these
//! events of `response`, or with `message_stop`. One that ends before has been broken off, however cleanly it was closed.
//!
//! `OpenAI` counts cached tokens inside the input. Anthropic counts what was read from the cache and what was written to it
//! beside the input; here they are put together, so that `input` means the same everywhere.

use model::Tokens;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::Route;
use crate::blame;
use crate::sse::{Piece, Splitter, data};

/// Longest plain answer that is read for its usage, in bytes.
const LONGEST_PLAIN: usize = 32 << 20;

/// What is known of an answer's tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// As everywhere.
    pub(crate) tokens: Tokens,
    /// Of the input, what was written to the cache.
    pub(crate) written: Option<u64>,
}

impl Tally {
    /// Whether what has to be known for a cost is known.
    pub(crate) fn is_whole(&self) -> bool {
        self.tokens.input.is_some() && self.tokens.output.is_some()
    }
}

/// Reads one answer.
#[derive(Debug)]
pub(crate) struct Meter {
    /// `None` = another path; read like chat completions.
    route: Option<Route>,
    body: Body,
    seen: Counts,
    /// The last event that belongs to an answer was seen, or the plain answer was read to its end.
    whole: bool,
    /// The model said why it stopped: what may follow are counts and the mark of the end, which some servers leave out.
    stopped: bool,
    /// A part of the answer could not be read.
    unread: bool,
    /// The first error that the answer itself reported.
    error: Option<String>,
    /// That error says that the request was no good.
    own_error: bool,
    /// Events seen, or bytes of a plain answer: what a guess at the output goes by.
    size: u64,
}

#[derive(Debug)]
enum Body {
    Plain { bytes: Vec<u8>, too_long: bool },
    Events(Splitter),
}

impl Meter {
    /// For an answer to a request on `route`; `events`: a stream of server-sent events.
    pub(crate) fn new(route: Option<Route>, events: bool) -> Self {
        Self {
            route,
            body: if events {
                Body::Events(Splitter::default())
            } else {
                Body::Plain { bytes: Vec::new(), too_long: false }
            },
            seen: Counts::default(),
            whole: false,
            stopped: false,
            unread: false,
            error: None,
            own_error: false,
            size: 0,
        }
    }

    /// Takes the next bytes of the answer. `keep`, if given, gets what is to be passed on in place of them: everything
    /// but the usage chunk that the agent did not ask for.
    pub(crate) fn push(&mut self, bytes: &[u8], mut keep: Option<&mut Vec<u8>>) {
        match &mut self.body {
            Body::Plain { bytes: all, too_long } => {
                self.size += bytes.len() as u64;
                if all.len() + bytes.len() > LONGEST_PLAIN {
                    *too_long = true;
                    *all = Vec::new();
                } else if !*too_long {
                    all.extend_from_slice(bytes);
                }
                if let Some(keep) = keep {
                    keep.extend_from_slice(bytes);
                }
            }
            Body::Events(splitter) => {
                let mut splitter = std::mem::take(splitter);
                splitter.push(bytes, |piece| {
                    self.size += 1;
                    let (bytes, pass) = match piece {
                        Piece::Event(event) => (event, !self.event(event)),
                        Piece::Part(part) => {
                            self.unread = true;
                            (part, true)
                        }
                    };
                    if let Some(keep) = keep.as_deref_mut().filter(|_| pass) {
                        keep.extend_from_slice(bytes);
                    }
                });
                self.body = Body::Events(splitter);
            }
        }
    }

    /// The answer has come to its end. Gives what was held back of it.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        match &mut self.body {
            Body::Plain { bytes, .. } => {
                let bytes = std::mem::take(bytes);
                self.plain(&bytes);
                Vec::new()
            }
            Body::Events(splitter) => {
                let rest = splitter.rest();
                if !rest.is_empty() {
                    // Some servers forget the empty line after the last event.
                    self.event(&rest);
                }
                rest
            }
        }
    }

    /// What is known by now.
    pub(crate) fn tally(&self) -> Tally {
        let counts = &self.seen;
        if self.route == Some(Route::Messages) {
            let beside = [counts.read, counts.written];
            let tokens = Tokens {
                input: counts
                    .input
                    .map(|input| beside.iter().flatten().fold(input, |sum, part| sum.saturating_add(*part))),
                cached: counts.read,
                output: counts.output,
            };
            return Tally { tokens, written: counts.written };
        }
        Tally {
            tokens: Tokens { input: counts.input, cached: counts.cached, output: counts.output }
                .with_cached_included(),
            written: None,
        }
    }

    /// Whether a whole event was seen by now.
    pub(crate) fn has_events(&self) -> bool {
        matches!(self.body, Body::Events(_)) && self.size > 0
    }

    /// Whether nothing is missing from the answer.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// The answer comes in a form that can not be read.
    pub(crate) fn can_not_read(&mut self) {
        self.unread = true;
    }

    /// Whether a stream has come to an end although its API says that more belongs to it.
    pub(crate) fn breaks_off(&self) -> bool {
        let ends = self.whole || self.stopped || self.unread || self.error.is_some();
        matches!(self.body, Body::Events(_)) && self.route.is_some() && !ends
    }

    /// What the answer reported as an error, although its status was good.
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// A guess at the output tokens of an answer that does not tell them: an event of a stream is about a token, four
    /// bytes of a plain answer are. Never shown; budgets go by it so that they hold without usage.
    pub(crate) fn guess(&self) -> u64 {
        match self.body {
            Body::Plain { .. } => self.size / 4,
            Body::Events(_) => self.size,
        }
    }

    /// Whether that error says that the request was no good, so that it is the agent's own.
    pub(crate) fn is_own_error(&self) -> bool {
        self.own_error
    }

    fn failed(&mut self, error: &Value) {
        if self.error.is_none() {
            self.error = Some(one_line(error));
            self.own_error = blame::is_the_agents(error);
        }
    }

    fn plain(&mut self, bytes: &[u8]) {
        let Ok(answer) = serde_json::from_slice::<Plain>(bytes) else { return };
        self.seen.take(answer.usage);
        self.whole = true;
        if let Some(error) = answer.error.filter(|error| !error.is_null()) {
            self.failed(&error);
        }
    }

    /// Reads an event. Whether it carries usage and nothing else.
    fn event(&mut self, event: &[u8]) -> bool {
        let data = data(event);
        match self.route {
            Some(Route::Messages) => self.messages(&data),
            Some(Route::Responses) => self.responses(&data),
            _ => return self.chat(&data),
        }
        false
    }

    fn chat(&mut self, data: &[u8]) -> bool {
        if data.trim_ascii() == b"[DONE]" {
            self.whole = true;
            return false;
        }
        let Ok(chunk) = serde_json::from_slice::<ChatChunk>(data) else { return false };
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            self.failed(&error);
        }
        let told = chunk.usage.is_some();
        self.seen.take(chunk.usage);
        let reason = |choice: &Value| choice.get("finish_reason").and_then(Value::as_str).map(str::is_empty);
        self.stopped |= chunk.choices.iter().flatten().any(|choice| reason(choice) == Some(false));
        told && chunk.choices.is_some_and(|choices| choices.is_empty())
    }

    fn responses(&mut self, data: &[u8]) {
        let Ok(event) = serde_json::from_slice::<ResponsesEvent>(data) else { return };
        if let Some(response) = event.response {
            self.seen.take(response.usage);
            if let Some(error) = response.error.filter(|error| !error.is_null()) {
                self.failed(&error);
            }
        }
        match event.kind.as_str() {
            "response.completed" | "response.incomplete" | "response.failed" => self.whole = true,
            "error" => {
                let error = event.error.or(event.message).unwrap_or(Value::Null);
                self.failed(&error);
            }
            _ => {}
        }
    }

    fn messages(&mut self, data: &[u8]) {
        let Ok(event) = serde_json::from_slice::<MessagesEvent>(data) else { return };
        match event.kind.as_str() {
            "message_start" => {
                if let Some(message) = event.message {
                    self.seen.take(message.usage);
                    // What stands there is where the counting begins, not what it comes to.
                    self.seen.output = None;
                }
            }
            "message_delta" => self.seen.take(event.usage),
            "message_stop" => self.whole = true,
            "error" => {
                let error = event.error.unwrap_or(Value::Null);
                self.failed(&error);
            }
            _ => {}
        }
    }
}

/// What an error says, on one line of at most 300 characters, control characters escaped.
pub(crate) fn one_line(error: &Value) -> String {
    let message = error.pointer("/message").and_then(Value::as_str);
    let kind = ["/code", "/type"].iter().find_map(|at| error.pointer(at).and_then(Value::as_str));
    match (message, kind, error) {
        (Some(message), Some(kind), _) if !message.contains(kind) => short(&format!("{message} ({kind})")),
        (Some(message), ..) => short(message),
        (None, _, Value::String(text)) => short(text),
        (None, _, other) => short(&other.to_string()),
    }
}

/// A text from outside on one line of at most 300 characters.
pub(crate) fn short(text: &str) -> String {
    let mut line = String::new();
    for (count, character) in text.trim().chars().enumerate() {
        if count == 300 {
            line.push('…');
            break;
        }
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// Counts in the endpoint's own way.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    input: Option<u64>,
    output: Option<u64>,
    /// Cached inside the input.
    cached: Option<u64>,
    /// Cached beside the input (Anthropic).
    read: Option<u64>,
    written: Option<u64>,
}

impl Counts {
    /// Later counts override earlier ones: they are sums up to their event.
    fn take(&mut self, usage: Option<Usage>) {
        let Some(usage) = usage else { return };
        let details = usage.prompt_tokens_details.or(usage.input_tokens_details);
        let cached = details
            .and_then(|details| details.cached_tokens)
            .or(usage.prompt_cache_hit_tokens)
            .or(usage.cached_tokens);
        for (held, told) in [
            (&mut self.input, usage.prompt_tokens.or(usage.input_tokens)),
            (&mut self.output, usage.completion_tokens.or(usage.output_tokens)),
            (&mut self.cached, cached),
            (&mut self.read, usage.cache_read_input_tokens),
            (&mut self.written, usage.cache_creation_input_tokens),
        ] {
            *held = told.or(*held);
        }
    }
}

#[derive(Deserialize)]
struct Plain {
    #[serde(default, deserialize_with = "usage")]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct ChatChunk {
    #[serde(default, deserialize_with = "usage")]
    usage: Option<Usage>,
    #[serde(default)]
    choices: Option<Vec<Value>>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct ResponsesEvent {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    response: Option<Plain>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    message: Option<Value>,
}

#[derive(Deserialize)]
struct MessagesEvent {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    message: Option<Plain>,
    #[serde(default, deserialize_with = "usage")]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<Value>,
}

/// The counts of all three APIs; beside the documented ones, `DeepSeek`'s and Moonshot's words for cached tokens.
#[derive(Deserialize)]
struct Usage {
    #[serde(default, deserialize_with = "count")]
    prompt_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    completion_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    output_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
    #[serde(default)]
    input_tokens_details: Option<Details>,
    #[serde(default, deserialize_with = "count")]
    prompt_cache_hit_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    cached_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    cache_creation_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default, deserialize_with = "count")]
    cached_tokens: Option<u64>,
}

/// A usage that can not be read is no usage; the rest of the answer still counts.
fn usage<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Usage>, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(value.is_object().then(|| serde_json::from_value(value).ok()).flatten())
}

/// A count, also if a server writes it as `12.0`; everything else is unknown.
fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(from)?;
    let float = || value.as_f64().filter(|float| *float >= 0.0 && *float < 9e15).map(|float| float as u64);
    Ok(value.as_u64().or_else(float))
}
