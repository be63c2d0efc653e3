//! Our own schema, which is read exactly.

use files::Tree;
use ingest::format_trait::{Format, Sniff};
use ingest::formats::staminabench::StaminaBench;
use model::{ArtifactKind, EndReason, Request, StepKind, TestOutcome};

use crate::staminabench::{PLAN, fixture, read, read_tree, stamps, written};

#[test]
fn our_own_schema_is_read_exactly() {
    let read = read(&fixture("own"));
    let run = &read.run;
    assert_eq!(run.benchmark.key, "staminabench");
    assert_eq!((run.harness.as_deref(), run.harness_version.as_deref()), (Some("mini_swe"), Some("2.1.0")));
    assert_eq!((run.model.as_deref(), run.provider.as_deref()), (Some("zai.glm-5"), Some("bedrock")));
    assert_eq!(run.runner, Some(("Stamina Lab".into(), Some("0.1.0".into()))));
    assert_eq!((run.planned_episodes, run.attempt_limit, run.simulated), (Some(2), Some(3), false));
    assert_eq!(run.reported.figures[0], ("staminabench.success_rate".into(), 0.5));
    assert_eq!(run.settings["restful_server_gen_iterative.test_fail_feedback_type"], "DETAILED");
    assert_eq!(run.settings["docker.image_name"], "agent-benchmarking:mini");
    assert!(run.extra.is_empty(), "{:?}", run.extra);

    let episode = &read.episodes[0];
    assert_eq!(
        (episode.key.as_str(), episode.scenario.as_str(), episode.title.as_deref()),
        ("scenario_0", "scenario_0", Some("Library"))
    );
    assert_eq!(episode.planned_turns, Some(4));
    assert_eq!(episode.timing.started_at.as_deref(), Some("2026-06-01T10:00:00Z"));
    let turn = &episode.turns[1];
    assert_eq!(turn.title.as_deref(), Some("Loans can be renewed twice."));
    assert_eq!(
        turn.request,
        Some(Request::Text("Loans can be renewed twice.\n\nA third renewal answers 409.".into()))
    );
    let paths: Vec<(ArtifactKind, &str)> = turn.artifacts.iter().map(|a| (a.kind, a.path.as_str())).collect();
    assert_eq!(
        paths,
        [
            (ArtifactKind::Reference, "scenario_0/ground_truth/turn_2.py"),
            (ArtifactKind::Suite, "scenario_0/test_suites/turn_2.py"),
            (ArtifactKind::Schema, "scenario_0/schemas/turn_2.yaml"),
        ]
    );
    let attempt = &turn.attempts[0];
    assert_eq!(
        (attempt.tokens.input, attempt.tokens.cached, attempt.tokens.output),
        (Some(2000), Some(1500), Some(52))
    );
    assert_eq!((attempt.cost_usd, attempt.tool_calls), (Some(0.003), Some(1)));
    assert_eq!((attempt.timing.agent_seconds, attempt.timing.test_seconds), (Some(31.5), Some(0.4)));
    assert_eq!(attempt.extra["agent_steps"], 3);
    assert_eq!(attempt.tests.len(), 4);
    assert_eq!(attempt.tests.iter().filter(|t| t.outcome == TestOutcome::Passed).count(), 3);
    let paths: Vec<(ArtifactKind, &str)> =
        attempt.artifacts.iter().map(|a| (a.kind, a.path.as_str())).collect();
    assert_eq!(
        paths,
        [
            (ArtifactKind::Transcript, "scenario_0/trajectory.json"),
            (ArtifactKind::TestOutput, "scenario_0/test_results/turn_2_attempt_1.txt"),
            (ArtifactKind::ServerLog, "scenario_0/server_logs/turn_2_attempt_1.txt"),
            (ArtifactKind::AgentLog, "scenario_0/agent_logs/step_2.txt"),
            (ArtifactKind::Code, "scenario_0/agent_code/turn_2_attempt_1"),
        ]
    );
}

#[test]
fn transcripts_are_read_by_their_pointer() {
    let tree = Tree::open(&fixture("own")).unwrap();
    let read = read_tree(&tree);
    let transcript =
        StaminaBench.transcript(&tree, &read.episodes[0].turns[1].attempts[1].artifacts[0]).unwrap();
    assert_eq!(transcript.steps.len(), 3);
    assert_eq!(transcript.steps[0].kind, StepKind::User);
    assert_eq!(transcript.steps[0].text, "Some tests failed: …");
    let step = &transcript.steps[1];
    assert_eq!(
        (step.kind, step.reasoning.as_deref()),
        (StepKind::Agent, Some("The routes are in one file."))
    );
    assert_eq!(
        (step.tool_calls[0].name.as_str(), step.tool_calls[0].summary.as_str()),
        ("bash", "cat server.py")
    );
    assert_eq!(step.tool_calls[0].result.as_deref(), Some("from flask import Flask"));
    assert_eq!(step.tokens.unwrap().cached, Some(600));
    assert_eq!(step.at.as_deref(), Some("2026-06-01T10:01:01Z"));

    let tree = Tree::open(&fixture("turns_from_zero")).unwrap();
    let episode = &read_tree(&tree).episodes[0];
    let attempt = &episode.turns[1].attempts[1];
    let artifact = attempt.artifacts.iter().find(|a| a.kind == ArtifactKind::Transcript).unwrap();
    assert_eq!(artifact.pointer.as_deref(), Some("/turns/1/attempts/1/messages"));
    let transcript = StaminaBench.transcript(&tree, artifact).unwrap();
    assert_eq!(transcript.steps.len(), 3, "the answer of the tool belongs to its call");
    assert_eq!(transcript.steps[1].tool_calls[0].result.as_deref(), Some("app.py"));
    assert_eq!(transcript.steps[1].tool_calls[0].summary, "ls -la");
    assert_eq!(transcript.steps[2].text, "Done.");
    assert_eq!(
        (attempt.tool_calls, attempt.tokens.input, attempt.tokens.cached),
        (Some(1), Some(1001), Some(400))
    );

    let missing = model::Artifact { pointer: Some("/turns/99/messages".into()), ..artifact.clone() };
    assert!(StaminaBench.transcript(&tree, &missing).is_err());
}

