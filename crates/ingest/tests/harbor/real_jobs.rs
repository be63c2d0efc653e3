//! Real jobs as they are.

use std::collections::BTreeMap;
use std::path::Path;

use files::Tree;
use ingest::discover::discover;
use ingest::format_trait::{Format, Sniff};
use ingest::formats::harbor::Harbor;
use model::{ArtifactKind, Baseline, EndReason, Request, StepKind, WarningCounts};

use crate::harbor::{V1, V2, V5, V7, fixture, letters, read, score, write};

#[test]
fn every_trial_of_the_failures_job_is_read_as_it_was() {
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
        let own_score = score(episode);
        assert!(
            (own_score.0 - passed).abs() < 1e-9 && (own_score.1 - cases).abs() < 5e-4,
            "{trial}: {own_score:?}"
        );
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
    let step_exceptions: Vec<&str> = episodes
        .iter()
        .flat_map(|e| &e.turns)
        .flat_map(|t| &t.attempts)
        .filter_map(|a| a.exception.as_ref().map(|(k, _)| k.as_str()))
        .collect();
    assert_eq!(step_exceptions, ["RewardFileNotFoundError", "AgentTimeoutError", "VerifierTimeoutError"]);
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
    let nop_episodes = read.episodes_of("nop-k1/nop");
    let totals =
        nop_episodes.iter().flat_map(|e| &e.turns).flat_map(|t| &t.attempts).map(|a| (a.passed, a.total));
    assert!(totals.clone().count() == 7 && totals.into_iter().all(|t| t == (Some(0), Some(0))));
    let repeated =
        [(t1, 1, "pppp"), (t1, 2, "pppp"), (t2, 1, "ppp"), (t2, 2, "ppp"), (v1, 1, "ppfp"), (v1, 2, "ppfp")];
    assert_eq!(turns("oracle-k2/oracle"), wanted(&repeated));
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
    assert!(passed.group.is_some() && passed.intent.is_some() && passed.scenario.is_some());
    assert_eq!((passed.actual.as_ref(), passed.message.as_ref()), (None, None));
    let logs: Vec<&str> = attempt.artifacts.iter().map(|a| a.path.rsplit('/').next().unwrap()).collect();
    assert_eq!(logs, ["test-stdout.txt", "oracle.txt"]);
    assert_eq!(episode.extra.get("difficulty").and_then(|v| v.as_str()), Some("easy"));
}

#[test]
fn a_zip_gives_the_same_as_the_folder() {
    let zip = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/sample-harbor.zip");
    let (zipped, folder) = (read(&zip), read(&fixture()));
    assert_eq!(zipped.episodes, folder.episodes);
    assert_eq!(zipped.runs, folder.runs);
}

/// The sample opened with "1 warning", a triangle that stands for a number that may be wrong: its tasks have deep folders.
#[test]
fn deep_folders_beside_the_jobs_of_the_sample_are_a_note() {
    let zip = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/sample-harbor.zip");
    let found = discover(&Tree::open(&zip).unwrap()).unwrap();
    let codes: Vec<&str> = found.warnings.iter().map(|warning| warning.code.as_str()).collect();
    assert_eq!(codes, ["search.cut_short"]);
    assert_eq!(WarningCounts::from_codes(codes).to_string(), "1 note");
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
