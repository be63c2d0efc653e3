//! The end of each recorded call.

use model::EndReason as R;

use crate::common::{CommandResult, fixtures};
use crate::golden::{case, find};

/// The expected end of each recording: case, exit code, reason, part of the message.
#[test]
fn ends() {
    type ExpectedEnd = (&'static str, i64, Option<R>, &'static str);
    let table: &[(&str, &[ExpectedEnd])] = &[
        (
            "openhands",
            &[
                ("fail-500", 0, Some(R::Endpoint), "mock internal error"),
                ("fail-401", 0, Some(R::Endpoint), "Incorrect API key"),
                ("fail-ctx", 0, Some(R::ContextOverflow), "NoCondensationAvailableException"),
                ("fail-refused", 0, Some(R::Endpoint), "Connection error"),
                ("fr-2", 0, Some(R::Endpoint), "AuthenticationError"),
                ("fail-hang-sigterm", 143, Some(R::KilledItself), "SIGTERM"),
                ("sig-INT", 137, Some(R::KilledItself), "SIGKILL"),
                ("kill-TERM-turn1", 143, Some(R::KilledItself), "SIGTERM"),
                ("kill-KILL-turn1", 137, Some(R::KilledItself), "SIGKILL"),
            ],
        ),
        (
            "opencode",
            &[
                ("fail-500", 1, Some(R::Endpoint), "APIError: mock internal error"),
                ("fail-429", 1, Some(R::Endpoint), "Rate limit"),
                ("fail-401", 1, Some(R::Endpoint), "Incorrect API key"),
                ("fail-ctx", 1, Some(R::ContextOverflow), "maximum context length"),
                ("fail-refused", 1, Some(R::Endpoint), "Unable to connect"),
                ("fr-2", 1, Some(R::Endpoint), "Incorrect API key"),
                ("nohome", 1, Some(R::AgentError), "Bun v1.3.14"),
                ("sig-INT", 130, Some(R::KilledItself), "SIGINT"),
                ("kill-TERM-turn1", 143, Some(R::KilledItself), "SIGTERM"),
                ("kill-KILL-turn1", 137, Some(R::KilledItself), "SIGKILL"),
                ("kill-TERM-turn2", 0, None, ""),
                ("kill-KILL-turn2", 0, None, ""),
            ],
        ),
        (
            "qwen_code",
            &[
                ("fail-500", 1, Some(R::Endpoint), "[API Error: 500"),
                ("fail-401", 1, Some(R::Endpoint), "Incorrect API key"),
                ("fail-ctx", 1, Some(R::ContextOverflow), "maximum context length"),
                ("fail-refused", 1, Some(R::Endpoint), "Connection error"),
                ("fr-2", 1, Some(R::Endpoint), "Incorrect API key"),
                ("maxturns", 53, Some(R::AgentError), "limit"),
                ("walltime", 55, Some(R::AgentError), "limit"),
                ("nohome", 1, Some(R::AgentError), ""),
                ("sig-INT", 130, Some(R::KilledItself), "SIGINT"),
                ("kill-TERM-turn1", 143, Some(R::KilledItself), "SIGTERM"),
                ("kill-KILL-turn1", 137, Some(R::KilledItself), "SIGKILL"),
                ("kill-TERM-turn2", 0, None, ""),
                ("kill-KILL-turn2", 0, None, ""),
                ("bgpipe", 0, None, ""),
            ],
        ),
        (
            "kimi_cli",
            &[
                ("fail-500", 75, Some(R::Endpoint), "'server_error'"),
                ("fail-401", 1, Some(R::Endpoint), "'invalid_request_error'"),
                ("fail-ctx", 1, Some(R::ContextOverflow), "maximum context length is 131072 tokens"),
                ("fail-refused", 75, Some(R::Endpoint), "Connection error."),
                ("fr-2", 1, Some(R::Endpoint), "Error code: 401"),
                ("maxsteps", 1, Some(R::AgentError), "Max number of steps reached: 3"),
                ("nohome", 1, Some(R::AgentError), "PermissionError"),
                ("sig-INT", 1, Some(R::KilledItself), "SIGINT"),
                ("sig-TERM", 143, Some(R::KilledItself), "SIGTERM"),
                ("kill-TERM-turn1", 143, Some(R::KilledItself), "SIGTERM"),
                ("kill-KILL-turn1", 137, Some(R::KilledItself), "SIGKILL"),
                ("kill-TERM-turn2", 0, None, ""),
                ("kill-KILL-turn2", 0, None, ""),
            ],
        ),
        (
            "kimi_code",
            &[
                ("fail-500", 1, Some(R::Endpoint), "provider.api_error: 500 mock internal error"),
                ("fail-401", 1, Some(R::Endpoint), "provider.auth_error"),
                ("fail-ctx", 1, Some(R::ContextOverflow), "compaction.failed"),
                ("fail-refused", 143, Some(R::Endpoint), "Connection error"),
                ("fr-2", 1, Some(R::Endpoint), "provider.auth_error"),
                ("nohome", 0, None, ""),
                ("sig-INT", 130, Some(R::KilledItself), "SIGINT"),
                ("kill-TERM-turn1", 143, Some(R::KilledItself), "SIGTERM"),
                ("kill-KILL-turn1", 137, Some(R::KilledItself), "SIGKILL"),
                ("kill-TERM-turn2", 0, None, ""),
                ("kill-KILL-turn2", 0, None, ""),
                ("bgpipe", 0, None, ""),
            ],
        ),
        (
            "codex",
            &[
                ("fail-500", 1, Some(R::Endpoint), "high demand"),
                ("fail-401", 1, Some(R::Endpoint), "401 Unauthorized"),
                ("fail-ctx", 1, Some(R::ContextOverflow), "ran out of room"),
                ("fail-refused", 143, Some(R::Endpoint), "waiting for network"),
                ("fr-2", 1, Some(R::Endpoint), "401 Unauthorized"),
                ("sig-INT", 1, Some(R::AgentError), ""),
                ("sig-TERM", 143, Some(R::KilledItself), "SIGTERM"),
                ("kill-TERM-turn1", 143, Some(R::KilledItself), "SIGTERM"),
                ("kill-KILL-turn1", 137, Some(R::KilledItself), "SIGKILL"),
                ("kill-TERM-turn2", 0, None, ""),
                ("kill-KILL-turn2", 0, None, ""),
                ("bgpipe", 0, None, ""),
            ],
        ),
        (
            "claude_code",
            &[
                ("fail-500", 1, Some(R::Endpoint), "API Error: 500"),
                ("fail-401", 1, Some(R::Endpoint), ""),
                ("fail-ctx", 1, Some(R::ContextOverflow), "Prompt is too long"),
                ("fail-refused", 1, Some(R::Endpoint), "Connection refused"),
                ("fr-2", 1, Some(R::Endpoint), ""),
                ("maxturns", 1, Some(R::AgentError), "Reached maximum number of turns (3)"),
                ("root", 1, Some(R::AgentError), "cannot be used with root"),
                ("sig-INT", 0, Some(R::KilledItself), ""),
                ("sig-TERM", 143, Some(R::KilledItself), "SIGTERM"),
                ("kill-TERM-turn1", 143, Some(R::KilledItself), "SIGTERM"),
                ("kill-KILL-turn1", 137, Some(R::KilledItself), "SIGKILL"),
                ("kill-TERM-turn2", 0, None, ""),
                ("kill-KILL-turn2", 0, None, ""),
                ("bgpipe", 0, None, ""),
            ],
        ),
        (
            "mini_swe",
            &[
                ("kill-TERM-turn1", 143, Some(R::KilledItself), "SIGTERM"),
                ("kill-KILL-turn1", 137, Some(R::KilledItself), "SIGKILL"),
                ("sig-INT", 1, Some(R::KilledItself), "SIGINT"),
                ("nohome", 1, Some(R::AgentError), "PermissionError"),
            ],
        ),
        (
            "vibe",
            &[
                ("kill-KILL-turn1", 137, Some(R::KilledItself), "SIGKILL"),
                // Its export has the outcome; here there is none.
                ("turn1", 0, Some(R::AgentError), "no sign that it finished"),
            ],
        ),
    ];
    for (name, cases) in table {
        for (file, code, reason, message) in *cases {
            let outcome = case(name, file).code(*code).outcome(find(name));
            let message_text = outcome.message.as_deref().unwrap_or_default();
            assert_eq!(
                (outcome.end, message_text.contains(message)),
                (*reason, true),
                "{name} {file}: {message_text}"
            );
            assert_eq!(outcome.end.is_none(), message_text.is_empty(), "{name} {file}");
            assert!(!message_text.contains(['\n', '\u{1b}']), "{name} {file}");
        }
    }
}

