//! mini-swe-agent: one tool (`bash`) and chat completions, without sessions.
//!
//! It always starts a new conversation. If the call has a session, an agent class in HOME (`stamina_mini.py`) loads the
//! messages of the earlier trajectory and continues with the new request. All calls of a session use one file. It is replaced
//! after each step and has the whole conversation, so the memory of the session counts the older messages. A restarted
//! session has a file of its own; the memory stores its name as well.
//!
//! The exit code is not reliable (0 on a step limit, 1 on a fault of the model): `info.exit_status` of the trajectory
//! decides.

use std::collections::VecDeque;
use std::fmt;

use model::{EndReason, Tokens};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::call_end::{Signs, decide, fault};
use crate::record::Record;
use crate::{Call, CommandEnd, Outcome, text};

/// Key in the memory of a session: how many messages of the trajectory are older than the next call.
const MESSAGES: &str = "messages";
/// The file of the session, which is its trajectory.
pub(super) const TRAJECTORY: &str = ".stamina/mini/trajectory.json";
/// Most bytes of a trajectory.
const CAP: u64 = 128 << 20;
/// How many messages at the end of a trajectory are kept.
const MESSAGE_CAP: usize = 10_000;
/// The command with which the agent reports success.
const SUBMIT: &str = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";

/// The outcome of a call.
pub(super) fn outcome(call: &Call<'_>, ended: &CommandEnd<'_>) -> Outcome {
    let before: usize =
        call.session.and_then(|s| s.memory.get(MESSAGES)).and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut session = crate::next_session(call.session, None);
    let path = crate::session_file(call, TRAJECTORY);
    crate::keep_session_file(&mut session, &path, TRAJECTORY);
    let (mut record, mut signs) = (Record::default(), Signs::default());
    let mut cost = None;
    if let Ok(mut trajectory) = ended.home.read_json::<Trajectory>(&path, CAP) {
        session.memory.insert(MESSAGES.to_owned(), trajectory.messages.history.to_string());
        cost =
            trajectory.info.model_stats.and_then(|s| s.instance_cost).filter(|c| *c > 0.0 && c.is_finite());
        let exit = trajectory.messages.exit.take();
        // Without new messages, the file is from the last call.
        let stale = before > 0 && trajectory.messages.history <= before;
        let status = trajectory.info.exit_status.filter(|_| !stale);
        read(&mut record, trajectory.messages, before);
        match status.as_deref().map(str::trim) {
            Some("Submitted") => signs.finished = true,
            // Three answers in a row without a valid call. An agent without any call gave up.
            Some("RepeatedFormatError") if record.working_calls() == 0 => {
                let message = format!("it only talked, and called no tool: {}", record.last_text());
                signs.failed(EndReason::GaveUp, &message);
            }
            Some("LimitsExceeded") => {
                signs.failed(EndReason::AgentError, "a limit of mini-swe-agent ended it");
            }
            None | Some("") => {}
            Some(status) => {
                let message = format!("{status}: {}", exit.unwrap_or_default());
                signs.failed(fault(None, &message), &message);
            }
        }
    }
    if signs.reason.is_none() && ended.exit.code == Some(1) && tail_says_aborted(ended.stderr) {
        signs.failed(EndReason::KilledItself, "the harness was ended by SIGINT while it worked");
    }
    let usage = record.tokens();
    let (end, message) = decide(ended, &record, signs);
    Outcome { session: Some(session), steps: record.into_steps(), usage, cost_usd: cost, end, message }
}

/// Whether it printed that SIGINT ended it.
fn tail_says_aborted(stderr: &[u8]) -> bool {
    let tail = String::from_utf8_lossy(&stderr[stderr.len().saturating_sub(200)..]);
    matches!(text::last_lines(&tail, 1).trim(), "Aborted." | "Aborted!")
}

