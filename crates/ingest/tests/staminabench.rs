//! StaminaBench folders in several shapes, read through the format's own interface.
//!
//! `tests/fixtures/staminabench/make.py` plays the same two scenarios in every shape, so that every shape must give the
//! same turns, attempts and verdicts.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its fixtures has failed")]

mod hostile_kit;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use files::Tree;
use ingest::format::{Format, Report, Sniff};
use ingest::formats::staminabench::StaminaBench;
use model::{
    ArtifactKind, EndReason, Episode, Request, Run, StepKind, TestOutcome, Turn, TurnState, Verdict,
};
use proptest::prelude::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/staminabench").join(name)
}

struct Read {
    run: Run,
    episodes: Vec<Episode>,
    report: Report,
}

impl Read {
    fn codes(&self) -> Vec<&str> {
        self.report.warnings.iter().map(|w| w.code.as_str()).collect()
    }
    fn warning(&self, code: &str) -> &model::Warning {
        self.report
            .warnings
            .iter()
            .find(|w| w.code == code)
            .unwrap_or_else(|| panic!("no {code} in {:#?}", self.report.warnings))
    }
}

fn read_tree(tree: &Tree) -> Read {
    assert_eq!(StaminaBench.sniff(tree, ""), Sniff::Recognized);
    let mut report = Report::default();
    let survey = StaminaBench.survey(tree, "", &mut report);
    let run = survey.runs.into_iter().next().unwrap();
    let mut episodes = Vec::new();
    for part in &survey.parts {
        for reading in StaminaBench.read(tree, "", part, &mut report) {
            assert_eq!(reading.run, run.key);
            episodes.push(reading.episode);
        }
    }
    report.warnings.extend(tree.warnings());
    Read { run, episodes, report }
}

fn read(path: &Path) -> Read {
    read_tree(&Tree::open(path).unwrap())
}

fn stamps(path: &Path) -> BTreeMap<String, u64> {
    let survey = StaminaBench.survey(&Tree::open(path).unwrap(), "", &mut Report::default());
    survey.parts.into_iter().map(|p| (p.key, p.stamp)).collect()
}

/// A copy of a fixture that may be changed.
fn copy(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    test_folders::copy(&fixture(name), folder.path());
    folder
}

fn edit(path: &Path, change: impl FnOnce(String) -> String) {
    let text = std::fs::read_to_string(path).unwrap();
    let changed = change(text.clone());
    assert_ne!(text, changed, "{} was not changed", path.display());
    std::fs::write(path, changed).unwrap();
}

type Outcome = (Verdict, Option<u32>, Option<u32>, Option<EndReason>);

/// (verdict, passed, total, end reason) of every attempt.
fn play(episode: &Episode) -> Vec<Vec<Outcome>> {
    let outcomes =
        |t: &Turn| t.attempts.iter().map(|a| (a.verdict, a.passed, a.total, a.end_reason)).collect();
    episode.turns.iter().map(outcomes).collect()
}

const SHAPES: [&str; 4] = ["own", "turns_from_zero", "nested_folders", "flat_records"];

fn check_play(episodes: &[Episode], shape: &str) {
    use EndReason::{ServerFailed, TestsFailed};
    use Verdict::{Failed, Passed};
    let first = &episodes[0];
    assert_eq!(
        play(first),
        vec![
            vec![(Passed, Some(3), Some(3), None)],
            vec![(Failed, Some(3), Some(4), Some(TestsFailed)), (Passed, Some(4), Some(4), None)],
            vec![
                (Failed, Some(3), Some(5), Some(TestsFailed)),
                (Failed, Some(4), Some(5), Some(TestsFailed)),
                (Failed, Some(4), Some(5), Some(TestsFailed)),
            ],
            vec![(Failed, Some(0), Some(6), Some(ServerFailed))],
        ],
        "{shape}"
    );
    assert_eq!(first.stamina(), 2, "{shape}");
    assert_eq!(first.end(), (Some(3), TestsFailed), "{shape}");
    let failing: Vec<&str> =
        first.turns[2].attempts[2].tests.iter().filter(|t| t.is_failing()).map(|t| t.id.as_str()).collect();
    assert_eq!(failing, ["test_turn.py::test_holds"], "{shape}");
    let test = first.turns[2].attempts[2].tests.iter().find(|t| t.is_failing()).unwrap();
    assert_eq!((test.expected.as_deref(), test.actual.as_deref()), (Some("201"), Some("500")), "{shape}");
    assert!(
        test.message.as_deref().unwrap().starts_with("AssertionError: POST /holds: expected 201, got 500"),
        "{shape}: {test:?}"
    );
    if let Some(second) = episodes.get(1) {
        assert_eq!(second.stamina(), 4, "{shape}");
        assert_eq!(second.end(), (None, EndReason::PassedAll), "{shape}");
        assert_eq!(second.turns[0].state(), TurnState::PassedAfterRetries, "{shape}");
    }
}

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
        if shape != "flat_records" {
            // That one is named after the folder or zip that it is.
            assert_eq!(from_zip.episodes, from_folder.episodes, "{shape}");
        }
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
    let own = read_tree(&tree);
    let transcript =
        StaminaBench.transcript(&tree, &own.episodes[0].turns[1].attempts[1].artifacts[0]).unwrap();
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
    let one = read(&fixture("own").join("scenario_0"));
    check_play(&one.episodes, "a scenario");
    assert_eq!(one.episodes[0].scenario, "scenario_0");
    // Only the report.
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture("turns_from_zero").join("report.json"), folder.path().join("report.json")).unwrap();
    let only = read(folder.path());
    assert!(only.episodes.is_empty());
    assert_eq!((only.run.harness.as_deref(), only.run.planned_episodes), (Some("opencode"), Some(2)));
}

