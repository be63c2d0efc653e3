//! What decides an end where facts differ: files, the container, the limit.

use model::EndReason as R;

use crate::common::{CommandResult, fixtures};
use crate::golden::{case, find, fixture};

#[test]
fn files_decide_ends() {
    let mini = |file: &str| {
        let left =
            CommandResult::empty().file(".stamina/mini/trajectory.json", fixture("mini_swe", file)).code(1);
        left.outcome(find("mini_swe"))
    };
    assert_eq!(mini("traj-500.json").end, Some(R::Endpoint));
    assert_eq!(mini("traj-429.json").end, Some(R::Endpoint));
    let context = mini("traj-ctx.json");
    assert_eq!(context.end, Some(R::ContextOverflow));
    assert!(context.message.unwrap().starts_with("ContextWindowExceededError: litellm."));
    let status = |status: &str| {
        let text = format!(
            "{{\"info\":{{\"exit_status\":\"{status}\"}},\"messages\":[{{\"role\":\"exit\",\"content\":\"\"}}]}}"
        );
        CommandResult::empty().file(".stamina/mini/trajectory.json", text).outcome(find("mini_swe")).end
    };
    let talks = |answer: &str| {
        let text = format!(
            "{{\"info\":{{\"exit_status\":\"RepeatedFormatError\"}},\"messages\":[{{\"role\":\"user\",\"content\":\"Tool call \
             error\",\"extra\":{{\"interrupt_type\":\"FormatError\",\"response\":{{\"usage\":{{\"prompt_tokens\":7}},\
             \"choices\":[{{\"message\":{answer}}}]}}}}}}]}}"
        );
        CommandResult::empty().file(".stamina/mini/trajectory.json", text).outcome(find("mini_swe"))
    };
    let gave_up = talks("{\"content\":\"I am done.\",\"tool_calls\":null}");
    assert_eq!((gave_up.end, gave_up.usage.input), (Some(R::GaveUp), Some(7)));
    let malformed =
        talks("{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"bash\",\"arguments\":\"{oops\"}}]}");
    assert_eq!((malformed.end, malformed.steps.len()), (Some(R::ToolCallFormat), 2));
    assert_eq!(status("LimitsExceeded"), Some(R::AgentError));
    assert_eq!(status("AuthenticationError"), Some(R::Endpoint));
    assert_eq!(status("Submitted"), None);

    let vibe = |name: &str, export: &str, code| {
        let left = case("vibe", name).file(".stamina/vibe/export.json", fixture("vibe", export)).code(code);
        left.outcome(find("vibe"))
    };
    assert_eq!(vibe("fail-401", "fail-401.export.json", 1).end, Some(R::Endpoint));
    assert_eq!(vibe("fail-ctx", "fail-ctx.export.json", 2).end, Some(R::ContextOverflow));
    assert_eq!(vibe("fail-hang-sigterm", "fail-hang.export.json", 3).end, Some(R::KilledItself));
    assert_eq!(vibe("kill-TERM-turn1", "fail-500.export.json", 3).end, Some(R::KilledItself));
    let deadline = fixture("vibe", "fail-500.export.json").replace("\"terminated\"", "\"deadline\"");
    let deadline = case("vibe", "timelimit-hang").file(".stamina/vibe/export.json", deadline).code(3);
    assert_eq!(deadline.outcome(find("vibe")).end, Some(R::AgentTimeout));

    let stuck = CommandResult::case(&fixtures().join("openhands"), "turn1").file(
        ".openhands/conversations/c2deb65b83a4493bad6c2163bbe95989/base_state.json",
        "{\"execution_status\":\"stuck\"}",
    );
    assert_eq!(stuck.outcome(find("openhands")).end, Some(R::LoopDetected));
}

#[test]
fn qwen_reports_when_it_halts_a_loop() {
    let mut left = case("qwen_code", "fail-500").code(1);
    left.stdout = b"{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"error\":{\"message\":\"Loop detection halted the run (5 identical calls)\"}}".into();
    assert_eq!(left.outcome(find("qwen_code")).end, Some(R::LoopDetected));
}

/// A limit of the container, a lost container, an unchanged workspace and no model request, for every harness.
#[test]
fn the_state_of_the_container_decides_for_all() {
    for harness in harness::all() {
        let folder = fixtures().join(harness.name());
        let changed = |change: &dyn Fn(&mut CommandResult)| {
            let mut left = CommandResult::case(&folder, "kill-TERM-turn1").code(143);
            change(&mut left);
            left.outcome(*harness).end
        };
        assert_eq!(changed(&|l| l.exit.timed_out = true), Some(R::AgentTimeout), "{}", harness.name());
        assert_eq!(changed(&|l| l.exit.out_of_memory = true), Some(R::AgentError), "{}", harness.name());
        assert_eq!(changed(&|l| l.exit.disk_full = true), Some(R::AgentError), "{}", harness.name());
        assert_eq!(changed(&|l| l.exit.code = None), Some(R::Environment), "{}", harness.name());
    }
    for harness in harness::all().iter().filter(|harness| harness.name() != "mock") {
        let name = harness.name();
        let changed = |change: &dyn Fn(&mut CommandResult)| {
            let mut left = case(name, "turn1");
            let home = match name {
                "mini_swe" => Some((".stamina/mini/trajectory.json", fixture(name, "traj1.json"))),
                "vibe" => Some((".stamina/vibe/export.json", fixture(name, "turn1.export.json"))),
                "openhands" => Some((
                    ".openhands/conversations/c2deb65b83a4493bad6c2163bbe95989/base_state.json",
                    fixture(name, "base_state.json"),
                )),
                _ => None,
            };
            if let Some((path, content)) = home {
                left = left.file(path, content);
            }
            change(&mut left);
            left.outcome(find(name)).end
        };
        assert_eq!(changed(&|_| ()), None, "{name}");
        assert_eq!(changed(&|l| l.requests = None), None, "{name}");
        assert_eq!(changed(&|l| l.requests = Some(0)), Some(R::AgentError), "{name}");
        assert_eq!(changed(&|l| l.changed = false), Some(R::NoChange), "{name}");
    }
}

/// Waiting without end: the time ran out, but not because of the agent.
#[test]
fn waiting_for_the_endpoint_until_the_limit_is_not_a_timeout_of_the_agent() {
    for name in ["kimi_code", "codex"] {
        let mut left = case(name, "fail-refused").code(143);
        left.exit.timed_out = true;
        assert_eq!(left.outcome(find(name)).end, Some(R::Endpoint), "{name}");
    }
}
