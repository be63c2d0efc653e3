//! What an endpoint can do with a model, found out by a small request each, or two.
//!
//! A program of one's own offers an API in part: llama.cpp calls tools with `--jinja` only, vLLM with
//! `--enable-auto-tool-choice`, many ignore a schema. A harness that needs what is missing fails in each of its attempts.

use std::time::Duration;

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::endpoint_check::UnusableEndpoint;
use crate::route::Route;
use crate::settings::Upstream;
use crate::small_request::{self, Answer, Question};
use crate::text::error_message_without;
use crate::upstream::Endpoint;
use crate::usage::Meter;

/// How long one request may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// Most tokens of an answer: enough for a call of a tool after a few words.
const MOST_TOKENS: u32 = 128;
/// Most tokens of a second answer, where the first one was cut off while the model thought.
const MOST_THINKING_TOKENS: u32 = 1024;
/// How long that one may take.
const THINKING_PATIENCE: Duration = Duration::from_mins(2);
/// What a stream is asked for. It is longer than the pieces in which programs keep prompts (16 tokens of vLLM, 64 of others), so
/// that a second request finds it in the cache.
const STREAM_PROMPT: &str = "This text is only here to be longer than a piece of a cache of prompts. It says nothing, and you \
    need not answer it. A program that keeps the beginning of a prompt keeps it in pieces of some tokens, and a prompt that is \
    shorter than one piece is not kept at all. Where it is kept, the same prompt is read faster when it comes again, and the \
    program may tell how many of its tokens were there already. Many programs tell this number only where it is not zero, which \
    is why the same text may come twice. Nothing else is asked of you than what follows now. Answer with the word yes.";
/// The tool that is offered.
const TOOL: &str = "report";
/// Words of an error about a part of a request that the endpoint does not take.
const STREAM_WORDS: [&str; 4] = ["stream", "streams", "streamed", "streaming"];
const TOOL_WORDS: [&str; 7] = ["tool", "tools", "tool_choice", "tool_calls", "tool_use", "tooluse", "jinja"];
const SCHEMA_WORDS: [&str; 6] =
    ["response_format", "text.format", "schema", "json_schema", "grammar", "structured"];

/// What an endpoint can do with a model. `None` = not found out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Abilities {
    /// It sends an answer in pieces.
    pub streams: Option<bool>,
    /// The model calls a tool that it is offered.
    pub tools: Option<bool>,
    /// It keeps to a JSON schema; `None` on messages, whose API is not asked for it.
    pub json_schema: Option<bool>,
    /// A stream reports its usage.
    pub usage_in_stream: Option<bool>,
    /// Usage tells the cached part of the input.
    pub cached: Option<bool>,
    /// Why tools are refused, in the words of the endpoint, on one line.
    pub tools_refused: Option<String>,
    /// The model answered to the end and did not call the tool that it was offered: `tools` is unknown, and not because nobody
    /// answered.
    pub tools_uncalled: bool,
}

impl Abilities {
    /// Those of the simulated model.
    const SIMULATED: Self = Self {
        streams: Some(true),
        tools: Some(true),
        json_schema: None,
        usage_in_stream: Some(true),
        cached: Some(true),
        tools_refused: None,
        tools_uncalled: false,
    };
}

/// What was known, if it is there or nothing new was found out.
fn merged(known: Option<bool>, new: Option<bool>) -> Option<bool> {
    known.filter(|is_there| *is_there).or(new).or(known)
}

/// Finds out what an endpoint can do. What is `Some(true)` in `known` is not asked again, so that a server that was started anew is
/// asked for what it lacked. A request that fails for another reason (a busy endpoint, a limit, an answer that breaks off) leaves its
/// ability as it was known.
///
/// # Errors
/// The address or the key is invalid.
pub async fn abilities(
    upstream: &Upstream,
    route: Route,
    model: &str,
    known: Abilities,
) -> Result<Abilities, UnusableEndpoint> {
    let Upstream::Http { base_url, key, model: own_model } = upstream else {
        return Ok(Abilities::SIMULATED);
    };
    let endpoint = Endpoint::new(base_url, key.clone(), None).map_err(|error| {
        UnusableEndpoint::new(crate::error::EndpointProblem::Address, error.to_string(), route)
    })?;
    let probe = ModelProbe { endpoint, route, model: own_model.as_deref().unwrap_or(model) };
    let mut found = known;
    if [found.streams, found.usage_in_stream, found.cached].iter().any(|known| *known != Some(true)) {
        let Stream { streams, usage, mut cached } = probe.stream().await;
        if cached == Some(false) && found.cached != Some(true) {
            // vLLM and SGLang tell cached tokens where there are some, as of a prompt that comes again.
            cached = probe.stream().await.cached;
        }
        found.streams = merged(found.streams, streams);
        found.usage_in_stream = merged(found.usage_in_stream, usage);
        found.cached = merged(found.cached, cached);
    }
    if found.tools != Some(true) {
        match probe.tools().await {
            Tools::Unknown => {}
            Tools::Called => {
                (found.tools, found.tools_refused, found.tools_uncalled) = (Some(true), None, false);
            }
            Tools::Uncalled => {
                (found.tools, found.tools_refused, found.tools_uncalled) = (None, None, true);
            }
            Tools::Refused(message) => {
                (found.tools, found.tools_refused, found.tools_uncalled) =
                    (Some(false), Some(message), false);
            }
        }
    }
    if found.json_schema != Some(true) && route != Route::Messages {
        found.json_schema = merged(found.json_schema, probe.schema().await);
    }
    Ok(found)
}

