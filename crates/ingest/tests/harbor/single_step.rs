//! Trials of one step.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use files::Tree;
use ingest::format_trait::{Format, Report};
use ingest::formats::harbor::Harbor;
use model::{ArtifactKind, EndReason, Request, Verdict};
use test_folders::copy;

use crate::harbor::{V1, edit, fixture, letters, read, write};

const CONFIG: &str = r#"{"task": {"path": "/home/x/one/fix-bug"}, "trial_name": "T", "agent": {"name": "claude-code", "model_name": "anthropic/claude-9"}}"#;

fn single_step(dir: &Path, trial: &str, result: &str) -> PathBuf {
    let path = dir.join("my__job").join(trial);
    write(&path.join("config.json"), CONFIG);
    if !result.is_empty() {
        write(&path.join("result.json"), result);
    }
    path
}

#[test]
fn single_step_trials_are_one_turn() {
    let dir = tempfile::tempdir().unwrap();
    write(
        &dir.path().join("my__job/config.json"),
        r#"{"job_name": "my__job", "agents": [{"name": "claude-code", "model_name": "anthropic/claude-9", "env": {"ANTHROPIC_API_KEY": "sk-x"}}]}"#,
    );
    // As Harbor 0.5 wrote it.
    write(
        &dir.path().join("my__job/result.json"),
        r#"{"id": "x", "started_at": "2025-12-01T10:00:00.5", "finished_at": null, "n_total_trials": 7, "stats": {"n_trials": 4, "n_errors": 1, "evals": {"claude-code__claude-9__adhoc": {"n_trials": 4, "n_errors": 1, "metrics": [{"mean": 0.25}], "pass_at_k": {"2": 0.5}, "reward_stats": {"reward": {"1.0": ["fix-bug__aaaaaaa"]}}, "exception_stats": {}}}}}"#,
    );
    write(&dir.path().join("one/fix-bug/task.toml"), "[metadata]\ndifficulty = \"hard\"\n");
    write(&dir.path().join("one/fix-bug/instruction.md"), "# Fix the bug\n\nPlease.\n");
    write(&dir.path().join("one/fix-bug/tests/test.sh"), "pytest\n");
    let result = |fields: &str| {
        format!(
            r#"{{"task_name": "fix-bug", "trial_name": "T", "agent_info": {{"name": "claude-code", "version": "2.1", "model_info": {{"name": "claude-9", "provider": "anthropic"}}}}, {fields}}}"#
        )
    };
    let passed = single_step(
        dir.path(),
        "fix-bug__aaaaaaa",
        &result(
            r#""started_at": "2025-12-01T10:00:01Z", "agent_result": {"n_input_tokens": 9, "n_output_tokens": 2, "rollout_details": [[1]]}, "verifier_result": {"rewards": {"reward": 1.0}},
            "agent_execution": {"started_at": "2025-12-01T10:00:02Z", "finished_at": "2025-12-01T10:00:04.5Z"}, "verifier": {"started_at": "2025-12-01T10:00:05Z", "finished_at": "2025-12-01T10:00:06Z"}"#,
        ),
    );
    write(
        &passed.join("verifier/test-stdout.txt"),
        "============ test session starts ============\ncollected 2 items\n\ntest_a.py ..   [100%]\n\n============ 2 passed in 0.10s ============\n",
    );
    write(&passed.join("artifacts/manifest.json"), "[]");
    write(&passed.join("artifacts/app/main.py"), "print()");
    write(&passed.join("agent/sessions/a.jsonl"), "{}");
    write(&passed.join("agent/shot.png"), "x");
    let failed = single_step(
        dir.path(),
        "fix-bug__bbbbbbb",
        &result(
            r#""started_at": "2025-12-01T10:01:00Z", "verifier_result": {"rewards": {"reward": 0.5}}, "verifier": {}"#,
        ),
    );
    write(
        &failed.join("verifier/ctrf.json"),
        r#"{"results": {"summary": {"tests": 2, "passed": 1, "failed": 1}, "tests": [{"name": "a", "status": "passed"}, {"name": "b", "status": "failed", "message": "no"}]}}"#,
    );
    single_step(
        dir.path(),
        "fix-bug__ccccccc",
        &result(
            r#""started_at": "2025-12-01T10:02:00Z", "exception_info": {"exception_type": "AgentTimeoutError", "exception_message": "too long"}, "agent_execution": {"started_at": "2025-12-01T10:02:02Z", "finished_at": "2025-12-01T10:12:02Z"}, "verifier_result": {"rewards": {"reward": 0.0}}"#,
        ),
    );
    single_step(
        dir.path(),
        "fix-bug__ddddddd",
        &result(
            r#""started_at": "2025-12-01T10:03:00Z", "exception_info": {"exception_type": "NetworkConnectionError", "exception_message": "no route"}, "agent_setup": {"started_at": "2025-12-01T10:03:00Z"}, "agent_execution": null, "step_results": null"#,
        ),
    );
    single_step(
        dir.path(),
        "fix-bug__eeeeeee",
        &result(
            r#""started_at": "2025-12-01T10:04:00Z", "exception_info": {"exception_type": "ApiRateLimitError", "exception_message": "429"}, "agent_execution": {"started_at": "2025-12-01T10:04:02Z"}"#,
        ),
    );
    let killed = single_step(dir.path(), "fix-bug__fffffff", "");
    write(&killed.join("agent/log.txt"), "at work");
    write(
        &passed.join("agent/trajectory.json"),
        r#"{"schema_version": "ATIF-v1.2", "steps": [{"source": "system", "message": "s"}, {"source": "user", "message": "Fix it"}, {"source": "agent", "message": "ok", "tool_calls": [{"function_name": "bash"}]}]}"#,
    );

    let read = read(dir.path());
    assert_eq!(read.runs.len(), 1);
    let run = &read.runs[0];
    assert_eq!(run.key, "my__job/claude-code/anthropic/claude-9");
    assert_eq!((run.model.as_deref(), run.provider.as_deref()), (Some("claude-9"), Some("anthropic")));
    assert_eq!(run.benchmark.key, "harbor:adhoc");
    assert_eq!(run.settings["agent.env.ANTHROPIC_API_KEY"], "[hidden]");
    assert_eq!(run.planned_episodes, Some(7));
    let figures: BTreeMap<_, _> = run.reported.figures.iter().cloned().collect();
    assert_eq!(
        (figures["harbor.mean.reward"], figures["harbor.pass@2"], figures["harbor.n_trials"]),
        (0.25, 0.5, 4.0)
    );
    assert!(read.codes().contains(&"harbor.trials_missing"));

    let mut episodes = read.episodes_of(&run.key);
    episodes.sort_by_key(|e| e.repeat);
    let end_reasons: Vec<(String, EndReason)> = episodes.iter().map(|e| (letters(e), e.end().1)).collect();
    let want = [
        ("p", EndReason::PassedAll),
        ("f", EndReason::TestsFailed),
        ("f", EndReason::AgentTimeout),
        ("n", EndReason::Environment),
        ("e", EndReason::Endpoint),
        ("c", EndReason::Unfinished),
    ];
    assert_eq!(end_reasons, want.map(|(l, e)| (l.to_owned(), e)));
    assert!(episodes.iter().all(|e| e.planned_turns == Some(1) && e.scenario == "fix-bug"));
    // Tests that are no CASE lines are shown and are in no case score.
    let counts = &episodes[1].turns[0].attempts[0];
    assert_eq!((counts.passed, counts.total, counts.share()), (Some(1), Some(2), None));
    let first = &episodes[0].turns[0];
    assert_eq!(first.title.as_deref(), Some("Fix the bug"));
    let attempt = &first.attempts[0];
    assert_eq!((attempt.passed, attempt.total, attempt.tool_calls), (Some(2), Some(2), Some(1)));
    assert_eq!((attempt.timing.agent_seconds, attempt.timing.test_seconds), (Some(2.5), Some(1.0)));
    let kinds: Vec<ArtifactKind> = attempt.artifacts.iter().map(|a| a.kind).collect();
    assert_eq!(
        kinds,
        [ArtifactKind::Transcript, ArtifactKind::TestOutput, ArtifactKind::AgentLog, ArtifactKind::Code]
    );
    let second = &episodes[1].turns[0].attempts[0];
    assert_eq!((second.passed, second.total), (Some(1), Some(2)));
    assert_eq!(second.verdict, Verdict::Failed);
    assert_eq!(episodes[3].exception.as_ref().unwrap().0, "NetworkConnectionError");

    // Without the task's folder the request is the prompt of the agent.
    std::fs::remove_dir_all(dir.path().join("one")).unwrap();
    let tree = Tree::open(dir.path()).unwrap();
    let mut report = Report::default();
    let survey = Harbor.survey(&tree, "my__job", &mut report);
    let readings = Harbor.read(&tree, "my__job", &survey.parts[0], &mut report);
    let first = readings.iter().find(|r| r.episode.repeat == 1).unwrap();
    let Some(Request::File(request)) = &first.episode.turns[0].request else { panic!("no request") };
    assert_eq!(request.pointer.as_deref(), Some("/steps/1/message"));
}

