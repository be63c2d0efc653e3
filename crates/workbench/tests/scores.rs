//! Scores of turns: equal on every page and in every file, refused where they are not to be had, and, of EvoCode-Bench's
//! published results, those of an independent calculation.

#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "helpers of tests; what a file states is what was computed"
)]

mod library;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use test_folders::copy;
use workbench::api::{CompareRequest, ListRuns, MatrixRequest, RunRow, TableOf, TurnScores};

use library::{Library, members, repository};

fn runs(library: &Library) -> Vec<RunRow> {
    library.workbench.list_runs(ListRuns::default()).unwrap().rows
}

fn compared_runs(runs: &[&str]) -> CompareRequest {
    CompareRequest { members: members(runs), ..CompareRequest::default() }
}

/// The scores of a run as a comparison has them.
fn compared(library: &Library, run: &str) -> Option<TurnScores> {
    library.workbench.compare_runs(compared_runs(&[run])).unwrap().members.remove(0).scores
}

/// A library of one tidy table.
fn table(text: &str) -> (Library, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attempts.csv");
    std::fs::write(&path, text).unwrap();
    (Library::new(&[path]), folder)
}

#[derive(Deserialize)]
struct Golden {
    mt_at_1: f64,
    comp: Option<f64>,
    dataset_score: f64,
    perfect: u32,
}

