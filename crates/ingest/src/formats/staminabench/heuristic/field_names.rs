//! The names under which trajectories of unknown origin say what they plainly say.
//!
//! The schema of the original `trajectory.json` is not public. What is taken for what stands here, and nowhere else;
//! what is not named here is kept as it stands.

use crate::formats::staminabench::json_fields::normal;
use crate::readers::json::Node;

/// Lists under these names are transcripts.
pub(super) const TRANSCRIPTS: &[&str] = &[
    "messages",
    "history",
    "transcript",
    "conversation",
    "chat_history",
    "events",
    "agent_trajectory",
    "trace",
    "agent_steps",
    "raw_messages",
    "responses",
];
/// Lists under these names are transcripts or lists of attempts: each element decides.
pub(super) const MAYBE_TRANSCRIPTS: &[&str] =
    &["steps", "trajectory", "actions", "interactions", "entries", "logs", "data"];
/// Lists or maps of turns.
pub(super) const TURNS: &[&str] = &[
    "turns",
    "turn_results",
    "per_turn",
    "turn_data",
    "turn_trajectories",
    "turn_summaries",
    "results_per_turn",
    "per_turn_results",
    "iterations",
    "rounds",
];
/// Lists or maps of attempts.
pub(super) const ATTEMPTS: &[&str] =
    &["attempts", "attempt_results", "tries", "attempt_data", "attempt_history", "per_attempt", "retries"];
/// The number of a turn.
pub(super) const TURN: &[&str] =
    &["turn", "turn_id", "turn_idx", "turn_index", "turn_number", "turn_num", "iteration", "round", "n_turn"];
/// The number of an attempt.
pub(super) const ATTEMPT: &[&str] = &[
    "attempt",
    "attempt_id",
    "attempt_idx",
    "attempt_index",
    "attempt_number",
    "attempt_num",
    "try",
    "retry",
    "n_attempt",
];
/// Objects whose fields belong to what they stand in.
pub(super) const WRAPPERS: &[&str] = &[
    "result",
    "results",
    "evaluation",
    "eval",
    "eval_result",
    "test_result",
    "test_results",
    "test_summary",
    "summary",
    "metrics",
    "outcome",
    "verdict",
    "feedback",
    "final",
    "final_result",
    "stats",
    "scores",
    "pytest",
    "tests",
    "info",
    "timing",
    "timings",
    "agent_result",
    "trajectory_info",
];
/// The request of a turn.
pub(super) const REQUEST: &[&str] = &[
    "request",
    "prompt",
    "instruction",
    "instructions",
    "change_description",
    "change_request",
    "changes_description",
    "user_message",
    "user_prompt",
    "spec",
    "specification",
    "task",
    "task_description",
    "description",
    "change",
];
/// How many turns there were to be.
pub(super) const PLANNED: &[&str] = &["planned_turns", "n_turns", "num_turns", "total_turns", "max_turns"];

/// Tests passed.
pub(super) const PASSED: &[&str] = &[
    "passed",
    "n_passed",
    "num_passed",
    "passed_tests",
    "tests_passed",
    "passed_count",
    "num_passed_tests",
    "num_tests_passed",
    "pass_count",
    "total_passed",
    "passing",
];
/// Tests run.
pub(super) const TOTAL: &[&str] = &[
    "total",
    "n_total",
    "num_total",
    "total_tests",
    "tests_total",
    "n_tests",
    "num_tests",
    "test_count",
    "total_count",
    "tests_run",
    "total_num_tests",
    "tests",
];
/// Tests failed.
pub(super) const FAILED: &[&str] = &[
    "failed",
    "n_failed",
    "num_failed",
    "failed_tests",
    "tests_failed",
    "failed_count",
    "num_failed_tests",
    "num_tests_failed",
    "fail_count",
    "failing",
    "failing_tests",
    "failures",
];
/// Tests that raised.
pub(super) const ERRORED: &[&str] = &["n_errors", "num_errors", "error_count", "errors", "test_errors"];
/// Whether it passed.
pub(super) const SUCCESS: &[&str] = &[
    "success",
    "succeeded",
    "is_success",
    "successful",
    "all_passed",
    "all_tests_passed",
    "resolved",
    "solved",
    "turn_passed",
    "turn_success",
    "is_passed",
    "pass",
    "ok",
];
/// A word that says how it went.
pub(super) const STATUS: &[&str] = &["status", "state", "verdict", "outcome", "result"];
/// A share or grade.
pub(super) const SCORE: &[&str] =
    &["score", "reward", "pass_rate", "test_pass_rate", "passed_ratio", "final_score", "average_score"];
