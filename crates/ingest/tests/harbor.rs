//! Harbor's jobs: real ones (`tests/fixtures/harbor`), and what is made of them by damage, kills and other layouts.

#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "helpers of tests; figures are copied, not computed"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use files::{Tree, join};
use ingest::format::{Format, Part, Report, Sniff};
use ingest::formats::harbor::Harbor;
use model::{ArtifactKind, Baseline, Counting, EndReason, Episode, Request, Run, StepKind, Verdict};
use proptest::prelude::*;
use test_folders::copy;

#[derive(Default)]
struct Read {
    runs: Vec<Run>,
    /// Run key and episode.
    episodes: Vec<(String, Episode)>,
    parts: Vec<(String, Part)>,
    report: Report,
}

/// Reads every place below a folder as discovery does.
fn read(path: &Path) -> Read {
    let tree = Tree::open(path).unwrap();
    let mut out = Read::default();
    let mut folders = vec![String::new()];
    while let Some(at) = folders.pop() {
        if Harbor.sniff(&tree, &at) != Sniff::Recognized {
            folders.extend(tree.list(&at).iter().filter(|e| e.is_folder()).map(|e| join(&at, &e.name)));
            continue;
        }
        let survey = Harbor.survey(&tree, &at, &mut out.report);
        for part in survey.parts {
            for reading in Harbor.read(&tree, &at, &part, &mut out.report) {
                assert!(survey.runs.iter().any(|r| r.key == reading.run), "no run {}", reading.run);
                out.episodes.push((reading.run, reading.episode));
            }
            out.parts.push((at.clone(), part));
        }
        out.runs.extend(survey.runs);
    }
    out
}

impl Read {
    fn run(&self, key: &str) -> &Run {
        self.runs.iter().find(|r| r.key == key).unwrap_or_else(|| panic!("no run {key}"))
    }
    fn episodes_of(&self, run: &str) -> Vec<&Episode> {
        self.episodes.iter().filter(|(r, _)| r == run).map(|(_, e)| e).collect()
    }
    fn episode(&self, trial: &str) -> &Episode {
        let found = |e: &Episode| e.extra.get("trial").and_then(|t| t.as_str()) == Some(trial);
        &self.episodes.iter().find(|(_, e)| found(e)).unwrap_or_else(|| panic!("no trial {trial}")).1
    }
    fn codes(&self) -> Vec<&str> {
        self.report.warnings.iter().map(|w| w.code.as_str()).collect()
    }
}

/// `p` passed, `f` failed, `e` error, `n` not reached, `c` stopped from outside.
fn letters(episode: &Episode) -> String {
    episode.turns.iter().map(|t| t.state().letter()).collect()
}

