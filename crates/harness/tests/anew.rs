//! A restarted session in a HOME with files of an earlier one. These files do not belong to it, and a call that ended before
//! it wrote a file has no result.

#![allow(clippy::unwrap_used, reason = "a recording that is not there is a failure")]

use harness::{Call, Exit, Session};
use model::{EndReason, Tokens};

use crate::common::{CommandResult, ID, endpoint, fixtures};

/// The session of the earlier calls, by harness.
fn old_id(name: &str) -> &'static str {
    match name {
        "opencode" => "ses_e0302d922ffeTIPyTr0w9hsrPC",
        "kimi_code" => "session_dc4de231-b482-4d3a-8b23-4b180f65d1e3",
        "openhands" => "c2deb65b-83a4-493b-ad6c-2163bbe95989",
        _ => "3487e9b4-c0d0-8adc-54f2-3258963d0811",
    }
}

/// HOME after earlier calls of a harness, with the files that its outcome reads.
fn home_of(name: &str) -> CommandResult {
    let fixture = |file: &str| std::fs::read_to_string(fixtures().join(name).join(file)).unwrap();
    let (left, id) = (CommandResult::empty(), old_id(name));
    match name {
        "mini_swe" => left.file(".stamina/mini/trajectory.json", fixture("traj1.json")),
        "openhands" => {
            let path = format!(".openhands/conversations/{}/base_state.json", id.replace('-', ""));
            let state = fixture("base_state.json");
            assert!(state.contains("\"finished\""), "the earlier one succeeded");
            left.file(&path, state)
        }
        "opencode" => left.file(".local/share/opencode/log/opencode.log", fixture("opencode.log")),
        "kimi_cli" => left.file(&format!(".kimi/sessions/0123/{id}/wire.jsonl"), fixture("wire.jsonl")),
        "kimi_code" => left
            .file(".kimi-code/session_index.jsonl", format!("{{\"sessionId\":\"{id}\"}}\n"))
            .file(&format!(".kimi-code/sessions/wd_1/{id}/agents/main/wire.jsonl"), fixture("wire.jsonl")),
        "vibe" => left.file(
            &format!(".vibe/logs/session/unified/{id}/journal/1.jsonl"),
            fixture("malformed.journal.jsonl"),
        ),
        "codex" => left.file(
            &format!(".codex/sessions/2026/11/21/rollout-2026-11-21T07-42-16-{id}.jsonl"),
            fixture("rollout.jsonl"),
        ),
        // They print all about a call on standard output.
        "qwen_code" | "claude_code" => left,
        other => panic!("what {other} leaves is not known here"),
    }
}

#[test]
fn a_call_without_files_has_no_result_of_the_earlier_session() {
    let real = harness::all().iter().filter(|harness| harness.name() != "mock");
    let mut count = 0;
    for harness in real {
        let name = harness.name();
        let old = Session { id: Some(old_id(name).to_owned()), calls: 1, ..Session::default() };
        let mut left = home_of(name).with_earlier(Some(old));
        // Its first request got no response, and the wall limit ended it.
        left.exit = Exit { code: Some(143), timed_out: true, ..Exit::default() };
        left.requests = Some(1);
        let outcome = left.outcome(*harness);
        assert_eq!(outcome.end, Some(EndReason::AgentTimeout), "{name}: {:?}", outcome.message);
        assert_eq!(outcome.steps, [], "{name}");
        assert_eq!((outcome.usage, outcome.cost_usd), (Tokens::default(), None), "{name}");
        let session = outcome.session.unwrap();
        assert_eq!(session.calls, 1, "{name}");
        assert_ne!(session.id.as_deref(), Some(old_id(name)), "{name}");
        // The next call continues this session and not the earlier one.
        let endpoint = endpoint();
        let call = Call {
            turn: 2,
            attempt: 2,
            prompt: "again",
            session: Some(&session),
            earlier: None,
            session_id: ID,
            endpoint: &endpoint,
            seconds: 600,
            home: harness::HOME,
            workspace: harness::WORKSPACE,
        };
        if harness.has_begun(&session)
            && let Ok(invocation) = harness.invocation(&call)
        {
            let all = format!("{:?} {:?}", invocation.argv, invocation.env);
            for earlier_word in [old_id(name), "--continue", "mini/trajectory.json"] {
                assert!(!all.contains(earlier_word), "{name}: {earlier_word} in {all}");
            }
        }
        count += 1;
    }
    assert_eq!(count, 9);
}

#[test]
fn a_restarted_session_of_mini_swe_agent_continues_in_its_own_file() {
    let mini = harness::find("mini_swe").unwrap();
    let trajectory_path = format!(".stamina/mini/trajectory-{ID}.json");
    let read = |name: &str| std::fs::read_to_string(fixtures().join("mini_swe").join(name)).unwrap();
    let first =
        home_of("mini_swe").file(&trajectory_path, read("traj1.json")).with_earlier(Some(Session::default()));
    let first = first.outcome(mini);
    assert_eq!((first.end, first.steps.len()), (None, 2));
    let second = home_of("mini_swe")
        .file(&trajectory_path, read("traj2.json"))
        .with_session(first.session)
        .outcome(mini);
    assert_eq!((second.end, second.steps.len()), (None, 2));
    assert_eq!(second.session.unwrap().memory["trajectory"], trajectory_path);
}

#[test]
fn a_session_that_never_started_is_not_continued() {
    let never = Session { id: None, calls: 1, ..Session::default() };
    for harness in harness::all() {
        let needs_id = matches!(harness.name(), "claude_code" | "qwen_code");
        assert_eq!(harness.has_begun(&never), !needs_id, "{}", harness.name());
    }
}

/// A harness file whose documents in HOME are the same in all sessions.
#[test]
fn documents_of_an_earlier_session_do_not_count_in_a_restarted_one() {
    let room = tempfile::tempdir().unwrap();
    let file = room.path().join("own.toml");
    let text = r#"
name = "own"
version = "1"
image = "example/own:1"
api = "chat_completions"
probe = ["own", "--version"]
[commands]
first = ["own", "{prompt_file}", "{session}"]
[session]
from = "caller"
[transcript]
reader = "openai-messages-jsonl"
file = "t.json"
list = "messages"
[success]
file = { path = "done.json", has = { done = true } }
"#;
    std::fs::write(&file, text).unwrap();
    let loaded = harness::load(&file).unwrap();
    let left = CommandResult::empty()
        .file("t.json", r#"{"messages":[{"role":"assistant","content":"one"}]}"#)
        .file("done.json", r#"{"done":true}"#);
    let first = left.outcome(&loaded);
    assert_eq!((first.end, first.steps.len()), (None, 1), "{:?}", first.message);
    let mut second = left.with_earlier(first.session);
    second.exit = Exit { code: Some(143), timed_out: true, ..Exit::default() };
    let second = second.outcome(&loaded);
    assert_eq!((second.end, second.steps.len()), (Some(EndReason::AgentTimeout), 0));
}
