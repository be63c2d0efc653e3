//! Results in every shape and under any naming, and folders of others.

use std::path::Path;

use files::Tree;
use ingest::format_trait::{Format, Sniff};
use ingest::formats::staminabench::StaminaBench;
use model::{EndReason, Turn, Verdict};

use crate::hostile_kit;
use crate::staminabench::{PLAN, check_play, copy, edit, fixture, play, read, stamps, written};

const SHAPES: [&str; 4] = ["own", "turns_from_zero", "nested_folders", "flat_records"];

#[test]
fn every_shape_gives_the_same_play() {
    for shape in SHAPES {
        let read = read(&fixture(shape));
        assert_eq!(read.episodes.len(), if shape == "flat_records" { 1 } else { 2 }, "{shape}");
        check_play(&read.episodes, shape);
        let expected: &[&str] =
            if shape == "turns_from_zero" { &["turns.from_zero", "turns.from_zero"] } else { &[] };
        assert_eq!(read.codes(), expected, "{shape}: {:#?}", read.report.warnings);
    }
}

#[test]
fn zips_read_as_the_folders_they_hold() {
    for shape in SHAPES {
        let folder = tempfile::tempdir().unwrap();
        let zip = folder.path().join(format!("{shape}.zip"));
        let files = hostile_kit::files_of(&fixture(shape));
        let entries: Vec<_> =
            files.iter().map(|(name, bytes)| hostile_kit::ZipEntry::deflated(name, bytes)).collect();
        std::fs::write(&zip, hostile_kit::zip(&entries)).unwrap();
        let from_zip = read(&zip);
        let from_folder = read(&fixture(shape));
        check_play(&from_zip.episodes, shape);
        assert_eq!(from_zip.run, from_folder.run, "{shape}");
        // The one of flat records is named after the folder, and not after the zip.
        assert_eq!(from_zip.episodes, from_folder.episodes, "{shape}");
    }
}

#[test]
fn what_macos_writes_beside_files_is_none_of_them() {
    for shape in SHAPES {
        let folder = copy(shape);
        let plain = read(folder.path()).episodes;
        for (name, _) in hostile_kit::files_of(folder.path()) {
            let file = folder.path().join(name);
            let companion = format!("._{}", file.file_name().unwrap().to_str().unwrap());
            std::fs::write(file.with_file_name(companion), b"\0\x05\x16\x07\0\x02\0\0Mac OS X        ")
                .unwrap();
        }
        assert_eq!(read(folder.path()).episodes, plain, "{shape}");
    }
}

#[test]
fn titles_of_turns_have_no_marks_of_markdown() {
    let folder = copy("own");
    edit(&folder.path().join("scenario_0/trajectory.json"), |t| {
        t.replacen("Loans can be renewed twice.", "Adds the field `renewals` to **loans**.", 1)
    });
    let turn = &read(folder.path()).episodes[0].turns[1];
    assert_eq!(turn.title.as_deref(), Some("Adds the field renewals to loans."));
}

#[test]
fn the_readme_layout_is_read_under_any_naming() {
    let zero = read(&fixture("turns_from_zero"));
    assert_eq!(
        (zero.run.harness.as_deref(), zero.run.model.as_deref(), zero.run.provider.as_deref()),
        (Some("opencode"), Some("zai.glm-5"), Some("amazon-bedrock"))
    );
    assert_eq!(zero.run.extra["hostname"], "ip-10-0-0-1");
    let episode = &zero.episodes[0];
    assert_eq!(episode.planned_turns, Some(4));
    assert_eq!(episode.reported, [("staminabench.score".to_owned(), 0.66)]);
    assert_eq!(episode.extra["git_commit"], "abc123");
    assert_eq!(episode.extra["report.trajectory_summaries.n_steps"], 10);
    // The first turn has no change; the request of the second is `turn_1.txt`.
    assert_eq!(episode.turns[0].request, None);
    assert_eq!(episode.turns[1].title.as_deref(), Some("Loans can be renewed twice."));
    let kinds = |t: &Turn| t.artifacts.iter().map(|a| a.path.clone()).collect::<Vec<_>>();
    assert_eq!(
        kinds(&episode.turns[0]),
        [
            "scenario_0/ground_truth/server_turn_0.py",
            "scenario_0/schemas/turn_0.yaml",
            "scenario_0/test_suites/test_turn_0.py"
        ]
    );
    let attempt = &episode.turns[3].attempts[0];
    assert_eq!(attempt.extra["model_temperature"], 0.7);
    assert_eq!((attempt.cost_usd, attempt.timing.agent_seconds), (Some(0.01), Some(12.5)));
    let paths: Vec<&str> = attempt.artifacts.iter().map(|a| a.path.as_str()).collect();
    assert!(paths.contains(&"scenario_0/agent_logs/step_6.txt"), "one call an attempt: {paths:?}");
    assert!(paths.contains(&"scenario_0/agent_code/turn_3_attempt_0"), "{paths:?}");

    let nested = read(&fixture("nested_folders"));
    let attempt = &nested.episodes[0].turns[2].attempts[1];
    assert_eq!((attempt.tokens.input, attempt.tokens.output), (Some(10), Some(2)));
    let paths: Vec<&str> = attempt.artifacts.iter().map(|a| a.path.as_str()).collect();
    assert_eq!(paths, ["scenario-0/agent_code/turn_3/attempt_2", "scenario-0/test_results/t03/a02.txt"]);
    assert_eq!(nested.episodes[0].cost_usd, Some(1.25));

    let flat = read(&fixture("flat_records"));
    assert_eq!(flat.episodes[0].scenario, "flat_records");
    assert_eq!(flat.episodes[0].planned_turns, None);
    let attempt = &flat.episodes[0].turns[1].attempts[0];
    assert_eq!((attempt.tokens.input, attempt.timing.agent_seconds), (Some(100), Some(1.5)));
    assert_eq!(attempt.timing.started_at.as_deref(), Some("2026-06-01T10:01:00.000Z"));
    assert_eq!(attempt.extra["agent_steps"], 2);
}