/// Passed steps / declared steps, and the mean share of cases over declared steps.
fn score(episode: &Episode) -> (f64, f64) {
    let planned = f64::from(episode.planned_turns.unwrap());
    let passed = episode.turns.iter().filter(|t| t.state().is_passed()).count() as f64;
    let cases: f64 = episode
        .turns
        .iter()
        .filter_map(|t| t.attempts.last())
        .filter_map(|a| Some(f64::from(a.passed?) / f64::from(a.total.filter(|t| *t > 0)?)))
        .sum();
    (passed / planned, cases / planned)
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/harbor")
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{} has no {from}", path.display());
    std::fs::write(path, text.replace(from, to)).unwrap();
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

const V1: &str = "theme_v1_w1_notes_regression__FbTCbSY";
const V2: &str = "theme_v2_w1_notes_abort_no_rewar__sPM4jnR";
const V5: &str = "theme_v5_w1_notes_min_reward__PAxApKs";
const V6: &str = "theme_v6_w1_notes_env_broken__RcH4Ruz";
const V7: &str = "theme_v7_w1_notes_verifier_timeo__T4gXUFs";

#[test]
fn every_trial_of_the_failures_job_is_told_as_it_was() {
    let read = read(&fixture());
    // Trial, turns, end, Harbor's reward, score and case score of the benchmark's scripts.
    let table = [
        (V1, "ppfp", (Some(3), EndReason::TestsFailed), Some(0.75), 0.75, 0.80),
        (V2, "ppen", (Some(3), EndReason::VerifierError), Some(1.0), 0.50, 0.50),
        (
            "theme_v3_w1_notes_agent_timeout__exkNy4S",
            "pfpp",
            (Some(2), EndReason::AgentTimeout),
            Some(0.75),
            0.75,
            0.857,
        ),
        (
            "theme_v4_w1_notes_build_failure__etfLpGN",
            "pepp",
            (Some(2), EndReason::BuildFailed),
            Some(0.75),
            0.75,
            0.75,
        ),
        (V5, "pfnn", (Some(2), EndReason::TestsFailed), Some(0.5), 0.25, 0.357),
        ("theme_v6_w1_notes_env_broken__RcH4Ruz", "nnnn", (Some(1), EndReason::Environment), None, 0.0, 0.0),
        (V7, "penn", (Some(2), EndReason::VerifierTimeout), Some(1.0), 0.25, 0.25),
        (
            "theme_v8_w1_notes_multi_reward_f__PbDXGqX",
            "ppfp",
            (Some(3), EndReason::TestsFailed),
            Some(1.0),
            0.75,
            0.80,
        ),
    ];
    for (trial, turns, end, harbor, passed, cases) in table {
        let episode = read.episode(trial);
        assert_eq!(letters(episode), turns, "{trial}");
        assert_eq!(episode.end(), end, "{trial}");
        let reported: BTreeMap<_, _> = episode.reported.iter().cloned().collect();
        assert_eq!(reported.get("harbor.reward").copied(), harbor, "{trial}");
        let ours = score(episode);
        assert!((ours.0 - passed).abs() < 1e-9 && (ours.1 - cases).abs() < 5e-4, "{trial}: {ours:?}");
    }
    let episodes = read.episodes_of("failures-k1/oracle");
    assert_eq!(episodes.len(), 8);
    let mean = episodes.iter().map(|e| score(e).0).sum::<f64>() / 8.0;
    assert!((mean - 0.5).abs() < 1e-9);
    let reported: BTreeMap<_, _> = read.run("failures-k1/oracle").reported.figures.iter().cloned().collect();
    assert_eq!(reported["harbor.mean.reward"], 0.71875);
    assert_eq!((reported["harbor.n_trials"], reported["harbor.n_errors"]), (7.0, 1.0));

    // One exception of a trial and three of steps, where the job counts one.
    assert_eq!(episodes.iter().filter(|e| e.exception.is_some()).count(), 1);
    let of_steps: Vec<&str> = episodes
        .iter()
        .flat_map(|e| &e.turns)
        .flat_map(|t| &t.attempts)
        .filter_map(|a| a.exception.as_ref().map(|(k, _)| k.as_str()))
        .collect();
    assert_eq!(of_steps, ["RewardFileNotFoundError", "AgentTimeoutError", "VerifierTimeoutError"]);
    assert!(read.report.warnings.is_empty(), "{:?}", read.report.warnings);
}

#[test]
fn every_other_job_is_read_too() {
    let read = read(&fixture());
    let keys: Vec<&str> = {
        let mut keys: Vec<&str> = read.runs.iter().map(|r| r.key.as_str()).collect();
        keys.sort_unstable();
        keys
    };
    assert_eq!(
        keys,
        [
            "failures-k1/oracle",
            "interrupted/oracle",
            "nop-k1/nop",
            "oracle-k2/oracle",
            "terminus2-mock-priced/terminus-2/openai/gpt-4o-mini"
        ]
    );
    let turns = |run: &str| -> BTreeMap<(String, u32), String> {
        read.episodes_of(run).iter().map(|e| ((e.scenario.clone(), e.repeat), letters(e))).collect()
    };
    let wanted = |list: &[(&str, u32, &str)]| -> BTreeMap<(String, u32), String> {
        list.iter().map(|(s, r, l)| (((*s).to_owned(), *r), (*l).to_owned())).collect()
    };
    let (t1, t2, v1) = ("theme_t1_w1_notes_cli", "theme_t2_w2_ledger_report", "theme_v1_w1_notes_regression");
    assert_eq!(turns("interrupted/oracle"), wanted(&[(t1, 1, "pppp"), (t2, 1, "ppp"), (v1, 1, "ppfp")]));
    assert_eq!(turns("nop-k1/nop"), wanted(&[(t1, 1, "eeee"), (t2, 1, "eee")]));
    let of_nop = read.episodes_of("nop-k1/nop");
    let totals = of_nop.iter().flat_map(|e| &e.turns).flat_map(|t| &t.attempts).map(|a| (a.passed, a.total));
    assert!(totals.clone().count() == 7 && totals.into_iter().all(|t| t == (Some(0), Some(0))));
    let twice =
        [(t1, 1, "pppp"), (t1, 2, "pppp"), (t2, 1, "ppp"), (t2, 2, "ppp"), (v1, 1, "ppfp"), (v1, 2, "ppfp")];
    assert_eq!(turns("oracle-k2/oracle"), wanted(&twice));
    // The repeats stand in the order in which they began.
    assert_eq!(read.episode("theme_t1_w1_notes_cli__H5GwjG9").repeat, 1);
    assert_eq!(read.episode("theme_t1_w1_notes_cli__Pc56hoy").repeat, 2);

    assert_eq!(read.run("nop-k1/nop").baseline, Some(Baseline::Nop));
    let oracle = read.run("oracle-k2/oracle");
    assert_eq!(oracle.baseline, Some(Baseline::Oracle));
    assert_eq!(oracle.planned_episodes, Some(6));
    assert_eq!(oracle.runner, Some(("Harbor".to_owned(), Some("0.24.0".to_owned()))));
    assert_eq!(oracle.benchmark.key, "harbor:tasks");
    assert_eq!(oracle.settings.get("n_attempts").and_then(serde_json::Value::as_u64), Some(2));
    assert_eq!(oracle.settings.get("environment.type").and_then(|v| v.as_str()), Some("docker"));
}

#[test]
fn a_model_run_has_tokens_cost_calls_and_a_transcript() {
    let read = read(&fixture());
    let run = read.run("terminus2-mock-priced/terminus-2/openai/gpt-4o-mini");
    assert_eq!((run.model.as_deref(), run.provider.as_deref()), (Some("gpt-4o-mini"), Some("openai")));
    assert_eq!((run.harness.as_deref(), run.harness_version.as_deref()), (Some("terminus-2"), Some("2.0.0")));
    assert_eq!(run.baseline, None);
    let episode = read.episodes_of(&run.key)[0];
    let attempts: Vec<_> = episode.turns.iter().flat_map(|t| &t.attempts).collect();
    let input: u64 = attempts.iter().map(|a| a.tokens.input.unwrap()).sum();
    let cost: f64 = attempts.iter().map(|a| a.cost_usd.unwrap()).sum();
    assert_eq!(input, 18_675);
    assert!((cost - 0.002_991_225).abs() < 1e-12);
    // Two commands, one, and finishing twice: `mark_task_complete` counts.
    assert_eq!(attempts.iter().map(|a| a.tool_calls.unwrap()).collect::<Vec<_>>(), [5, 5, 5, 5]);
    assert!((attempts[0].timing.agent_seconds.unwrap() - 3.470_589).abs() < 1e-6);

    let tree = Tree::open(&fixture()).unwrap();
    let transcript = attempts[0].artifacts.iter().find(|a| a.kind == ArtifactKind::Transcript).unwrap();
    let steps = Harbor.transcript(&tree, transcript).unwrap();
    assert_eq!(steps.format.as_deref(), Some("ATIF-v1.8"));
    assert_eq!(steps.steps[0].kind, StepKind::User);
    let calls: usize = steps.steps.iter().map(|s| s.tool_calls.len()).sum();
    assert_eq!(calls, 5);
    let first = &steps.steps[1].tool_calls;
    assert_eq!((first[0].summary.as_str(), first[0].result.as_deref()), ("ls -la /app", None));
    assert!(first[1].result.as_deref().unwrap().contains("total 8"));
}

#[test]
fn a_turn_says_what_was_asked_and_which_cases_failed() {
    let read = read(&fixture());
    let episode = read.episode(V1);
    let turn = &episode.turns[2];
    assert_eq!(turn.title.as_deref(), Some("Round 3 - hide done notes (conflicts with round 2)"));
    assert_eq!(turn.extra.get("step").and_then(|v| v.as_str()), Some("round-3"));
    let Some(Request::File(request)) = &turn.request else { panic!("no request") };
    assert_eq!(request.path, "tasks/theme_v1_w1_notes_regression/steps/round-3/instruction.md");
    let kinds: Vec<(ArtifactKind, &str)> = turn.artifacts.iter().map(|a| (a.kind, a.path.as_str())).collect();
    assert_eq!(
        kinds,
        [
            (ArtifactKind::Reference, "tasks/theme_v1_w1_notes_regression/steps/round-3/solution/solve.sh"),
            (ArtifactKind::Suite, "tasks/theme_v1_w1_notes_regression/steps/round-3/tests")
        ]
    );
    let attempt = &turn.attempts[0];
    assert_eq!((attempt.passed, attempt.total), (Some(2), Some(10)));
    let failing: Vec<_> = attempt.tests.iter().filter(|t| t.is_failing()).collect();
    assert_eq!(failing.len(), 8);
    assert!(failing.iter().all(|t| t.group.is_some() && t.expected.is_some() && t.message.is_some()));
    let passed = attempt.tests.iter().find(|t| !t.is_failing()).unwrap();
    assert_eq!((passed.group.as_ref(), passed.message.as_ref()), (None, None));
    let logs: Vec<&str> = attempt.artifacts.iter().map(|a| a.path.rsplit('/').next().unwrap()).collect();
    assert_eq!(logs, ["test-stdout.txt", "oracle.txt"]);
    assert_eq!(episode.extra.get("difficulty").and_then(|v| v.as_str()), Some("easy"));
}

#[test]
fn without_the_tasks_the_number_of_steps_is_told_as_far_as_it_is_known() {
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("failures-k1");
    copy(&fixture().join("jobs/failures-k1"), &job);
    // The log of a trial says `Starting step 3/4`.
    let with_log = read(&job);
    let episode = with_log.episode(V2);
    assert_eq!((episode.planned_turns, letters(episode).as_str()), (Some(4), "ppe"));
    assert_eq!(episode.extra.get("declared_steps").and_then(|v| v.as_str()), Some("4, by trial.log"));
    // Nothing was started of this one, so nothing is known of its steps but that there is one.
    let broken = with_log.episode(V6);
    assert_eq!((broken.planned_turns, broken.end()), (None, (Some(1), EndReason::Environment)));
    assert_eq!(broken.extra["declared_steps"], "unknown, at least 1");
    let unknown = |read: &Read| -> Vec<String> {
        let warnings = read.report.warnings.iter().filter(|w| w.code == "harbor.declared_steps_unknown");
        warnings.map(|w| w.path.clone()).collect()
    };
    assert_eq!(unknown(&with_log), [V6]);

    for trial in [V1, V2, V5, V7] {
        std::fs::remove_file(job.join(trial).join("trial.log")).unwrap();
    }
    let without = read(&job);
    // The last step passed, so it was the last one.
    assert_eq!(without.episode(V1).planned_turns, Some(4));
    assert_eq!(without.episode(V1).extra["declared_steps"], "4, by a trial that ran to its end");
    assert_eq!(without.episode(V2).planned_turns, Some(3));
    assert_eq!(without.episode(V2).extra["declared_steps"], "unknown, at least 3");
    assert_eq!(without.episode(V5).extra["declared_steps"], "unknown, at least 2");
    assert_eq!(unknown(&without), [V2, V5, V6, V7]);
    // Without the tests themselves, other output of the task shows that they print CASE lines.
    assert_eq!(letters(without.episode("theme_v4_w1_notes_build_failure__etfLpGN")), "pepp");
}

/// `min_reward` may name another reward than the one that decides whether a step passed.
#[test]
fn a_trial_that_another_reward_stopped_has_ended() {
    let dir = tempfile::tempdir().unwrap();
    let trial = dir.path().join("job").join(V5);
    copy(&fixture().join("jobs/failures-k1").join(V5), &trial);
    edit(&trial.join("result.json"), "\"reward\": 0.0", "\"reward\": 1.0, \"style\": 0.5");
    let with_log = read(dir.path());
    let episode = with_log.episode(V5);
    assert_eq!((episode.planned_turns, letters(episode).as_str()), (Some(4), "pp"));
    assert_eq!(episode.end(), (Some(3), EndReason::NoVerdict));
    // Nothing says that there were no further steps.
    std::fs::remove_file(trial.join("trial.log")).unwrap();
    assert_eq!(read(dir.path()).episode(V5).extra["declared_steps"], "unknown, at least 2");
}

#[test]
fn a_trial_that_never_began_has_the_steps_of_its_tasks_other_trials() {
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("failures-k1");
    copy(&fixture().join("jobs/failures-k1").join(V6), &job.join(V6));
    let other = job.join("theme_v6_w1_notes_env_broken__Another");
    copy(&job.join(V6), &other);
    let result = other.join("result.json");
    let mut of_other: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&result).unwrap()).unwrap();
    let config = std::fs::read_to_string(other.join("config.json")).unwrap();
    write(&other.join("config.json"), &config.replace(V6, "theme_v6_w1_notes_env_broken__Another"));
    of_other["id"] = "of another trial".into();
    of_other["exception_info"] = serde_json::Value::Null;
    of_other["verifier_result"] = serde_json::json!({"rewards": {"reward": 1.0}});
    std::fs::write(&result, of_other.to_string()).unwrap();
    let planned = |read: &Read| read.episode(V6).planned_turns;
    let single = read(dir.path());
    assert_eq!(planned(&single), Some(1));
    assert!(!single.codes().contains(&"harbor.declared_steps_unknown"));
    write(&other.join("trial.log"), "Starting step 1/4: round-1\n");
    assert_eq!(planned(&read(dir.path())), Some(4));
}

