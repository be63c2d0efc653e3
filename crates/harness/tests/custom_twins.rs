//! The nine built-in harnesses, each also described by a harness file: a file can describe any form of output. Steps, tokens
//! and ends of two recorded turns and of a failure are the same.
#![allow(clippy::unwrap_used, reason = "a recording that is not there is a failure")]

use harness::{Harness, Outcome};

use crate::common::{CommandResult, ID, fixtures};

/// The common part of the files.
const HEAD: &str = r#"
name = "twin"
version = "1"
image = "example/twin:1"
api = "chat_completions"
probe = ["twin", "--version"]
[commands]
first = ["twin", "{prompt_file}"]
later = ["twin", "{prompt_file}", "{session}"]
"#;

struct Twin {
    name: &'static str,
    /// The rest of its file.
    description: &'static str,
    /// A file of HOME for both turns: its path, and its content after each.
    home: Option<(String, [Vec<u8>; 2])>,
    /// A recording of a failure, its exit code, and its content of that file.
    fails: (&'static str, i64, Option<&'static str>),
}

fn fixture(harness: &str, name: &str) -> Vec<u8> {
    std::fs::read(fixtures().join(harness).join(name)).unwrap()
}

fn twins() -> Vec<Twin> {
    let pair = |harness: &str, names: [&str; 2]| names.map(|name| fixture(harness, name));
    let growing = |harness: &str, offset: &dyn Fn(&str) -> usize| {
        let whole = String::from_utf8(fixture(harness, "wire.jsonl")).unwrap();
        let half = whole[..offset(&whole)].to_owned();
        [half.into_bytes(), whole.into_bytes()]
    };
    // OpenHands kept no counts of the first turn. They are two entries of the second turn.
    let state = String::from_utf8(fixture("openhands", "base_state.json")).unwrap();
    let mut early: serde_json::Value = serde_json::from_str(&state).unwrap();
    early["stats"]["usage_to_metrics"]["agent"]["accumulated_token_usage"] = serde_json::json!({
        "prompt_tokens": 8744 + 9095, "completion_tokens": 240, "cache_read_tokens": 4372 + 4547,
    });
    vec![
        Twin {
            name: "mini_swe",
            description: r#"
                [session]
                from = "caller"
                [transcript]
                reader = "openai-messages-jsonl"
                file = ".stamina/mini/trajectory.json"
                list = "messages"
                [usage]
                counts = "request"
                input = "extra.response.usage.prompt_tokens"
                cached = "extra.response.usage.prompt_tokens_details.cached_tokens"
                output = "extra.response.usage.completion_tokens"
                [success]
                file = { path = ".stamina/mini/trajectory.json", has = { info = { exit_status = "Submitted" } } }
                [failure]
                file = ".stamina/mini/trajectory.json"
                message = "info.exit_status"
            "#,
            home: Some((
                ".stamina/mini/trajectory.json".to_owned(),
                pair("mini_swe", ["traj1.json", "traj2.json"]),
            )),
            fails: ("fail-ctx", 1, Some("traj-ctx.json")),
        },
        Twin {
            name: "openhands",
            description: r#"
                [session]
                from = "files"
                files = ".openhands/conversations/*"
                [transcript]
                reader = "openhands-jsonl"
                [usage]
                file = ".openhands/conversations/{session}/base_state.json"
                counts = "session"
                input = "stats.usage_to_metrics.agent.accumulated_token_usage.prompt_tokens"
                cached = "stats.usage_to_metrics.agent.accumulated_token_usage.cache_read_tokens"
                output = "stats.usage_to_metrics.agent.accumulated_token_usage.completion_tokens"
                [success]
                file = { path = ".openhands/conversations/{session}/base_state.json", has = { execution_status = "finished" } }
                [failure]
                message = "detail"
            "#,
            home: Some((
                ".openhands/conversations/c2deb65b83a4493bad6c2163bbe95989/base_state.json".to_owned(),
                [early.to_string().into_bytes(), state.into_bytes()],
            )),
            fails: ("fail-500", 0, None),
        },
        Twin {
            name: "opencode",
            description: r#"
                [session]
                from = "stdout"
                key = "sessionID"
                [transcript]
                reader = "opencode-jsonl"
                [success]
                exit_code = 0
                last_line = { type = "step_finish", part = { reason = "stop" } }
                [failure]
                message = "error.data.message"
                status = "error.data.statusCode"
            "#,
            home: None,
            fails: ("fail-429", 1, None),
        },
        Twin {
            name: "qwen_code",
            description: r#"
                [session]
                from = "caller"
                [transcript]
                reader = "qwen-stream-json"
                [success]
                last_line = { type = "result", subtype = "success", is_error = false }
                [failure]
                message = "error.message"
            "#,
            home: None,
            fails: ("fail-ctx", 1, None),
        },
        Twin {
            name: "kimi_cli",
            description: r#"
                [session]
                from = "caller"
                [transcript]
                reader = "openai-messages-jsonl"
                [usage]
                file = ".kimi/sessions/0123456789abcdef0123456789abcdef/{session}/wire.jsonl"
                lines = true
                counts = "request"
                input = "message.payload.token_usage.input_other"
                cached = "message.payload.token_usage.input_cache_read"
                output = "message.payload.token_usage.output"
                input_without_cached = true
                [success]
                exit_code = 0
                last_line = { role = "assistant" }
            "#,
            home: Some((
                format!(".kimi/sessions/0123456789abcdef0123456789abcdef/{ID}/wire.jsonl"),
                growing("kimi_cli", &|wire| {
                    wire.find("TURN-TWO").and_then(|offset| wire[..offset].rfind('\n')).unwrap() + 1
                }),
            )),
            fails: ("fail-401", 1, None),
        },
        Twin {
            name: "kimi_code",
            description: r#"
                [session]
                from = "stdout"
                key = "session_id"
                [transcript]
                reader = "openai-messages-jsonl"
                [usage]
                file = ".kimi-code/sessions/wd_workspace_c52ddf65534b/{session}/agents/main/wire.jsonl"
                lines = true
                counts = "request"
                input = "usage.inputOther"
                cached = "usage.inputCacheRead"
                output = "usage.output"
                input_without_cached = true
                [success]
                exit_code = 0
                last_line = { type = "session.resume_hint" }
            "#,
            home: Some((
                ".kimi-code/sessions/wd_workspace_c52ddf65534b/session_dc4de231-b482-4d3a-8b23-4b180f65d1e3/agents/main/wire.jsonl"
                    .to_owned(),
                growing("kimi_code", &|wire| wire.split_inclusive('\n').take(3).map(str::len).sum()),
            )),
            fails: ("fail-401", 1, None),
        },
        Twin {
            name: "vibe",
            description: r#"
                [session]
                from = "stdout"
                key = "sessionId"
                [transcript]
                reader = "vibe-jsonl"
                [usage]
                file = ".stamina/vibe/export.json"
                input = "usage.input_tokens"
                cached = "usage.cached_input_tokens"
                output = "usage.output_tokens"
                [success]
                file = { path = ".stamina/vibe/export.json", has = { outcome = "finished" } }
                [failure]
                file = ".stamina/vibe/export.json"
                message = "error.message"
            "#,
            home: Some((
                ".stamina/vibe/export.json".to_owned(),
                pair("vibe", ["turn1.export.json", "turn2.export.json"]),
            )),
            fails: ("fail-ctx", 2, Some("fail-ctx.export.json")),
        },
        Twin {
            name: "claude_code",
            description: r#"
                [session]
                from = "caller"
                [transcript]
                reader = "claude-stream-json"
                [usage]
                input = "usage.input_tokens"
                cached = "usage.cache_read_input_tokens"
                output = "usage.output_tokens"
                input_without_cached = true
                [success]
                last_line = { type = "result", subtype = "success", is_error = false }
                [failure]
                message = "result"
                status = "api_error_status"
            "#,
            home: None,
            fails: ("fail-500", 1, None),
        },
        Twin {
            name: "codex",
            description: r#"
                [session]
                from = "stdout"
                key = "thread_id"
                [transcript]
                reader = "codex-jsonl"
                [usage]
                counts = "session"
                input = "usage.input_tokens"
                cached = "usage.cached_input_tokens"
                output = "usage.output_tokens"
                [success]
                last_line = { type = "turn.completed" }
                [failure]
                message = "error.message"
                [failure.reasons]
                "ran out of room" = "context_overflow"
            "#,
            home: None,
            fails: ("fail-ctx", 1, None),
        },
    ]
}

