//! Reads what an answer reports about its own usage, while it passes through.
//!
//! | API | plain answer | stream |
//! |---|---|---|
//! | chat completions | `usage` | `usage` of the last chunk that has one |
//! | responses | `usage` | `response.usage` of `response.completed`, `.incomplete`, `.failed` |
//! | messages | `usage` | `message.usage` of `message_start`, overridden by `usage` of `message_delta` |
//!
//! A stream ends with `[DONE]`, with one of these events of `response`, or with `message_stop`. Where a server omits `[DONE]`,
//! the `finish_reason` of a choice ends it. A stream that ends earlier is incomplete, however cleanly it was closed.
//!
//! A plain answer of llama.cpp also tells how long the server took (`timings`).
//!
//! `OpenAI` counts cached tokens inside the input. Anthropic counts tokens read from the cache and written to it beside the
//! input. Here they are added, so that `input` means the same everywhere.

mod counts;
mod timings;

use model::Tokens;
use serde::Deserialize;
use serde_json::Value;

use self::counts::{Counts, Usage, usage};
use self::timings::{Timings, timings};
use crate::fault_attribution::error_codes::is_request_error;
use crate::record::StreamTimes;
use crate::route::Route;
use crate::sse::{Piece, Splitter, data};
use crate::text::error_line;

/// Longest plain answer that is read for its usage, in bytes.
const LONGEST_PLAIN: usize = 32 << 20;
/// Describes a stream that ends before its last event.
pub(crate) const UNFINISHED_STREAM: &str = "the stream ended before its last event";
/// Describe answers that their API does not have.
const NOT_JSON: &str = "the endpoint's answer is not JSON, or is cut off";
const NO_CHOICE: &str = "the endpoint's answer has no choice";
const NO_OUTPUT: &str = "the endpoint's answer has no `output`";
const NO_CONTENT: &str = "the endpoint's answer has no `content`";

/// What is known of the tokens of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Input, cached and output tokens.
    pub(crate) tokens: Tokens,
    /// The part of the input that was written to the cache.
    pub(crate) written: Option<u64>,
}

impl Tally {
    /// Whether everything is known that a cost needs.
    pub(crate) fn is_complete(&self) -> bool {
        self.tokens.input.is_some() && self.tokens.output.is_some()
    }
}

/// Reads one answer.
#[derive(Debug)]
pub(crate) struct Meter {
    /// `None` = another path, which is read like chat completions.
    route: Option<Route>,
    body: Body,
    counts: Counts,
    /// How long the server took for a plain answer, by its own clock.
    times: Option<StreamTimes>,
    /// The last event of the answer was read, or the plain answer to its end.
    is_complete: bool,
    /// The model reported why it stopped. Only counts and the end mark may follow, which some servers omit.
    has_finish_reason: bool,
    /// A part of the answer is unreadable.
    is_unreadable: bool,
    /// A part of the model's answer itself was read, not only its head.
    has_content: bool,
    /// A chunk of chat completions had a choice.
    has_choice: bool,
    /// What makes the answer none that its API describes.
    flaw: Option<&'static str>,
    /// The model stopped because its context window was full.
    has_full_context: bool,
    /// The first error that the answer itself reports.
    error: Option<String>,
    /// That error states that the request was invalid.
    is_request_error: bool,
    /// Number of events, or bytes of a plain answer. An estimate of the output uses it.
    size: u64,
}

#[derive(Debug)]
enum Body {
    Plain { bytes: Vec<u8>, too_long: bool },
    Events(Splitter),
}

impl Meter {
    /// For an answer to a request on `route`. `is_stream`: server-sent events.
    pub(crate) fn new(route: Option<Route>, is_stream: bool) -> Self {
        Self {
            route,
            body: if is_stream {
                Body::Events(Splitter::default())
            } else {
                Body::Plain { bytes: Vec::new(), too_long: false }
            },
            counts: Counts::default(),
            times: None,
            is_complete: false,
            has_finish_reason: false,
            is_unreadable: false,
            has_content: false,
            has_choice: false,
            flaw: None,
            has_full_context: false,
            error: None,
            is_request_error: false,
            size: 0,
        }
    }

