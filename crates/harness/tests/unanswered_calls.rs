//! A tool call of OpenHands without a result, because OpenHands was ended while the call ran. OpenHands would run it again
//! whenever the conversation continues, so it gets a result before that.
#![allow(clippy::unwrap_used, reason = "a recording that is not there is a failure")]

use harness::{Call, HomeFile, Session};
use model::EndReason;
use serde_json::{Value, json};

use crate::common::{CommandResult, ID, endpoint, fixtures};

const CONVERSATION: &str = "7cbb725e-d52b-45ff-be5d-99560e2ca648";
const FOLDER: &str = ".openhands/conversations/7cbb725ed52b45ffbe5d99560e2ca648";
const OTHER: &str = "0a1b2c3d-0000-4000-8000-00000000ffff";

fn fixture(name: &str) -> String {
    std::fs::read_to_string(fixtures().join("openhands").join(name)).unwrap()
}

/// The events of a call that SIGKILL ended. The last one is a tool call without a result.
fn events() -> Vec<Value> {
    let output = fixture("kill-KILL-turn1.stdout");
    let lines = output.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// HOME after a killed call with these events.
fn killed(events: &[Value]) -> CommandResult {
    let session = Session { id: Some(CONVERSATION.into()), calls: 1, ..Session::default() };
    let left = CommandResult::empty().code(137).with_session(Some(session));
    let left = left.file(&format!("{FOLDER}/base_state.json"), fixture("killed.base_state.json"));
    events.iter().enumerate().fold(left, |left, (number, event)| {
        let id = event["id"].as_str().unwrap();
        left.file(&format!("{FOLDER}/events/event-{number:05}-{id}.json"), event.to_string())
    })
}

/// The events that are written before the next call.
fn answers(session: &Session) -> Vec<HomeFile> {
    let endpoint = endpoint();
    let call = Call {
        turn: 2,
        attempt: 1,
        prompt: "Go on.",
        session: Some(session),
        earlier: None,
        session_id: ID,
        endpoint: &endpoint,
        seconds: 600,
        home: harness::HOME,
        workspace: harness::WORKSPACE,
    };
    let invocation = harness::find("openhands").unwrap().invocation(&call).unwrap();
    invocation.files.into_iter().filter(|file| file.path.contains("/events/")).collect()
}

fn answers_after(left: &CommandResult) -> Vec<HomeFile> {
    let outcome = left.outcome(harness::find("openhands").unwrap());
    answers(&outcome.session.unwrap())
}

#[test]
fn a_call_that_killed_openhands_has_a_result_before_the_conversation_continues() {
    let openhands = harness::find("openhands").unwrap();
    let events = events();
    let call = events.last().unwrap();
    assert_eq!(call["kind"], "ActionEvent");
    let left = killed(&events);
    let outcome = left.outcome(openhands);
    assert_eq!(outcome.end, Some(EndReason::KilledItself), "{:?}", outcome.message);
    let files = answers(outcome.session.as_ref().unwrap());
    assert_eq!(files.len(), 1, "{files:?}");
    let answer: Value = serde_json::from_str(&files[0].text).unwrap();
    let id = answer["id"].as_str().unwrap();
    assert_ne!(id, call["id"]);
    assert_eq!(files[0].path, format!("{FOLDER}/events/event-{:05}-{id}.json", events.len()));
    assert_eq!((&answer["kind"], &answer["source"]), (&json!("AgentErrorEvent"), &json!("agent")));
    for key in ["tool_name", "tool_call_id"] {
        assert_eq!(answer[key], call[key]);
    }
    // Its next call is killed before it does anything: the call has a result already.
    let left = left.file(&files[0].path, &files[0].text).with_session(outcome.session);
    assert_eq!(answers_after(&left), []);
}

#[test]
fn all_calls_of_one_response_have_a_result() {
    let mut events = events();
    let mut other = events.last().unwrap().clone();
    other["id"] = json!(OTHER);
    other["tool_call_id"] = json!("call_\"2\"\n");
    events.push(other);
    let answers = answers_after(&killed(&events));
    let read = |file: &HomeFile| serde_json::from_str::<Value>(&file.text).unwrap()["tool_call_id"].clone();
    let ids: Vec<_> = answers.iter().map(read).collect();
    assert_eq!(ids, [events[events.len() - 2]["tool_call_id"].clone(), json!("call_\"2\"\n")]);
    let number = |file: &HomeFile| file.path.split('-').nth(1).unwrap().parse::<usize>().unwrap();
    assert_eq!(answers.iter().map(number).collect::<Vec<_>>(), [events.len(), events.len() + 1]);
}

#[test]
fn a_call_with_a_result_has_no_other() {
    let call = events().pop().unwrap();
    let (event, id) = (&call["id"], &call["tool_call_id"]);
    for result in [
        json!({"id": OTHER, "kind": "ObservationEvent", "action_id": event, "tool_call_id": id}),
        json!({"id": OTHER, "kind": "UserRejectObservation", "action_id": event, "tool_call_id": id}),
        json!({"id": OTHER, "kind": "AgentErrorEvent", "tool_call_id": id}),
    ] {
        let mut events = events();
        events.push(result.clone());
        assert_eq!(answers_after(&killed(&events)), [], "{result}");
    }
    // Arguments that could not be read: its error follows in any case.
    let mut events = events();
    events.last_mut().unwrap()["action"] = Value::Null;
    assert_eq!(answers_after(&killed(&events)), []);
}

#[test]
fn nothing_is_added_to_a_conversation_that_ended_well_or_cannot_be_read() {
    let events = events();
    let finished =
        killed(&events).code(0).file(&format!("{FOLDER}/base_state.json"), fixture("base_state.json"));
    assert_eq!(answers_after(&finished), []);
    let path = |number: usize| {
        format!("{FOLDER}/events/event-{number:05}-{}.json", events[number]["id"].as_str().unwrap())
    };
    let gap = killed(&events);
    std::fs::remove_file(gap.home.path().join(path(0))).unwrap();
    assert_eq!(answers_after(&gap), []);
    let damaged = killed(&events).file(&path(1), "{\"kind\": ");
    assert_eq!(answers_after(&damaged), []);
}

#[test]
fn the_session_of_a_foreign_folder_cannot_name_other_files() {
    let unanswered = |events: u64, event: &str, id: &str| {
        let memory = json!({"events": events, "calls": [{"event": event, "tool": "terminal", "id": id}]});
        Session {
            id: Some(CONVERSATION.into()),
            calls: 1,
            memory: [("unanswered".to_owned(), memory.to_string())].into(),
        }
    };
    assert_eq!(answers(&unanswered(3, OTHER, "call_1")).len(), 1);
    assert_eq!(answers(&unanswered(3, "/../../../../../etc/x", "call_1")), []);
    assert_eq!(answers(&unanswered(3, OTHER, &"c".repeat(1000))), []);
    assert_eq!(answers(&unanswered(100_000, OTHER, "call_1")), []);
    assert_eq!(answers(&unanswered(u64::MAX, OTHER, "call_1")), []);
}
