//! Turns and steps that are planned, left out or not decided yet.

use files::Tree;
use ingest::format_trait::{Format, Report};
use ingest::formats::staminabench::StaminaBench;
use model::EndReason;

use crate::staminabench::written;

#[test]
fn a_turn_with_attempts_left_is_not_decided_while_its_episode_has_no_end() {
    let end_of = |finished: &str, attempts: &str| {
        let text = format!(
            r#"{{"schema_version": "stamina-lab/1", "planned_turns": 4, "attempt_limit": 2, "finished_at": {finished}, "turns": [
            {{"turn": 1, "attempts": [{{"attempt": 1, "verdict": "passed", "passed": 3, "total": 3}}]}},
            {{"turn": 2, "attempts": [{attempts}]}}]}}"#
        );
        written(&[("scenario_0/trajectory.json", &text)]).episodes[0].end()
    };
    let end_time = "\"2026-06-01T10:00:00Z\"";
    for verdict in ["failed", "error"] {
        let first = format!(r#"{{"attempt": 1, "verdict": "{verdict}", "end_reason": "server_failed"}}"#);
        let two_attempts = format!("{first}, {}", first.replace("\"attempt\": 1", "\"attempt\": 2"));
        assert_eq!(
            end_of("null", &first),
            (Some(2), EndReason::Unfinished),
            "the second attempt is still to come"
        );
        assert_eq!(end_of("null", &two_attempts).1, end_of(end_time, &two_attempts).1, "no attempt is left");
        assert_ne!(end_of("null", &two_attempts).1, EndReason::Unfinished);
        assert_eq!(end_of(end_time, &first), end_of(end_time, &two_attempts), "the episode ended there");
    }
}

/// A task of two steps, of which the first failed three tries and the second its first of three.
const STEPS: &str = r#"{"schema_version": "stamina-lab/1", "scenario": "scenario_0", "planned_turns": 3, "attempt_limit": 3,
    "task": "parser", "protocol": "sr", "turns": [
    {"turn": 1, "step": "one", "attempts": [{"attempt": 1, "verdict": "failed", "end_reason": "tests_failed"},
      {"attempt": 2, "verdict": "failed", "end_reason": "tests_failed"},
      {"attempt": 3, "verdict": "failed", "end_reason": "tests_failed"}]},
    {"turn": 2, "step": "two", "attempts": [{"attempt": 1, "verdict": "failed", "end_reason": "tests_failed"}]}]}"#;

#[test]
fn a_step_by_itself_is_not_decided_between_its_attempts() {
    let config = "agent: MINI_SWE\nbenchmark: HARBOR\nharbor:\n  protocol: sr\n  attempt_limit: 3\n";
    let read = written(&[("config.yaml", config), ("scenario_0/trajectory.json", STEPS)]);
    let end_reasons: Vec<_> = read.episodes.iter().map(|e| (e.scenario.as_str(), e.end().1)).collect();
    assert_eq!(
        end_reasons,
        [
            ("parser/one", EndReason::TestsFailed),
            ("parser/two", EndReason::Unfinished),
            ("parser/step 3", EndReason::Unfinished)
        ]
    );
    assert_eq!(read.run.benchmark.key, "harbor-sr:adhoc");
}

#[test]
fn a_task_of_steps_that_lies_alone_is_no_chain_and_enters_no_run_of_chains() {
    // Its own folder, and the folder of its run without the settings.
    for path in ["trajectory.json", "scenario_0/trajectory.json"] {
        let read = written(&[(path, STEPS)]);
        assert_eq!(read.run.benchmark.key, "harbor-sr:adhoc", "{path}");
        assert_eq!(read.episodes.len(), 3, "{path}");
    }
    // Settings that say otherwise.
    let config = "agent: MINI_SWE\nbenchmark: HARBOR\n";
    let read = written(&[("config.yaml", config), ("scenario_0/trajectory.json", STEPS)]);
    assert_eq!((read.run.benchmark.key.as_str(), read.episodes.len()), ("harbor:adhoc", 0));
    assert!(read.warning("protocol.mismatch").path.ends_with("scenario_0/trajectory.json"));
}

#[test]
fn steps_that_are_left_out_are_reported() {
    let text = STEPS.replace("\"planned_turns\": 3", "\"planned_turns\": 1200");
    let read = written(&[("scenario_0/trajectory.json", &text)]);
    assert_eq!(read.episodes.len(), 1000);
    assert!(read.warning("steps.too_many").message.contains("The last 200 are left out"));
    assert_eq!(read.report.not_kept.episodes.values().copied().collect::<Vec<_>>(), [200]);
}

#[test]
fn scenarios_beyond_those_that_are_read_are_planned_ones() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..10_003 {
        std::fs::create_dir(folder.path().join(format!("scenario_{number}"))).unwrap();
    }
    std::fs::write(folder.path().join("scenario_0/trajectory.json"), "{\"turns\": []}").unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    let mut report = Report::default();
    let survey = StaminaBench.survey(&tree, "", &mut report);
    assert!(report.warnings.iter().any(|warning| warning.code == "scenarios.too_many"));
    assert_eq!((survey.parts.len(), survey.runs[0].planned_episodes), (10_000, Some(10_003)));
}