/// `golden/make_evocode_scores.py` calculates them from the site's JSON, without Stamina Lab.
#[test]
fn the_published_results_of_evocode_bench_have_the_scores_of_an_independent_calculation() {
    let shared = std::env::var_os("STAMINA_SHARED")
        .map_or_else(|| repository().parent().unwrap().join("shared"), PathBuf::from);
    let path = shared.join("data/evocode-published");
    if !path.join("index.json").is_file() {
        println!("skipped: EvoCode-Bench's published data is not at {}", path.display());
        return;
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/evocode_scores.json");
    let golden: BTreeMap<String, Golden> =
        serde_json::from_str(&std::fs::read_to_string(golden).unwrap()).unwrap();
    let library = Library::new(&[path]);
    let runs = runs(&library);
    assert_eq!((runs.len(), golden.len()), (13, 13));
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    for (name, wanted) in &golden {
        // The site has another name for one model than the printed table.
        let name = if name == "Opus-4.8-xhigh" { "Claude-Opus-4.8" } else { name };
        let run = runs.iter().find(|run| run.model.as_deref() == Some(name)).unwrap();
        let found = compared(&library, &run.id).unwrap();
        let [mt_at_1] = found.rounds.mt_at_k[..] else { panic!("{name}: {found:?}") };
        assert!(near(mt_at_1, wanted.mt_at_1), "{name}: {mt_at_1}");
        assert!(near(found.dataset_score.unwrap(), wanted.dataset_score), "{name}: {found:?}");
        assert!(near(found.perfect.unwrap(), f64::from(wanted.perfect)), "{name}: {found:?}");
        match (found.rounds.comp, wanted.comp) {
            (Some(found), Some(wanted)) => assert!(near(found, wanted), "{name}: {found}"),
            (found, wanted) => assert_eq!(found, wanted, "{name}"),
        }
        let unknown = found.rounds.missing.iter().any(|why| why.starts_with("Comp is unknown"));
        assert_eq!(unknown, wanted.comp.is_none(), "{name}: {:?}", found.rounds.missing);
        assert_eq!(run.rounds.as_ref(), Some(&found.rounds), "{name}");
    }
    // Beside them the table of the paper, which has other models and is of round by round.
    let data = library.workbench.compare_runs(compared_runs(&[&runs[0].id])).unwrap();
    let published =
        data.published_scores.iter().find(|n| n.model == "Xiaomi-MiMo-V2.5-Pro" && n.metric == "gap");
    assert_eq!(published.map(|number| number.value), Some(-9.4));
    assert!(
        data.cautions.iter().any(|caution| caution.contains("is of round by round")),
        "{:?}",
        data.cautions
    );
}

#[test]
fn pages_tables_and_reports_have_the_same_scores() {
    let library = Library::fixtures(&["harbor"]);
    let run = runs(&library).into_iter().find(|run| run.id.contains("oracle-k2")).unwrap();
    let scores = compared(&library, &run.id).unwrap();
    let both = 100.0 * 11.0 / 12.0;
    assert_eq!((scores.rounds.mt_at_k.clone(), scores.rounds.comp), (vec![both, both], Some(100.0)));
    assert_eq!((scores.rounds.sr, scores.rounds.gap), (None, None));
    assert!(scores.rounds.missing[0].starts_with("SR and Gap are unknown"), "{:?}", scores.rounds.missing);
    assert_eq!((run.dataset_score, run.case_score), (scores.dataset_score, scores.case_score));
    assert_eq!((run.perfect.map(f64::from), run.rounds), (scores.perfect, Some(scores.rounds.clone())));

    let request = MatrixRequest { runs: vec![run.id.clone()], ..MatrixRequest::default() };
    let matrix = library.workbench.get_matrix(request.clone()).unwrap();
    assert_eq!(matrix.cells[0].as_ref().unwrap().scores.as_ref(), Some(&scores));
    assert!(
        matrix.published.iter().any(|number| number.metric == "mt4"),
        "tasks are named as EvoCode-Bench's"
    );
    for table in [TableOf::Scores { of: compared_runs(&[&run.id]) }, TableOf::Matrix { of: request }] {
        let table = library.workbench.table(&table).unwrap();
        let csv = table.to_csv();
        let mut lines = csv.lines();
        let (head, row) = (lines.next().unwrap(), lines.next().unwrap());
        let value = |name: &str| {
            let at = head
                .split(',')
                .position(|column| column == name)
                .unwrap_or_else(|| panic!("{name} in {head}"));
            row.split(',').nth(at).unwrap().to_owned()
        };
        assert_eq!(value("mt_at_2").parse::<f64>().unwrap(), both, "{csv}");
        assert_eq!(value("dataset_score").parse::<f64>().ok(), scores.dataset_score, "{csv}");
        assert_eq!((value("comp").as_str(), value("sr").as_str(), value("gap").as_str()), ("100", "", ""));
    }
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("report");
    let made = library.workbench.export_report(&compared_runs(&[&run.id]), "icml", &to).unwrap();
    for file in ["tables/scores.csv", "tables/published.csv"] {
        assert!(made.files.iter().any(|name| name == file), "{file}: {:?}", made.files);
    }
    let html = std::fs::read_to_string(to.join("report.html")).unwrap();
    for text in
        ["<h2>Scores of turns</h2>", "MT@2", "91.7", "Claude-Opus-4.7", "None of these was computed here"]
    {
        assert!(html.contains(text), "{text}");
    }
}

#[test]
fn mt_at_k_is_refused_with_the_reason_where_attempts_are_not_independent() {
    let head = "run,harness,model,scenario,turn,attempt,passed,planned_turns\n";
    let rows = "r,h,m,a,1,1,false,2\nr,h,m,a,1,2,true,2\nr,h,m,a,2,1,true,2\n";
    let (library, _folder) = table(&format!("{head}{rows}"));
    let scores = compared(&library, &runs(&library)[0].id).unwrap();
    assert_eq!((scores.rounds.mt_at_k.len(), scores.rounds.comp), (0, None));
    assert_eq!(scores.dataset_score, Some(100.0), "the other scores stay");
    let why = "MT@k and Comp are refused: turns were tried again in 1 of 1 episode";
    assert!(scores.rounds.missing[0].starts_with(why), "{:?}", scores.rounds.missing);
    let table =
        library.workbench.table(&TableOf::Scores { of: compared_runs(&[&runs(&library)[0].id]) }).unwrap();
    assert!(table.notes.iter().any(|note| note.contains(why)), "{:?}", table.notes);
    assert!(
        library
            .workbench
            .compare_runs(compared_runs(&[&runs(&library)[0].id]))
            .unwrap()
            .published_scores
            .is_empty()
    );
}

/// A run of tasks that was played here: one chain of four rounds, which ends at the third.
#[test]
fn rounds_that_were_tried_from_one_snapshot_have_mt_at_k_round_by_round() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("tries");
    std::fs::create_dir_all(run.join("scenario_0")).unwrap();
    let config =
        "agent: MINI_SWE\nbenchmark: HARBOR\nrestore_before_try: true\nharbor:\n  attempt_limit: 3\n";
    std::fs::write(run.join("config.yaml"), config).unwrap();
    let turn = |number: u32, passes: &[bool]| {
        let attempt = |(at, passed): (usize, &bool)| {
            let verdict = if *passed { "passed" } else { "failed" };
            serde_json::json!({ "attempt": at + 1, "verdict": verdict, "reward": f64::from(u8::from(*passed)) })
        };
        serde_json::json!({ "turn": number, "attempts": passes.iter().enumerate().map(attempt).collect::<Vec<_>>() })
    };
    let trajectory = serde_json::json!({
        "schema_version": "stamina-lab/1", "scenario": "scenario_0", "task": "a", "planned_turns": 4,
        "attempt_limit": 3, "end_reason": "tests_failed",
        "turns": [turn(1, &[true]), turn(2, &[false, false, true]), turn(3, &[false; 3])],
    });
    std::fs::write(run.join("scenario_0/trajectory.json"), trajectory.to_string()).unwrap();
    let library = Library::new(&[run]);
    let row = runs(&library).remove(0);
    assert_eq!(row.attempt_limit, Some(3));
    let scores = compared(&library, &row.id).unwrap();
    assert_eq!((scores.rounds.mt_at_k, scores.rounds.round_by_round), (vec![25.0, 25.0, 50.0], true));
    assert_eq!((scores.rounds.comp, scores.dataset_score), (Some(0.0), Some(50.0)));
}