#[test]
fn without_result_and_log_the_folders_bound_the_number_of_steps() {
    let dir = tempfile::tempdir().unwrap();
    let trial = dir.path().join("failures-k1").join(V2);
    copy(&fixture().join("jobs/failures-k1").join(V2), &trial);
    for file in ["result.json", "trial.log"] {
        std::fs::remove_file(trial.join(file)).unwrap();
    }
    let bound = |read: &Read| {
        let warning =
            read.report.warnings.iter().find(|w| w.code == "harbor.declared_steps_unknown").unwrap();
        warning.message.split("at least ").nth(1).unwrap().split('.').next().unwrap().to_owned()
    };
    let killed = read(dir.path());
    let episode = killed.episode(V2);
    assert_eq!((letters(episode).as_str(), episode.planned_turns), ("ppc", Some(3)));
    assert_eq!((bound(&killed).as_str(), episode.end()), ("3", (Some(3), EndReason::Unfinished)));
    // A step in flight still has its files in the trial's own folder; it counts too.
    write(&trial.join("steps/round-3/verifier/reward.txt"), "1");
    write(&trial.join("agent/oracle.txt"), "working");
    let running = read(dir.path());
    let episode = running.episode(V2);
    assert_eq!((letters(episode).as_str(), episode.planned_turns), ("pppc", Some(4)));
    assert_eq!(
        (bound(&running).as_str(), &episode.extra["declared_steps"]),
        ("4", &"unknown, at least 4".into())
    );
}

#[test]
fn a_step_without_a_case_summary_is_shown_and_counts_as_nothing() {
    let dir = tempfile::tempdir().unwrap();
    small_job(dir.path());
    let trial = dir.path().join("jobs/failures-k1").join(V1);
    let output = trial.join("steps/round-2/verifier/test-stdout.txt");
    let whole = std::fs::read_to_string(&output).unwrap();
    std::fs::write(&output, whole.split("CASE_SUMMARY").next().unwrap()).unwrap();
    let read = read(dir.path());
    let attempt = &read.episode(V1).turns[1].attempts[0];
    assert_eq!((attempt.passed, attempt.total, attempt.verdict), (Some(7), Some(7), Verdict::Passed));
    assert_eq!((attempt.counting, attempt.share()), (Counting::Zero, Some(0.0)));
    assert_eq!(read.episode(V1).turns[0].attempts[0].share(), Some(1.0));
    assert!(read.codes().contains(&"cases.no_summary"));
}