#[test]
fn a_contradiction_is_said_and_the_log_wins() {
    // Our own schema claims a pass that the log does not have.
    let folder = copy("own");
    edit(&folder.path().join("scenario_1/test_results/turn_3_attempt_1.txt"), |_| {
        std::fs::read_to_string(fixture("own/scenario_0/test_results/turn_3_attempt_2.txt")).unwrap()
    });
    let read_back = read(folder.path());
    let warning = read_back.warning("verdict.contradiction");
    assert_eq!(warning.path, "scenario_1/test_results/turn_3_attempt_1.txt");
    assert!(warning.message.contains("4 of 5") && warning.message.contains("5 of 5"), "{}", warning.message);
    let attempt = &read_back.episodes[1].turns[2].attempts[0];
    assert_eq!(
        (attempt.verdict, attempt.passed, attempt.end_reason),
        (Verdict::Failed, Some(4), Some(EndReason::TestsFailed))
    );
    assert_eq!(attempt.tests.iter().filter(|t| t.is_failing()).count(), 1);
    assert_eq!(read_back.episodes[1].stamina(), 2);

    // A foreign trajectory that calls a pass a failure.
    let folder = copy("turns_from_zero");
    edit(&folder.path().join("scenario_1/trajectory.json"), |t| {
        t.replacen("\"num_passed\": 4,", "\"num_passed\": 1,", 1)
    });
    let read_back = read(folder.path());
    assert_eq!(read_back.codes().iter().filter(|c| **c == "verdict.contradiction").count(), 1);
    check_play(&read_back.episodes, "with a wrong number");
}

#[test]
fn a_damaged_trajectory_gives_what_came_before_the_damage() {
    for shape in ["own", "turns_from_zero"] {
        let folder = copy(shape);
        let path = folder.path().join("scenario_0/trajectory.json");
        let whole = std::fs::read_to_string(&path).unwrap();
        for cut in [0, 1, whole.len() / 4, whole.len() / 2, whole.len() - 3] {
            std::fs::write(&path, &whole[..whole.floor_char_boundary(cut)]).unwrap();
            let read = read(folder.path());
            // The test logs are all there, so all of the play still is.
            check_play(&read.episodes, &format!("{shape} cut at {cut}"));
            let code = if cut == 0 { "file.empty" } else { "json.truncated" };
            assert_eq!(read.warning(code).path, "scenario_0/trajectory.json", "{shape} cut at {cut}");
        }
        // Without the logs, the turns before the break.
        std::fs::remove_dir_all(folder.path().join("scenario_0/test_results")).unwrap();
        let at = whole.find(if shape == "own" { "\"turn\": 4" } else { "\"turn_idx\": 3" }).unwrap();
        std::fs::write(&path, &whole[..at]).unwrap();
        let read = read(folder.path());
        assert_eq!(play(&read.episodes[0])[1].len(), 2, "{shape}");
        assert_eq!(read.episodes[0].stamina(), 2, "{shape}");
    }
}

#[test]
fn odd_files_are_warned_of_and_the_rest_is_read() {
    use Verdict::{Failed, Passed};

    let folder = copy("own");
    let at = |path: &str| folder.path().join(path);
    std::fs::write(at("config.yaml"), "a: [1, 2\nb").unwrap();
    std::fs::write(at("report.json"), "{\"agent\": ").unwrap();
    std::fs::write(at("scenario_0/test_results/turn_1_attempt_1.txt"), "").unwrap();
    std::fs::write(at("scenario_0/test_results/turn_2_attempt_1.txt"), "Segmentation fault\n").unwrap();
    edit(&at("scenario_0/test_results/turn_2_attempt_2.txt"), |t| t[..t.find("[ 50%]").unwrap()].to_owned());
    let mut bytes = std::fs::read(at("scenario_0/test_results/turn_3_attempt_1.txt")).unwrap();
    bytes[200] = 0xff;
    std::fs::write(at("scenario_0/test_results/turn_3_attempt_1.txt"), bytes).unwrap();
    std::fs::remove_file(at("scenario_0/test_results/turn_3_attempt_2.txt")).unwrap();
    edit(&at("scenario_1/trajectory.json"), |t| t.replacen("\"passed\": 3", "\"passed\": \"three\"", 1));
    edit(&at("scenario_0/trajectory.json"), |t| {
        t.replacen("\"server_logs/turn_1_attempt_1.txt\"", "\"../../../etc/passwd\"", 1).replacen(
            "\"end_reason\": \"tests_failed\"",
            "\"end_reason\": \"moonlight\"",
            1,
        )
    });
    let read = read(folder.path());
    for (code, path) in [
        ("yaml.malformed", "config.yaml"),
        ("json.truncated", "report.json"),
        ("file.empty", "scenario_0/test_results/turn_1_attempt_1.txt"),
        ("pytest.not_recognised", "scenario_0/test_results/turn_2_attempt_1.txt"),
        ("pytest.truncated", "scenario_0/test_results/turn_2_attempt_2.txt"),
        ("file.not_utf8", "scenario_0/test_results/turn_3_attempt_1.txt"),
        ("file.missing", "scenario_0/test_results/turn_3_attempt_2.txt"),
        ("path.outside", "scenario_0/trajectory.json"),
        ("end_reason.unknown", "scenario_0/trajectory.json"),
        ("schema.mismatch", "scenario_1/trajectory.json"),
    ] {
        assert_eq!(read.warning(code).path, path);
    }
    let verdicts: Vec<Verdict> = play(&read.episodes[0]).into_iter().flatten().map(|a| a.0).collect();
    assert_eq!(
        verdicts,
        [Passed, Failed, Passed, Failed, Failed, Failed, Failed],
        "the trajectory says it, the logs are gone"
    );
    assert_eq!(read.episodes[1].stamina(), 4, "read for what it plainly says, and from its logs");
    assert!(!format!("{:?}", read.episodes).contains("etc/passwd"));
}