/// What a stream showed.
#[derive(Default)]
struct Stream {
    streams: Option<bool>,
    usage: Option<bool>,
    cached: Option<bool>,
}

/// What came of a tool that was offered.
enum Tools {
    /// No answer, one that was cut, or an error for another reason.
    Unknown,
    Called,
    /// A whole answer without a call. The model may call it at another time.
    Uncalled,
    /// The endpoint does not take tools, for this reason.
    Refused(String),
}

struct ModelProbe<'a> {
    endpoint: Endpoint,
    route: Route,
    model: &'a str,
}

impl ModelProbe<'_> {
    /// `None` = no answer, which says nothing.
    async fn ask(&self, prompt: &str, fields: &Value) -> Option<Answer> {
        self.ask_for(prompt, fields, MOST_TOKENS, PATIENCE).await
    }

    async fn ask_for(
        &self,
        prompt: &str,
        fields: &Value,
        most_tokens: u32,
        patience: Duration,
    ) -> Option<Answer> {
        let Value::Object(fields) = fields else { return None };
        let question = Question { prompt, most_tokens, fields: fields.clone() };
        let sending = small_request::ask(&self.endpoint, self.route, self.model, &question);
        tokio::time::timeout(patience, sending).await.ok()?.ok()
    }

    /// Asks again, for more tokens, where the answer was cut off while the model thought.
    async fn ask_with_thoughts(&self, prompt: &str, fields: &Value) -> Option<Answer> {
        let first = self.ask(prompt, fields).await?;
        let is_thinking = first.status.is_success()
            && answer(self.route, &first.text).is_some_and(|parsed| parsed.is_thinking());
        if !is_thinking {
            return Some(first);
        }
        self.ask_for(prompt, fields, MOST_THINKING_TOKENS, THINKING_PATIENCE).await
    }

    /// Whether it streams, tells usage in a stream, and tells what was cached.
    async fn stream(&self) -> Stream {
        let mut fields = json!({ "stream": true });
        if self.route == Route::ChatCompletions {
            fields["stream_options"] = json!({ "include_usage": true });
        }
        let Some(Answer { status, text, is_whole }) = self.ask(STREAM_PROMPT, &fields).await else {
            return Stream::default();
        };
        if !status.is_success() {
            let streams = is_refusal(status, &text, &STREAM_WORDS).then_some(false);
            return Stream { streams, ..Stream::default() };
        }
        // In JSON no line begins so.
        let is_event = |line: &str| {
            line.strip_prefix("data:")
                .is_some_and(|data| serde_json::from_str::<Map<String, Value>>(data).is_ok())
        };
        let is_stream = text.lines().any(is_event);
        let mut meter = Meter::new(Some(self.route), is_stream);
        meter.push(text.as_bytes(), None);
        meter.end();
        if meter.error().is_some() {
            return Stream::default();
        }
        // The usage comes last: of an answer that broke off it is not known whether it would have come.
        let is_sound = is_whole && !meter.breaks_off() && meter.flaw().is_none();
        let tally = meter.tally();
        let has_usage = tally.is_complete();
        let answers = is_stream || answer(self.route, &text).is_some();
        Stream {
            streams: answers.then_some(is_stream),
            usage: (is_stream && (has_usage || is_sound)).then_some(has_usage),
            cached: (has_usage && is_sound).then_some(tally.tokens.cached.is_some()),
        }
    }

    async fn tools(&self) -> Tools {
        let schema = schema();
        let about = "Reports the answer.";
        let tool = match self.route {
            Route::ChatCompletions => json!({
                "type": "function",
                "function": { "name": TOOL, "description": about, "parameters": schema },
            }),
            Route::Responses => {
                json!({ "type": "function", "name": TOOL, "description": about, "parameters": schema, "strict": false })
            }
            Route::Messages => json!({ "name": TOOL, "description": about, "input_schema": schema }),
        };
        let prompt = "Call the tool report with the answer yes. Do not write any text.";
        let fields = json!({ "tools": [tool] });
        let Some(Answer { status, text, .. }) = self.ask_with_thoughts(prompt, &fields).await else {
            return Tools::Unknown;
        };
        if !status.is_success() {
            return if is_refusal(status, &text, &TOOL_WORDS) {
                Tools::Refused(error_message_without(self.endpoint.key.as_ref(), &text))
            } else {
                Tools::Unknown
            };
        }
        match answer(self.route, &text) {
            Some(answer) if answer.calls => Tools::Called,
            // It may have called it after its limit.
            Some(answer) if !answer.is_cut => Tools::Uncalled,
            _ => Tools::Unknown,
        }
    }

    async fn schema(&self) -> Option<bool> {
        let format = json!({ "name": "answer", "strict": true, "schema": schema() });
        let fields = match self.route {
            Route::ChatCompletions => {
                json!({ "response_format": { "type": "json_schema", "json_schema": format } })
            }
            Route::Responses => {
                let mut format = format;
                format["type"] = json!("json_schema");
                json!({ "text": { "format": format } })
            }
            Route::Messages => return None,
        };
        // The request does not name JSON: whoever answers in JSON was made to.
        let prompt = "Answer with the word yes.";
        let Answer { status, text, .. } = self.ask_with_thoughts(prompt, &fields).await?;
        if !status.is_success() {
            return is_refusal(status, &text, &SCHEMA_WORDS).then_some(false);
        }
        let answer = answer(self.route, &text)?;
        if answer.is_cut {
            return None;
        }
        let document = serde_json::from_str::<Value>(answer.text.trim()).ok();
        Some(document.is_some_and(|document| {
            matches!(document.get("answer").and_then(Value::as_str), Some("yes" | "no"))
        }))
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "answer": { "type": "string", "enum": ["yes", "no"] } },
        "required": ["answer"],
        "additionalProperties": false,
    })
}

