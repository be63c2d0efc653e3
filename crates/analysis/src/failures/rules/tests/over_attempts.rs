//! The rules over the end of an attempt.

use model::{Attempt, EndReason as R, Verdict};

use super::super::{ATTEMPT_RULES, first};
use crate::failures::evidence::{AttemptEvidence, LogsWanted};
use crate::failures::{Context, FailureClass as C};

/// An attempt without a verdict, its end reason, its exception, the end of its harness's output.
fn attempt(verdict: Verdict, reason: Option<R>, exception: &str, log: &str) -> AttemptEvidence {
    let mut attempt = Attempt::new(1, verdict);
    attempt.end_reason = reason;
    attempt.exception = (!exception.is_empty()).then(|| ("RuntimeError".to_owned(), exception.to_owned()));
    AttemptEvidence::from_attempt(&attempt, &Context { agent_log: Some(log), ..Context::default() })
}

fn ended(reason: R) -> AttemptEvidence {
    attempt(Verdict::Error, Some(reason), "", "")
}

fn raised(reason: R, exception: &str) -> AttemptEvidence {
    attempt(Verdict::Error, Some(reason), exception, "")
}

fn logged(log: &str) -> AttemptEvidence {
    attempt(Verdict::Failed, Some(R::TestsFailed), "", log)
}

fn failure_with_server_log(passed: u32, log: &str) -> AttemptEvidence {
    let mut attempt = Attempt::new(1, Verdict::Failed);
    (attempt.passed, attempt.total) = (Some(passed), Some(9));
    AttemptEvidence::from_attempt(&attempt, &Context { server_log: Some(log), ..Context::default() })
}

fn calls(calls: Option<u32>) -> AttemptEvidence {
    let mut attempt = Attempt::new(1, Verdict::Failed);
    attempt.tool_calls = calls;
    AttemptEvidence::from_attempt(&attempt, &Context::default())
}

#[test]
fn every_rule_over_attempts_has_an_example_and_a_counter_example() {
    // The output of the nine harnesses is from runs with a simulated model.
    let samples: Vec<(&str, AttemptEvidence, AttemptEvidence)> = vec![
        ("end.endpoint", ended(R::Endpoint), ended(R::Budget)),
        ("end.budget", ended(R::Budget), ended(R::Endpoint)),
        ("end.environment", ended(R::Environment), ended(R::AgentError)),
        ("end.context_overflow", ended(R::ContextOverflow), ended(R::AgentError)),
        ("end.tool_call_format", ended(R::ToolCallFormat), ended(R::AgentError)),
        ("end.loop_detected", ended(R::LoopDetected), ended(R::AgentError)),
        ("end.killed_itself", ended(R::KilledItself), ended(R::AgentError)),
        ("end.gave_up", ended(R::GaveUp), ended(R::NoChange)),
        ("end.no_change", ended(R::NoChange), ended(R::GaveUp)),
        ("end.agent_timeout", ended(R::AgentTimeout), ended(R::VerifierTimeout)),
        ("end.attempt_budget", ended(R::AttemptBudget), ended(R::Budget)),
        ("end.build_failed", ended(R::BuildFailed), ended(R::TestsFailed)),
        (
            "end.server_crashed",
            raised(R::ServerFailed, "the server crashed in test 4 (exit code 139)"),
            raised(R::ServerFailed, "nothing on port 8000 within 30 s"),
        ),
        (
            "end.server_timed_out",
            raised(R::ServerFailed, "the server stopped answering"),
            raised(R::ServerFailed, "nothing on port 8000 within 30 s"),
        ),
        ("end.server_failed", ended(R::ServerFailed), ended(R::VerifierError)),
        ("end.verifier_timeout", ended(R::VerifierTimeout), ended(R::AgentTimeout)),
        (
            "log.context_overflow",
            logged(
                "error: failed to run prompt: compaction.failed: APIContextOverflowError: 400 This model's maximum context length is 131072 tokens.",
            ),
            logged("The context of an order is shown."),
        ),
        (
            "log.tool_call_format",
            logged("Exit:\nRepeatedFormatError\nSaved trajectory to '/agent/t.json'"),
            logged("The format of dates is checked."),
        ),
        (
            "log.loop_detected",
            logged(
                "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"error\":{\"message\":\"Loop detection halted the run\"}}",
            ),
            logged("The loop is done."),
        ),
        (
            "log.endpoint",
            logged(
                "{\"subtype\":\"error_during_execution\",\"is_error\":true,\"error\":{\"message\":\"[API Error: 500 mock internal error]\"}}",
            ),
            logged(&format!("litellm.InternalServerError: Attempt #1\n{}", "edited a file\n".repeat(500))),
        ),
        (
            "log.budget",
            logged("Max number of steps reached: 3\n\nTo resume this session: kimi -r 5af55f10"),
            logged("Three steps were reached."),
        ),
        (
            "log.agent_timeout",
            logged("Run aborted: wall-clock budget of 8s exceeded (--max-wall-time)."),
            logged("The budget of the wall clock is kept."),
        ),
        (
            "log.infrastructure",
            raised(R::AgentError, "Error response from daemon: No such container: 3f"),
            logged("Error response from daemon: No such container: 3f"),
        ),
        (
            "log.killed_itself",
            raised(R::AgentError, "Command failed (exit 137): agent --print"),
            raised(R::AgentError, "Command failed with exit code 1"),
        ),
        (
            "log.server_port",
            failure_with_server_log(0, "OSError: [Errno 98] Address already in use"),
            failure_with_server_log(3, "OSError: [Errno 98] Address already in use"),
        ),
        ("attempt.no_calls", calls(Some(0)), calls(None)),
        ("end.agent_error", ended(R::AgentError), ended(R::TestsFailed)),
        ("end.verifier_error", ended(R::NoVerdict), attempt(Verdict::Failed, Some(R::TestsFailed), "", "")),
    ];
    let sampled: Vec<_> = samples.iter().map(|(id, ..)| *id).collect();
    assert_eq!(sampled, ATTEMPT_RULES.iter().map(|rule| rule.id).collect::<Vec<_>>());
    for (id, example, counter) in &samples {
        assert_eq!(first(ATTEMPT_RULES, example).map(|rule| rule.id), Some(*id), "{example:#?}");
        let rule = ATTEMPT_RULES.iter().find(|rule| rule.id == *id).unwrap();
        assert!(!(rule.applies)(counter), "{id} applies to {counter:#?}");
    }
}