/// Reads the steps of the messages after the first `before`, which belong to earlier calls.
fn read(record: &mut Record, messages: Messages, before: usize) {
    // The next call answers calls without a result after a kill, before its request.
    let mut begun = before == 0;
    let first = messages.count - messages.tail.len();
    for (index, message) in messages.tail.into_iter().enumerate() {
        if first + index < before {
            continue;
        }
        begun |= message.role != "tool";
        match message.role.as_str() {
            "assistant" => {
                let extra = message.extra.unwrap_or_default();
                let answer = Answer {
                    content: message.content,
                    reasoning_content: message.reasoning_content,
                    tool_calls: message.tool_calls,
                };
                read_answer(record, answer, &extra);
            }
            // A malformed answer. Only the reply to the agent about it is in the messages.
            "user" if message.extra.as_ref().is_some_and(|e| e.response.is_some()) => {
                let mut extra = message.extra.unwrap_or_default();
                let answer =
                    extra.response.as_mut().and_then(|r| r.choices.0.pop()).unwrap_or_default().message;
                let calls = !answer.tool_calls.0.is_empty();
                read_answer(record, answer, &extra);
                if calls {
                    record.malformed();
                }
                record.add_system_message(&message.content.0);
            }
            "tool" if begun => {
                let extra = message.extra.unwrap_or_default();
                let failed = extra.returncode.map(|code| code != 0);
                // The end of the task is reported like a failure.
                let failed = failed.filter(|_| !message.content.0.contains("action was not executed"));
                record.result(message.tool_call_id.as_deref(), &message.content.0, failed);
            }
            _ => {}
        }
    }
}

fn read_answer(record: &mut Record, answer: Answer, extra: &Extra) {
    record.agent(extra.timestamp.and_then(|t| text::time_of_millis((t * 1000.0) as i64)));
    record.add_reasoning(&answer.reasoning_content.0);
    record.add_text(&answer.content.0);
    for call in answer.tool_calls.0 {
        let arguments = call.function.arguments.0;
        let submits = arguments.contains(SUBMIT) && arguments.len() < 200;
        record.call(call.id.as_deref(), &call.function.name.0, &Value::String(arguments));
        if submits {
            record.ending();
        }
    }
    let usage = extra.response.as_ref().and_then(|r| r.usage.as_ref());
    let tokens = Tokens {
        input: usage.and_then(|u| u.prompt_tokens),
        cached: usage.and_then(|u| u.prompt_tokens_details.as_ref()?.cached_tokens),
        output: usage.and_then(|u| u.completion_tokens),
    };
    record.spent(tokens, extra.cost.filter(|c| *c > 0.0));
}

#[derive(Debug, Default, Deserialize)]
struct Trajectory {
    #[serde(default)]
    info: Info,
    #[serde(default)]
    messages: Messages,
}

#[derive(Debug, Default, Deserialize)]
struct Info {
    #[serde(default)]
    exit_status: Option<String>,
    #[serde(default)]
    model_stats: Option<Stats>,
}

#[derive(Debug, Deserialize)]
struct Stats {
    #[serde(default)]
    instance_cost: Option<f64>,
}

