//! Runs of `tb`: one trial of each kind (`tests/fixtures/terminal_bench/make.py`), as far as files are there.

#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "helpers of tests; figures are copied, not computed"
)]

use std::fs;
use std::path::{Path, PathBuf};

use files::Tree;
use ingest::format_trait::{Format, Report, Sniff};
use ingest::formats::terminal_bench::TerminalBench;
use model::{ArtifactKind, Baseline, EndReason, Episode, Request, Run, TestOutcome, Tokens, Verdict};
use test_folders::copy;

use crate::hostile_kit::{ZipEntry, files_of, zip};

struct Read {
    run: Run,
    episodes: Vec<Episode>,
    report: Report,
}

fn read(path: &Path) -> Read {
    let tree = Tree::open(path).unwrap();
    assert_eq!(TerminalBench.sniff(&tree, ""), Sniff::Recognized);
    let mut report = Report::default();
    let survey = TerminalBench.survey(&tree, "", &mut report);
    let [run] = &survey.runs[..] else { panic!("{:?}", survey.runs) };
    let mut episodes = Vec::new();
    for part in &survey.parts {
        for reading in TerminalBench.read(&tree, "", part, &mut report) {
            assert_eq!(reading.run, run.key);
            episodes.push(reading.episode);
        }
    }
    Read { run: run.clone(), episodes, report }
}

impl Read {
    fn codes(&self) -> Vec<&str> {
        self.report.warnings.iter().map(|w| w.code.as_str()).collect()
    }
    fn episode(&self, task: &str, repeat: u32) -> &Episode {
        self.episodes.iter().find(|e| e.scenario == task && e.repeat == repeat).unwrap()
    }
    /// Task, repeat, verdict, end reason, whether the cause is not recognized.
    fn ends(&self) -> Vec<(&str, u32, Verdict, EndReason, bool)> {
        let end = |e: &'_ Episode| (e.turns[0].attempts[0].verdict, e.end().1, e.unrecognised);
        self.episodes
            .iter()
            .map(|e| {
                let (verdict, reason, unrecognised) = end(e);
                (e.scenario.as_str(), e.repeat, verdict, reason, unrecognised)
            })
            .collect()
    }
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/terminal_bench/run-a")
}

const ENDS: [(&str, u32, Verdict, EndReason, bool); 8] = [
    ("task-a", 1, Verdict::Passed, EndReason::PassedAll, false),
    ("task-a", 2, Verdict::Failed, EndReason::AgentTimeout, false),
    ("task-b", 1, Verdict::Failed, EndReason::TestsFailed, false),
    ("task-b", 2, Verdict::Error, EndReason::VerifierTimeout, false),
    ("task-c", 1, Verdict::Error, EndReason::Environment, false),
    ("task-c", 2, Verdict::Unfinished, EndReason::Unfinished, false),
    ("task-d", 1, Verdict::Failed, EndReason::ContextOverflow, false),
    ("task-d", 2, Verdict::Failed, EndReason::AgentError, true),
];

#[test]
fn each_trial_ends_as_its_record_says() {
    let read = read(&fixture());
    assert_eq!(read.ends(), ENDS);
    assert_eq!(read.codes(), ["tb.trial_unfinished"]);
    let run = &read.run;
    assert_eq!(
        (
            run.key.as_str(),
            run.benchmark.key.as_str(),
            run.harness.as_deref(),
            run.provider.as_deref(),
            run.model.as_deref()
        ),
        ("run-a", "terminal-bench:set-a==0.1.1", Some("agent-a"), Some("vendor"), Some("model-a"))
    );
    assert_eq!((run.planned_episodes, run.attempt_limit, run.baseline), (Some(10), Some(1), None));
    assert_eq!(run.started_at.as_deref(), Some("2026-01-02T10:00:00.000000+00:00"));
    // What terminal-bench's own models compute of this file.
    assert_eq!(
        run.reported.figures,
        [
            ("tb.accuracy".to_owned(), 1.0 / 7.0),
            ("tb.n_resolved".to_owned(), 1.0),
            ("tb.n_unresolved".to_owned(), 6.0)
        ]
    );
    let settings = serde_json::to_string(&run.settings).unwrap();
    assert_eq!(run.settings["n_attempts"], 2);
    assert_eq!(run.settings["agent_kwargs.temperature"], 0.5);
    assert_eq!(run.settings["agent_kwargs.api_key"], "[hidden]");
    for private in ["somebody", "/somewhere"] {
        assert!(!settings.contains(private), "{settings}");
    }
}