/// MT@k, Comp and the first reason of a run of two tasks of four rounds, four tries each: how one ended, beside one that
/// passed all.
fn beside_a_whole_one(
    end_reason: &str,
    is_over: bool,
    turns: serde_json::Value,
) -> (Vec<f64>, Option<f64>, String) {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("tries");
    let config = "agent: MINI_SWE\nbenchmark: HARBOR\nrestore_before_try: true\nfail_stop: true\nharbor:\n  attempt_limit: 4\n";
    let passed = || serde_json::json!([{ "attempt": 1, "verdict": "passed", "reward": 1.0 }]);
    let all: Vec<_> = (1..=4).map(|turn| serde_json::json!({ "turn": turn, "attempts": passed() })).collect();
    let whole = serde_json::Value::Array(all);
    for (number, end, finished_at, turns) in [
        (0, end_reason, is_over.then_some("2026-11-01T01:00:00Z"), turns),
        (1, "passed_all", Some("2026-11-01T01:00:00Z"), whole),
    ] {
        let at = run.join(format!("scenario_{number}"));
        std::fs::create_dir_all(&at).unwrap();
        let trajectory = serde_json::json!({
            "schema_version": "stamina-lab/1", "scenario": format!("scenario_{number}"), "task": format!("t{number}"),
            "planned_turns": 4, "attempt_limit": 4, "started_at": "2026-11-01T00:00:00Z", "finished_at": finished_at,
            "end_reason": end, "turns": turns,
        });
        std::fs::write(at.join("trajectory.json"), trajectory.to_string()).unwrap();
    }
    std::fs::write(run.join("config.yaml"), config).unwrap();
    let library = Library::new(&[run]);
    let rounds = compared(&library, &runs(&library).remove(0).id).unwrap().rounds;
    assert!(rounds.round_by_round);
    (rounds.mt_at_k, rounds.comp, rounds.missing[0].clone())
}