/// The file in HOME that belongs to the recorded output `case`: its path there, and the extension of the recording.
const IN_HOME: &[(&str, &str, &str)] = &[
    ("mini_swe", ".stamina/mini/trajectory.json", "trajectory.json"),
    ("vibe", ".stamina/vibe/export.json", "export.json"),
    (
        "vibe",
        ".vibe/logs/session/unified/3487e9b4-c0d0-8adc-54f2-3258963d0811/journal/0000000000000077.jsonl",
        "journal.jsonl",
    ),
    (
        "openhands",
        ".openhands/conversations/c2deb65b83a4493bad6c2163bbe95989/base_state.json",
        "base_state.json",
    ),
    (
        "codex",
        ".codex/sessions/2026/11/21/rollout-2026-11-21T07-37-38-01a1fd0a-1431-78e0-b128-05bce077b8b9.jsonl",
        "rollout.jsonl",
    ),
];

/// Each kind of failure, recorded from the real programs in their images with a simulated model that fails in this way:
/// malformed calls, a `pkill` of the harness, and giving up. For work without a change, the test uses the first recorded turn
/// and declares that no file changed.
#[test]
fn each_kind_of_failure_has_its_end() {
    type ExpectedEnd = (&'static str, i64, R, &'static str);
    let table: &[(&str, &[ExpectedEnd])] = &[
        (
            "mini_swe",
            &[
                ("malformed", 0, R::ToolCallFormat, "RepeatedFormatError"),
                ("killed", 137, R::KilledItself, "SIGKILL"),
                ("gave-up", 0, R::GaveUp, "it ended without a single tool call: This is done."),
            ],
        ),
        (
            "openhands",
            &[
                // It reports this as a loop, after calls that it could not read.
                ("malformed", 0, R::ToolCallFormat, "OpenHands found the agent stuck"),
                ("killed", 137, R::KilledItself, "SIGKILL"),
                ("gave-up", 0, R::GaveUp, "it ended without a single tool call: This is done."),
            ],
        ),
        (
            "opencode",
            &[
                ("malformed", 0, R::ToolCallFormat, "its last tool calls could not be read"),
                ("killed", 137, R::KilledItself, "SIGKILL"),
                ("gave-up", 0, R::GaveUp, "it ended without a single tool call: This is done."),
            ],
        ),
        (
            "qwen_code",
            &[
                // It repairs such calls and runs them.
                ("malformed", 0, R::NoChange, "it ended without changing a file: This is done."),
                ("killed", 1, R::KilledItself, "the harness was gone while a tool ran"),
                ("gave-up", 0, R::GaveUp, "it ended without a single tool call: This is done."),
            ],
        ),
        (
            "kimi_cli",
            &[
                ("malformed", 0, R::ToolCallFormat, "its last tool calls could not be read"),
                ("killed", 137, R::KilledItself, "SIGKILL"),
                ("gave-up", 0, R::GaveUp, "it ended without a single tool call: This is done."),
            ],
        ),
        (
            "kimi_code",
            &[
                ("malformed", 0, R::ToolCallFormat, "its last tool calls could not be read"),
                ("killed", 137, R::KilledItself, "SIGKILL"),
                ("gave-up", 0, R::GaveUp, "it ended without a single tool call: This is done."),
            ],
        ),
        (
            "vibe",
            &[
                ("malformed", 0, R::ToolCallFormat, "its last tool calls could not be read"),
                ("killed", 137, R::KilledItself, "SIGKILL"),
                ("gave-up", 0, R::GaveUp, "it ended without a single tool call: This is done."),
            ],
        ),
        (
            "claude_code",
            &[
                ("malformed", 0, R::ToolCallFormat, "its last tool calls could not be read"),
                ("killed", 137, R::KilledItself, "SIGKILL"),
                ("gave-up", 0, R::GaveUp, "it ended without a single tool call: This is done."),
            ],
        ),
        (
            "codex",
            &[
                ("malformed", 0, R::ToolCallFormat, "its last tool calls could not be read"),
                ("killed", 137, R::KilledItself, "SIGKILL"),
                ("gave-up", 0, R::GaveUp, "it ended without a single tool call: This is done."),
            ],
        ),
    ];
    assert_eq!(table.len() + 1, harness::all().len(), "all but the mock agent");
    for (name, cases) in table {
        for &(file, code, reason, message) in *cases {
            let mut left = case(name, file).code(code);
            left.changed = false;
            for (_, path, ending) in IN_HOME.iter().filter(|(harness, ..)| harness == name) {
                if let Ok(content) = std::fs::read(fixtures().join(name).join(format!("{file}.{ending}"))) {
                    left = left.file(path, content);
                }
            }
            let outcome = left.outcome(find(name));
            let message_text = outcome.message.as_deref().unwrap_or_default();
            assert_eq!(
                (outcome.end, message_text.contains(message)),
                (Some(reason), true),
                "{name} {file}: {message_text}"
            );
        }
    }
    // If the time of OpenHands runs out before it detects this, its events have the reason.
    let mut late = case("openhands", "malformed").code(143);
    late.exit.timed_out = true;
    assert_eq!(late.outcome(find("openhands")).end, Some(R::ToolCallFormat));
}