#[test]
fn logs_that_break_off_do_not_pass() {
    use EndReason::{NoVerdict, VerifierError, VerifierTimeout};

    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("scenario_0/test_results");
    std::fs::create_dir_all(&results).unwrap();
    let real = |name: &str| std::fs::read_to_string(fixture("../pytest/logs").join(name)).unwrap();
    std::fs::write(results.join("turn_1_attempt_1.txt"), real("timeout_thread.txt")).unwrap();
    std::fs::write(results.join("turn_1_attempt_2.txt"), real("internal_error.txt")).unwrap();
    std::fs::write(results.join("turn_1_attempt_3.txt"), real("collection_error.txt")).unwrap();
    std::fs::write(results.join("turn_1_attempt_4.txt"), real("no_tests.txt")).unwrap();
    std::fs::write(results.join("turn_1_attempt_5.txt"), real("crash.txt")).unwrap();
    let read = read(folder.path());
    let ends: Vec<(Verdict, Option<EndReason>)> =
        play(&read.episodes[0])[0].iter().map(|a| (a.0, a.3)).collect();
    assert_eq!(
        ends,
        [
            (Verdict::Error, Some(VerifierTimeout)),
            (Verdict::Error, Some(VerifierError)),
            (Verdict::Error, Some(VerifierError)),
            (Verdict::Error, Some(NoVerdict)),
            // The last log of an episode that nothing says has ended: it may still be written.
            (Verdict::Unfinished, None),
        ]
    );
}

#[test]
fn stamps_change_with_what_is_read() {
    for shape in ["own", "turns_from_zero"] {
        let folder = copy(shape);
        let before = stamps(folder.path());
        assert_eq!(before, stamps(folder.path()));
        let log = if shape == "own" { "turn_2_attempt_1.txt" } else { "turn_1_attempt_0.log" };
        edit(&folder.path().join("scenario_0/test_results").join(log), |t| t + "\n");
        let after = stamps(folder.path());
        assert_ne!(before["scenario_0"], after["scenario_0"], "{shape}");
        assert_eq!(before["scenario_1"], after["scenario_1"], "{shape}");
    }
    // A foreign scenario depends on the configuration and on the names of artifacts.
    let folder = copy("turns_from_zero");
    let before = stamps(folder.path());
    std::fs::create_dir(folder.path().join("scenario_1/agent_code/turn_3_attempt_7")).unwrap();
    let after = stamps(folder.path());
    assert!(before["scenario_0"] == after["scenario_0"] && before["scenario_1"] != after["scenario_1"]);
    edit(&folder.path().join("config.yaml"), |t| t.replace("n_turns: 4", "n_turns: 5"));
    assert_ne!(after["scenario_0"], stamps(folder.path())["scenario_0"]);
}

#[test]
fn other_folders_are_not_taken() {
    let not = |build: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().unwrap();
        build(folder.path());
        StaminaBench.sniff(&Tree::open(folder.path()).unwrap(), "")
    };
    let closeness = |sniff: Sniff| match sniff {
        Sniff::Recognized => panic!("recognized"),
        Sniff::Not { closeness, .. } => closeness,
    };
    assert_eq!(closeness(not(&|_| {})), 0);
    // The transcript of another harness.
    let atif = |at: &Path| {
        std::fs::write(
            at.join("trajectory.json"),
            r#"{"schema_version": "ATIF-v1.8", "agent": {"name": "x"}, "steps": []}"#,
        )
        .unwrap();
    };
    assert!(closeness(not(&atif)) > 0);
    // Scenarios that nobody played.
    let pack = |at: &Path| {
        for folder in ["scenario_0/test_suites", "scenario_0/schemas", "scenario_0/changes"] {
            std::fs::create_dir_all(at.join(folder)).unwrap();
        }
    };
    assert!(
        matches!(not(&pack), Sniff::Not { found, closeness } if found.contains("without results") && closeness >= 50)
    );
    // Any project with a folder of test results.
    let project = |at: &Path| {
        std::fs::create_dir(at.join("test_results")).unwrap();
        std::fs::write(at.join("test_results/junit.xml"), "<x/>").unwrap();
    };
    assert!(closeness(not(&project)) < 50);
    let report = |at: &Path| std::fs::write(at.join("report.json"), "{\"a\": 1}").unwrap();
    assert!(closeness(not(&report)) < 50);
}