#[test]
fn whether_a_build_failed_is_told_from_the_whole_job() {
    let dir = tempfile::tempdir().unwrap();
    copy(&fixture().join("jobs/nop-k1"), &dir.path().join("nop-k1"));
    // Nothing in this job, opened alone, says that its tests print CASE lines, so nothing says that a build failed.
    let alone = read(dir.path());
    let of_nop = alone.episodes_of("nop-k1/nop");
    assert_eq!(of_nop.iter().map(|e| letters(e)).collect::<Vec<_>>(), ["ffff", "fff"]);
    assert!(of_nop.iter().all(|e| e.end() == (Some(1), EndReason::TestsFailed)));
    let shares = |read: &Read| -> Vec<Option<f64>> {
        read.episodes_of("nop-k1/nop").iter().flat_map(|e| &e.turns).map(|t| t.attempts[0].share()).collect()
    };
    assert_eq!(shares(&alone), [None; 7]);

    // A trial of another task says it, and every part of the job is to be read anew.
    copy(&fixture().join("jobs/failures-k1").join(V5), &dir.path().join("nop-k1").join(V5));
    let together = read(dir.path());
    let of_nop = together.episodes_of("nop-k1/nop");
    let ends: Vec<_> = of_nop.iter().map(|e| (letters(e), e.end().1)).collect();
    assert_eq!(
        ends,
        [("eeee".to_owned(), EndReason::BuildFailed), ("eee".to_owned(), EndReason::BuildFailed)]
    );
    assert_eq!(shares(&together), [Some(0.0); 7]);
    for (_, part) in &alone.parts {
        let now = &together.parts.iter().find(|(_, p)| p.key == part.key).unwrap().1;
        assert_ne!(now.stamp, part.stamp, "{}", part.key);
    }
}

#[test]
fn a_killed_trial_shows_its_finished_steps() {
    let dir = tempfile::tempdir().unwrap();
    small_job(dir.path());
    let trial = dir.path().join("jobs/failures-k1").join(V1);
    std::fs::remove_file(trial.join("result.json")).unwrap();
    std::fs::remove_dir_all(trial.join("steps/round-4")).unwrap();
    std::fs::remove_dir_all(trial.join("steps/round-3/verifier")).unwrap();
    write(
        &trial.join("trial.log"),
        "Starting step 1/4: round-1\nStarting step 2/4: round-2\nStarting step 3/4: round-3\n",
    );
    let killed = read(dir.path());
    let episode = killed.episode(V1);
    assert_eq!(letters(episode), "ppcn");
    assert_eq!(episode.end(), (Some(3), EndReason::Unfinished));
    assert_eq!(episode.planned_turns, Some(4));
    assert_eq!(episode.turns[1].attempts[0].total, Some(7));
    assert!(killed.codes().contains(&"harbor.trial_unfinished"));

    // The same without the log: what lies in the trial's own folder is of the step in flight.
    std::fs::remove_file(trial.join("trial.log")).unwrap();
    std::fs::remove_dir_all(trial.join("steps/round-3")).unwrap();
    write(&trial.join("agent/oracle.txt"), "working");
    let killed = read(dir.path());
    let episode = killed.episode(V1);
    assert_eq!(letters(episode), "ppcn");
    let logs: Vec<&str> = episode.turns[2].attempts[0].artifacts.iter().map(|a| a.path.as_str()).collect();
    assert_eq!(logs, [format!("jobs/failures-k1/{V1}/agent/oracle.txt")]);

    // And without anything of the task: passing all that is known is not passing everything.
    let alone = tempfile::tempdir().unwrap();
    std::fs::remove_dir_all(trial.join("agent")).unwrap();
    copy(&trial, &alone.path().join(V1));
    let killed = read(alone.path());
    let episode = killed.episode(V1);
    assert_eq!((letters(episode).as_str(), episode.end()), ("pp", (Some(3), EndReason::Unfinished)));
}

#[test]
fn a_cancelled_trial_is_stopped_from_outside() {
    let dir = tempfile::tempdir().unwrap();
    let job = small_job(dir.path());
    let path = job.join(V2).join("result.json");
    edit(&path, "RewardFileNotFoundError", "CancelledError");
    edit(
        &job.join("result.json"),
        "\"finished_at\": \"2026-11-21T07:33:12.007169\"",
        "\"finished_at\": null",
    );
    edit(
        &job.join("result.json"),
        "\"updated_at\": \"2026-11-21T07:33:12.007169\"",
        "\"updated_at\": \"2026-11-21T06:33:12Z\"",
    );
    let read = read(dir.path());
    let episode = read.episode(V2);
    assert_eq!((letters(episode).as_str(), episode.end()), ("ppcn", (Some(3), EndReason::Cancelled)));
    assert_eq!(read.run("failures-k1/oracle").finished_at, None);
    assert!(read.codes().contains(&"harbor.job_unfinished"));
}

/// As Harbor writes it on Ctrl-C: the exception is the trial's, the step in flight has neither grade nor exception.
#[test]
fn an_interrupted_step_takes_the_exception_of_its_trial() {
    let dir = tempfile::tempdir().unwrap();
    small_job(dir.path());
    let trial = dir.path().join("jobs/failures-k1").join(V2);
    let path = trial.join("result.json");
    let mut result: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let step = &mut result["step_results"][2];
    let mut exception = step["exception_info"].take();
    exception["exception_type"] = "CancelledError".into();
    step["verifier"] = serde_json::Value::Null;
    result["exception_info"] = exception;
    std::fs::write(&path, result.to_string()).unwrap();
    std::fs::remove_dir_all(trial.join("steps/round-3")).unwrap();
    write(&trial.join("agent/oracle.txt"), "at work");
    let read = read(dir.path());
    let episode = read.episode(V2);
    assert_eq!((letters(episode).as_str(), episode.end()), ("ppcn", (Some(3), EndReason::Cancelled)));
    let attempt = &episode.turns[2].attempts[0];
    assert_eq!(attempt.exception.as_ref().unwrap().0, "CancelledError");
    assert!(attempt.artifacts.iter().any(|a| a.path.ends_with(&format!("{V2}/agent/oracle.txt"))));
    assert_eq!(episode.exception.as_ref().unwrap().0, "CancelledError");
    assert!(episode.turns[0].attempts[0].exception.is_none());
}

#[test]
fn trials_without_a_job_are_read_as_one() {
    let dir = tempfile::tempdir().unwrap();
    for trial in [V1, V5] {
        copy(&fixture().join("jobs/failures-k1").join(trial), &dir.path().join("trials").join(trial));
    }
    let read = read(dir.path());
    assert_eq!(read.runs.len(), 1);
    assert_eq!((read.runs[0].key.as_str(), read.runs[0].planned_episodes), ("trials/oracle", None));
    assert_eq!(read.episodes_of("trials/oracle").len(), 2);
    assert_eq!(read.codes(), ["harbor.no_job_files"]);
}