#[test]
fn own_attempts_without_a_reason_have_the_one_of_their_verdict() {
    let document = |verdict: &str| {
        format!(
            r#"{{"schema_version": "stamina-lab/1", "planned_turns": 4, "end_reason": "budget", "turns": [
            {{"turn": 1, "attempts": [{{"attempt": 1, "verdict": "{verdict}"}}]}},
            {{"turn": 2, "attempts": [{{"attempt": 1, "verdict": "passed", "passed": 3, "total": 3}}]}}]}}"#
        )
    };
    for (verdict, reason) in [("failed", EndReason::TestsFailed), ("error", EndReason::NoVerdict)] {
        let read = written(&[("scenario_0/trajectory.json", &document(verdict))]);
        assert_eq!(read.episodes[0].turns[0].attempts[0].end_reason, Some(reason));
        assert_eq!(
            read.episodes[0].end(),
            (Some(1), reason),
            "what ended the episode later is not why turn 1 failed"
        );
    }
}

#[test]
fn a_session_that_began_anew_is_in_the_import_report() {
    let document = r#"{"schema_version": "stamina-lab/1", "turns": [
        {"turn": 1, "attempts": [{"attempt": 1, "verdict": "passed", "passed": 3, "total": 3}]},
        {"turn": 2, "attempts": [{"attempt": 1, "verdict": "passed", "passed": 3, "total": 3, "session_restarted": true}]}]}"#;
    let read = written(&[("scenario_0/trajectory.json", document)]);
    let warning = read.report.warnings.iter().find(|warning| warning.code == "session.restarted").unwrap();
    assert!(warning.message.contains("Turn 2, attempt 1"), "{}", warning.message);
    assert_eq!(
        read.episodes[0].turns[1].attempts[0].extra["session_restarted"], true,
        "and is shown with the attempt"
    );
}

#[test]
fn the_hash_of_the_pack_that_was_played_is_kept() {
    let document = r#"{"schema_version": "stamina-lab/1", "turns": []}"#;
    let hash = "0123456789abcdef".repeat(4);
    let report = format!(r#"{{"schema_version": "stamina-lab/1", "run": {{"pack_sha256": "{hash}"}}}}"#);
    let read = written(&[("report.json", &report), ("scenario_0/trajectory.json", document)]);
    assert_eq!(read.run.settings["pack_sha256"], hash.as_str());
    for none in [r#"{"run": {"pack_sha256": null}}"#, r#"{"run": {"pack_sha256": "what you like"}}"#] {
        let read = written(&[("report.json", none), ("scenario_0/trajectory.json", document)]);
        assert!(!read.run.settings.contains_key("pack_sha256"), "{none}");
    }
}

#[test]
fn own_episodes_without_a_plan_take_that_of_the_run_and_never_pass_all_without_an_end() {
    let document = r#"{"schema_version": "stamina-lab/1", "turns": [{"turn": 1, "attempts": [{"attempt": 1, "verdict": "passed", "passed": 3, "total": 3}]}]}"#;
    let planned = written(&[("config.yaml", PLAN), ("scenario_0/trajectory.json", document)]);
    assert_eq!(planned.episodes[0].planned_turns, Some(4));
    assert_eq!(planned.episodes[0].end(), (Some(2), EndReason::Unfinished));
    let report = r#"{"schema_version": "stamina-lab/1", "run": {"planned_turns": 1}}"#;
    let planned = written(&[("report.json", report), ("scenario_0/trajectory.json", document)]);
    assert_eq!(planned.episodes[0].end(), (None, EndReason::PassedAll));
    let unknown = written(&[("scenario_0/trajectory.json", document)]);
    assert_eq!(unknown.episodes[0].end(), (Some(2), EndReason::Unfinished));
    let ended = document.replacen("\"turns\"", "\"finished_at\": \"2026-06-01T10:00:00Z\", \"turns\"", 1);
    let ended = written(&[("scenario_0/trajectory.json", &ended)]);
    assert_eq!(ended.episodes[0].end(), (None, EndReason::PassedAll));

    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("scenario_0")).unwrap();
    std::fs::write(folder.path().join("scenario_0/trajectory.json"), document).unwrap();
    let original = stamps(folder.path());
    std::fs::write(folder.path().join("config.yaml"), PLAN).unwrap();
    assert_ne!(original, stamps(folder.path()), "the plan is a part of what is read");
}

#[test]
fn a_run_that_has_just_begun_is_recognized_and_what_the_runner_keeps_is_not_read() {
    let temp = tempfile::tempdir().unwrap();
    let write_file = |path: &str, text: &str| {
        let path = temp.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write_file("config.yaml", "agent: MOCK\n");
    write_file(".stamina/run.json", "{}");
    let tree = Tree::open(temp.path()).unwrap();
    assert_eq!(StaminaBench.sniff(&tree, ""), Sniff::Recognized);
    write_file(".stamina/state/scenario_0/before/workspace/scenario_0/trajectory.json", "{\"turns\": []}");
    write_file(".stamina/episodes/scenario_0.json", "{}");
    let read = read(temp.path());
    assert!(read.episodes.is_empty() && read.report.warnings.is_empty(), "{:?}", read.report.warnings);
    assert_eq!(ingest::discover::discover(&tree).unwrap().places.len(), 1);
}