#[test]
fn a_file_reads_what_each_built_in_harness_reads() {
    let room = tempfile::tempdir().unwrap();
    let twins = twins();
    assert_eq!(twins.len() + 1, harness::all().len(), "all but the mock agent");
    for twin in &twins {
        let name = twin.name;
        let file = room.path().join(format!("{name}.toml"));
        std::fs::write(&file, format!("{HEAD}{}", twin.description)).unwrap();
        let custom = harness::load(&file).unwrap_or_else(|error| panic!("{error}"));
        let built_in = harness::find(name).unwrap();
        let play = |harness: &dyn Harness| {
            let turn = |turn: usize, before: Option<&Outcome>| {
                let left = CommandResult::case(&fixtures().join(name), &format!("turn{}", turn + 1));
                let left = match &twin.home {
                    Some((path, content)) => left.file(path, &content[turn]),
                    None => left,
                };
                left.with_session(before.and_then(|outcome| outcome.session.clone())).outcome(harness)
            };
            let first = turn(0, None);
            let second = turn(1, Some(&first));
            let (case, code, content) = twin.fails;
            let left = CommandResult::case(&fixtures().join(name), case).code(code);
            let failed = match (content, &twin.home) {
                (Some(content), Some((path, _))) => left.file(path, fixture(name, content)),
                _ => left,
            };
            [first, second, failed.outcome(harness)]
        };
        let (built_in_calls, custom_calls) = (play(built_in), play(&custom));
        for (index, (expected, found)) in built_in_calls.iter().zip(&custom_calls).enumerate() {
            assert_eq!(found.end, expected.end, "{name} {index}: {:?}", found.message);
            assert_eq!(expected.end.is_some(), index == 2, "{name} {index}: {:?}", expected.message);
            if index < 2 {
                assert_eq!(found.usage, expected.usage, "{name} {index}");
                assert!(expected.usage.input.is_some_and(|n| n > 0), "{name} {index}");
                let facts = |outcome: &Outcome| {
                    // Each harness marks failed calls with keys of its own.
                    let calls = |step: &model::Step| -> Vec<_> {
                        let calls = step.tool_calls.iter();
                        calls.map(|c| (c.name.clone(), c.arguments.clone(), c.result.clone())).collect()
                    };
                    let steps = outcome.steps.iter();
                    steps.map(|s| (s.kind, s.text.clone(), calls(s))).collect::<Vec<_>>()
                };
                assert_eq!(facts(found), facts(expected), "{name} {index}");
            }
        }
    }
}