#[test]
fn plain_failures_have_no_rule_over_the_attempt() {
    for reason in [None, Some(R::TestsFailed)] {
        assert!(first(ATTEMPT_RULES, &attempt(Verdict::Failed, reason, "", "All done.")).is_none());
    }
    // Every reason that ends an attempt without a verdict has one.
    for reason in R::ALL {
        let decided = first(ATTEMPT_RULES, &ended(*reason)).is_some();
        let plain = matches!(reason, R::PassedAll | R::TestsFailed | R::Cancelled | R::Unfinished);
        assert_eq!(decided, !plain, "{reason:?}");
    }
}

/// The output of nine harnesses when they stop, from runs of each with a simulated model.
#[test]
fn the_output_of_harnesses_that_stop_is_classified() {
    let context = "This model's maximum context length is 131072 tokens. However, your messages resulted in 140000 tokens.";
    let opencode_context =
        format!("{{\"name\":\"ContextOverflowError\",\"data\":{{\"message\":\"{context}\"}}}}");
    let qwen_context = format!("{{\"error\":{{\"message\":\"[API Error: 400 {context}]\"}}}}");
    for (harness, log, class) in [
        (
            "mini-swe-agent",
            "ContextWindowExceededError: litellm.ContextWindowExceededError: \nlitellm.BadRequestError",
            C::ContextOverflow,
        ),
        (
            "mini-swe-agent",
            "InternalServerError: litellm.InternalServerError: InternalServerError: \nOpenAIException - Connection error.\n",
            C::Endpoint,
        ),
        (
            "mini-swe-agent",
            "──────\nExit:\nLimitsExceeded\nSaved trajectory to '/agent/trajsl.json'",
            C::AttemptBudget,
        ),
        (
            "mini-swe-agent",
            "│   100 │   │   │   except FormatError as e:   │\nRateLimitError: litellm.RateLimitError: RateLimitError",
            C::Endpoint,
        ),
        (
            "openhands",
            "ERROR    Hard context reset llm_summarizing_condenser.py:305\n  summarization\n  failed after\n",
            C::ContextOverflow,
        ),
        ("openhands", "ERROR    litellm.InternalServerError:     retry_mixin.py:124\n", C::Endpoint),
        ("opencode", &opencode_context, C::ContextOverflow),
        (
            "opencode",
            "{\"type\":\"error\",\"error\":{\"name\":\"APIError\",\"data\":{\"message\":\"Rate limit reached\",\"statusCode\":429}}}",
            C::Endpoint,
        ),
        ("qwen-code", &qwen_context, C::ContextOverflow),
        (
            "qwen-code",
            "{\"error\":{\"message\":\"[API Error: Connection error. (cause: fetch failed)]\"}}",
            C::Endpoint,
        ),
        ("qwen-code", "Run aborted: wall-clock budget of 8s exceeded (--max-wall-time).", C::AgentTimeout),
        (
            "kimi-cli",
            "Error code: 401 - {'error': {'message': 'Incorrect API key provided'}}\n\nTo resume this session: kimi -r 89187e21",
            C::Endpoint,
        ),
        (
            "kimi-code",
            "error: failed to run prompt: provider.auth_error: 401 Incorrect API key provided",
            C::Endpoint,
        ),
        (
            "mistral-vibe",
            "Error: Invalid API key (from env var BENCH_API_KEY). Please check your API key and try again.",
            C::Endpoint,
        ),
        ("mistral-vibe", "Stopped: turn_limit\n", C::AttemptBudget),
        (
            "codex",
            "{\"type\":\"turn.failed\",\"error\":{\"message\":\"Codex ran out of room in the model's context window.\"}}",
            C::ContextOverflow,
        ),
        (
            "codex",
            "{\"type\":\"turn.failed\",\"error\":{\"message\":\"unexpected status 401 Unauthorized: Incorrect API key provided\"}}",
            C::Endpoint,
        ),
        (
            "claude-code",
            "{\"is_error\":true,\"terminal_reason\":\"prompt_too_long\",\"type\":\"result\"}",
            C::ContextOverflow,
        ),
        (
            "claude-code",
            "{\"is_error\":true,\"terminal_reason\":\"api_error\",\"type\":\"result\"}",
            C::Endpoint,
        ),
        ("claude-code", "{\"subtype\":\"error_max_turns\",\"type\":\"result\"}", C::AttemptBudget),
    ] {
        let decided = first(ATTEMPT_RULES, &attempt(Verdict::Error, Some(R::AgentError), "", log));
        assert_eq!(decided.map(|rule| rule.class), Some(class), "{harness}: {log}");
    }
    for done in [
        "Exit:\nSubmitted\n",
        "{\"type\":\"turn.completed\",\"usage\":{}}",
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false}",
    ] {
        assert!(first(ATTEMPT_RULES, &logged(done)).is_none(), "{done}");
    }
}