#[test]
fn a_trial_has_its_tests_times_tokens_and_files() {
    let read = read(&fixture());
    let episode = read.episode("task-a", 1);
    let turn = &episode.turns[0];
    let attempt = &turn.attempts[0];
    assert_eq!((episode.planned_turns, turn.title.as_deref()), (Some(1), Some("Do task-a")));
    assert_eq!(turn.request, Some(Request::Text("# Do task-a\n\nWrite the file.".to_owned())));
    assert_eq!(attempt.tokens, Tokens { input: Some(1200), cached: None, output: Some(340) });
    assert_eq!((attempt.timing.agent_seconds, attempt.timing.test_seconds), (Some(40.5), Some(10.5)));
    assert_eq!((attempt.passed, attempt.total, attempt.steps), (Some(2), Some(2), Some(3)));
    let tests: Vec<_> = attempt.tests.iter().map(|t| (t.id.as_str(), t.outcome)).collect();
    assert_eq!(tests, [("test_one", TestOutcome::Passed), ("test_two", TestOutcome::Passed)]);
    let paths_of = |kind| {
        attempt.artifacts.iter().filter(|a| a.kind == kind).map(|a| a.path.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(paths_of(ArtifactKind::TestOutput), ["task-a/task-a.1-of-2.run-a/panes/post-test.txt"]);
    assert_eq!(paths_of(ArtifactKind::AgentLog).len(), 5, "{:?}", paths_of(ArtifactKind::AgentLog));
    assert_eq!(episode.artifacts[0].path, "run.log");
    // 0 and 0 is what tb writes for agents that it does not count for.
    assert!(read.episode("task-a", 2).turns[0].attempts[0].tokens.is_unknown());
    assert_eq!(read.episode("task-a", 2).turns[0].attempts[0].steps, None);
    assert!(read.episode("task-a", 1).identity.is_some());
    assert_ne!(read.episode("task-a", 1).identity, read.episode("task-a", 2).identity);
}

#[test]
fn the_file_of_the_run_alone_is_enough_and_so_are_those_of_the_trials() {
    let temp = tempfile::tempdir().unwrap();
    fs::copy(fixture().join("results.json"), temp.path().join("results.json")).unwrap();
    let run_file_only = read(temp.path());
    // The running trial has no entry yet.
    let ended: Vec<_> = ENDS.into_iter().filter(|end| end.3 != EndReason::Unfinished).collect();
    assert_eq!(run_file_only.ends(), ended);
    assert_eq!((run_file_only.run.harness.as_deref(), run_file_only.run.planned_episodes), (None, None));
    assert_eq!(run_file_only.run.benchmark.key, "terminal-bench:adhoc");

    let trials = tempfile::tempdir().unwrap();
    let run = trials.path().join("run-a");
    copy(&fixture(), &run);
    fs::remove_file(run.join("results.json")).unwrap();
    let ingested = read(&run);
    // The one that failed in tb itself has no file of its own, and no folder either.
    let with_folder: Vec<_> = ENDS.into_iter().filter(|end| (end.0, end.1) != ("task-c", 1)).collect();
    let ends: Vec<_> = ingested.ends().into_iter().map(|end| (end.0.to_owned(), end.2, end.3)).collect();
    assert_eq!(ends, with_folder.iter().map(|end| (end.0.to_owned(), end.2, end.3)).collect::<Vec<_>>());
}

#[test]
fn a_damaged_file_of_a_trial_leaves_its_entry_or_an_unreadable_verdict() {
    let temp = tempfile::tempdir().unwrap();
    let run = temp.path().join("run-a");
    copy(&fixture(), &run);
    fs::write(run.join("task-b/task-b.1-of-2.run-a/results.json"), "{\"trial_name\": ").unwrap();
    let damaged = read(&run);
    assert_eq!(damaged.ends(), ENDS);
    assert!(damaged.codes().contains(&"json.truncated"), "{:?}", damaged.codes());
    fs::write(run.join("results.json"), "[]").unwrap();
    let damaged = read(&run);
    let (verdict, reason) = damaged
        .ends()
        .into_iter()
        .find(|end| (end.0, end.2) == ("task-b", Verdict::Error) && end.3 == EndReason::VerifierError)
        .map(|end| (end.2, end.3))
        .unwrap();
    assert_eq!((verdict, reason), (Verdict::Error, EndReason::VerifierError));
    assert!(damaged.codes().contains(&"json.wrong_type"));
}

#[test]
fn values_that_cannot_be_are_unknown_and_contradictions_are_reported() {
    let temp = tempfile::tempdir().unwrap();
    let results = r#"{"results": [
        {"task_id": "a", "trial_name": "a.1-of-1.r", "is_resolved": true, "failure_mode": "agent_timeout", "parser_results": {"t": "failed"},
         "total_input_tokens": -5, "total_output_tokens": "many", "agent_started_at": "2026-02-30T10:00:00Z", "new_field": [1]},
        {"task_id": "b", "trial_name": "b.1-of-1.r", "is_resolved": "yes", "failure_mode": "something_new", "agent_started_at": "2026-01-01T10:00:00Z", "parser_results": {"t": "odd", "u": "skipped"}},
        {"trial_name": "nameless"}, 7, null]}"#;
    fs::write(temp.path().join("results.json"), results).unwrap();
    fs::write(temp.path().join("run_metadata.json"), r#"{"run_id": "r", "agent_name": "oracle", "model_name": "Oracle", "dataset_size": 1e9, "n_attempts": 4294967295}"#)
        .unwrap();
    let read = read(temp.path());
    assert_eq!(
        read.ends(),
        [
            ("a", 1, Verdict::Passed, EndReason::PassedAll, false),
            ("b", 1, Verdict::Error, EndReason::AgentError, true)
        ]
    );
    assert_eq!(read.codes(), ["tb.verdict_differs", "value.not_usable", "value.not_usable"]);
    assert_eq!((read.run.baseline, read.run.planned_episodes), (Some(Baseline::Oracle), None));
    assert!(read.episode("a", 1).turns[0].attempts[0].tokens.is_unknown());
    assert_eq!(read.episode("a", 1).extra["new_field"], serde_json::json!([1]));
    let attempt = &read.episode("b", 1).turns[0].attempts[0];
    assert_eq!((attempt.passed, attempt.total), (Some(0), Some(1)));
}

#[test]
fn other_files_of_the_same_names_are_no_run() {
    let temp = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("results.json", r#"{"results": [{"task": "a", "passed": true}]}"#),
        ("results.json", r#"[{"task_id": "a", "is_resolved": true}]"#),
        ("results.json", "task_id is_resolved"),
        ("run_metadata.json", r#"{"run_id": "r"}"#),
        ("tb.lock", r#"{"harness": {"version": "0.2"}}"#),
    ] {
        let path = temp.path().join(name);
        fs::write(&path, text).unwrap();
        let tree = Tree::open(temp.path()).unwrap();
        assert!(matches!(TerminalBench.sniff(&tree, ""), Sniff::Not { .. }), "{text}");
        fs::remove_file(path).unwrap();
    }
}

/// A folder that was renamed has the run's own id, and so has its zip. The zip had the name of the folder.
#[test]
fn a_renamed_run_has_one_name_as_folder_and_as_zip() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("renamed");
    copy(&fixture(), &folder);
    let key = |path: &Path, run_folder: &str| {
        let survey = TerminalBench.survey(&Tree::open(path).unwrap(), run_folder, &mut Report::default());
        survey.runs[0].key.clone()
    };
    assert_eq!(key(&folder, ""), "run-a");
    let zipped = room.path().join("renamed.zip");
    for run_folder in ["", "renamed"] {
        let run_files = files_of(&folder).into_iter();
        let entries: Vec<ZipEntry> =
            run_files.map(|(path, bytes)| ZipEntry::stored(files::join(run_folder, &path), bytes)).collect();
        fs::write(&zipped, zip(&entries)).unwrap();
        assert_eq!(key(&zipped, run_folder), "run-a", "in {run_folder:?}");
    }
}

/// With the results of the run or without: a trial is of the task that its own result names, with what its folder holds.
#[test]
fn a_renamed_folder_of_a_trial_is_its_trial() {
    for with_results in [true, false] {
        let room = tempfile::tempdir().unwrap();
        let [given, renamed] = ["given", "renamed"].map(|name| room.path().join(name));
        for run in [&given, &renamed] {
            copy(&fixture(), run);
            if !with_results {
                fs::remove_file(run.join("results.json")).unwrap();
            }
        }
        let task = renamed.join("task-d");
        let folders: Vec<PathBuf> = fs::read_dir(&task).unwrap().map(|entry| entry.unwrap().path()).collect();
        for (number, folder) in
            folders.iter().filter(|folder| folder.join("results.json").is_file()).enumerate()
        {
            fs::rename(folder, task.join(format!("renamed {number}"))).unwrap();
        }
        let facts = |run: &Path| {
            let read = read(run);
            let episode_facts = |episode: &Episode| {
                let attempt = &episode.turns[0].attempts[0];
                let attempt_facts = (attempt.verdict, attempt.end_reason, attempt.steps, attempt.tokens);
                (episode.key.clone(), episode.scenario.clone(), episode.repeat, attempt_facts)
            };
            let mut facts: Vec<_> = read.episodes.iter().map(episode_facts).collect();
            facts.sort_by(|a, b| a.0.cmp(&b.0));
            facts
        };
        assert_eq!(facts(&renamed), facts(&given), "with the results of the run: {with_results}");
        // A renamed task's folder, too.
        fs::rename(&task, renamed.join("a task")).unwrap();
        assert_eq!(facts(&renamed), facts(&given), "with the results of the run: {with_results}");
    }
}

/// Folders whose names were exchanged: none of them takes the place of another one.
#[test]
fn no_renamed_folder_is_lost_to_another_one() {
    let room = tempfile::tempdir().unwrap();
    let [given, renamed] = ["given", "renamed"].map(|name| room.path().join(name));
    for run in [&given, &renamed] {
        copy(&fixture(), run);
        fs::remove_file(run.join("results.json")).unwrap();
    }
    let task = renamed.join("task-a");
    let (first, second) = (task.join("task-a.1-of-2.run-a"), task.join("task-a.2-of-2.run-a"));
    fs::rename(&first, task.join("a")).unwrap();
    fs::rename(&second, task.join("p")).unwrap();
    // A copy of the first is called as the second one was.
    copy(&task.join("a"), &second);
    let keys = |run: &Path| {
        let mut keys: Vec<_> = read(run).episodes.into_iter().map(|episode| episode.key).collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(&renamed), keys(&given));
    let read = read(&renamed);
    assert!(read.codes().contains(&"part.duplicate"), "{:?}", read.codes());
}

#[test]
fn a_copied_trial_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    copy(&fixture(), dir.path());
    let count_before = read(dir.path()).episodes.len();
    let first_task = dir.path().join("task-a");
    let trial = fs::read_dir(&first_task)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("results.json").is_file())
        .min()
        .unwrap();
    let name = trial.file_name().unwrap().to_str().unwrap();
    copy(&trial, &first_task.join(format!("{name} copy")));
    let read = read(dir.path());
    assert_eq!(read.episodes.len(), count_before);
    assert!(read.codes().contains(&"part.duplicate"), "{:?}", read.codes());
}

#[test]
// docs/security.md: An opened folder or zip
fn results_of_many_tests_are_bounded_over_the_trials_of_a_task() {
    let room = tempfile::tempdir().unwrap();
    fs::copy(fixture().join("tb.lock"), room.path().join("tb.lock")).unwrap();
    let path = fixture().join("task-a/task-a.1-of-2.run-a/results.json");
    let mut result: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let tests: serde_json::Map<String, serde_json::Value> =
        (0..150_000).map(|number| (format!("t{number}"), "passed".into())).collect();
    result["parser_results"] = tests.into();
    for number in 1..=3 {
        let name = format!("task-a.{number}-of-3.run-a");
        result["trial_name"] = name.as_str().into();
        result["id"] = format!("00000000-0000-4000-8000-00000000000{number}").into();
        let folder = room.path().join("task-a").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("results.json"), result.to_string()).unwrap();
    }
    let read = read(room.path());
    let counted = |episode: &&Episode| episode.turns[0].attempts[0].total == Some(150_000);
    let first_task = || read.episodes.iter().filter(|episode| episode.scenario == "task-a");
    assert_eq!((first_task().count(), first_task().filter(counted).count()), (3, 2));
    assert_eq!(
        read.codes().iter().filter(|code| **code == "file.too_large").count(),
        1,
        "{:?}",
        read.codes()
    );
}