/// Where nothing is graded nothing can pass, so nothing fails either.
#[test]
fn without_a_verifier_nothing_is_passed_or_failed() {
    let config = r#""config": {"verifier": {"disable": true}}"#;
    let played = r#""agent_result": {"n_input_tokens": 9, "n_output_tokens": 2}, "agent_execution": {"started_at": "2026-01-01T10:00:02Z", "finished_at": "2026-01-01T10:00:04Z"}"#;
    let raised = |kind: &str| {
        format!(
            r#", "exception_info": {{"exception_type": "{kind}", "exception_message": "x", "exception_traceback": "", "occurred_at": "2026-01-01T10:00:04Z"}}"#
        )
    };
    let table = [
        (String::new(), Verdict::Unfinished, EndReason::Cancelled),
        (raised("AgentTimeoutError"), Verdict::Unfinished, EndReason::Cancelled),
        (raised("SomethingNobodyKnows"), Verdict::Unfinished, EndReason::Cancelled),
        (raised("ApiRateLimitError"), Verdict::Error, EndReason::Endpoint),
        (
            r#", "verifier_result": {"rewards": {"reward": 0}}"#.to_owned(),
            Verdict::Failed,
            EndReason::TestsFailed,
        ),
    ];
    for (more, verdict, end) in table {
        let dir = tempfile::tempdir().unwrap();
        let result = format!(r#"{{"task_name": "fix-bug", "trial_name": "T", {config}, {played}{more}}}"#);
        single_step(dir.path(), "fix-bug__aaaaaaa", &result);
        let read = read(dir.path());
        let episode = read.episode("fix-bug__aaaaaaa");
        assert_eq!(episode.turns[0].attempts[0].verdict, verdict, "{more}");
        assert_eq!(episode.end(), (Some(1), end), "{more}");
        assert!(!episode.unrecognised, "{more}");
        assert!(read.codes().contains(&"harbor.verifier_off"), "{more}");
    }
    // Several steps, as the trial's own configuration says it; the result cannot be read.
    let dir = tempfile::tempdir().unwrap();
    let original = fixture().join("jobs/failures-k1").join(V1);
    copy(&original, &dir.path().join("job").join(V1));
    let trial = dir.path().join("job").join(V1);
    edit(&trial.join("config.json"), "\"agent\"", "\"verifier\": {\"disable\": true}, \"agent\"");
    write(&trial.join("result.json"), "{");
    for step in 2..=4 {
        std::fs::remove_file(trial.join(format!("steps/round-{step}/verifier/reward.txt"))).unwrap();
    }
    let read = read(dir.path());
    assert_eq!(letters(read.episode(V1)), "pccc");
    assert_eq!(read.episode(V1).end(), (Some(2), EndReason::Cancelled));
}
