//! Metrics of steps, numbers of jobs, rewards of another shape, and figures that a source reports of itself.

use std::fs;
use std::path::Path;

use model::{EndReason, Verdict};
use serde_json::{Value, json};

use crate::values_that_cannot_be::{Read, trial};

fn figures(read: &Read) -> Vec<&str> {
    read.runs[0].reported.figures.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn metrics_of_a_transcript_are_unknown_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("job");
    let trajectory = |metrics: &Value, time: &str| {
        let steps = json!([{ "source": "user", "message": "go" },
            { "source": "agent", "message": "x", "metrics": metrics, "timestamp": time }]);
        json!({ "schema_version": "ATIF-v1.6", "agent": { "name": "agent-a" }, "steps": steps }).to_string()
    };
    let path = "agent/trajectory.json";
    let start_time = "2026-01-01T10:00:30Z";
    for (name, metrics, time) in [
        ("negative", json!({ "prompt_tokens": -5, "completion_tokens": 3 }), start_time),
        ("text", json!({ "prompt_tokens": "5", "completion_tokens": 3 }), start_time),
        ("fraction", json!({ "prompt_tokens": 5.5, "completion_tokens": 3 }), start_time),
        ("cost", json!({ "prompt_tokens": 5, "completion_tokens": 3, "cost_usd": -1 }), start_time),
        ("day", json!({ "prompt_tokens": 5, "completion_tokens": 3 }), "2026-02-30T00:00:00Z"),
        ("good", json!({ "prompt_tokens": 5, "completion_tokens": 3, "cost_usd": null }), start_time),
    ] {
        trial(&job, name, &json!({}), &[(path, trajectory(&metrics, time))]);
    }
    let read = Read::from_folder(folder.path());
    let unusable = read.unusable();
    for (name, stated) in [
        ("negative", "prompt_tokens of step 2 -5,"),
        ("text", "prompt_tokens of step 2 \"5\","),
        ("fraction", "prompt_tokens of step 2 5.5,"),
        ("cost", "cost_usd of step 2 -1,"),
        ("day", "timestamp of step 2 \"2026-02-30T00:00:00Z\","),
    ] {
        assert!(unusable.contains(&format!("/{name}__AAAAAA1: It has {stated}")), "{name}: {unusable}");
    }
    assert!(!unusable.contains("/good__"), "{unusable}");
    let tokens = |name: &str| (read.attempt(name).tokens.input, read.attempt(name).tokens.output);
    assert_eq!((tokens("negative"), tokens("good")), ((None, Some(3)), (Some(5), Some(3))));
}

#[test]
fn a_reward_in_another_shape_is_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("job");
    let shapes = [
        ("list", json!({ "rewards": [1.0] })),
        ("number", json!({ "rewards": 1.0 })),
        ("text", json!({ "rewards": "1.0" })),
        ("bare", json!(1.0)),
    ];
    for (name, result) in &shapes {
        trial(&job, name, &json!({ "verifier_result": result }), &[]);
    }
    trial(&job, "none", &json!({ "verifier_result": null }), &[]);
    let read = Read::from_folder(folder.path());
    for (name, _) in &shapes {
        let attempt = read.attempt(name);
        let end = (attempt.verdict, attempt.end_reason);
        assert_eq!(end, (Verdict::Error, Some(EndReason::VerifierError)), "{name}");
        assert_eq!(read.codes(&format!("/{name}__")), ["harbor.reward_unreadable"], "{name}");
    }
    assert_eq!(read.attempt("none").end_reason, Some(EndReason::NoVerdict));
}

#[test]
fn numbers_of_a_job_are_unknown_and_reported() {
    let read_job = |planned: Value, mean: Value| {
        let folder = tempfile::tempdir().unwrap();
        let job = folder.path().join("job");
        trial(&job, "a", &json!({}), &[]);
        let eval = json!({
            "n_trials": 1, "n_errors": -1, "metrics": [{ "mean": mean }], "pass_at_k": { "1": 1.5, "2": 0.5 },
            "reward_stats": { "reward": { "0.0": ["a__AAAAAA1"] } },
        });
        let stats =
            json!({ "evals": { "agent-a__m__adhoc": eval }, "cost_usd": "0.5", "n_input_tokens": 1e13 });
        let result = json!({ "id": "j", "n_total_trials": planned, "stats": stats });
        fs::write(job.join("result.json"), result.to_string()).unwrap();
        Read::from_folder(folder.path())
    };
    for planned in [json!(-3), json!("89"), json!(2.5), json!(1e18)] {
        let read = read_job(planned.clone(), json!("0.9"));
        assert_eq!(read.runs[0].planned_episodes, None, "{planned}");
        assert_eq!(figures(&read), ["harbor.pass@2", "harbor.n_trials"], "{planned}");
        let unusable = read.unusable();
        for part in [
            "n_total_trials",
            "mean \"0.9\"",
            "pass@1 1.5",
            "n_errors -1",
            "cost_usd \"0.5\"",
            "n_input_tokens",
        ] {
            assert!(unusable.contains(part), "{part}: {unusable}");
        }
        assert!(!read.codes("job/result.json").contains(&"harbor.trials_missing"), "{planned}");
    }
    let read = read_job(json!(1), json!(0.0));
    assert_eq!(read.runs[0].planned_episodes, Some(1));
    assert!(figures(&read).contains(&"harbor.mean.reward"), "{:?}", figures(&read));
}