/// The last [`MESSAGE_CAP`] messages, and facts about all messages.
#[derive(Debug, Default)]
struct Messages {
    tail: VecDeque<Message>,
    /// The number of all messages.
    count: usize,
    /// The number of messages without those of role `exit`, which a later call drops.
    history: usize,
    /// The content of the last `exit` message.
    exit: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Message {
    #[serde(default)]
    role: String,
    #[serde(default)]
    content: Words,
    #[serde(default)]
    reasoning_content: Words,
    #[serde(default)]
    tool_calls: Calls,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    extra: Option<Extra>,
}

/// A message of the model, as the endpoint sent it.
#[derive(Debug, Default, Deserialize)]
struct Answer {
    #[serde(default)]
    content: Words,
    #[serde(default)]
    reasoning_content: Words,
    #[serde(default)]
    tool_calls: Calls,
}

#[derive(Debug, Default, Deserialize)]
struct Choice {
    #[serde(default)]
    message: Answer,
}

#[derive(Debug, Default, Deserialize)]
struct ToolCall {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Function,
}

#[derive(Debug, Default, Deserialize)]
struct Function {
    #[serde(default)]
    name: Words,
    #[serde(default)]
    arguments: Words,
}

#[derive(Debug, Default, Deserialize)]
struct Extra {
    #[serde(default)]
    timestamp: Option<f64>,
    #[serde(default)]
    cost: Option<f64>,
    #[serde(default)]
    returncode: Option<i64>,
    #[serde(default)]
    response: Option<Response>,
}

#[derive(Debug, Default)]
struct Response {
    usage: Option<Usage>,
    choices: FirstItems<Choice, 1>,
}

impl<'de> Deserialize<'de> for Response {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ResponseVisitor;
        impl<'de> Visitor<'de> for ResponseVisitor {
            type Value = Response;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an answer of the endpoint")
            }
            /// The text that it writes for an answer that is not serializable as JSON.
            fn visit_str<E>(self, _: &str) -> Result<Response, E> {
                Ok(Response::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Response, A::Error> {
                let mut found = Response::default();
                while let Some(Words(key)) = map.next_key()? {
                    match key.as_str() {
                        "usage" => found.usage = map.next_value()?,
                        "choices" => found.choices = map.next_value()?,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(found)
            }
        }
        deserializer.deserialize_any(ResponseVisitor)
    }
}

#[derive(Debug, Default, Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
}

#[derive(Debug, Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Last;
        impl<'de> Visitor<'de> for Last {
            type Value = Messages;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of messages")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Messages, A::Error> {
                let mut all = Messages::default();
                while let Some(message) = seq.next_element::<Message>()? {
                    all.count += 1;
                    if message.role == "exit" {
                        all.exit = Some(message.content.0.clone());
                    } else {
                        all.history += 1;
                    }
                    if all.tail.len() == MESSAGE_CAP {
                        all.tail.pop_front();
                    }
                    all.tail.push_back(message);
                }
                Ok(all)
            }
        }
        deserializer.deserialize_seq(Last)
    }
}

/// The calls of one message.
type Calls = FirstItems<ToolCall, 100>;

/// At most the first `N` of a list.
#[derive(Debug)]
struct FirstItems<T, const N: usize>(Vec<T>);

impl<T, const N: usize> Default for FirstItems<T, N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for FirstItems<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct First<T, const N: usize>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for First<T, N> {
            type Value = FirstItems<T, N>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(FirstItems::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut kept = Vec::new();
                while kept.len() < N {
                    match seq.next_element()? {
                        Some(item) => kept.push(item),
                        None => return Ok(FirstItems(kept)),
                    }
                }
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(FirstItems(kept))
            }
        }
        deserializer.deserialize_any(First(std::marker::PhantomData))
    }
}

/// A text, or the texts of a list of parts: at most [`text::TEXT_CAP`] bytes, and a mark with the number of cut bytes.
#[derive(Debug, Default)]
struct Words(String);

impl Words {
    fn from_text(text: &str) -> Self {
        let (kept, cut) = text::cut(text, text::TEXT_CAP);
        Self(if cut == 0 { kept.to_owned() } else { format!("{kept}… ({cut} bytes more)") })
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordsVisitor;
        impl<'de> Visitor<'de> for WordsVisitor {
            type Value = Words;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of parts")
            }
            fn visit_str<E>(self, text: &str) -> Result<Words, E> {
                Ok(Words::from_text(text))
            }
            fn visit_unit<E>(self) -> Result<Words, E> {
                Ok(Words::default())
            }
            fn visit_bool<E>(self, _: bool) -> Result<Words, E> {
                Ok(Words::default())
            }
            fn visit_i64<E>(self, _: i64) -> Result<Words, E> {
                Ok(Words::default())
            }
            fn visit_u64<E>(self, _: u64) -> Result<Words, E> {
                Ok(Words::default())
            }
            fn visit_f64<E>(self, _: f64) -> Result<Words, E> {
                Ok(Words::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Words, A::Error> {
                let (mut all, mut cut) = (String::new(), 0);
                while let Some(Words(part)) = seq.next_element()? {
                    if !all.is_empty() && !part.is_empty() {
                        text::append(&mut all, &mut cut, "\n");
                    }
                    text::append(&mut all, &mut cut, &part);
                }
                Ok(Words(all))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Words, A::Error> {
                let mut found = Words::default();
                while let Some(Words(key)) = map.next_key()? {
                    if key == "text" {
                        found = map.next_value()?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(found)
            }
        }
        deserializer.deserialize_any(WordsVisitor)
    }
}