#[test]
fn damaged_files_are_said_and_nothing_vanishes() {
    let dir = tempfile::tempdir().unwrap();
    let job = small_job(dir.path());
    let text = std::fs::read_to_string(job.join(V1).join("result.json")).unwrap();
    write(&job.join(V1).join("result.json"), &text[..text.len() / 2]);
    write(&job.join(V2).join("result.json"), "[1, 2]");
    write(&job.join(V2).join("config.json"), "");
    write(&job.join("result.json"), "\u{0}\u{1}");
    std::fs::write(job.join("lock.json"), [0xff; 10]).unwrap();
    std::fs::create_dir(job.join("theme_x__never")).unwrap();
    std::fs::create_dir(job.join(".sources")).unwrap();
    let read = read(dir.path());
    assert_eq!(read.episodes_of("failures-k1/oracle").len(), 2);
    assert_eq!(letters(read.episode(V1)), "ppfp");
    // It has ended: what cannot be read is an error of the verifier, not a trial that is still running.
    assert_eq!(letters(read.episode(V2)), "ppen");
    assert_eq!(read.episode(V2).end(), (Some(3), EndReason::VerifierError));
    assert_eq!(read.episode(V2).turns[2].attempts[0].extra["verdict"], "unreadable");
    assert_eq!(read.run("failures-k1/oracle").runner, Some(("Harbor".to_owned(), None)));
    assert!(read.run("failures-k1/oracle").reported.figures.is_empty());
    let found_messages: Vec<(&str, &str)> =
        read.report.warnings.iter().map(|w| (w.path.rsplit('/').next().unwrap(), w.code.as_str())).collect();
    for want in [
        ("result.json", "json.truncated"),
        ("result.json", "json.wrong_type"),
        ("config.json", "file.empty"),
        ("theme_x__never", "harbor.not_a_trial"),
    ] {
        assert!(found_messages.contains(&want), "{want:?} in {found_messages:?}");
    }
    assert!(!found_messages.iter().any(|(path, _)| *path == ".sources"));
}

#[test]
fn values_that_cannot_be_are_unknown_and_said() {
    let dir = tempfile::tempdir().unwrap();
    let path = small_job(dir.path()).join(V1).join("result.json");
    let mut result: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let steps = &mut result["step_results"];
    steps[0]["agent_execution"]["finished_at"] = "2020-01-01T00:00:00Z".into();
    steps[1]["agent_execution"]["started_at"] = "2026-02-30T00:00:00Z".into();
    steps[2]["verifier"]["finished_at"] = "2026-11-21T07:40:00".into();
    steps[3]["agent_result"] = serde_json::json!({"n_input_tokens": "12", "n_output_tokens": 3, "n_cache_tokens": -1, "cost_usd": -0.5});
    result["finished_at"] = "2020-01-01T00:00:00Z".into();
    std::fs::write(&path, result.to_string()).unwrap();
    let read = read(dir.path());
    let episode = read.episode(V1);
    let attempts: Vec<_> = episode.turns.iter().map(|t| &t.attempts[0]).collect();
    let seconds: Vec<[bool; 2]> = attempts
        .iter()
        .map(|a| [a.timing.agent_seconds.is_some(), a.timing.test_seconds.is_some()])
        .collect();
    assert_eq!(seconds, [[false, true], [false, true], [true, false], [true, true]]);
    let (tokens, cost) = (attempts[3].tokens, attempts[3].cost_usd);
    assert_eq!((tokens.input, tokens.cached, tokens.output, cost), (None, None, Some(3), None));
    assert_eq!(letters(episode), "ppfp");
    let found_messages: Vec<&str> = read
        .report
        .warnings
        .iter()
        .filter(|w| w.code == "value.not_usable")
        .map(|w| w.message.as_str())
        .collect();
    assert_eq!(found_messages.len(), 5, "four steps and the trial: {found_messages:?}");
    for part in [
        "agent_execution.started_at \"2026-02-30",
        "n_input_tokens \"12\"",
        "n_cache_tokens -1",
        "cost_usd -0.5",
    ] {
        assert!(found_messages.iter().any(|message| message.contains(part)), "{part}: {found_messages:?}");
    }
}

#[test]
fn wrong_types_in_a_result_cost_only_themselves() {
    let dir = tempfile::tempdir().unwrap();
    small_job(dir.path());
    let path = dir.path().join("jobs/failures-k1").join(V1).join("result.json");
    edit(&path, "\"started_at\": \"2026-11-21T07:30:38.546352Z\"", "\"started_at\": 3");
    edit(&path, "\"cost_usd\": null", "\"cost_usd\": {\"a\": \"b\"}, \"new_field\": 7");
    edit(&path, "\"agent_info\": {", "\"surprise\": [1], \"agent_info\": {");
    let read = read(dir.path());
    let episode = read.episode(V1);
    assert_eq!(letters(episode), "ppfp");
    assert_eq!(episode.timing.started_at, None);
    assert_eq!(episode.turns[0].attempts[0].cost_usd, None);
    assert_eq!(episode.turns[0].attempts[0].extra["new_field"], 7);
    assert_eq!(episode.extra["surprise"][0], 1);
}

#[test]
fn the_layout_of_evocode_bench_gives_one_run_per_model() {
    let dir = tempfile::tempdir().unwrap();
    let tasks =
        ["theme_t1_w1_notes_cli", "theme_v2_w1_notes_abort_no_reward", "theme_v6_w1_notes_env_broken"];
    for task in tasks {
        copy(&fixture().join("tasks").join(task), &dir.path().join(task));
    }
    let place = |from: &str, trial: &str, task: &str, bucket: &str| {
        let job = dir.path().join(task).join("harbor_jobs").join(bucket).join("2026-11-21__07-30-38");
        copy(&fixture().join("jobs").join(from).join(trial), &job.join(trial));
        for file in ["config.json", "result.json", "lock.json"] {
            std::fs::copy(fixture().join("jobs").join(from).join(file), job.join(file)).unwrap();
        }
    };
    place("failures-k1", V2, tasks[1], "oracle");
    place("oracle-k2", "theme_t1_w1_notes_cli__H5GwjG9", tasks[0], "oracle");
    place("terminus2-mock-priced", "theme_t1_w1_notes_cli__xVc8kuG", tasks[0], "gpt-4o-mini");
    let all = read(dir.path());
    let mut keys: Vec<&str> = all.runs.iter().map(|r| r.key.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["gpt-4o-mini/terminus-2", "oracle/oracle"]);
    let turns: Vec<String> = all.episodes_of("oracle/oracle").iter().map(|e| letters(e)).collect();
    assert_eq!(turns, ["pppp", "ppen"]);
    // A task that was never run counts as 0, as in the published scores.
    let totals = &all.run("gpt-4o-mini/terminus-2").reported.totals_only;
    let zero: Vec<(&str, Option<u32>, Option<f64>)> =
        totals.iter().map(|t| (t.scenario.as_str(), t.turns, t.passed_turns)).collect();
    assert_eq!(zero, [(tasks[1], Some(4), Some(0.0)), (tasks[2], Some(4), Some(0.0))]);
    assert!(all.codes().contains(&"harbor.task_not_run"));
    assert_eq!(all.parts.len(), 2);

    // Nor was it run where a job is there that began no trial.
    let job = dir.path().join(tasks[2]).join("harbor_jobs/gpt-4o-mini/2026-11-22__07-30-38");
    std::fs::create_dir_all(&job).unwrap();
    for file in ["config.json", "result.json", "lock.json"] {
        std::fs::copy(fixture().join("jobs/terminus2-mock-priced").join(file), job.join(file)).unwrap();
    }
    let run = read(dir.path()).run("gpt-4o-mini/terminus-2").clone();
    let zero: Vec<&str> = run.reported.totals_only.iter().map(|t| t.scenario.as_str()).collect();
    assert_eq!(zero, [tasks[1], tasks[2]]);
    std::fs::remove_dir_all(&job).unwrap();

    // One task's folder alone.
    let one = read(&dir.path().join(tasks[0]));
    assert_eq!(one.runs.len(), 2);
    assert!(one.episodes.iter().all(|(_, e)| letters(e) == "pppp" && e.planned_turns == Some(4)));
}

