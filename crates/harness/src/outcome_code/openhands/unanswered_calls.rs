//! The calls of a conversation that have no result, and the events that answer them before the conversation continues.
//!
//! When a conversation continues, OpenHands first runs every call that has no result: `get_unmatched_actions` in `Agent.step`
//! of its SDK, meant for calls that wait for a confirmation. A call that killed OpenHands kills it again every time. Such a
//! call gets an `AgentErrorEvent`, as the server of OpenHands writes it after a crash, so that the model decides what to do.
//!
//! An event is a file: `~/.openhands/conversations/ID/events/event-00012-UUID.json`, numbered from 0 without gaps.

use std::collections::BTreeSet;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::shell::is_uuid;
use crate::{HomeFile, Session};

/// The folder of the conversations, below HOME.
pub(super) const CONVERSATIONS: &str = ".openhands/conversations";
/// Key in the memory of a session: the calls of its conversation that have no result.
const KEY: &str = "unanswered";
/// How many events at the end of a conversation are read. All calls of one response of the model are among them.
const EVENTS: usize = 64;
/// Most bytes of an event.
const CAP: u64 = 4 << 20;
/// Most bytes of the name of a tool, and of the id of a call, which the model chooses.
const NAME_CAP: usize = 400;
/// The number of an event has five digits.
const EVENT_NUMBERS: usize = 100_000;
/// The result of such a call.
const RESULT: &str =
    "Interrupted: the agent was ended while this call ran. Whether the call took effect is unknown.";

/// What the memory of a session has about its conversation.
#[derive(Debug, Serialize, Deserialize)]
struct ConversationMemory {
    /// How many events there are.
    events: usize,
    /// The calls, the first one first.
    calls: Vec<UnansweredCall>,
}

#[derive(Debug, Serialize, Deserialize)]
struct UnansweredCall {
    /// The id of its event.
    event: String,
    tool: String,
    /// The id that the model gave it.
    id: String,
}

impl UnansweredCall {
    /// Whether it may be written into the conversation. The memory of a session may come from a foreign folder.
    fn is_valid(&self) -> bool {
        is_uuid(&self.event) && [&self.tool, &self.id].iter().all(|name| name.len() <= NAME_CAP)
    }
}

/// Stores in the memory of a session which calls of its conversation have no result.
pub(super) fn remember(session: &mut Session, home: &files::Tree) {
    forget(session);
    let unanswered = session.id.as_deref().and_then(events_folder).and_then(|folder| find(home, &folder));
    if let Some(text) = unanswered.and_then(|unanswered| serde_json::to_string(&unanswered).ok()) {
        session.memory.insert(KEY.to_owned(), text);
    }
}

/// Stores that all calls have a result.
pub(super) fn forget(session: &mut Session) {
    session.memory.remove(KEY);
}

/// The events that answer these calls, to be written before the next call of the agent.
pub(in crate::outcome_code) fn answers(session: &Session) -> Vec<HomeFile> {
    let stored =
        session.memory.get(KEY).and_then(|text| serde_json::from_str::<ConversationMemory>(text).ok());
    let folder = session.id.as_deref().and_then(events_folder);
    let (Some(ConversationMemory { events, calls }), Some(folder)) = (stored, folder) else {
        return Vec::new();
    };
    if calls.len() > EVENTS || events > EVENT_NUMBERS - EVENTS || !calls.iter().all(UnansweredCall::is_valid)
    {
        return Vec::new();
    }
    let answer = |(number, call): (usize, &UnansweredCall)| {
        let id = answer_id(&call.event);
        let event = serde_json::json!({
            "id": id,
            "source": "agent",
            "tool_name": call.tool,
            "tool_call_id": call.id,
            "error": RESULT,
            "kind": "AgentErrorEvent",
        });
        HomeFile { path: format!("{folder}/event-{number:05}-{id}.json"), text: event.to_string() }
    };
    (events..).zip(&calls).map(answer).collect()
}

/// The folder with the events of a conversation, below HOME.
fn events_folder(id: &str) -> Option<String> {
    is_uuid(id).then(|| format!("{CONVERSATIONS}/{}/events", id.replace('-', "")))
}

/// The id of an answer: another UUID, and the same one for the same call.
fn answer_id(event: &str) -> String {
    let other = |digit: char| digit.to_digit(16).and_then(|value| char::from_digit(15 - value, 16));
    event.chars().map(|letter| other(letter).unwrap_or(letter)).collect()
}

/// The number of an event, from the name of its file.
fn number(name: &str) -> Option<usize> {
    let (number, id) = name.strip_prefix("event-")?.strip_suffix(".json")?.split_once('-')?;
    if number.len() == 5 && is_uuid(id) { number.parse().ok() } else { None }
}

/// The calls without a result at the end of a conversation, as OpenHands finds them. `None` = there are none, or OpenHands
/// could not read the conversation either: an event is missing or damaged.
fn find(home: &files::Tree, folder: &str) -> Option<ConversationMemory> {
    let mut names: Vec<_> =
        home.list(folder).into_iter().filter_map(|entry| Some((number(&entry.name)?, entry.name))).collect();
    names.sort_unstable();
    if !names.iter().enumerate().all(|(index, (number, _))| index == *number) {
        return None;
    }
    let (mut answered_events, mut answered_ids) = (BTreeSet::new(), BTreeSet::new());
    let mut calls = Vec::new();
    for (_, name) in names.iter().rev().take(EVENTS) {
        let event: Event = home.read_json(&files::join(folder, name), CAP).ok()?;
        match event.kind.as_str() {
            "ObservationEvent" | "UserRejectObservation" => answered_events.extend(event.action_id),
            "AgentErrorEvent" => answered_ids.extend(event.tool_call_id),
            // Without an action, the call could not be read, and has its error.
            "ActionEvent" if event.action.is_some() => {
                let call = UnansweredCall {
                    event: event.id,
                    tool: event.tool_name.unwrap_or_default(),
                    id: event.tool_call_id.unwrap_or_default(),
                };
                if !answered_events.contains(&call.event) && !answered_ids.contains(&call.id) {
                    calls.push(call);
                }
            }
            _ => {}
        }
    }
    calls.reverse();
    let is_valid = !calls.is_empty() && calls.iter().all(UnansweredCall::is_valid);
    is_valid.then_some(ConversationMemory { events: names.len(), calls })
}

#[derive(Debug, Deserialize)]
struct Event {
    #[serde(default)]
    id: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    tool_name: Option<String>,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    action: Option<IgnoredAny>,
    #[serde(default)]
    action_id: Option<String>,
}