#[test]
fn every_file_is_optional() {
    // Only the test results.
    for shape in ["own", "turns_from_zero", "nested_folders"] {
        let folder = copy(shape);
        for scenario in
            std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).collect::<Vec<_>>()
        {
            if scenario.is_file() {
                std::fs::remove_file(&scenario).unwrap();
                continue;
            }
            for entry in std::fs::read_dir(&scenario).unwrap().map(|e| e.unwrap().path()).collect::<Vec<_>>()
            {
                if entry.is_file() {
                    std::fs::remove_file(entry).unwrap();
                } else if entry.file_name().unwrap() != "test_results" {
                    std::fs::remove_dir_all(entry).unwrap();
                }
            }
        }
        let read = read(folder.path());
        check_play(&read.episodes, shape);
        assert_eq!((read.run.harness.as_deref(), read.run.model.as_deref()), (None, None));
        assert_eq!(read.episodes[0].planned_turns, None, "nothing says how many turns there were to be");
    }
    // Only the trajectory.
    for shape in ["own", "turns_from_zero", "nested_folders"] {
        let folder = tempfile::tempdir().unwrap();
        let scenario = if shape == "nested_folders" { "scenario-0" } else { "scenario_0" };
        std::fs::create_dir(folder.path().join(scenario)).unwrap();
        let name = format!("{scenario}/trajectory.json");
        std::fs::copy(fixture(shape).join(&name), folder.path().join(&name)).unwrap();
        let read = read(folder.path());
        let numbers: Vec<Vec<(Option<u32>, Option<u32>)>> = read.episodes[0]
            .turns
            .iter()
            .map(|t| t.attempts.iter().map(|a| (a.passed, a.total)).collect())
            .collect();
        assert_eq!(numbers[1], [(Some(3), Some(4)), (Some(4), Some(4))], "{shape}");
        assert_eq!(read.episodes[0].stamina(), 2, "{shape}");
    }
    // One scenario by itself.
    let single_scenario = read(&fixture("own").join("scenario_0"));
    check_play(&single_scenario.episodes, "a scenario");
    assert_eq!(single_scenario.episodes[0].scenario, "scenario_0");
    // Only the report.
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture("turns_from_zero").join("report.json"), folder.path().join("report.json")).unwrap();
    let alone_in_folder = read(folder.path());
    assert!(alone_in_folder.episodes.is_empty());
    assert_eq!(
        (alone_in_folder.run.harness.as_deref(), alone_in_folder.run.planned_episodes),
        (Some("opencode"), Some(2))
    );
}

#[test]
fn stamps_change_with_what_is_read() {
    for shape in ["own", "turns_from_zero"] {
        let folder = copy(shape);
        let original = stamps(folder.path());
        assert_eq!(original, stamps(folder.path()));
        let log = if shape == "own" { "turn_2_attempt_1.txt" } else { "turn_1_attempt_0.log" };
        edit(&folder.path().join("scenario_0/test_results").join(log), |t| t + "\n");
        let changed = stamps(folder.path());
        assert_ne!(original["scenario_0"], changed["scenario_0"], "{shape}");
        assert_eq!(original["scenario_1"], changed["scenario_1"], "{shape}");
    }
    // A foreign scenario depends on the configuration and on the names of artifacts.
    let folder = copy("turns_from_zero");
    let original = stamps(folder.path());
    std::fs::create_dir(folder.path().join("scenario_1/agent_code/turn_3_attempt_7")).unwrap();
    let changed = stamps(folder.path());
    assert!(
        original["scenario_0"] == changed["scenario_0"] && original["scenario_1"] != changed["scenario_1"]
    );
    edit(&folder.path().join("config.yaml"), |t| t.replace("n_turns: 4", "n_turns: 5"));
    assert_ne!(changed["scenario_0"], stamps(folder.path())["scenario_0"]);
}