#[test]
fn as_many_episodes_are_planned_in_the_layout_of_evocode_bench_as_the_tasks_to_run_again_name() {
    let dir = tempfile::tempdir().unwrap();
    let tasks =
        ["theme_t1_w1_notes_cli", "theme_v2_w1_notes_abort_no_reward", "theme_v6_w1_notes_env_broken"];
    for task in tasks {
        copy(&fixture().join("tasks").join(task), &dir.path().join(task));
    }
    let (from, trial) = (fixture().join("jobs/oracle-k2"), "theme_t1_w1_notes_cli__H5GwjG9");
    let job = dir.path().join(tasks[0]).join("harbor_jobs/oracle/2026-11-21__07-30-38");
    copy(&from.join(trial), &job.join(trial));
    for file in ["config.json", "result.json", "lock.json"] {
        std::fs::copy(from.join(file), job.join(file)).unwrap();
    }
    let tree = Tree::open(dir.path()).unwrap();
    let planned = ingest::view::planned(&tree, "harbor", "", "oracle/oracle").unwrap();
    let names: Vec<&str> = planned.iter().map(|planned| planned.scenario.as_str()).collect();
    assert!(names.contains(&tasks[1]) && names.contains(&tasks[2]), "neither was run: {names:?}");
    let all: u32 = planned.iter().map(|planned| planned.episodes).sum();
    assert_eq!(read(dir.path()).run("oracle/oracle").planned_episodes, Some(all));
}

#[test]
fn a_single_trial_can_be_opened_alone() {
    let read = read(&fixture().join("jobs/failures-k1").join(V5));
    assert_eq!(read.runs.len(), 1);
    assert_eq!(read.runs[0].harness.as_deref(), Some("oracle"));
    let episode = read.episode("");
    assert_eq!((letters(episode).as_str(), episode.planned_turns), ("pf", Some(4)));
}

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
    let ends: Vec<(String, EndReason)> = episodes.iter().map(|e| (letters(e), e.end().1)).collect();
    let want = [
        ("p", EndReason::PassedAll),
        ("f", EndReason::TestsFailed),
        ("f", EndReason::AgentTimeout),
        ("n", EndReason::Environment),
        ("e", EndReason::Endpoint),
        ("c", EndReason::Unfinished),
    ];
    assert_eq!(ends, want.map(|(l, e)| (l.to_owned(), e)));
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

    // Without the task's folder the request is what the agent was told.
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
    let from = fixture().join("jobs/failures-k1").join(V1);
    copy(&from, &dir.path().join("job").join(V1));
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

#[test]
fn only_the_part_that_changed_has_another_stamp() {
    let dir = tempfile::tempdir().unwrap();
    copy(&fixture(), dir.path());
    let before = read(dir.path()).parts;
    assert_eq!(before, read(dir.path()).parts);
    let reward = dir.path().join("jobs/failures-k1").join(V1).join("steps/round-3/verifier/reward.txt");
    write(&reward, "1.0\n");
    write(&dir.path().join("tasks/theme_t2_w2_ledger_report/task.toml"), "[[steps]]\nname = \"round-1\"\n");
    let after = read(dir.path()).parts;
    let mut changed: Vec<(&str, &str)> = before
        .iter()
        .zip(&after)
        .filter(|(a, b)| a.1.stamp != b.1.stamp)
        .map(|(a, _)| (a.0.as_str(), a.1.key.as_str()))
        .collect();
    changed.sort_unstable();
    let t2 = "theme_t2_w2_ledger_report";
    assert_eq!(
        changed,
        [
            ("jobs/failures-k1", "theme_v1_w1_notes_regression"),
            ("jobs/interrupted", t2),
            ("jobs/nop-k1", t2),
            ("jobs/oracle-k2", t2)
        ]
    );
}

#[test]
fn a_task_that_was_changed_since_does_not_change_what_ran() {
    let dir = tempfile::tempdir().unwrap();
    small_job(dir.path());
    let toml = dir.path().join("tasks/theme_v2_w1_notes_abort_no_reward/task.toml");
    edit(&toml, "[[steps]]\nname = \"round-4\"", "");
    let read = read(dir.path());
    assert_eq!(read.episode(V2).planned_turns, Some(4));
    assert!(read.codes().contains(&"harbor.steps_differ"));
}

/// The task was changed while its job ran: each trial has as many steps as it was run with.
#[test]
fn trials_of_one_task_may_have_other_numbers_of_steps() {
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("oracle-k2");
    copy(&fixture().join("jobs/oracle-k2"), &job);
    let (short, whole) = ("theme_t1_w1_notes_cli__H5GwjG9", "theme_t1_w1_notes_cli__Pc56hoy");
    let result = job.join(short).join("result.json");
    let mut json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&result).unwrap()).unwrap();
    json["step_results"].as_array_mut().unwrap().pop();
    std::fs::write(&result, json.to_string()).unwrap();
    std::fs::remove_dir_all(job.join(short).join("steps/round-4")).unwrap();
    edit(&job.join(short).join("trial.log"), "/4: ", "/3: ");
    let as_they_ran = |read: &Read| {
        for (trial, steps) in [(short, 3), (whole, 4)] {
            let episode = read.episode(trial);
            assert_eq!(episode.planned_turns, Some(steps), "{trial}");
            assert_eq!(episode.end(), (None, EndReason::PassedAll), "{trial}");
            assert_eq!(letters(episode).len(), steps as usize, "{trial}");
        }
    };
    as_they_ran(&read(&job));
    // Without a log: all its steps passed, so it had no more.
    std::fs::remove_file(job.join(short).join("trial.log")).unwrap();
    as_they_ran(&read(&job));
}

