//! A request as the scripted model sees it, whichever API it came by.
//!
//! The three APIs say the same things in different shapes: what was said and by whom, which tools were called, which
//! calls were answered, which tools there are. [`Conversation::read`] brings them into one order of [`Entry`]s. Whatever
//! a harness sends that is not understood is passed over: the model has to answer anyway.

use serde_json::Value;

use super::tools::Tool;
use crate::route::Route;

/// One thing that happened, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    /// Somebody said something.
    Said {
        /// Who.
        by: By,
        /// All its texts, joined by line ends.
        text: String,
    },
    /// The model called a tool.
    Call {
        /// The call's id as the harness tells it.
        id: String,
    },
    /// A tool answered.
    Result {
        /// Id of the call.
        id: String,
    },
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// System and developer messages.
    System,
    /// The runner, or the harness in its place.
    User,
    /// The model.
    Model,
}

/// A request.
#[derive(Debug, Clone, Default)]
pub(super) struct Conversation {
    /// The model's name, as it is to be told back.
    pub model: String,
    /// Whether the answer is to come in pieces.
    pub stream: bool,
    /// Whether a stream of chat completions is to end with what was used.
    pub usage_asked: bool,
    /// Most tokens of the answer.
    pub most: Option<u64>,
    /// Schema that the answer has to follow, where one is asked for.
    pub form: Option<Value>,
    /// What can be called.
    pub tools: Vec<Tool>,
    /// What happened so far.
    pub entries: Vec<Entry>,
    /// Bytes of what was sent.
    pub bytes: u64,
    /// Bytes of the part that an earlier request had sent already: all before the model's last word.
    pub bytes_before: u64,
}

impl Conversation {
    /// Reads the body of a request.
    pub(super) fn read(route: Route, body: &Value) -> Self {
        let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |name: &str| body.get(name).and_then(Value::as_u64);
        let mut read = Self {
            model: text("model"),
            stream: body.get("stream").and_then(Value::as_bool).unwrap_or(false),
            usage_asked: body.pointer("/stream_options/include_usage").and_then(Value::as_bool) == Some(true),
            most: number("max_tokens")
                .or_else(|| number("max_completion_tokens"))
                .or_else(|| number("max_output_tokens")),
            form: form(body).cloned(),
            tools: list(body, "tools").iter().filter_map(Tool::read).collect(),
            ..Self::default()
        };
        read.bytes = weigh(body.get("tools"));
        for name in ["instructions", "system"] {
            if let Some(value) = body.get(name) {
                read.bytes += weigh(Some(value));
                read.say(By::System, words(value));
            }
        }
        match route {
            Route::ChatCompletions | Route::Messages => {
                for message in list(body, "messages") {
                    read.message(message);
                }
            }
            Route::Responses => match body.get("input") {
                Some(Value::String(text)) => {
                    read.bytes += text.len() as u64;
                    read.say(By::User, text.clone());
                }
                _ => {
                    for item in list(body, "input") {
                        read.item(item);
                    }
                }
            },
        }
        read
    }

    /// A message of chat completions or of the messages API.
    fn message(&mut self, message: &Value) {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        self.weigh(message, role == "assistant");
        let id = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).map(str::to_owned);
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
        self.say(by(role), words(content));
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
    fn item(&mut self, item: &Value) {
        let text = |name: &str| item.get(name).and_then(Value::as_str);
        let call = || text("call_id").or_else(|| text("id")).map(str::to_owned);
        let role = text("role").unwrap_or_default();
        let kind = text("type").unwrap_or("message");
        self.weigh(item, role == "assistant" || kind.ends_with("_call"));
        if kind == "message" {
            self.say(by(role), words(item.get("content").unwrap_or(&Value::Null)));
        } else if kind.ends_with("_call_output") {
            self.entries.extend(call().map(|id| Entry::Result { id }));
        } else if kind.ends_with("_call") {
            self.entries.extend(call().map(|id| Entry::Call { id }));
        }
    }

    fn say(&mut self, by: By, text: String) {
        if !text.is_empty() {
            self.entries.push(Entry::Said { by, text });
        }
    }

    fn weigh(&mut self, part: &Value, of_model: bool) {
        if of_model {
            self.bytes_before = self.bytes;
        }
        self.bytes += weigh(Some(part));
    }

    /// Whether a system message or one of a user has this text.
    pub(super) fn was_told(&self, part: &str) -> bool {
        self.entries.iter().any(
            |entry| matches!(entry, Entry::Said { by: By::System | By::User, text } if text.contains(part)),
        )
    }

    /// What a user said last, if nothing happened since.
    pub(super) fn asked(&self) -> Option<&str> {
        match self.entries.last() {
            Some(Entry::Said { by: By::User, text }) => Some(text),
            _ => None,
        }
    }

    /// Whether a call was answered.
    pub(super) fn is_answered(&self, call: &str) -> bool {
        self.entries.iter().any(|entry| matches!(entry, Entry::Result { id } if id == call))
    }

    /// Ids of the model's calls, in order.
    pub(super) fn calls(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Call { id } => Some(id.as_str()),
            _ => None,
        })
    }

    /// Calls that were answered since a user's last word. What harnesses put in a user's mouth is none of his.
    pub(super) fn answered_since_asked(&self) -> usize {
        let asked = self.entries.iter().rposition(|entry| match entry {
            Entry::Said { by: By::User, text } => !is_note(text),
            _ => false,
        });
        let since = self.entries.get(asked.map_or(0, |at| at + 1)..).unwrap_or_default();
        since.iter().filter(|entry| matches!(entry, Entry::Result { .. })).count()
    }
}

/// What a harness says in the user's name: reminders and facts in tags.
fn is_note(text: &str) -> bool {
    let text = text.trim();
    ["system-reminder", "environment_context"].iter().any(|tag| {
        text.strip_prefix(&format!("<{tag}>")).is_some_and(|rest| rest.ends_with(&format!("</{tag}>")))
    })
}

fn by(role: &str) -> By {
    match role {
        "assistant" => By::Model,
        "system" | "developer" => By::System,
        _ => By::User,
    }
}

fn list<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The schema of an answer in JSON, where each API asks for it.
fn form(body: &Value) -> Option<&Value> {
    let format = ["/response_format", "/text/format", "/output_config/format", "/output_format"]
        .iter()
        .find_map(|at| body.pointer(at))?;
    format.pointer("/json_schema/schema").or_else(|| format.get("schema"))
}

/// The texts of a content: one text, or parts of which some have a `text`.
fn words(content: &Value) -> String {
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

/// Bytes of all texts and names in it, and four for everything else: what a tokenizer would see, more or less.
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