#[test]
fn what_trials_that_were_cut_off_leave_open_is_unknown() {
    let passed = serde_json::json!({ "attempt": 1, "verdict": "passed", "reward": 1.0 });
    let failed = |attempt: u32| serde_json::json!({ "attempt": attempt, "verdict": "failed", "reward": 0.0 });
    // The endpoint ended the second try at the second round.
    let endpoint = serde_json::json!([
        { "turn": 1, "attempts": [passed] },
        { "turn": 2, "attempts": [failed(1), { "attempt": 2, "verdict": "unfinished", "end_reason": "endpoint" }] },
    ]);
    let (mt_at_k, comp, why) = beside_a_whole_one("endpoint", true, endpoint);
    assert_eq!((mt_at_k, comp), (vec![62.5], None));
    assert_eq!(
        why,
        "MT@k for k > 1 and Comp are unknown: 1 of 2 trials was cut off from outside, or is not over."
    );
    // Stopped between two rounds.
    let stopped = serde_json::json!([
        { "turn": 1, "attempts": [passed] },
        { "turn": 2, "attempts": [failed(1), { "attempt": 2, "verdict": "passed", "reward": 1.0 }] },
    ]);
    let (mt_at_k, comp, _) = beside_a_whole_one("cancelled", false, stopped);
    assert_eq!((mt_at_k, comp), (vec![62.5], None));
    // Its image could not be built; its set-up failed before anybody had worked.
    let set_up = serde_json::json!([
        { "turn": 1, "attempts": [{ "attempt": 1, "verdict": "error", "end_reason": "environment" }] },
    ]);
    for turns in [serde_json::json!([]), set_up] {
        let (mt_at_k, comp, why) = beside_a_whole_one("environment", true, turns);
        assert_eq!((mt_at_k.len(), comp), (0, None));
        assert!(why.starts_with("MT@k and Comp are unknown: 1 of 2 trials"), "{why}");
    }
    // All its tries were made, whatever ended the run then.
    let tries: Vec<_> = (1..=4).map(failed).collect();
    let turns = serde_json::json!([{ "turn": 1, "attempts": [passed] }, { "turn": 2, "attempts": tries }]);
    let (mt_at_k, comp, _) = beside_a_whole_one("cancelled", false, turns);
    assert_eq!((mt_at_k, comp), (vec![62.5; 4], Some(50.0)));
    // The agent ended it.
    let turns = serde_json::json!([
        { "turn": 1, "attempts": [passed] },
        { "turn": 2, "attempts": [{ "attempt": 1, "verdict": "error", "end_reason": "killed_itself" }] },
    ]);
    let (mt_at_k, comp, _) = beside_a_whole_one("killed_itself", true, turns);
    assert_eq!((mt_at_k, comp), (vec![62.5; 4], Some(50.0)));
}

#[test]
fn a_chain_that_goes_on_after_a_failed_round_is_not_complete() {
    let attempt = |verdict: &str| serde_json::json!([{ "attempt": 1, "verdict": verdict }]);
    let turns: Vec<_> = (1..)
        .zip(["passed", "failed", "passed", "passed"])
        .map(|(turn, verdict)| serde_json::json!({ "turn": turn, "attempts": attempt(verdict) }))
        .collect();
    let (mt_at_k, comp, _) = beside_a_whole_one("tests_failed", true, serde_json::Value::Array(turns));
    assert_eq!((mt_at_k, comp), (vec![62.5; 4], Some(50.0)));
}

/// Each part has one trial of the third task, and both are the first repeat there.
#[test]
fn the_first_attempts_of_a_job_in_two_sources_are_those_that_began_first() {
    for late_one_first in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let [early, late] = ["a", "b"].map(|name| folder.path().join(name).join("oracle-k2"));
        for job in [&early, &late] {
            copy(&repository().join("tests/fixtures/harbor/jobs/oracle-k2"), job);
        }
        for (job, trials) in [
            (&early, ["theme_t2_w2_ledger_report__73tt9NN", "theme_t2_w2_ledger_report__Rrzws3R"]),
            (&late, ["theme_t1_w1_notes_cli__H5GwjG9", "theme_t1_w1_notes_cli__Pc56hoy"]),
        ] {
            for trial in trials {
                std::fs::remove_dir_all(job.join(trial)).unwrap();
            }
        }
        std::fs::remove_dir_all(early.join("theme_v1_w1_notes_regression__zxQSECh")).unwrap();
        std::fs::remove_dir_all(late.join("theme_v1_w1_notes_regression__66hpqaS")).unwrap();
        // The one that began a minute later passes all four rounds, the first one three.
        let result = late.join("theme_v1_w1_notes_regression__zxQSECh/result.json");
        let mut read: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&result).unwrap()).unwrap();
        read["step_results"][2]["verifier_result"]["rewards"]["reward"] = serde_json::json!(1.0);
        std::fs::write(&result, read.to_string()).unwrap();

        let mut sources = [early, late].map(|job| job.parent().unwrap().to_owned());
        if late_one_first {
            // Runs come in the order of their names, which are those of their sources.
            std::fs::rename(&sources[0], folder.path().join("c")).unwrap();
            sources[0] = folder.path().join("c");
        }
        let library = Library::new(&sources);
        let ids = runs(&library).into_iter().map(|run| run.id).collect();
        let request = MatrixRequest { runs: ids, ..MatrixRequest::default() };
        let matrix = library.workbench.get_matrix(request).unwrap();
        let scores = matrix.cells[0].as_ref().unwrap().scores.clone().unwrap();
        // 100/3 · (1 + 1 + 3/4), and with both attempts all of it.
        let first = 100.0 * 11.0 / 12.0;
        assert_eq!(scores.rounds.mt_at_k.len(), 2, "{scores:?}");
        assert!((scores.rounds.mt_at_k[0] - first).abs() < 1e-9, "{late_one_first}: {scores:?}");
        assert!((scores.rounds.mt_at_k[1] - 100.0).abs() < 1e-9, "{late_one_first}: {scores:?}");
    }
}