#[test]
fn a_trial_of_terminal_bench_that_is_neither_resolved_nor_not_is_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let entry = |name: &str, resolved: Value, failure: &str| {
        json!({ "id": name, "trial_name": format!("{name}.1-of-1.r"), "task_id": name, "is_resolved": resolved,
            "failure_mode": failure, "parser_results": null })
    };
    let results = json!({
        "id": "r", "accuracy": 3.0, "n_resolved": 1, "n_unresolved": "2",
        "results": [
            entry("yes", json!("yes"), "unset"),
            entry("late", json!("yes"), "agent_timeout"),
            entry("good", json!(true), "unset"),
            entry("none", json!(null), "unset"),
        ],
    });
    fs::write(folder.path().join("results.json"), results.to_string()).unwrap();
    let metadata = json!({ "run_id": "r", "agent_name": "terminus", "model_name": "v/m", "n_attempts": 1.5, "dataset_size": -4 });
    fs::write(folder.path().join("run_metadata.json"), metadata.to_string()).unwrap();
    let read = Read::from_folder(folder.path());
    let end = |name: &str| (read.attempt(name).verdict, read.attempt(name).end_reason);
    assert_eq!(end("yes"), (Verdict::Error, Some(EndReason::VerifierError)));
    assert_eq!(end("late").1, Some(EndReason::AgentTimeout));
    assert_eq!(end("good"), (Verdict::Passed, None));
    assert_eq!(end("none").1, Some(EndReason::NoVerdict));
    assert_eq!(figures(&read), ["tb.n_resolved"]);
    let unusable = read.unusable();
    for part in
        ["is_resolved \"yes\"", "accuracy 3.0", "n_unresolved \"2\"", "n_attempts 1.5", "dataset_size -4"]
    {
        assert!(unusable.contains(part), "{part}: {unusable}");
    }
    assert_eq!(read.runs[0].planned_episodes, None);
}

fn reported_by_staminabench(root: &Path, report: &Value) -> Read {
    fs::create_dir_all(root.join("scenario_0")).unwrap();
    let trajectory = r#"{"turns": [{"turn": 1, "score": 1}]}"#;
    fs::write(root.join("scenario_0/trajectory.json"), trajectory).unwrap();
    fs::write(root.join("report.json"), report.to_string()).unwrap();
    Read::from_folder(root)
}

#[test]
fn figures_of_a_report_are_unknown_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let report = json!({
        "agent": "mini_swe", "benchmark": "restful_server_gen_iterative", "success_rate": 7, "average_score": "0.9",
        "num_tasks": -1, "results": [{ "scenario": "scenario_0", "score": "0.5", "success_rate": 0.25 }],
        "run": { "started_at": "2026-02-30T10:00:00Z" },
    });
    let read = reported_by_staminabench(folder.path(), &report);
    assert!(figures(&read).is_empty(), "{:?}", figures(&read));
    assert_eq!((read.runs[0].planned_episodes, read.runs[0].started_at.as_deref()), (None, None));
    assert_eq!(read.episodes[0].reported, [("staminabench.success_rate".to_owned(), 0.25)]);
    assert_eq!(read.episodes[0].extra["report.results.score"], "0.5");
    let unusable = read.unusable();
    for part in [
        "success_rate 7",
        "average_score \"0.9\"",
        "num_tasks -1",
        "started_at \"2026-02-30",
        "scenario_0: It has score \"0.5\"",
    ] {
        assert!(unusable.contains(part), "{part}: {unusable}");
    }
}