#[test]
fn what_a_trajectory_may_hold_is_bounded() {
    // Lists and texts far beyond what a scenario has, where the schema knows them and where it does not.
    let folder = copy("own");
    let many = "\"x\",".repeat(50_000);
    let long = "y".repeat(100_000);
    edit(&folder.path().join("scenario_0/trajectory.json"), |t| {
        t.replacen("\"agent_logs\": [", &format!("\"agent_logs\": [{many}"), 1)
            .replacen("\"tests\": [", &format!("\"tests\": [{many}"), 1)
            .replacen("\"title\": \"Build", &format!("\"title\": \"{long}"), 1)
            .replacen("\"turn\": 2", &format!("\"weird\": [{}1], \"turn\": 2", "[1],".repeat(200_000)), 1)
            .replacen("\"exception\": null", &format!("\"exception\": {{\"message\": \"{long}\"}}"), 1)
    });
    let read = read(folder.path());
    let episode = &read.episodes[0];
    assert_eq!(episode.stamina(), 2);
    assert!(read.codes().contains(&"tests.mismatch"), "{:?}", read.codes());
    let attempt = &episode.turns[0].attempts[0];
    assert!(attempt.artifacts.len() < 300, "{}", attempt.artifacts.len());
    assert_eq!(episode.turns[0].title.as_ref().map(String::len), Some(1024));
    assert_eq!(episode.turns[1].extra["weird"], "(a list of 200001, not kept)");
    assert!(format!("{episode:?}").len() < 200_000);
}

/// A folder of some files, read.
fn written(files: &[(&str, &str)]) -> Read {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        if path.to_str().unwrap().ends_with('/') {
            std::fs::create_dir_all(path).unwrap();
        } else {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }
    read(folder.path())
}

const PLAN: &str = "agent: MINI_SWE\nrestful_server_gen_iterative:\n  n_turns: 4\n";

#[test]
fn own_attempts_without_a_reason_have_the_one_of_their_verdict() {
    let own = |verdict: &str| {
        format!(
            r#"{{"schema_version": "stamina-lab/1", "planned_turns": 4, "end_reason": "budget", "turns": [
            {{"turn": 1, "attempts": [{{"attempt": 1, "verdict": "{verdict}"}}]}},
            {{"turn": 2, "attempts": [{{"attempt": 1, "verdict": "passed", "passed": 3, "total": 3}}]}}]}}"#
        )
    };
    for (verdict, reason) in [("failed", EndReason::TestsFailed), ("error", EndReason::NoVerdict)] {
        let read = written(&[("scenario_0/trajectory.json", &own(verdict))]);
        assert_eq!(read.episodes[0].turns[0].attempts[0].end_reason, Some(reason));
        assert_eq!(
            read.episodes[0].end(),
            (Some(1), reason),
            "what ended the episode later is not why turn 1 failed"
        );
    }
}