/// All recordings, if they are beside the repository. No success counts as a failure, and no failure as a success.
#[test]
fn every_recording_has_the_right_end() {
    let Some(samples) = test_folders::data_beside_the_repository("fixtures/harness/samples") else { return };
    let folders = [
        ("opencode", "opencode"),
        ("qwen_code", "qwen-code"),
        ("kimi_cli", "kimi-cli"),
        ("kimi_code", "kimi-code"),
        ("codex", "codex"),
        ("claude_code", "claude-code"),
    ];
    for (name, folder) in folders {
        let folder = samples.join(folder);
        let entries = std::fs::read_dir(&folder).unwrap();
        let mut read = 0;
        for entry in entries {
            let file = entry.unwrap().file_name().into_string().unwrap();
            let Some(case) = file.strip_suffix(".stdout") else { continue };
            let ended_well = match case {
                "root" => name != "claude_code",
                "nohome" => matches!(name, "kimi_code" | "codex" | "claude_code"),
                "bgpipe" => name != "opencode",
                "turn1" | "turn2" | "fr-1" | "fr-3" | "stdin" | "bg" | "kill-TERM-turn2"
                | "kill-KILL-turn2" | "root-issandbox" => true,
                "export" => continue,
                _ => false,
            };
            let code = i64::from(!ended_well);
            let outcome = CommandResult::case(&folder, case).code(code).outcome(find(name));
            assert_eq!(
                outcome.end.is_none(),
                ended_well,
                "{name} {case}: {:?} {:?}",
                outcome.end,
                outcome.message
            );
            assert!(!ended_well || outcome.steps.len() >= 2, "{name} {case}");
            read += 1;
        }
        assert!(read > 10, "{name}");
    }
}
