//! Harness files that read JSON documents in HOME. These outlive the call that wrote them, may be half-written, and may have
//! any size.
#![allow(clippy::unwrap_used, reason = "a file that cannot be written is a failure")]

use harness::{Harness, Outcome, Session};
use model::{EndReason, Tokens};

use crate::common::CommandResult;

const HEAD: &str = r#"
name = "documents"
version = "1"
image = "example/documents:1"
api = "chat_completions"
probe = ["documents", "--version"]
[commands]
first = ["documents", "{prompt_file}", "{session}"]
[session]
from = "caller"
"#;

fn custom_harness(rest: &str) -> harness::HarnessFile {
    let room = tempfile::tempdir().unwrap();
    let file = room.path().join("documents.toml");
    std::fs::write(&file, format!("{HEAD}{rest}")).unwrap();
    harness::load(&file).unwrap_or_else(|error| panic!("{error}"))
}

/// The texts of the agent in each step, with their tokens.
fn messages(lines: &[&str]) -> String {
    let lines: Vec<_> =
        lines.iter().map(|text| format!(r#"{{"role":"assistant","content":"{text}"}}"#)).collect();
    format!("[{}]", lines.join(","))
}

fn texts(outcome: &Outcome) -> Vec<String> {
    outcome.steps.iter().map(|step| step.text.clone()).collect()
}

/// Several calls, each of which writes one file. Returns the texts of the steps of each.
fn calls(harness: &dyn Harness, path: &str, contents: &[&str]) -> Vec<Vec<String>> {
    let mut session: Option<Session> = None;
    let mut step_texts = Vec::new();
    for content in contents {
        let outcome =
            CommandResult::empty().file(path, content).with_session(session.take()).outcome(harness);
        step_texts.push(texts(&outcome));
        session = outcome.session;
    }
    step_texts
}

const LISTED: &str = r#"
[transcript]
reader = "openai-messages-jsonl"
file = "t.json"
list = "LIST"
[success]
last_line = { ok = true }
"#;

#[test]
fn a_half_written_transcript_is_not_read_twice() {
    let harness = custom_harness(&LISTED.replace("LIST", "messages"));
    let whole = |texts: &[&str]| format!(r#"{{"messages":{},"z":1}}"#, messages(texts));
    let three = whole(&["a", "b", "c"]);
    let half = &three[..three.find(r#",{"role":"assistant","content":"c""#).unwrap()];
    let five = whole(&["a", "b", "c", "d", "e"]);
    let step_texts = calls(&harness, "t.json", &[&three, half, &five, &whole(&["x"])]);
    let none: [&str; 0] = [];
    assert_eq!(step_texts[0], ["a", "b", "c"]);
    assert_eq!(step_texts[1], none, "it is incomplete, so there are no new steps");
    assert_eq!(step_texts[2], ["d", "e"]);
    assert_eq!(step_texts[3], ["x"], "a complete and shorter one belongs to a restarted session");
}

#[test]
fn a_document_can_be_the_list_itself() {
    let harness = custom_harness(&LISTED.replace("LIST", ""));
    let step_texts = calls(&harness, "t.json", &[&messages(&["a"]), &messages(&["a", "b"])]);
    assert_eq!(step_texts, [["a"], ["b"]]);
}

const FILED: &str = r#"
[transcript]
reader = "openai-messages-jsonl"
[usage]
file = "end.json"
input = "usage.input"
output = "usage.output"
[success]
file = { path = "end.json", has = { ok = true } }
[failure]
file = "end.json"
message = "error.text"
[failure.reasons]
"out of ideas" = "gave_up"
"#;

/// A call that changes nothing in `home` except `content`.
fn call(
    harness: &dyn Harness,
    home: CommandResult,
    session: Option<Session>,
    content: Option<&str>,
) -> (CommandResult, Outcome) {
    let mut left = home.with_session(session);
    left.stdout = br#"{"role":"assistant","content":"I work."}"#.to_vec();
    if let Some(content) = content {
        left = left.file("end.json", content);
        // No two calls end at the same time.
        let file = std::fs::File::options().write(true).open(left.home.path().join("end.json")).unwrap();
        let calls = left.session.as_ref().map_or(0, |session| session.calls);
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_800_000_000 + u64::from(calls));
        file.set_modified(time).unwrap();
    }
    let outcome = left.outcome(harness);
    (left, outcome)
}

#[test]
fn files_of_the_last_call_do_not_count_for_this_one() {
    let harness = custom_harness(FILED);
    let good = r#"{"ok":true,"usage":{"input":10,"output":2}}"#;
    let bad = r#"{"ok":false,"error":{"text":"I am out of ideas"},"usage":{"input":3,"output":1}}"#;
    let tokens = |input, output| Tokens { input: Some(input), cached: None, output: Some(output) };

    let (home, first) = call(&harness, CommandResult::empty(), None, Some(good));
    assert_eq!((first.end, first.usage), (None, tokens(10, 2)));
    let (home, killed) = call(&harness, home.code(1), first.session, None);
    assert_eq!((killed.end, killed.usage), (Some(EndReason::AgentError), Tokens::default()));
    assert_eq!(texts(&killed), ["I work."]);
    let (home, again) = call(&harness, home.code(0), killed.session, Some(good));
    assert_eq!((again.end, again.usage), (None, tokens(10, 2)), "written again with the same text");

    let (home, failed) = call(&harness, home.code(1), again.session, Some(bad));
    assert_eq!((failed.end, failed.usage), (Some(EndReason::GaveUp), tokens(3, 1)));
    let (_, killed) = call(&harness, home.code(1), failed.session, None);
    assert_eq!(killed.end, Some(EndReason::AgentError), "{:?}", killed.message);
    assert!(killed.message.is_none_or(|message| !message.contains("ideas")));
}

#[test]
fn a_document_that_is_too_large_is_reported_and_the_rest_is_kept() {
    let harness = custom_harness(FILED);
    let many = format!("[{}0]", "0,".repeat(400_001));
    // Unwanted keys do not count.
    let (_, beside) = call(
        &harness,
        CommandResult::empty(),
        None,
        Some(&format!(r#"{{"log":{many},"ok":true,"usage":{{"input":1,"output":2}}}}"#)),
    );
    assert_eq!((beside.end, beside.usage.input), (None, Some(1)));

    let (_, within) = call(
        &harness,
        CommandResult::empty(),
        None,
        Some(&format!(r#"{{"ok":{many},"usage":{{"input":1}}}}"#)),
    );
    assert_eq!((within.end, within.usage.input), (Some(EndReason::AgentError), Some(1)));
    let message = within.message.unwrap();
    assert!(message.ends_with("~/end.json could not be read: too large"), "{message}");

    let left = CommandResult::empty().file("end.json", "{");
    let file = std::fs::File::options().write(true).open(left.home.path().join("end.json")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    let (_, longer) = call(&harness, left, None, None);
    assert_eq!((longer.end, longer.usage), (Some(EndReason::AgentError), Tokens::default()));
    assert_eq!(texts(&longer), ["I work."]);
    assert!(longer.message.unwrap().contains("too large"));
}

/// Without a readable transcript it is unknown whether the agent called a tool.
#[test]
fn a_transcript_that_is_too_large_does_not_mean_that_nothing_was_done() {
    let harness = custom_harness(&LISTED.replace("LIST", ""));
    let mut left = CommandResult::empty().file("t.json", "[");
    let file = std::fs::File::options().write(true).open(left.home.path().join("t.json")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    left.stdout = br#"{"ok":true}"#.to_vec();
    assert_eq!(left.outcome(&harness).end, None);
    left.changed = false;
    let outcome = left.outcome(&harness);
    assert_eq!(outcome.end, Some(EndReason::NoChange));
    assert!(outcome.message.unwrap().contains("~/t.json could not be read: too large"));
}