#[test]
fn several_runs_have_the_means_over_them() {
    let rows = "run,harness,model,scenario,turn,attempt,passed,planned_turns\n\
        r,h,m,a,1,1,true,2\nr,h,m,a,2,1,true,2\ns,h,m,a,1,1,true,2\ns,h,m,a,2,1,false,2\n";
    let (library, _folder) = table(rows);
    let matrix = library.workbench.get_matrix(MatrixRequest::default()).unwrap();
    let scores = matrix.cells[0].as_ref().unwrap().scores.clone().unwrap();
    assert_eq!((scores.runs, scores.dataset_score, scores.perfect), (2, Some(75.0), Some(0.5)));
    assert_eq!((scores.rounds.mt_at_k, scores.rounds.comp), (vec![75.0], Some(50.0)));
}

#[test]
fn scores_of_turns_do_not_apply_to_a_benchmark_that_does_not_grade_turns() {
    let library = Library::fixtures(&["staminabench/own"]);
    let run = &runs(&library)[0];
    assert_eq!((compared(&library, &run.id), run.rounds.clone()), (None, None));
    let table = library.workbench.table(&TableOf::Scores { of: compared_runs(&[&run.id]) }).unwrap();
    assert!(table.notes.iter().any(|note| note.contains("these scores do not apply")), "{:?}", table.notes);
}

/// Worked by hand: MT@k takes the best reward of each round over the first k attempts, as it is.
#[test]
fn independent_attempts_of_a_table_have_the_scores_of_the_worked_example() {
    use std::fmt::Write as _;
    // `-` = not reached, `5` = half a reward.
    let tasks: [(&str, u32, &[&str]); 3] = [
        ("a", 4, &["110-", "10--", "1110", "0---"]),
        ("b", 3, &["111", "0--", "10-", "110"]),
        ("c", 5, &["0", "5", "0"]),
    ];
    let mut text = "run,harness,model,scenario,repeat,turn,attempt,passed,reward,planned_turns\n".to_owned();
    for (task, rounds, attempts) in tasks {
        for (repeat, attempt) in (1..).zip(attempts) {
            for (round, letter) in (1..).zip(attempt.chars()).filter(|(_, letter)| *letter != '-') {
                let reward = if letter == '5' { "0.5".to_owned() } else { letter.to_string() };
                let _ = writeln!(text, "r,h,m,{task},{repeat},{round},1,{},{reward},{rounds}", letter == '1');
            }
        }
    }
    let (library, _folder) = table(&text);
    let scores = compared(&library, &runs(&library)[0].id).unwrap();
    let wanted = [50.0, 53.333, 61.667];
    assert_eq!(scores.rounds.mt_at_k.len(), wanted.len(), "c has three attempts: {scores:?}");
    for (found, wanted) in scores.rounds.mt_at_k.iter().zip(wanted) {
        assert!((found - wanted).abs() < 5e-4, "{found} and {wanted}");
    }
    assert!((scores.rounds.comp.unwrap() - 33.333).abs() < 5e-4, "{scores:?}");
}