#[test]
fn names_of_folders_say_nothing_of_which_trials_belong_together() {
    let dir = tempfile::tempdir().unwrap();
    let (job, renamed) = (dir.path().join("as-it-was"), dir.path().join("renamed"));
    // Without the tasks: the trials tell each other's number of steps.
    copy(&fixture().join("jobs/oracle-k2"), &job.join("job"));
    copy(&fixture().join("jobs/oracle-k2"), &renamed.join("job"));
    let mut trials: Vec<PathBuf> = std::fs::read_dir(renamed.join("job"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    trials.sort();
    // Each alone, two tasks under one stem, and one that looks as if it were of another task.
    let names = ["first", "2", "same__a", "same__b", "theme_t1_w1_notes_cli__x", "theme_t1_w1_notes_cli__y"];
    for (trial, name) in trials.iter().zip(names) {
        std::fs::rename(trial, renamed.join("job").join(name)).unwrap();
    }
    // Only the log of one repeat says how many steps there were.
    for log in [job.join("job/theme_t1_w1_notes_cli__H5GwjG9"), renamed.join("job/first")] {
        std::fs::remove_file(log.join("trial.log")).unwrap();
    }
    let episodes_in = |path: &Path| -> Vec<(String, u32, Option<u32>, String)> {
        let read = read(path);
        let mut episodes_in: Vec<_> = read
            .episodes
            .iter()
            .map(|(_, e)| (e.scenario.clone(), e.repeat, e.planned_turns, letters(e)))
            .collect();
        episodes_in.sort();
        episodes_in
    };
    let (was, is) = (episodes_in(&job), episodes_in(&renamed));
    assert_eq!(was.len(), 6);
    assert_eq!(is, was);
}

#[test]
fn tasks_of_one_name_from_two_data_sets_are_two_scenarios() {
    let dir = tempfile::tempdir().unwrap();
    let trial = |folder: &str, source: &str| {
        let path = dir.path().join("job").join(folder);
        let task = format!(r#""task": {{"path": "tasks/hello"{source}}}"#);
        write(
            &path.join("config.json"),
            &format!(r#"{{"trial_name": "{folder}", {task}, "agent": {{"name": "a"}}}}"#),
        );
        write(
            &path.join("result.json"),
            &format!(
                r#"{{"task_name": "hello", "trial_name": "{folder}", "started_at": "2026-01-01T10:00:00Z",
                     "config": {{{task}}}, "verifier_result": {{"rewards": {{"reward": 1.0}}}}}}"#
            ),
        );
    };
    trial("hello__1", r#", "source": "one""#);
    trial("hello__2", r#", "source": "two""#);
    trial("hello__3", r#", "source": "one""#);
    let episodes_in = |read: &Read| -> Vec<(String, u32)> {
        let mut episodes_in: Vec<_> =
            read.episodes.iter().map(|(_, e)| (e.scenario.clone(), e.repeat)).collect();
        episodes_in.sort();
        episodes_in
    };
    let wanted = |list: &[(&str, u32)]| -> Vec<(String, u32)> {
        list.iter().map(|(scenario, repeat)| ((*scenario).to_owned(), *repeat)).collect()
    };
    let read_once = read(dir.path());
    assert_eq!(episodes_in(&read_once), wanted(&[("one/hello", 1), ("one/hello", 2), ("two/hello", 1)]));
    assert_eq!(read_once.parts.len(), 1);

    // From one data set, or where one does not say it, there is nothing to tell apart.
    trial("hello__2", "");
    assert_eq!(episodes_in(&read(dir.path())), wanted(&[("hello", 1), ("hello", 2), ("hello", 3)]));
}

#[test]
fn tasks_in_folders_of_one_name_are_told_apart_by_their_results() {
    let dir = tempfile::tempdir().unwrap();
    let trial = |folder: &str, path: &str, name: Option<&str>| {
        let at = dir.path().join("job").join(folder);
        let config = format!(
            r#"{{"trial_name": "{folder}", "task": {{"path": "{path}"}}, "agent": {{"name": "a"}}}}"#
        );
        write(&at.join("config.json"), &config);
        if let Some(name) = name {
            write(
                &at.join("result.json"),
                &format!(
                    r#"{{"task_name": "{name}", "trial_name": "{folder}", "started_at": "2026-01-01T10:00:00Z",
                         "verifier_result": {{"rewards": {{"reward": 1.0}}}}}}"#
                ),
            );
        }
    };
    trial("v1__1", "a/v1", Some("org/a"));
    trial("v1__2", "b/v1", Some("org/b"));
    // Still running: the task at its path has a name.
    trial("v1__3", "b/v1", None);
    let read = read(dir.path());
    let mut scenarios: Vec<_> = read.episodes.iter().map(|(_, e)| (e.scenario.as_str(), e.repeat)).collect();
    scenarios.sort_unstable();
    assert_eq!(scenarios, [("org/a", 1), ("org/b", 1), ("org/b", 2)]);
}

#[test]
fn a_copied_folder_is_no_trial_that_was_planned() {
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("job");
    write(&job.join("config.json"), r#"{"job_name": "job", "agents": [{"name": "a"}]}"#);
    write(&job.join("result.json"), r#"{"n_total_trials": 2, "finished_at": "2026-01-01T11:00:00Z"}"#);
    for folder in ["t__1", "t__1 copy"] {
        write(
            &job.join(folder).join("config.json"),
            r#"{"trial_name": "t__1", "task": {"path": "t"}, "agent": {"name": "a"}}"#,
        );
        write(
            &job.join(folder).join("result.json"),
            r#"{"id": "1", "task_name": "t", "trial_name": "t__1", "started_at": "2026-01-01T10:00:00Z",
                "verifier_result": {"rewards": {"reward": 1.0}}}"#,
        );
    }
    let read = read(dir.path());
    assert_eq!(read.episodes.len(), 1);
    let codes = read.codes();
    assert!(codes.contains(&"harbor.trials_missing") && codes.contains(&"part.duplicate"), "{codes:?}");
}

#[test]
fn a_zip_gives_the_same_as_the_folder() {
    let zip = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/sample-harbor.zip");
    let (zipped, folder) = (read(&zip), read(&fixture()));
    assert_eq!(zipped.episodes, folder.episodes);
    assert_eq!(zipped.runs, folder.runs);
}

#[test]
fn a_folder_that_is_no_job_is_not_taken_for_one() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("config.json"), "{\"theme\": \"dark\"}");
    write(&dir.path().join("sub/config.json"), "{}");
    let tree = Tree::open(dir.path()).unwrap();
    let Sniff::Not { found, closeness } = Harbor.sniff(&tree, "") else { panic!("recognized") };
    assert_eq!((found.as_str(), closeness), ("config.json, and no trials", 10));
    assert!(matches!(Harbor.sniff(&tree, "sub"), Sniff::Not { .. }));
    // A jobs folder is no place: the jobs in it are.
    let tree = Tree::open(&fixture()).unwrap();
    assert!(matches!(Harbor.sniff(&tree, "jobs"), Sniff::Not { .. }));
    assert!(matches!(Harbor.sniff(&tree, "tasks"), Sniff::Not { .. }));
    assert_eq!(Harbor.sniff(&tree, "jobs/oracle-k2"), Sniff::Recognized);
}

/// A job with two of the trials, and their tasks.
fn small_job(dir: &Path) -> PathBuf {
    let job = dir.join("jobs/failures-k1");
    for trial in [V1, V2] {
        copy(&fixture().join("jobs/failures-k1").join(trial), &job.join(trial));
    }
    for file in ["config.json", "result.json", "lock.json"] {
        std::fs::copy(fixture().join("jobs/failures-k1").join(file), job.join(file)).unwrap();
    }
    for task in ["theme_v1_w1_notes_regression", "theme_v2_w1_notes_abort_no_reward"] {
        copy(&fixture().join("tasks").join(task), &dir.join("tasks").join(task));
    }
    job
}

#[derive(Debug, Clone)]
enum Damage {
    Truncate(prop::sample::Index),
    Flip(prop::sample::Index, u8),
    Replace(Vec<u8>),
    Remove,
    Insert(prop::sample::Index, String),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<prop::sample::Index>().prop_map(Damage::Truncate),
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(i, b)| Damage::Flip(i, b)),
        prop::collection::vec(any::<u8>(), 0..64).prop_map(Damage::Replace),
        Just(Damage::Remove),
        (any::<prop::sample::Index>(), "[\\[\\]{}\":,0-9 a-z\\n]{1,8}")
            .prop_map(|(i, t)| Damage::Insert(i, t)),
    ]
}