    /// Reads the next bytes of the answer. `keep` receives what is passed on in place of them: everything except the usage chunk
    /// that the agent did not ask for.
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
                            self.is_unreadable = true;
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

    /// Reads the end of the answer. Returns what was held back of it.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        match &mut self.body {
            Body::Plain { bytes, .. } => {
                let bytes = std::mem::take(bytes);
                self.read_plain_body(&bytes);
                Vec::new()
            }
            Body::Events(splitter) => {
                let rest = splitter.take_rest();
                if !rest.is_empty() {
                    // Some servers omit the empty line after the last event.
                    self.event(&rest);
                }
                rest
            }
        }
    }

    /// The usage that is known by now.
    pub(crate) fn tally(&self) -> Tally {
        let counts = &self.counts;
        if self.route == Some(Route::Messages) {
            let cached_parts = [counts.read, counts.written];
            let tokens = Tokens {
                input: counts.input.map(|input| {
                    cached_parts.iter().flatten().fold(input, |sum, part| sum.saturating_add(*part))
                }),
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

    /// How long the server took for a whole plain answer, where it tells.
    pub(crate) fn times(&self) -> Option<StreamTimes> {
        self.times
    }

    /// Whether an event was read by now.
    pub(crate) fn has_events(&self) -> bool {
        matches!(self.body, Body::Events(_)) && self.size > 0
    }

    /// Whether a stream has more than its head: content, its end, an error, or something that this meter cannot read.
    pub(crate) fn is_past_its_beginning(&self) -> bool {
        let is_read = self.route.is_some() && !self.is_unreadable;
        let is_more = self.has_content || self.has_finish_reason || self.is_complete || self.error.is_some();
        self.has_events() && (is_more || !is_read)
    }

    /// What makes a whole answer none that its API describes: a web page, JSON that is cut, no choice at all. `None` where
    /// nothing is wrong, or nothing is known of the format.
    pub(crate) fn flaw(&self) -> Option<&'static str> {
        if self.is_unreadable || self.error.is_some() { None } else { self.flaw }
    }

    /// Whether the model stopped because its context window was full.
    pub(crate) fn reports_full_context(&self) -> bool {
        self.has_full_context
    }

    /// Whether nothing is missing from the answer.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The answer has a format that this meter cannot read.
    pub(crate) fn set_unreadable(&mut self) {
        self.is_unreadable = true;
    }

    /// Whether a stream has ended although its API requires more.
    pub(crate) fn breaks_off(&self) -> bool {
        let ends = self.is_complete || self.has_finish_reason || self.is_unreadable || self.error.is_some();
        matches!(self.body, Body::Events(_)) && self.route.is_some() && !ends
    }

    /// The error that the answer reports in spite of its status.
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Estimated output tokens, for an answer without usage: one per event of a stream, or per four bytes of a plain answer.
    /// Never shown. Budgets count it, so that they hold without usage.
    pub(crate) fn guess(&self) -> u64 {
        match self.body {
            Body::Plain { .. } => self.size / 4,
            Body::Events(_) => self.size,
        }
    }

    /// Whether that error states that the request was invalid, so that it is attributed to the agent.
    pub(crate) fn is_request_error(&self) -> bool {
        self.is_request_error
    }

    fn set_error(&mut self, error: &Value) {
        if self.error.is_none() {
            self.error = Some(error_line(error));
            self.is_request_error = is_request_error(error);
        }
    }

    fn read_plain_body(&mut self, bytes: &[u8]) {
        let Body::Plain { too_long, .. } = &self.body else { return };
        let too_long = *too_long;
        let Ok(answer) = serde_json::from_slice::<PlainAnswer>(bytes) else {
            self.flaw = (self.route.is_some() && !too_long).then_some(NOT_JSON);
            return;
        };
        self.counts.update(answer.usage);
        self.times = answer.timings.map(Timings::times);
        self.is_complete = true;
        let is_list = |value: &Option<Value>| value.as_ref().is_some_and(Value::is_array);
        self.flaw = match self.route {
            Some(Route::ChatCompletions) if !is_filled_list(answer.choices.as_ref()) => Some(NO_CHOICE),
            Some(Route::Responses) if !is_list(&answer.output) => Some(NO_OUTPUT),
            Some(Route::Messages) if !is_list(&answer.content) => Some(NO_CONTENT),
            _ => None,
        };
        self.has_full_context = answer.stop_reason.as_ref().is_some_and(is_full);
        if let Some(error) = answer.error.filter(|error| !error.is_null()) {
            self.set_error(&error);
        }
    }

    /// Reads an event. Returns whether it carries usage and nothing else.
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
            self.is_complete = true;
            if self.route.is_some() && !self.has_choice {
                self.flaw = Some(NO_CHOICE);
            }
            return false;
        }
        let Ok(chunk) = serde_json::from_slice::<ChatChunk>(data) else { return false };
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            self.set_error(&error);
        }
        let has_usage = chunk.usage.is_some();
        self.counts.update(chunk.usage);
        self.has_choice |= chunk.choices.as_ref().is_some_and(|choices| !choices.is_empty());
        self.has_content |= chunk.choices.iter().flatten().any(has_delta);
        let reason = |choice: &Value| choice.get("finish_reason").and_then(Value::as_str).map(str::is_empty);
        self.has_finish_reason |= chunk.choices.iter().flatten().any(|choice| reason(choice) == Some(false));
        has_usage && chunk.choices.is_some_and(|choices| choices.is_empty())
    }

    fn responses(&mut self, data: &[u8]) {
        let Ok(event) = serde_json::from_slice::<ResponsesEvent>(data) else { return };
        if let Some(response) = event.response {
            self.counts.update(response.usage);
            if let Some(error) = response.error.filter(|error| !error.is_null()) {
                self.set_error(&error);
            }
        }
        match event.kind.as_str() {
            "response.completed" | "response.incomplete" | "response.failed" => self.is_complete = true,
            "response.created" | "response.queued" | "response.in_progress" => {}
            "error" => {
                let error = event.error.or(event.message).unwrap_or(Value::Null);
                self.set_error(&error);
            }
            kind => self.has_content |= kind.starts_with("response."),
        }
    }

    fn messages(&mut self, data: &[u8]) {
        let Ok(event) = serde_json::from_slice::<MessagesEvent>(data) else { return };
        match event.kind.as_str() {
            "message_start" => {
                if let Some(message) = event.message {
                    self.counts.update(message.usage);
                    // The start reports where counting begins, not the total.
                    self.counts.output = None;
                }
            }
            "content_block_start" | "content_block_delta" => self.has_content = true,
            "message_delta" => {
                self.counts.update(event.usage);
                self.has_content = true;
                let reason = event.delta.as_ref().and_then(|delta| delta.get("stop_reason"));
                self.has_full_context |= reason.is_some_and(is_full);
            }
            "message_stop" => self.is_complete = true,
            "error" => {
                let error = event.error.unwrap_or(Value::Null);
                self.set_error(&error);
            }
            _ => {}
        }
    }
}

