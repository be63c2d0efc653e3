//! A request as the simulated model reads it, whichever API it uses.
//!
//! The three APIs express the same in different formats: messages, tool calls, their results, and the offered tools.
//! [`Conversation::parse`] turns them into one list of [`Entry`]s. Unknown parts are skipped, because the model has to answer
//! anyway.

use serde_json::Value;

use super::offered_tools::Tool;
use crate::route::Route;

/// One event of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    /// A message.
    Message {
        /// Who wrote it.
        speaker: Speaker,
        /// All its texts, joined by line breaks.
        text: String,
    },
    /// The model called a tool.
    Call {
        /// The id of the call as the harness sends it.
        id: String,
    },
    /// The result of a call.
    Result {
        /// Id of the call.
        id: String,
    },
}

/// Who writes a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// System and developer messages.
    System,
    /// The runner, or the harness on its behalf.
    User,
    /// The model.
    Model,
}

/// A request.
#[derive(Debug, Clone, Default)]
pub(super) struct Conversation {
    /// The name of the model, repeated in the answer.
    pub model: String,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Whether a stream of chat completions ends with the usage.
    pub wants_usage: bool,
    /// Most tokens of the answer.
    pub most_tokens: Option<u64>,
    /// Schema of the answer, where the request sets one.
    pub answer_schema: Option<Value>,
    /// The offered tools.
    pub tools: Vec<Tool>,
    /// What has happened so far.
    pub entries: Vec<Entry>,
    /// Bytes of the request.
    pub bytes: u64,
    /// Bytes of the part that an earlier request has sent: all before the last message of the model.
    pub bytes_before: u64,
}

impl Conversation {
    /// Parses the body of a request.
    pub(super) fn parse(route: Route, body: &Value) -> Self {
        let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |name: &str| body.get(name).and_then(Value::as_u64);
        let mut parsed = Self {
            model: text("model"),
            stream: body.get("stream").and_then(Value::as_bool).unwrap_or(false),
            wants_usage: body.pointer("/stream_options/include_usage").and_then(Value::as_bool) == Some(true),
            most_tokens: number("max_tokens")
                .or_else(|| number("max_completion_tokens"))
                .or_else(|| number("max_output_tokens")),
            answer_schema: answer_schema(body).cloned(),
            tools: list(body, "tools").iter().filter_map(Tool::parse).collect(),
            ..Self::default()
        };
        parsed.bytes = weigh(body.get("tools"));
        for name in ["instructions", "system"] {
            if let Some(value) = body.get(name) {
                parsed.bytes += weigh(Some(value));
                parsed.add_message(Speaker::System, joined_text(value));
            }
        }
        match route {
            Route::ChatCompletions | Route::Messages => {
                for message in list(body, "messages") {
                    parsed.read_message(message);
                }
            }
            Route::Responses => match body.get("input") {
                Some(Value::String(text)) => {
                    parsed.bytes += text.len() as u64;
                    parsed.add_message(Speaker::User, text.clone());
                }
                _ => {
                    for item in list(body, "input") {
                        parsed.read_item(item);
                    }
                }
            },
        }
        parsed
    }

    /// A message of chat completions or of the messages API.
    fn read_message(&mut self, message: &Value) {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        self.add_bytes(message, role == "assistant");
        let id = |part: &Value, name: &str| part.get(name).and_then(Value::as_str).map(str::to_owned);
        if role == "tool" {
            self.entries.extend(id(message, "tool_call_id").map(|id| Entry::Result { id }));
            return;
        }
        let content = message.get("content").unwrap_or(&Value::Null);
        for part in content.as_array().into_iter().flatten() {
            if part.get("type").and_then(Value::as_str) == Some("tool_result") {
                self.entries.extend(id(part, "tool_use_id").map(|id| Entry::Result { id }));
            }
        }
        self.add_message(speaker(role), joined_text(content));
        for part in content.as_array().into_iter().flatten() {
            if part.get("type").and_then(Value::as_str) == Some("tool_use") {
                self.entries.extend(id(part, "id").map(|id| Entry::Call { id }));
            }
        }
        for call in list(message, "tool_calls") {
            self.entries.extend(id(call, "id").map(|id| Entry::Call { id }));
        }
    }