/// Tests one by one.
pub(super) const TESTS: &[&str] = &[
    "tests",
    "test_results",
    "test_outcomes",
    "per_test",
    "per_test_results",
    "test_details",
    "test_cases",
    "individual_results",
];
/// Why it ended.
pub(super) const END: &[&str] = &[
    "end_reason",
    "stop_reason",
    "termination_reason",
    "exit_reason",
    "exit_status",
    "failure_type",
    "failure_reason",
    "error_type",
    "error_category",
    "finish_reason",
    "terminated_by",
];
/// What was raised.
pub(super) const EXCEPTION: &[&str] =
    &["exception", "error", "error_message", "exception_message", "traceback"];
/// Money.
pub(super) const COST: &[&str] = &[
    "cost",
    "cost_usd",
    "total_cost",
    "total_cost_usd",
    "usd",
    "price",
    "instance_cost",
    "accumulated_cost",
];
/// Objects with tokens in them.
pub(super) const USAGE: &[&str] = &[
    "usage",
    "tokens",
    "token_usage",
    "token_counts",
    "token_stats",
    "total_tokens",
    "llm_usage",
    "total_usage",
    "cost_info",
];
/// Calls of tools.
pub(super) const TOOL_CALLS: &[&str] = &["tool_calls", "n_tool_calls", "num_tool_calls", "tool_call_count"];
/// When it began.
pub(super) const STARTED: &[&str] = &[
    "started_at",
    "start_time",
    "started",
    "start",
    "begin",
    "begin_time",
    "start_timestamp",
    "timestamp_start",
];
/// When it ended.
pub(super) const FINISHED: &[&str] = &[
    "finished_at",
    "end_time",
    "ended_at",
    "finished",
    "end",
    "finish_time",
    "end_timestamp",
    "timestamp_end",
    "completed_at",
];
/// How long the agent took.
pub(super) const AGENT_TIME: &[&str] = &[
    "agent_seconds",
    "agent_time",
    "agent_duration",
    "agent_runtime",
    "duration",
    "duration_s",
    "duration_seconds",
    "elapsed",
    "elapsed_time",
    "elapsed_seconds",
    "wall_time",
    "time_taken",
    "total_time",
    "runtime",
    "execution_time",
    "time",
    "time_seconds",
    "seconds",
];
/// How long the tests took.
pub(super) const TEST_TIME: &[&str] = &[
    "test_seconds",
    "test_time",
    "test_duration",
    "tests_duration",
    "eval_time",
    "eval_duration",
    "evaluation_time",
    "pytest_duration",
    "testing_time",
];

/// Whether an element of a list is a step of a transcript, and not an attempt or a turn.
pub(super) fn is_step(node: &Node) -> bool {
    const STEP: &[&str] = &[
        "role",
        "content",
        "message",
        "thought",
        "action",
        "observation",
        "tool_calls",
        "source",
        "response",
        "reasoning_content",
    ];
    let has_key = |names: &[&str]| node.map().iter().any(|(k, _)| names.contains(&normal(k).as_str()));
    has_key(STEP) && !has_any_key(node, &[TURN, ATTEMPT, PASSED, TOTAL, SUCCESS, SCORE, ATTEMPTS])
}

/// Whether an object has a field of one of these names, itself or in one of its [`WRAPPERS`].
pub(super) fn has_any_key(node: &Node, names: &[&[&str]]) -> bool {
    let direct =
        |node: &Node| node.map().iter().any(|(k, _)| names.iter().any(|n| n.contains(&normal(k).as_str())));
    direct(node) || node.map().iter().any(|(k, v)| WRAPPERS.contains(&normal(k).as_str()) && direct(v))
}

/// A duration in seconds under a name that may carry a unit.
pub(super) fn seconds(key: &str, node: &Node) -> Option<f64> {
    let number = node.number().filter(|n| *n >= 0.0)?;
    Some(if key.ends_with("_ms") || key.ends_with("_millis") || key.ends_with("_milliseconds") {
        number / 1000.0
    } else if key.ends_with("_minutes") || key.ends_with("_min") {
        number * 60.0
    } else {
        number
    })
}

/// A duration's key without its unit.
pub(super) fn without_unit(key: &str) -> &str {
    ["_milliseconds", "_millis", "_ms", "_minutes", "_min", "_secs", "_sec", "_s"]
        .iter()
        .find_map(|unit| key.strip_suffix(unit))
        .unwrap_or(key)
}

/// What a status word means: passed or not. `None` for a word that means neither.
pub(super) fn status(word: &str) -> Option<bool> {
    Some(match word.trim().to_lowercase().as_str() {
        "passed" | "pass" | "yes" | "true" | "success" | "succeeded" | "successful" | "ok" | "solved"
        | "resolved" | "all_passed" => true,
        "failed" | "fail" | "no" | "false" | "failure" | "error" | "errored" | "unsuccessful" | "timeout"
        | "timed_out" | "incomplete" => false,
        _ => return None,
    })
}