/// Messages quote paths, requests and output: a word in one is no evidence that something outside failed.
#[test]
fn an_exception_is_from_outside_only_where_the_table_knows_it() {
    let ended = |error: &str| {
        let trajectory = format!(
            r#"{{"n_turns": 3, "turns": [{{"turn": 1, "attempts": [{{"attempt": 1, "error": {error}}}]}}]}}"#
        );
        let read = written(&[("scenario_0/trajectory.json", &trajectory)]);
        (read.episodes[0].end().1, read.episodes[0].unrecognised)
    };
    for (error, want) in [
        (r#""KeyError: File \"/opt/run_in_container.py\", line 9""#, (EndReason::AgentError, true)),
        (
            r#"{"type": "RuntimeError", "message": "unknown option: - Limit the rate (rate limit)"}"#,
            (EndReason::AgentError, true),
        ),
        (
            r#"{"type": "RuntimeError", "message": "docker: the plan was cancelled over budget"}"#,
            (EndReason::AgentError, true),
        ),
        (r#""RateLimitError: litellm.RateLimitError: slow down""#, (EndReason::Endpoint, false)),
        (
            r#""RuntimeError: Docker compose command failed for environment x.""#,
            (EndReason::Environment, false),
        ),
        (
            r#"{"type": "ClientError", "message": "An error occurred (ThrottlingException) when calling the Converse operation: x"}"#,
            (EndReason::Endpoint, false),
        ),
        (r#""server did not start""#, (EndReason::ServerFailed, false)),
        // The agent's server raises these, or a test of it.
        (r#""ModuleNotFoundError: No module named 'flask'""#, (EndReason::AgentError, true)),
        (
            r#"{"type": "requests.exceptions.ConnectionError", "message": "HTTPConnectionPool(host='127.0.0.1', port=8000): Max retries exceeded with url: / (Caused by NewConnectionError('Connection refused'))"}"#,
            (EndReason::AgentError, true),
        ),
        // What a message quotes says nothing of how the agent failed, either.
        (r#""ValueError: the request asks for a timeout of 30 s""#, (EndReason::AgentError, true)),
        (r#""RuntimeError: tool call to docker""#, (EndReason::AgentError, true)),
        (r#""KeyError: 'server_start'""#, (EndReason::AgentError, true)),
        (r#""quoted: 'please give up'""#, (EndReason::AgentError, true)),
        (r#""Request timed out.""#, (EndReason::AgentError, true)),
        (r#""MemoryError: out of memory""#, (EndReason::AgentError, true)),
        (r#""botocore.exceptions.EndpointConnectionError: Could not connect""#, (EndReason::Endpoint, false)),
    ] {
        assert_eq!(ended(error), want, "{error}");
    }
}

/// A flat record that raised something ended there, with or without what the agent used.
#[test]
fn an_exception_without_counts_is_an_end() {
    let ended = |record: &str| {
        let trajectory = format!(r#"[{{"turn": 1, "attempt": 1, "passed": 3, "total": 3}}, {record}]"#);
        let read = written(&[
            ("config.yaml", "restful_server_gen_iterative:\n  n_turns: 3\n"),
            ("scenario_0/trajectory.json", &trajectory),
        ]);
        let episode = &read.episodes[0];
        (episode.end(), episode.unrecognised)
    };
    for record in [
        r#"{"turn": 2, "attempt": 1, "exception": "ValueError: odd"}"#,
        r#"{"turn": 2, "attempt": 1, "exception": {"type": "ValueError", "message": "odd"}}"#,
        r#"{"turn": 2, "attempt": 1, "error": "ValueError: odd", "input_tokens": 5, "output_tokens": 5}"#,
        r#"{"turn": 2, "attempt": 1, "status": "error", "error": "ValueError: odd"}"#,
        // Whether it says so or not, no test failed.
        r#"{"turn": 2, "attempt": 1, "success": false, "exception": "ValueError: odd"}"#,
    ] {
        assert_eq!(ended(record), ((Some(2), EndReason::AgentError), true), "{record}");
    }
    let with_tests = r#"{"turn": 2, "attempt": 1, "passed": 1, "total": 3, "exception": "ValueError: odd"}"#;
    assert_eq!(ended(with_tests), ((Some(2), EndReason::TestsFailed), false));
    let step = r#"{"turn": 2, "attempt": 1, "role": "tool", "error": "exit code 1"}"#;
    assert_eq!(ended(step).0.1, EndReason::Unfinished, "the error of a tool ends nothing");
}

/// A field for the reason may hold a sentence: only a whole label, or an exception that the table knows, censors.
#[test]
fn a_reason_in_words_censors_only_as_a_whole_label() {
    let ended = |fields: &str| {
        let trajectory = format!(
            r#"{{"n_turns": 3, "turns": [{{"turn": 1, "attempts": [{{"attempt": 1, "success": false, {fields}}}]}}]}}"#
        );
        written(&[("scenario_0/trajectory.json", &trajectory)]).episodes[0].end().1
    };
    for (fields, want) in [
        (r#""failure_reason": "the container endpoint returns 404""#, EndReason::TestsFailed),
        (r#""result": "added rate limiting, then cancelled orders""#, EndReason::TestsFailed),
        (r#""failure_reason": "rate limit exceeded""#, EndReason::Endpoint),
        (r#""exit_reason": "cancelled""#, EndReason::Cancelled),
        (r#""failure_reason": "litellm.RateLimitError: slow down""#, EndReason::Endpoint),
        (r#""failure_reason": "the agent gave up on the docker task""#, EndReason::GaveUp),
        (r#""failure_reason": "it says 'please give up' after a timeout""#, EndReason::TestsFailed),
    ] {
        assert_eq!(ended(fields), want, "{fields}");
    }
}

/// A field for the reason may name nothing but the type of what was raised.
#[test]
fn the_name_of_an_exception_is_what_was_raised() {
    let ended = |fields: &str| {
        let trajectory = format!(
            r#"{{"n_turns": 3, "turns": [{{"turn": 1, "attempts": [{{"attempt": 1, {fields}}}]}}]}}"#
        );
        let read = written(&[("scenario_0/trajectory.json", &trajectory)]);
        let attempt = &read.episodes[0].turns[0].attempts[0];
        (read.episodes[0].end().1, read.episodes[0].unrecognised, attempt.exception.clone())
    };
    let raised = |kind: &str, message: &str| Some((kind.to_owned(), message.to_owned()));
    for (fields, reason, unrecognised, exception) in [
        (r#""end_reason": "RuntimeError""#, EndReason::AgentError, true, raised("RuntimeError", "")),
        (
            r#""error_type": "builtins.KeyError""#,
            EndReason::AgentError,
            true,
            raised("builtins.KeyError", ""),
        ),
        (r#""exit_status": "RateLimitError""#, EndReason::Endpoint, false, raised("RateLimitError", "")),
        (r#""exit_status": "LimitsExceeded""#, EndReason::Budget, false, None),
        (r#""status": "CancelledError""#, EndReason::Cancelled, false, raised("CancelledError", "")),
        (
            r#""failure_reason": "ValueError: odd""#,
            EndReason::AgentError,
            true,
            raised("ValueError", "ValueError: odd"),
        ),
        // Type and message apart, in either order.
        (
            r#""error_type": "RuntimeError", "error": "Docker compose command failed for environment x.""#,
            EndReason::Environment,
            false,
            raised("RuntimeError", "Docker compose command failed for environment x."),
        ),
        (
            r#""error": "Docker compose command failed for environment x.", "error_type": "RuntimeError""#,
            EndReason::Environment,
            false,
            raised("RuntimeError", "Docker compose command failed for environment x."),
        ),
        // Words that are no type of an exception.
        (r#""exit_status": "Submitted""#, EndReason::Unfinished, false, None),
        (r#""failure_reason": "Note: it ended""#, EndReason::Unfinished, false, None),
        (r#""finish_reason": "Stop""#, EndReason::Unfinished, false, None),
        (r#""exit_status": "NoError""#, EndReason::Unfinished, false, None),
        (r#""exit_status": "CompletedWithoutError""#, EndReason::Unfinished, false, None),
        (r#""status": "NoError""#, EndReason::Unfinished, false, None),
        (r#""status": "CompletedWithoutError""#, EndReason::Unfinished, false, None),
        (r#""state": "FinishedWithoutAnyException""#, EndReason::Unfinished, false, None),
        (
            r#""exit_status": "NoSuchElementException""#,
            EndReason::AgentError,
            true,
            raised("NoSuchElementException", ""),
        ),
        // A state is any word: what the table does not know is none.
        (r#""status": "HandledTheError""#, EndReason::Unfinished, false, None),
        (
            r#""status": "ValueError: odd""#,
            EndReason::AgentError,
            true,
            raised("ValueError", "ValueError: odd"),
        ),
    ] {
        assert_eq!(ended(fields), (reason, unrecognised, exception), "{fields}");
    }
    // In a flat record it is an end, too, and of tests that failed it is not the reason.
    let flat = r#"[{"turn": 1, "attempt": 1, "passed": 3, "total": 3}, {"turn": 2, "attempt": 1, "exit_status": "RuntimeError"}]"#;
    let read = written(&[("scenario_0/trajectory.json", flat)]);
    assert_eq!(read.episodes[0].end(), (Some(2), EndReason::AgentError));
    assert!(read.episodes[0].unrecognised);
    let (reason, unrecognised, _) = ended(r#""passed": 1, "total": 3, "exit_status": "RuntimeError""#);
    assert_eq!((reason, unrecognised), (EndReason::TestsFailed, false));
}

#[test]
fn input_of_which_nothing_says_whether_it_has_the_cached_tokens_is_said() {
    let codes = |usage: &[&str]| {
        let turns: Vec<String> = (1..)
            .zip(usage)
            .map(|(turn, usage)| {
                format!(r#"{{"turn": {turn}, "attempts": [{{"attempt": 1, "success": true, "usage": {{{usage}}}}}]}}"#)
            })
            .collect();
        let trajectory = format!(r#"{{"n_turns": 9, "turns": [{}]}}"#, turns.join(","));
        let read = written(&[("scenario_0/trajectory.json", &trajectory)]);
        read.codes()
            .iter()
            .filter(|code| code.starts_with("tokens."))
            .map(|code| (*code).to_owned())
            .collect::<Vec<_>>()
    };
    let unclear = r#""input_tokens": 100, "cached_tokens": 90, "output_tokens": 5"#;
    assert_eq!(codes(&[unclear, unclear]), ["tokens.cache_unclear"], "once for a scenario");
    let proof = r#""input_tokens": 5, "cached_tokens": 90, "output_tokens": 5"#;
    assert!(!codes(&[unclear, proof]).contains(&"tokens.cache_unclear".to_owned()));
    for known in [
        r#""input_tokens": 100, "output_tokens": 5"#,
        r#""input_tokens": 100, "cached_tokens": 0, "output_tokens": 5"#,
        r#""input_tokens": 100, "cache_read_input_tokens": 90, "output_tokens": 5"#,
        r#""prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 90}, "completion_tokens": 5"#,
    ] {
        assert_eq!(codes(&[known]), [""; 0], "{known}");
    }
}

#[test]
fn a_session_that_began_anew_is_in_the_import_report() {
    let own = r#"{"schema_version": "stamina-lab/1", "turns": [
        {"turn": 1, "attempts": [{"attempt": 1, "verdict": "passed", "passed": 3, "total": 3}]},
        {"turn": 2, "attempts": [{"attempt": 1, "verdict": "passed", "passed": 3, "total": 3, "session_restarted": true}]}]}"#;
    let read = written(&[("scenario_0/trajectory.json", own)]);
    let warning = read.report.warnings.iter().find(|warning| warning.code == "session.restarted").unwrap();
    assert!(warning.message.contains("turn 2, attempt 1"), "{}", warning.message);
    assert_eq!(
        read.episodes[0].turns[1].attempts[0].extra["session_restarted"], true,
        "and is shown with the attempt"
    );
}

#[test]
fn a_turn_with_attempts_left_is_not_decided_while_its_episode_has_no_end() {
    let own = |finished: &str, attempts: &str| {
        let text = format!(
            r#"{{"schema_version": "stamina-lab/1", "planned_turns": 4, "attempt_limit": 2, "finished_at": {finished}, "turns": [
            {{"turn": 1, "attempts": [{{"attempt": 1, "verdict": "passed", "passed": 3, "total": 3}}]}},
            {{"turn": 2, "attempts": [{attempts}]}}]}}"#
        );
        written(&[("scenario_0/trajectory.json", &text)]).episodes[0].end()
    };
    let over = "\"2026-06-01T10:00:00Z\"";
    for verdict in ["failed", "error"] {
        let first = format!(r#"{{"attempt": 1, "verdict": "{verdict}", "end_reason": "server_failed"}}"#);
        let both = format!("{first}, {}", first.replace("\"attempt\": 1", "\"attempt\": 2"));
        assert_eq!(
            own("null", &first),
            (Some(2), EndReason::Unfinished),
            "the second attempt is still to come"
        );
        assert_eq!(own("null", &both).1, own(over, &both).1, "no attempt is left");
        assert_ne!(own("null", &both).1, EndReason::Unfinished);
        assert_eq!(own(over, &first), own(over, &both), "the episode ended there");
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
    let ends: Vec<_> = read.episodes.iter().map(|e| (e.scenario.as_str(), e.end().1)).collect();
    assert_eq!(
        ends,
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
fn steps_that_are_left_out_are_said() {
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

#[test]
fn the_hash_of_the_pack_that_was_played_is_kept() {
    let own = r#"{"schema_version": "stamina-lab/1", "turns": []}"#;
    let hash = "0123456789abcdef".repeat(4);
    let report = format!(r#"{{"schema_version": "stamina-lab/1", "run": {{"pack_sha256": "{hash}"}}}}"#);
    let read = written(&[("report.json", &report), ("scenario_0/trajectory.json", own)]);
    assert_eq!(read.run.settings["pack_sha256"], hash.as_str());
    for none in [r#"{"run": {"pack_sha256": null}}"#, r#"{"run": {"pack_sha256": "what you like"}}"#] {
        let read = written(&[("report.json", none), ("scenario_0/trajectory.json", own)]);
        assert!(!read.run.settings.contains_key("pack_sha256"), "{none}");
    }
}

#[test]
fn own_episodes_without_a_plan_take_that_of_the_run_and_never_pass_all_without_an_end() {
    let own = r#"{"schema_version": "stamina-lab/1", "turns": [{"turn": 1, "attempts": [{"attempt": 1, "verdict": "passed", "passed": 3, "total": 3}]}]}"#;
    let planned = written(&[("config.yaml", PLAN), ("scenario_0/trajectory.json", own)]);
    assert_eq!(planned.episodes[0].planned_turns, Some(4));
    assert_eq!(planned.episodes[0].end(), (Some(2), EndReason::Unfinished));
    let report = r#"{"schema_version": "stamina-lab/1", "run": {"planned_turns": 1}}"#;
    let planned = written(&[("report.json", report), ("scenario_0/trajectory.json", own)]);
    assert_eq!(planned.episodes[0].end(), (None, EndReason::PassedAll));
    let unknown = written(&[("scenario_0/trajectory.json", own)]);
    assert_eq!(unknown.episodes[0].end(), (Some(2), EndReason::Unfinished));
    let ended = own.replacen("\"turns\"", "\"finished_at\": \"2026-06-01T10:00:00Z\", \"turns\"", 1);
    let ended = written(&[("scenario_0/trajectory.json", &ended)]);
    assert_eq!(ended.episodes[0].end(), (None, EndReason::PassedAll));

    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("scenario_0")).unwrap();
    std::fs::write(folder.path().join("scenario_0/trajectory.json"), own).unwrap();
    let before = stamps(folder.path());
    std::fs::write(folder.path().join("config.yaml"), PLAN).unwrap();
    assert_ne!(before, stamps(folder.path()), "the plan is a part of what is read");
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
fn a_turn_without_a_verdict_and_values_that_cannot_be_are_said() {
    use TurnState::{Censored, Error, NotReached};

    let json = r#"{"turns": [{"turn": 1, "passed": "-3", "total": 1e30, "success": "perhaps"}, {"turn": 2, "passed": 7, "total": 5},
        {"turn": 3, "passed": null, "total": 0, "cost": -5, "usage": {"prompt_tokens": -4, "completion_tokens": 1e19}},
        {"turn": 4, "tokens": {"input": 7}, "duration": -4, "started_at": "2026-02-30T10:00:00Z"}, {"turn": 5, "description": "not played"}]}"#;
    let read = written(&[("scenario_0/trajectory.json", json)]);
    let episode = &read.episodes[0];
    let states: Vec<TurnState> = episode.turns.iter().map(Turn::state).collect();
    // The last one may still be running: nothing says that the episode has ended.
    assert_eq!(states, [Error, Error, Error, Censored, NotReached]);
    assert_eq!(read.codes().iter().filter(|c| **c == "verdict.missing").count(), 4);
    let odd: Vec<&str> = read
        .report
        .warnings
        .iter()
        .filter(|w| w.code == "value.not_usable")
        .map(|w| w.message.as_str())
        .collect();
    for part in [
        "passed: \"-3\"",
        "success: \"perhaps\"",
        "7 tests passed of 5",
        "cost: -5",
        "usage.prompt_tokens: -4",
        "usage.completion_tokens: 1e+19",
        "duration: -4",
        "started_at: \"2026-02-30",
    ] {
        assert!(odd.iter().any(|m| m.contains(part)), "{part}: {odd:#?}");
    }
    // Of any name: beyond 64 bits.
    assert!(read.warning("json.not_strict").message.contains("1 number is beyond 64 bits"));
    let attempt = |turn: usize| &episode.turns[turn].attempts[0];
    assert_eq!(attempt(0).extra["passed"], "-3");
    assert_eq!((attempt(1).passed, attempt(1).total), (None, None));
    assert_eq!((&attempt(1).extra["passed"], &attempt(1).extra["total"]), (&7.into(), &5.into()));
    assert_eq!((attempt(2).cost_usd, attempt(2).tokens.is_unknown()), (None, true));
    assert_eq!(attempt(3).tokens.input, Some(7));
}

#[test]
fn a_score_that_decides_and_is_not_in_0_to_1_is_said() {
    let json = r#"{"turns": [{"turn": 1, "score": 62.5}, {"turn": 2, "score": 1}, {"turn": 3, "score": -1},
        {"turn": 4, "score": 62.5, "success": false}]}"#;
    let read = written(&[("scenario_0/trajectory.json", json)]);
    let states: Vec<TurnState> = read.episodes[0].turns.iter().map(Turn::state).collect();
    assert_eq!(states, [TurnState::Passed, TurnState::Passed, TurnState::Failed, TurnState::Failed]);
    let messages: Vec<&str> = read
        .report
        .warnings
        .iter()
        .filter(|w| w.code == "reward.range")
        .map(|w| w.message.split_inclusive(',').next().unwrap_or_default())
        .collect();
    assert_eq!(messages, ["Turn 1 attempt 1: The reward is 62.5,", "Turn 3 attempt 1: The reward is -1,"]);
}

#[test]
fn entries_of_scenarios_without_a_folder_are_kept() {
    let report = r#"{"agent": "mini_swe", "benchmark": "restful_server_gen_iterative", "num_tasks": 2,
        "results": [{"scenario": "scenario_0", "score": 0.5}, {"scenario": "scenario_7", "score": 0.25}]}"#;
    let log = std::fs::read_to_string(fixture("own/scenario_0/test_results/turn_1_attempt_1.txt")).unwrap();
    let read = written(&[
        ("config.yaml", PLAN),
        ("report.json", report),
        ("scenario_0/test_results/turn_1_attempt_1.txt", &log),
    ]);
    assert!(read.warning("report.scenario_missing").message.contains("1 scenario"));
    assert_eq!(read.run.extra["report.results.scenario_7"]["score"], 0.25);
    assert_eq!(read.episodes[0].reported, [("staminabench.score".to_owned(), 0.5)]);
    let none = written(&[("config.yaml", PLAN), ("report.json", report)]);
    assert_eq!(none.run.extra["planned_turns"], 4);
    assert_eq!(none.run.extra["report.results.scenario_0"]["score"], 0.5);
}

#[test]
fn folders_in_the_place_of_files_and_logs_cut_among_the_failures_are_said() {
    let real = std::fs::read_to_string(fixture("../pytest/logs/plain.txt")).unwrap();
    let cut = &real[..real.find("= FAILURES").unwrap() + 400];
    let read = written(&[
        ("scenario_0/trajectory.json/", ""),
        ("scenario_0/test_results/turn_1_attempt_1.txt/", ""),
        ("scenario_0/test_results/turn_2_attempt_1.txt", cut),
    ]);
    let special: Vec<&str> =
        read.report.warnings.iter().filter(|w| w.code == "file.special").map(|w| w.path.as_str()).collect();
    assert_eq!(special, ["scenario_0/test_results/turn_1_attempt_1.txt", "scenario_0/trajectory.json"]);
    assert_eq!(read.warning("pytest.truncated").path, "scenario_0/test_results/turn_2_attempt_1.txt");
    assert_eq!(
        play(&read.episodes[0])[0],
        [(Verdict::Failed, Some(14), Some(25), Some(EndReason::TestsFailed))]
    );
}

/// JSON out of the words that trajectories use, in any nesting.
fn any_trajectory() -> impl Strategy<Value = String> {
    const KEYS: [&str; 23] = [
        "turns",
        "attempts",
        "turn",
        "attempt_idx",
        "passed",
        "total",
        "failed",
        "tests",
        "usage",
        "prompt_tokens",
        "cost",
        "messages",
        "steps",
        "role",
        "content",
        "turn_3",
        "turn_2_attempt_1",
        "results",
        "success",
        "error",
        "duration_ms",
        "n_turns",
        "a~b/c",
    ];
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        (-2i64..7).prop_map(|n| n.to_string()),
        prop::sample::select(vec![
            "1e308",
            "18446744073709551615",
            "\"7/9\"",
            "\"passed\"",
            "\"2026-06-01T10:00:00Z\""
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(6, 60, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|list| format!("[{}]", list.join(","))),
            prop::collection::vec((prop::sample::select(KEYS.to_vec()), inner), 0..5).prop_map(|map| {
                let entries: Vec<String> = map.into_iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
                format!("{{{}}}", entries.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases * 2 / 5, ..ProptestConfig::default() })]

    /// Whatever a trajectory says, it is read without a fault, and what comes out is in order.
    #[test]
    fn any_trajectory_is_read(json in any_trajectory(), cut in prop::option::of(any::<prop::sample::Index>())) {
        let folder = tempfile::tempdir().unwrap();
        let scenario = folder.path().join("scenario_0");
        std::fs::create_dir_all(scenario.join("test_results")).unwrap();
        let end = cut.map_or(json.len(), |cut| json.floor_char_boundary(cut.index(json.len())));
        std::fs::write(scenario.join("trajectory.json"), &json[..end]).unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let read = read_tree(&tree);
        let episode = &read.episodes[0];
        prop_assert!(episode.turns.is_sorted_by(|a, b| a.number < b.number), "{:?}", episode.turns);
        for turn in &episode.turns {
            prop_assert!(turn.number >= 1);
            prop_assert!(turn.attempts.is_sorted_by(|a, b| a.number < b.number));
            for attempt in &turn.attempts {
                prop_assert!(attempt.number >= 1);
                if attempt.verdict == Verdict::Passed {
                    prop_assert!(attempt.passed.is_none_or(|p| attempt.total.is_none_or(|t| p >= t || t == 0)), "{attempt:?}");
                }
                for artifact in attempt.artifacts.iter().filter(|a| a.kind == ArtifactKind::Transcript) {
                    prop_assert!(StaminaBench.transcript(&tree, artifact).is_ok(), "{artifact:?} of {}", &json[..end]);
                }
            }
        }
        prop_assert!(episode.stamina() <= episode.known_turns());
    }
}

#[test]
fn a_run_that_has_just_begun_is_recognized_and_what_the_runner_keeps_is_not_read() {
    let temp = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = temp.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put("config.yaml", "agent: MOCK\n");
    put(".stamina/run.json", "{}");
    let tree = Tree::open(temp.path()).unwrap();
    assert_eq!(StaminaBench.sniff(&tree, ""), Sniff::Recognized);
    put(".stamina/state/scenario_0/before/workspace/scenario_0/trajectory.json", "{\"turns\": []}");
    put(".stamina/episodes/scenario_0.json", "{}");
    let read = read(temp.path());
    assert!(read.episodes.is_empty() && read.report.warnings.is_empty(), "{:?}", read.report.warnings);
    assert_eq!(ingest::discover::discover(&tree).unwrap().places.len(), 1);
}