/// Whether an error says that the endpoint does not take what was asked for, by one of `words`. Whole words count: in `upstream`
/// nobody speaks of streams. With 500 llama.cpp refuses what it was not started for; that of others is a failure.
fn is_refusal(status: StatusCode, text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    let is_of_the_request = match status.as_u16() {
        400 | 404 | 405 | 415 | 422 | 501 => true,
        500 => text.contains("--jinja") || text.contains("unsupported param"),
        _ => false,
    };
    is_of_the_request
        && text
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
            .any(|word| words.contains(&word.trim_matches('.')))
}

/// An answer, in what the three APIs have in common.
struct ModelAnswer {
    text: String,
    /// It calls the tool.
    calls: bool,
    /// It ended at its limit.
    is_cut: bool,
}

impl ModelAnswer {
    /// Whether it was cut off before it said anything but thoughts. Where the endpoint does not tell them apart, they stand in a
    /// `<think>` that is open.
    fn is_thinking(&self) -> bool {
        let text = self.text.trim();
        let is_open = text.starts_with("<think>") && !text.contains("</think>");
        self.is_cut && !self.calls && (text.is_empty() || is_open)
    }
}

/// `None` = it is no answer of this API.
fn answer(route: Route, body: &str) -> Option<ModelAnswer> {
    let body: Map<String, Value> = serde_json::from_str(body).ok()?;
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let text_at =
        |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let is_type = |value: &Value, kind: &str| value.get("type").and_then(Value::as_str) == Some(kind);
    match route {
        Route::ChatCompletions => {
            let choice = list(body.get("choices")).into_iter().next()?;
            Some(ModelAnswer {
                text: text_at(&choice, "/message/content").unwrap_or_default(),
                calls: list(choice.pointer("/message/tool_calls"))
                    .iter()
                    .any(|call| text_at(call, "/function/name").as_deref() == Some(TOOL)),
                is_cut: text_at(&choice, "/finish_reason").as_deref() == Some("length"),
            })
        }
        Route::Responses => {
            let output = body.get("output").and_then(Value::as_array)?;
            Some(ModelAnswer {
                text: output
                    .iter()
                    .filter(|item| !is_type(item, "reasoning"))
                    .flat_map(|item| list(item.get("content")))
                    .filter_map(|part| text_at(&part, "/text"))
                    .collect(),
                calls: output.iter().any(|item| {
                    is_type(item, "function_call") && text_at(item, "/name").as_deref() == Some(TOOL)
                }),
                is_cut: body.get("status").and_then(Value::as_str) == Some("incomplete"),
            })
        }
        Route::Messages => {
            let content = body.get("content").and_then(Value::as_array)?;
            Some(ModelAnswer {
                text: content.iter().filter_map(|part| text_at(part, "/text")).collect(),
                calls: content
                    .iter()
                    .any(|part| is_type(part, "tool_use") && text_at(part, "/name").as_deref() == Some(TOOL)),
                is_cut: body.get("stop_reason").and_then(Value::as_str) == Some("max_tokens"),
            })
        }
    }
}