/// The tidy table of all runs of a library, in a library of its own.
fn there_and_back(library: &Library) -> (Library, tempfile::TempDir) {
    let ids: Vec<String> = runs(library).into_iter().map(|run| run.id).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    table(&library.workbench.table(&TableOf::Tidy { members: members(&ids) }).unwrap().to_csv())
}

/// Scores of rounds of all runs of a library, those of rounds by themselves last.
fn rounds_of(library: &Library) -> Vec<model::RoundScores> {
    let mut all: Vec<model::RoundScores> = runs(library).into_iter().filter_map(|run| run.rounds).collect();
    all.sort_by_key(|rounds| rounds.alone);
    all
}

#[test]
fn scores_of_rounds_come_back_from_a_tidy_table() {
    let room = tempfile::tempdir().unwrap();
    let at = |name: &str| room.path().join(name);
    write_tasks(&at("alone"), "sr", 1, &[("parser", &["1", "0001", "1"]), ("cache", &["01", "1", "0000"])]);
    // No round has four tries of which each might have passed: the limit says how many it might have had.
    write_tasks(&at("chains"), "mt_at_k", 2, &[("parser", &["1", "001", "1"]), ("cache", &["01", "1", "1"])]);
    let library = Library::new(&["alone", "chains"].map(at));
    let before = rounds_of(&library);
    let [chains, alone] = &before[..] else { panic!("{before:?}") };
    assert_eq!(
        (chains.round_by_round, &chains.mt_at_k[..]),
        (true, &[50.0 / 3.0, 200.0 / 3.0, 100.0, 100.0][..])
    );
    assert_eq!((alone.alone, alone.sr_at_k.len(), alone.gap.is_some()), (true, 4, true));
    let (back, _folder) = there_and_back(&library);
    assert_eq!(rounds_of(&back), before);
    let (again, _folder) = there_and_back(&back);
    assert_eq!(rounds_of(&again), before);
}

#[test]
fn episodes_whose_repeats_are_words_come_back_each_by_itself() {
    let rows = "run,harness,model,scenario,turn,attempt,passed,planned_turns,repeat\n\
                r,h,m,u,1,1,true,2,seed a\nr,h,m,u,2,1,true,2,seed a\n\
                r,h,m,u,1,1,false,2,seed b\nr,h,m,u,1,1,true,2,\nr,h,m,v,1,1,true,2,2\n";
    let (library, _folder) = table(rows);
    let numbers = |library: &Library| {
        let run = runs(library).remove(0);
        (run.episodes, run.dataset_score, run.stamina.mean, run.stamina.events, run.perfect)
    };
    assert_eq!((numbers(&library).0, numbers(&library).4), (4, Some(1)));
    let (back, _folder) = there_and_back(&library);
    assert_eq!(numbers(&back), numbers(&library));
}

#[test]
fn why_scores_of_rounds_are_missing_comes_back_from_a_tidy_table() {
    let head = "run,harness,model,scenario,turn,attempt,passed,planned_turns,benchmark,scoring,planned_tasks,began_from_another\n";
    let rows = "alone,h,m,parser/round-1,1,1,true,1,harbor-sr:x,turns,2,\n\
                forked,h,m,parser,1,1,true,2,harbor:x,turns,,yes\n\
                forked,h,m,parser,2,1,true,2,harbor:x,turns,,yes\n";
    let (library, _folder) = table(&format!("{head}{rows}"));
    let before = rounds_of(&library);
    let [forked, alone] = &before[..] else { panic!("{before:?}") };
    assert!(
        forked.mt_at_k.is_empty()
            && forked.missing[0].contains("1 of 1 episode began from what another trial"),
        "{forked:?}"
    );
    assert_eq!((alone.sr, alone.missing[1].as_str()), (None, "SR is unknown: of 2 tasks 1 are not there."));
    let (back, _folder) = there_and_back(&library);
    assert_eq!(rounds_of(&back), before);
}