impl Damage {
    fn apply(&self, path: &Path) {
        let mut bytes = std::fs::read(path).unwrap();
        match self {
            Self::Truncate(at) => bytes.truncate(at.index(bytes.len().max(1))),
            Self::Flip(at, by) if !bytes.is_empty() => {
                let at = at.index(bytes.len());
                bytes[at] ^= by;
            }
            Self::Flip(..) => {}
            Self::Replace(with) => bytes.clone_from(with),
            Self::Remove => {
                std::fs::remove_file(path).unwrap();
                return;
            }
            Self::Insert(at, text) => {
                let at = at.index(bytes.len() + 1);
                bytes.splice(at..at, text.bytes());
            }
        }
        std::fs::write(path, bytes).unwrap();
    }
}

const PARSED: [&str; 12] = [
    "config.json",
    "result.json",
    "lock.json",
    "{V2}/config.json",
    "{V2}/result.json",
    "{V2}/lock.json",
    "{V2}/trial.log",
    "{V2}/steps/round-1/verifier/reward.txt",
    "{V2}/steps/round-2/verifier/test-stdout.txt",
    "../../tasks/theme_v2_w1_notes_abort_no_reward/task.toml",
    "../../tasks/theme_v2_w1_notes_abort_no_reward/steps/round-1/instruction.md",
    "../../tasks/theme_v2_w1_notes_abort_no_reward/steps/round-1/tests/test.sh",
];

/// Whatever one file of one trial becomes, the other trial is read as it was.
#[test]
fn damage_stays_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let job = small_job(dir.path());
    let one = || (0..PARSED.len(), damage());
    proptest!(ProptestConfig::with_cases(ProptestConfig::default().cases * 3 / 8), |(first in one(), second in prop::option::of(one()))| {
        let mut before = Vec::new();
        for (file, damage) in [Some(&first), second.as_ref()].into_iter().flatten() {
            let path = job.join(PARSED[*file].replace("{V2}", V2));
            if let Ok(bytes) = std::fs::read(&path) {
                before.push((path.clone(), bytes));
                damage.apply(&path);
            }
        }
        let read = read(dir.path());
        let both_gone = ["config.json", "result.json"].iter().all(|f| !job.join(V2).join(f).exists());
        for (path, bytes) in before.iter().rev() {
            std::fs::write(path, bytes).unwrap();
        }
        prop_assert_eq!(letters(read.episode(V1)), "ppfp");
        prop_assert_eq!(read.episodes.len(), if both_gone { 1 } else { 2 });
        prop_assert!(!both_gone || read.codes().contains(&"harbor.not_a_trial"));
        for (_, episode) in &read.episodes {
            prop_assert!(episode.stamina() <= episode.known_turns());
        }
    });
}

#[test]
fn trajectories_that_continue_in_a_circle_are_read_once() {
    let dir = tempfile::tempdir().unwrap();
    copy(&fixture().join("jobs/terminus2-mock-priced"), dir.path());
    let agent = dir.path().join("theme_t1_w1_notes_cli__xVc8kuG/steps/round-1/agent");
    let text = std::fs::read_to_string(agent.join("trajectory.json")).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (name, next) in
        [("trajectory.json", "trajectory.cont-1.json"), ("trajectory.cont-1.json", "trajectory.json")]
    {
        document["continued_trajectory_ref"] = next.into();
        write(&agent.join(name), &document.to_string());
    }
    let read = read(dir.path());
    let attempt = &read.episodes[0].1.turns[0].attempts[0];
    assert_eq!(attempt.tool_calls, Some(10), "five of each file");
    assert!(read.report.warnings.iter().any(|warning| warning.code == "trajectory.circle"));
    let tree = Tree::open(dir.path()).unwrap();
    let transcript = attempt.artifacts.iter().find(|a| a.kind == ArtifactKind::Transcript).unwrap();
    let steps = Harbor.transcript(&tree, transcript).unwrap().steps;
    assert_eq!(steps.iter().map(|step| step.tool_calls.len()).sum::<usize>(), 10);
}

#[test]
// docs/security.md: An opened folder or zip
fn results_of_the_trials_of_a_task_are_bounded_together() {
    let room = tempfile::tempdir().unwrap();
    let (from, job) = (fixture().join("jobs/failures-k1"), room.path().join("job"));
    let values = vec!["0"; 400_000].join(",");
    for number in 0..3 {
        let trial = job.join(format!("theme_v5_w1_notes_min_reward__copy{number}"));
        copy(&from.join("theme_v5_w1_notes_min_reward__PAxApKs"), &trial);
        let text = std::fs::read_to_string(trial.join("result.json")).unwrap();
        let (whole, _) = text.rsplit_once('}').unwrap();
        write(&trial.join("result.json"), &format!("{whole},\"more\":[{values}]}}"));
    }
    for name in ["config.json", "result.json"] {
        std::fs::copy(from.join(name), job.join(name)).unwrap();
    }
    let read = read(room.path());
    let skipped_trials: Vec<&str> = read
        .report
        .warnings
        .iter()
        .filter(|warning| warning.code == "file.too_large")
        .map(|warning| warning.path.rsplit('/').nth(1).unwrap())
        .collect();
    assert_eq!(skipped_trials, ["theme_v5_w1_notes_min_reward__copy2"], "of three the last one");
}
