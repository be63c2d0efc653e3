//! Steps, tokens and session of two turns of each harness.

use harness::{Outcome, Session};
use model::{EndReason as R, StepKind, Tokens};

use crate::common::{CommandResult, ID};
use crate::golden::{case, find, fixture};

fn tokens(input: u64, cached: u64, output: u64) -> Tokens {
    Tokens { input: Some(input), cached: Some(cached), output: Some(output) }
}

/// The two turns of each recording: write a server file with a shell command, then report success.
fn is_turn(outcome: &Outcome, turn: u32, tool: &str, last: &str) {
    assert_eq!((outcome.end, &outcome.message), (None, &None));
    assert_eq!(outcome.session.as_ref().unwrap().calls, turn);
    let calls: Vec<_> = outcome.steps.iter().flat_map(|s| &s.tool_calls).collect();
    assert_eq!(calls[0].name, tool);
    assert!(
        calls[0].arguments.contains(&format!(r#"\"turn\\\":{turn}"#)) || calls[0].arguments.contains("turn")
    );
    assert!(calls[0].summary.contains("cat > /workspace/server.py"), "{}", calls[0].summary);
    let result = calls[0].result.as_deref().unwrap();
    assert!(result.contains("server.py"), "{result}");
    assert_eq!(calls[0].is_error, Some(false).filter(|_| calls[0].is_error.is_some()));
    assert!(outcome.steps.iter().all(|s| s.kind != StepKind::Tool && s.kind != StepKind::User));
    assert_eq!(outcome.steps.last().unwrap().text, last);
    assert!(outcome.steps.iter().enumerate().all(|(n, s)| s.index as usize == n + 1));
}

#[test]
fn mini_swe_turns() {
    let mini = find("mini_swe");
    let first =
        case("mini_swe", "turn1").file(".stamina/mini/trajectory.json", fixture("mini_swe", "traj1.json"));
    let first = first.outcome(mini);
    is_turn(&first, 1, "bash", "Work finished, submitting.");
    assert_eq!((first.steps.len(), first.usage), (2, tokens(1934, 966, 240)));
    let second =
        case("mini_swe", "turn2").file(".stamina/mini/trajectory.json", fixture("mini_swe", "traj2.json"));
    let second = second.with_session(first.session).outcome(mini);
    is_turn(&second, 2, "bash", "Work finished, submitting.");
    assert_eq!((second.steps.len(), second.usage), (2, tokens(2659, 1329, 240)));
    assert!(second.steps[0].at.as_deref().unwrap().starts_with("2026-11-21T07:2"));
}

#[test]
fn mini_swe_does_not_succeed_with_the_trajectory_of_the_last_call() {
    let mini = find("mini_swe");
    let whole = fixture("mini_swe", "traj1.json");
    let first = case("mini_swe", "turn1").file(".stamina/mini/trajectory.json", &whole).outcome(mini).session;
    let stale = CommandResult::empty().file(".stamina/mini/trajectory.json", &whole).code(143);
    let outcome = stale.with_session(first.clone()).outcome(mini);
    assert_eq!((outcome.end, outcome.steps.len()), (Some(R::KilledItself), 0));
    assert_eq!(outcome.usage, Tokens::default());
    let session = outcome.session.unwrap();
    assert_eq!((session.calls, &session.memory), (2, &first.unwrap().memory));
}

#[test]
fn openhands_turns() {
    let openhands = find("openhands");
    let state = fixture("openhands", "base_state.json");
    let path = ".openhands/conversations/c2deb65b83a4493bad6c2163bbe95989/base_state.json";
    // No state of the first turn was kept. Its counts are the first two entries of the second turn.
    let mut early: serde_json::Value = serde_json::from_str(&state).unwrap();
    early["stats"]["usage_to_metrics"]["agent"]["accumulated_token_usage"] = serde_json::json!({
        "prompt_tokens": 8744 + 9095, "completion_tokens": 240, "cache_read_tokens": 4372 + 4547,
    });
    let first = case("openhands", "turn1").file(path, early.to_string()).outcome(openhands);
    is_turn(&first, 1, "terminal", "Done: server.py written for turn 1.");
    assert_eq!(first.session.as_ref().unwrap().id.as_deref(), Some("c2deb65b-83a4-493b-ad6c-2163bbe95989"));
    assert_eq!(first.usage, tokens(17839, 8919, 240));
    let second = case("openhands", "turn2").file(path, state).with_session(first.session).outcome(openhands);
    is_turn(&second, 2, "terminal", "Done: server.py written for turn 2.");
    assert_eq!((second.usage, second.cost_usd), (tokens(36625 - 17839, 18311 - 8919, 240), None));
}

#[test]
fn opencode_turns() {
    let opencode = find("opencode");
    let first = case("opencode", "turn1").outcome(opencode);
    is_turn(&first, 1, "bash", "Done: server.py written for turn 1.");
    assert_eq!(first.session.as_ref().unwrap().id.as_deref(), Some("ses_e0302d922ffeTIPyTr0w9hsrPC"));
    assert_eq!(first.usage, tokens(2 * 3843 + 2 * 3951, 3843 + 3951, 113 + 7 + 18 + 7));
    assert!((first.cost_usd.unwrap() - 0.008_863_4).abs() < 1e-9);
    assert!(first.steps[0].tool_calls[0].seconds.is_some_and(|s| s < 5.0));
    assert_eq!(first.steps[0].at.as_deref(), Some("2026-11-21T07:23:34.495Z"));
    let second = case("opencode", "turn2").with_session(first.session).outcome(opencode);
    is_turn(&second, 2, "bash", "Done: server.py written for turn 2.");
    assert_eq!(second.steps.len(), 2);
}

#[test]
fn opencode_finds_a_session_without_output() {
    let silent = case("opencode", "fail-hang-sigterm").code(143);
    let silent = silent.file(".local/share/opencode/log/opencode.log", fixture("opencode", "opencode.log"));
    let session = silent.outcome(find("opencode")).session.unwrap();
    assert_eq!(session.id.as_deref(), Some("ses_e0302d922ffeTIPyTr0w9hsrPC"));
}

#[test]
fn qwen_code_turns() {
    let qwen = find("qwen_code");
    let first = case("qwen_code", "turn1").outcome(qwen);
    is_turn(&first, 1, "run_shell_command", "Done: server.py written for turn 1.");
    assert_eq!(first.session.as_ref().unwrap().id.as_deref(), Some("23b2acb0-3306-4e83-a794-14f956fc9990"));
    assert_eq!((first.steps.len(), first.usage), (2, tokens(38345, 19172, 145)));
    // One answer in two lines is one step, with its tokens.
    assert_eq!(first.steps[0].tokens, Some(tokens(18993, 9496, 120)));
    let second = case("qwen_code", "turn2").with_session(first.session).outcome(qwen);
    is_turn(&second, 2, "run_shell_command", "Done: server.py written for turn 2.");
    assert_eq!(second.usage, tokens(77501 - 38345, 38750 - 19172, 145));
}

#[test]
fn kimi_cli_turns() {
    let kimi = find("kimi_cli");
    let wire = fixture("kimi_cli", "wire.jsonl");
    let path = format!(".kimi/sessions/0123456789abcdef0123456789abcdef/{ID}/wire.jsonl");
    let half = wire.find("TURN-TWO").and_then(|offset| wire[..offset].rfind('\n')).unwrap() + 1;
    let first = case("kimi_cli", "turn1").file(&path, &wire[..half]).outcome(kimi);
    is_turn(&first, 1, "Shell", "Done: server.py written for turn 1.");
    assert_eq!(first.usage, tokens(12198 + 12440, 6099 + 6220, 145));
    assert_eq!(first.session.as_ref().unwrap().id.as_deref(), Some(ID));
    let second = case("kimi_cli", "turn2").file(&path, &wire).with_session(first.session).outcome(kimi);
    is_turn(&second, 2, "Shell", "Done: server.py written for turn 2.");
    assert_eq!(second.usage, tokens(12474 + 12716, 6237 + 6358, 145));
}

#[test]
fn kimi_code_turns() {
    let kimi = find("kimi_code");
    let wire = fixture("kimi_code", "wire.jsonl");
    let id = "session_dc4de231-b482-4d3a-8b23-4b180f65d1e3";
    let path = format!(".kimi-code/sessions/wd_workspace_c52ddf65534b/{id}/agents/main/wire.jsonl");
    let half: String = wire.split_inclusive('\n').take(3).collect();
    let first = case("kimi_code", "turn1").file(&path, half).outcome(kimi);
    assert_eq!((first.end, first.usage), (None, tokens(20949 + 21173, 10474 + 10586, 145)));
    assert_eq!(first.session.as_ref().unwrap().id.as_deref(), Some(id));
    assert_eq!(first.steps[0].tool_calls[0].name, "Bash");
    assert!(first.steps[0].tool_calls[0].result.as_deref().unwrap().contains("wrote turn 3"));
    let second = case("kimi_code", "turn2").file(&path, wire).with_session(first.session).outcome(kimi);
    assert_eq!((second.end, second.usage), (None, tokens(21343 + 21566, 10671 + 10783, 145)));
    assert_eq!(second.steps.len(), 2);
}

#[test]
fn kimi_code_finds_the_session_of_a_killed_call() {
    let index =
        "{\"sessionId\":\"session_a\"}\n{\"sessionId\":\"session_b\",\"cwd\":\"/workspace\"}\n{\"sess";
    let killed = case("kimi_code", "kill-KILL-turn1").code(137).file(".kimi-code/session_index.jsonl", index);
    let outcome = killed.outcome(find("kimi_code"));
    assert_eq!(outcome.end, Some(R::KilledItself));
    assert_eq!(outcome.session.unwrap().id.as_deref(), Some("session_b"));
}

#[test]
fn vibe_turns() {
    let vibe = find("vibe");
    let turn = |name: &str| {
        case("vibe", name).file(".stamina/vibe/export.json", fixture("vibe", &format!("{name}.export.json")))
    };
    let first = turn("turn1").outcome(vibe);
    is_turn(&first, 1, "file_system.bash", "Done: server.py written for turn 1.");
    assert_eq!(first.session.as_ref().unwrap().id.as_deref(), Some("3487e9b4-c0d0-8adc-54f2-3258963d0811"));
    let export = |name: &str| serde_json::from_str::<serde_json::Value>(&fixture("vibe", name)).unwrap();
    let count = |value: &serde_json::Value, key: &str| value["usage"][key].as_u64();
    for (outcome, name) in
        [(&first, "turn1"), (&turn("turn2").with_session(first.session.clone()).outcome(vibe), "turn2")]
    {
        let export = export(&format!("{name}.export.json"));
        assert_eq!(outcome.usage.input, count(&export, "input_tokens"));
        assert_eq!(outcome.usage.output, Some(145));
        assert_eq!(outcome.cost_usd, export["cost_usd"].as_f64());
        assert_eq!(outcome.steps.len(), 2);
    }
}

#[test]
fn codex_turns() {
    let codex = find("codex");
    let first = case("codex", "turn1").outcome(codex);
    assert_eq!((first.end, first.usage), (None, tokens(19994, 9997, 145)));
    let id = "01a1fd0a-1431-78e0-b128-05bce077b8b9";
    assert_eq!(first.session.as_ref().unwrap().id.as_deref(), Some(id));
    let second = case("codex", "turn2").with_session(first.session).outcome(codex);
    assert_eq!((second.end, second.usage), (None, tokens(40644 - 19994, 20322 - 9997, 145)));
    let kinds: Vec<_> = second.steps.iter().map(|s| s.kind).collect();
    assert_eq!(kinds, [StepKind::System, StepKind::Agent, StepKind::Agent]);
    let call = &second.steps[1].tool_calls[0];
    assert_eq!((call.name.as_str(), call.is_error), ("command_execution", Some(false)));
    assert!(call.result.as_deref().unwrap().contains("wrote turn 2"));
}

#[test]
fn codex_counts_a_killed_call_by_its_rollout() {
    let first = case("codex", "turn1").outcome(find("codex")).session;
    let killed = case("codex", "kill-TERM-turn1").code(143).file(
        ".codex/sessions/2026/11/21/rollout-2026-11-21T07-42-16-01a1fd0e-5057-7f33-98a1-000000000000.jsonl",
        "{\"payload\":{\"type\":\"token_count\",\"info\":{\"total_token_usage\":{\"input_tokens\":1}}}}\n",
    );
    let mut killed = killed.file(
        ".codex/sessions/2026/11/22/rollout-2026-11-22T07-42-16-01a1fd0a-1431-78e0-b128-05bce077b8b9.jsonl",
        fixture("codex", "rollout.jsonl"),
    );
    killed.stdout =
        b"{\"type\":\"thread.started\",\"thread_id\":\"01a1fd0a-1431-78e0-b128-05bce077b8b9\"}\n".into();
    let outcome = killed.with_session(first).outcome(find("codex"));
    assert_eq!(
        (outcome.end, outcome.usage),
        (Some(R::KilledItself), tokens(40644 - 19994, 20322 - 9997, 145))
    );
}

/// A working call, and then malformed calls. Only the rollout has their order.
#[test]
fn codex_counts_malformed_calls_after_a_valid_one() {
    let codex = find("codex");
    let path =
        ".codex/sessions/2026/11/21/rollout-2026-11-21T07-37-38-01a1fd0a-1431-78e0-b128-05bce077b8b9.jsonl";
    let line = |payload: serde_json::Value| format!("{}\n", serde_json::json!({ "payload": payload }));
    let begins = line(serde_json::json!({ "type": "task_started" }));
    let answer = |output: &str| line(serde_json::json!({ "type": "function_call_output", "output": output }));
    let works = answer("Process exited with code 0");
    let unread = answer("failed to parse function arguments: EOF while parsing a string at line 1 column 9");
    let end = |rollout: String| {
        let left = case("codex", "turn1").file(path, rollout);
        CommandResult { changed: false, ..left }.outcome(codex).end
    };
    assert_eq!(end(format!("{begins}{works}{}", unread.repeat(3))), Some(R::ToolCallFormat));
    // Malformed calls before a valid one, or in an earlier turn, do not count.
    assert_eq!(end(format!("{begins}{}{works}", unread.repeat(5))), Some(R::NoChange));
    assert_eq!(end(format!("{begins}{}{begins}{works}", unread.repeat(5))), Some(R::NoChange));
}

#[test]
fn claude_code_turns() {
    let claude = find("claude_code");
    let first = case("claude_code", "turn1").outcome(claude);
    is_turn(&first, 1, "Bash", "Done: server.py written for turn 1.");
    assert_eq!(first.session.as_ref().unwrap().id.as_deref(), Some("65b8c3db-4494-4095-ab01-e1cb8218ff4c"));
    assert_eq!((first.steps.len(), first.usage), (2, tokens(12320 + 12319, 12319, 145)));
    // It does not know the price of its model.
    assert_eq!(first.cost_usd, None);
    assert_eq!(first.steps[0].tokens, Some(Tokens { output: None, ..tokens(6107 + 6106, 6106, 0) }));
    let second = case("claude_code", "turn2").with_session(first.session).outcome(claude);
    is_turn(&second, 2, "Bash", "Done: server.py written for turn 2.");
    assert_eq!(second.usage, tokens(12580 + 12578, 12578, 145));
}

#[test]
fn a_session_survives_a_call_without_output() {
    for harness in harness::all() {
        let before = Session { id: Some(ID.into()), calls: 3, ..Session::default() };
        let mut left = CommandResult::empty().code(143).with_session(Some(before.clone()));
        left.requests = Some(0);
        let after = left.outcome(*harness).session.unwrap();
        assert_eq!((after.id, after.calls), (before.id, 4), "{}", harness.name());
    }
}