#[test]
fn other_folders_are_not_taken() {
    let check_refused = |build: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().unwrap();
        build(folder.path());
        StaminaBench.sniff(&Tree::open(folder.path()).unwrap(), "")
    };
    let closeness = |sniff: Sniff| match sniff {
        Sniff::Recognized => panic!("recognized"),
        Sniff::Not { closeness, .. } => closeness,
    };
    assert_eq!(closeness(check_refused(&|_| {})), 0);
    // The transcript of another harness.
    let atif = |target: &Path| {
        std::fs::write(
            target.join("trajectory.json"),
            r#"{"schema_version": "ATIF-v1.8", "agent": {"name": "x"}, "steps": []}"#,
        )
        .unwrap();
    };
    assert!(closeness(check_refused(&atif)) > 0);
    // Scenarios that were not played.
    let pack = |target: &Path| {
        for folder in ["scenario_0/test_suites", "scenario_0/schemas", "scenario_0/changes"] {
            std::fs::create_dir_all(target.join(folder)).unwrap();
        }
    };
    assert!(
        matches!(check_refused(&pack), Sniff::Not { found, closeness } if found.contains("without results") && closeness >= 50)
    );
    // Any project with a folder of test results.
    let project = |target: &Path| {
        std::fs::create_dir(target.join("test_results")).unwrap();
        std::fs::write(target.join("test_results/junit.xml"), "<x/>").unwrap();
    };
    assert!(closeness(check_refused(&project)) < 50);
    let report = |target: &Path| std::fs::write(target.join("report.json"), "{\"a\": 1}").unwrap();
    assert!(closeness(check_refused(&report)) < 50);
}

#[test]
fn results_in_objects_of_their_own_are_found() {
    let steps = r#"{"steps": [
        {"turn_idx": 0, "attempt_idx": 0, "response": "a", "evaluation": {"passed_tests": 5, "total_tests": 5, "success": true}, "token_usage": {"input_tokens": 3}},
        {"turn_idx": 1, "attempt_idx": 0, "response": "a", "evaluation": {"passed_tests": 3, "total_tests": 5, "success": false}}]}"#;
    let read = written(&[("scenario_0/trajectory.json", steps)]);
    assert_eq!(
        play(&read.episodes[0]),
        [
            vec![(Verdict::Passed, Some(5), Some(5), None)],
            vec![(Verdict::Failed, Some(3), Some(5), Some(EndReason::TestsFailed))],
        ]
    );
    assert_eq!(read.episodes[0].turns[0].attempts[0].tokens.input, Some(3));
    // A message and the result of its attempt, one after the other.
    let steps = r#"{"steps": [
        {"turn": 1, "attempt": 1, "role": "assistant", "content": "x", "usage": {"input_tokens": 5, "output_tokens": 2}},
        {"turn": 1, "attempt": 1, "test_result": {"passed": 3, "total": 3}}]}"#;
    let read = written(&[("scenario_0/trajectory.json", steps)]);
    assert_eq!(play(&read.episodes[0]), [vec![(Verdict::Passed, Some(3), Some(3), None)]]);
    assert_eq!(read.episodes[0].turns[0].attempts[0].tokens.output, Some(2));
}

#[test]
fn entries_of_scenarios_without_a_folder_are_kept() {
    let report = r#"{"agent": "mini_swe", "benchmark": "restful_server_gen_iterative", "num_tasks": 2,
        "results": [{"scenario": "scenario_0", "score": 0.5}, {"scenario": "scenario_7", "score": 0.25}],
        "trajectory_summaries": [{"scenario": "scenario_0", "attempts": 1}, {"scenario": "scenario_7", "attempts": 2}]}"#;
    let log = std::fs::read_to_string(fixture("own/scenario_0/test_results/turn_1_attempt_1.txt")).unwrap();
    let read = written(&[
        ("config.yaml", PLAN),
        ("report.json", report),
        ("scenario_0/test_results/turn_1_attempt_1.txt", &log),
    ]);
    assert!(read.warning("report.scenario_missing").message.contains("of 1 scenario without a folder"));
    assert_eq!(read.run.extra["report.results.scenario_7"]["score"], 0.25);
    assert_eq!(read.run.extra["report.trajectory_summaries.scenario_7"]["attempts"], 2);
    assert_eq!(read.episodes[0].reported, [("staminabench.score".to_owned(), 0.5)]);
    let unmatched = written(&[("config.yaml", PLAN), ("report.json", report)]);
    assert_eq!(unmatched.run.extra["planned_turns"], 4);
    assert_eq!(unmatched.run.extra["report.results.scenario_0"]["score"], 0.5);
}