#[test]
fn what_a_run_of_staminabench_planned_is_unknown_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let config = "agent: MINI_SWE\nrestful_server_gen_iterative:\n  n_turns: -5\n  n_scenarios: many\n  attempt_limit: null\n";
    fs::write(folder.path().join("config.yaml"), config).unwrap();
    let report =
        json!({ "agent": "mini_swe", "planned_turns": "12", "results": [], "run": { "attempt_limit": -2 } });
    let read = reported_by_staminabench(folder.path(), &report);
    let run = &read.runs[0];
    assert_eq!((run.planned_episodes, run.attempt_limit, read.episodes[0].planned_turns), (None, None, None));
    let unusable = read.unusable();
    for part in ["n_turns -5", "n_scenarios \"many\"", "planned turns \"12\"", "attempt_limit -2"] {
        assert!(unusable.contains(part), "{part}: {unusable}");
    }
}

/// A task of one round in the layout of EvoCode-Bench's published results.
fn published(root: &Path, rounds: &str, passed: &str, fails: &str) -> Read {
    fs::create_dir(root.join("tasks")).unwrap();
    let index = format!(
        r#"{{"models": ["M"], "tasks": [{{"task": "t", "n_rounds": {rounds}, "score": {{"M": 1.0}}}}]}}"#
    );
    let task = format!(
        r#"{{"task": "t", "meta": {{}}, "n_rounds": {rounds}, "rounds": [{{"n": 1}}], "score": {{"M": {passed}}},
        "models": {{"M": {{"1": {{"pass": 3, "total": 3, "fail": 0, "reward": 1, "fails": {fails}}}}}}}}}"#
    );
    fs::write(root.join("index.json"), index).unwrap();
    fs::write(root.join("tasks/t.json"), task).unwrap();
    Read::from_folder(root)
}

#[test]
fn the_number_of_passed_rounds_of_a_task_is_a_whole_number() {
    for passed in ["\"1\"", "0.5", "-1"] {
        let folder = tempfile::tempdir().unwrap();
        let read = published(folder.path(), "1", passed, "[]");
        assert!(read.unusable().contains(&format!("M: It has score {passed}")), "{}", read.unusable());
        assert!(!read.episodes[0].reported.iter().any(|(name, _)| name == "evocode.passed_rounds"));
    }
    let folder = tempfile::tempdir().unwrap();
    let read = published(folder.path(), "1", "1", "[]");
    assert_eq!((read.unusable(), read.episodes[0].reported.len()), (String::new(), 1));
}

#[test]
fn numbers_of_rounds_and_of_failed_cases_that_cannot_be_are_reported() {
    for rounds in ["\"1\"", "-1", "1.5", "4294967296"] {
        let folder = tempfile::tempdir().unwrap();
        let read = published(folder.path(), rounds, "1", r#"[{"req": "R1", "n": -2, "cases": []}]"#);
        assert_eq!(read.episodes[0].turns.len(), 1, "{rounds}: by the list of rounds");
        for part in [format!("n_rounds of t {rounds}"), format!("n_rounds {rounds}"), "n of fails -2".into()]
        {
            assert!(read.unusable().contains(&part), "{part}: {}", read.unusable());
        }
    }
}

#[test]
fn counts_and_scores_of_a_session_are_unknown_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let record = json!({
        "agent_name": "a-b", "scenario_id": "s", "session_id": "x", "total_turns": -3, "completed_phases": "2", "total_phases": 1.5,
        "metric_results": [{ "metric_name": "execution_success_rate", "score": "0.5" }],
        "lcba_efficiency": "0.6", "lcba_comprehension": 0.7, "overall_score": null,
        "session_data": { "phase_history": [] },
    });
    fs::write(folder.path().join("agent_incremental_results_a_b.jsonl"), format!("{record}\n")).unwrap();
    let read = Read::from_folder(folder.path());
    let figures = read.episodes[0].session.as_ref().unwrap();
    assert_eq!((figures.turns, figures.completed_phases, figures.planned_phases), (None, None, None));
    assert_eq!((figures.imported.metrics[0], figures.imported.efficiency), (None, None));
    assert_eq!((figures.imported.comprehension, figures.imported.overall), (Some(0.7), None));
    let unusable = read.unusable();
    for part in [
        "execution_success_rate \"0.5\"",
        "lcba_efficiency \"0.6\"",
        "total_turns -3",
        "completed_phases \"2\"",
        "total_phases 1.5",
    ] {
        assert!(unusable.contains(part), "{part}: {unusable}");
    }
    assert!(!unusable.contains("overall_score"), "{unusable}");
}