    /// An item of the responses API.
    fn read_item(&mut self, item: &Value) {
        let text = |name: &str| item.get(name).and_then(Value::as_str);
        let call = || text("call_id").or_else(|| text("id")).map(str::to_owned);
        let role = text("role").unwrap_or_default();
        let kind = text("type").unwrap_or("message");
        self.add_bytes(item, role == "assistant" || kind.ends_with("_call"));
        if kind == "message" {
            self.add_message(speaker(role), joined_text(item.get("content").unwrap_or(&Value::Null)));
        } else if kind.ends_with("_call_output") {
            self.entries.extend(call().map(|id| Entry::Result { id }));
        } else if kind.ends_with("_call") {
            self.entries.extend(call().map(|id| Entry::Call { id }));
        }
    }

    fn add_message(&mut self, speaker: Speaker, text: String) {
        if !text.is_empty() {
            self.entries.push(Entry::Message { speaker, text });
        }
    }

    fn add_bytes(&mut self, part: &Value, is_of_model: bool) {
        if is_of_model {
            self.bytes_before = self.bytes;
        }
        self.bytes += weigh(Some(part));
    }

    /// Whether a message of the system or the user contains this text.
    pub(super) fn instructs(&self, part: &str) -> bool {
        self.entries.iter().any(
            |entry| matches!(entry, Entry::Message { speaker: Speaker::System | Speaker::User, text } if text.contains(part)),
        )
    }

    /// The last message, if it is of the user.
    pub(super) fn last_request(&self) -> Option<&str> {
        match self.entries.last() {
            Some(Entry::Message { speaker: Speaker::User, text }) => Some(text),
            _ => None,
        }
    }

    /// Whether a call was answered.
    pub(super) fn is_answered(&self, call: &str) -> bool {
        self.entries.iter().any(|entry| matches!(entry, Entry::Result { id } if id == call))
    }

    /// Ids of the calls, in order.
    pub(super) fn calls(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Call { id } => Some(id.as_str()),
            _ => None,
        })
    }

    /// Number of calls that were answered since the last message of the user. Notes of harnesses do not count as such.
    pub(super) fn answered_since_request(&self) -> usize {
        let request = self.entries.iter().rposition(|entry| match entry {
            Entry::Message { speaker: Speaker::User, text } => !is_note(text),
            _ => false,
        });
        let later = self.entries.get(request.map_or(0, |index| index + 1)..).unwrap_or_default();
        later.iter().filter(|entry| matches!(entry, Entry::Result { .. })).count()
    }
}

/// Whether a harness wrote it on behalf of the user: reminders and facts in tags.
fn is_note(text: &str) -> bool {
    let text = text.trim();
    ["system-reminder", "environment_context"].iter().any(|tag| {
        text.strip_prefix(&format!("<{tag}>")).is_some_and(|rest| rest.ends_with(&format!("</{tag}>")))
    })
}

fn speaker(role: &str) -> Speaker {
    match role {
        "assistant" => Speaker::Model,
        "system" | "developer" => Speaker::System,
        _ => Speaker::User,
    }
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The schema of the answer, in the place of each API.
fn answer_schema(body: &Value) -> Option<&Value> {
    let format = ["/response_format", "/text/format", "/output_config/format", "/output_format"]
        .iter()
        .find_map(|pointer| body.pointer(pointer))?;
    format.pointer("/json_schema/schema").or_else(|| format.get("schema"))
}

/// The texts of a content: one text, or parts with a `text`.
fn joined_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> =
                parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// Bytes of all texts and names, and four for everything else: roughly what a tokenizer reads.
fn weigh(value: Option<&Value>) -> u64 {
    match value {
        None => 0,
        Some(Value::String(text)) => text.len() as u64,
        Some(Value::Array(items)) => items.iter().map(|item| weigh(Some(item))).sum(),
        Some(Value::Object(map)) => {
            map.iter().map(|(key, value)| key.len() as u64 + weigh(Some(value))).sum()
        }
        Some(_) => 4,
    }
}