#[derive(Deserialize)]
struct PlainAnswer {
    #[serde(default, deserialize_with = "usage")]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<Value>,
    /// Chat completions.
    #[serde(default)]
    choices: Option<Value>,
    /// Responses.
    #[serde(default)]
    output: Option<Value>,
    /// Messages.
    #[serde(default)]
    content: Option<Value>,
    #[serde(default)]
    stop_reason: Option<Value>,
    /// llama.cpp.
    #[serde(default, deserialize_with = "timings")]
    timings: Option<Timings>,
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
    response: Option<PlainAnswer>,
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
    message: Option<PlainAnswer>,
    #[serde(default)]
    delta: Option<Value>,
    #[serde(default, deserialize_with = "usage")]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<Value>,
}

/// Whether a choice of a chunk has more than the role of its message.
fn has_delta(choice: &Value) -> bool {
    let has_content = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => true,
    };
    let parts = choice.get("delta").and_then(Value::as_object);
    parts.is_some_and(|parts| parts.iter().any(|(name, value)| name != "role" && has_content(value)))
}

fn is_filled_list(value: Option<&Value>) -> bool {
    value.and_then(Value::as_array).is_some_and(|list| !list.is_empty())
}

/// Whether the reason of a stop is a full context (Anthropic).
fn is_full(reason: &Value) -> bool {
    reason.as_str() == Some("model_context_window_exceeded")
}