#[test]
fn an_error_that_a_harness_survived_is_not_a_class() {
    let log = format!(
        "prompt is too long\nLoop detected\nMax number of steps reached: 3\n{}",
        "edited a file\n".repeat(500)
    );
    assert!(first(ATTEMPT_RULES, &logged(&log)).is_none(), "tests ran after it");
    let agent_error = attempt(Verdict::Error, Some(R::AgentError), "", &log);
    assert_eq!(first(ATTEMPT_RULES, &agent_error).map(|rule| rule.class), Some(C::ContextOverflow));
}

#[test]
fn logs_are_wanted_if_a_rule_may_use_them() {
    let wanted = |verdict, reason, passed| {
        let mut attempt = Attempt::new(1, verdict);
        (attempt.end_reason, attempt.passed) = (reason, passed);
        let LogsWanted { agent, server } = LogsWanted::from_attempt(&attempt);
        (agent, server)
    };
    assert_eq!(wanted(Verdict::Passed, None, Some(9)), (0, 0));
    assert_eq!(wanted(Verdict::Error, Some(R::Cancelled), None), (0, 0), "did not fail");
    assert_eq!(wanted(Verdict::Error, Some(R::Endpoint), None), (0, 0), "the source records why");
    let (agent, server) = wanted(Verdict::Failed, Some(R::TestsFailed), Some(3));
    assert!(agent > 0 && server == 0);
    let (agent_without, server) = wanted(Verdict::Error, Some(R::AgentError), Some(0));
    assert!(agent_without > agent && server > 0);
    // A longer log is cut to its end, between characters.
    let log = format!("address already in use\n{}", "ä".repeat(40_000));
    assert!(first(ATTEMPT_RULES, &failure_with_server_log(0, &log)).is_none());
}