/// A run of tasks of Harbor in our own layout: of each task its rounds, of each round its tries, `1` = passed.
fn write_tasks(folder: &Path, protocol: &str, day: u32, tasks: &[(&str, &[&str])]) {
    let config = format!(
        "agent: MINI_SWE\nbenchmark: HARBOR\nrestore_before_try: true\nmini_swe:\n  model: m\nharbor:\n  protocol: {protocol}\n  attempt_limit: 4\n"
    );
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("config.yaml"), config).unwrap();
    for (number, (task, rounds)) in tasks.iter().enumerate() {
        let time = |second: usize| format!("2026-01-{day:02}T10:{number:02}:{second:02}.250Z");
        let turns: Vec<serde_json::Value> = (1..)
            .zip(*rounds)
            .map(|(turn, tries)| {
                let attempts: Vec<serde_json::Value> = (1..)
                    .zip(tries.bytes())
                    .map(|(attempt, passed)| {
                        let (verdict, reward) =
                            if passed == b'1' { ("passed", 1.0) } else { ("failed", 0.0) };
                        serde_json::json!({
                            "attempt": attempt, "verdict": verdict, "reward": reward,
                            "started_at": time(turn), "finished_at": time(turn),
                        })
                    })
                    .collect();
                serde_json::json!({ "turn": turn, "step": format!("round-{turn}"), "attempts": attempts })
            })
            .collect();
        let rest = serde_json::json!({
            "planned_turns": 3, "attempt_limit": 4, "started_at": time(0), "finished_at": time(59), "task": task, "turns": turns,
        });
        let protocol = if protocol == "sr" { "\"protocol\": \"sr\"," } else { "" };
        let text = format!(
            "{{\"schema_version\": \"stamina-lab/1\", {protocol}{}",
            rest.to_string().trim_start_matches('{')
        );
        let scenario = folder.join(format!("scenario_{number}"));
        std::fs::create_dir_all(&scenario).unwrap();
        std::fs::write(scenario.join("trajectory.json"), text).unwrap();
    }
}

#[test]
fn rounds_by_themselves_are_clustered_by_task_and_gap_counts_a_copied_run_once() {
    let room = tempfile::tempdir().unwrap();
    let at = |name: &str| room.path().join(name);
    let alone = [
        ("parser", &["1", "0001", "1"][..]),
        ("lexer", &["1", "1", "1"]),
        ("cache", &["0000", "0000", "0000"]),
    ];
    write_tasks(&at("alone"), "sr", 1, &alone);
    let chains = [("parser", &["1", "0001", "1"][..]), ("lexer", &["1", "1", "1"]), ("cache", &["0000"])];
    write_tasks(&at("chains"), "mt_at_k", 2, &chains);
    write_tasks(&at("elsewhere/copy"), "mt_at_k", 2, &chains);
    let all = [("parser", &["1", "1", "1"][..]), ("lexer", &["1", "1", "1"]), ("cache", &["01", "1", "1"])];
    write_tasks(&at("better"), "mt_at_k", 3, &all);
    let library = Library::new(&["alone", "chains", "elsewhere", "better"].map(at));
    let runs = runs(&library);
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let alone = runs.iter().find(|run| run.rounds.as_ref().is_some_and(|rounds| rounds.alone)).unwrap();
    let rate = alone.pass_rate.as_ref().unwrap();
    // A round passes within its tries.
    assert_eq!((rate.passed, rate.trials, rate.tasks), (6, 9, 3));
    assert_eq!(rate.interval, Some(model::RateInterval::Clustered));
    // Nine rounds of nine tasks would give 0.35 to 0.88.
    assert!(rate.ci_low.unwrap() < 0.2 && rate.ci_high.unwrap() > 0.9, "{rate:?}");
    assert_eq!(rate.pass_at_k.len(), 1);
    let rounds = alone.rounds.as_ref().unwrap();
    assert!(near(rounds.sr.unwrap(), 500.0 / 9.0), "{rounds:?}");
    // MT@4 of the run that is there twice is 200/3, that of the other one 100.
    assert!(near(rounds.gap.unwrap(), 500.0 / 9.0 - 250.0 / 3.0), "{rounds:?}");
    // A comparison says the same.
    let member = library.workbench.compare_runs(compared_runs(&[&alone.id])).unwrap().members.remove(0);
    assert_eq!((member.scenarios, member.pass_rate.as_ref()), (3, Some(rate)));
    assert_eq!(member.scores.unwrap().rounds.gap, rounds.gap);
}
