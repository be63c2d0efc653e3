//! Scores of rounds and of chains, and what is unknown of them.

use test_folders::copy;
use workbench::api::{MatrixRequest, TableSubject, TasksRequest};

use crate::library::{Library, members, repository};
use crate::scores::{compared, compared_runs, runs, table, write_tasks};

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
        let attempt = |(index, passed): (usize, &bool)| {
            let verdict = if *passed { "passed" } else { "failed" };
            serde_json::json!({ "attempt": index + 1, "verdict": verdict, "reward": f64::from(u8::from(*passed)) })
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
        let scenario_folder = run.join(format!("scenario_{number}"));
        std::fs::create_dir_all(&scenario_folder).unwrap();
        let trajectory = serde_json::json!({
            "schema_version": "stamina-lab/1", "scenario": format!("scenario_{number}"), "task": format!("t{number}"),
            "planned_turns": 4, "attempt_limit": 4, "started_at": "2026-11-01T00:00:00Z", "finished_at": finished_at,
            "end_reason": end, "turns": turns,
        });
        std::fs::write(scenario_folder.join("trajectory.json"), trajectory.to_string()).unwrap();
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
    let (mt_at_k, comp, reason) = beside_a_whole_one("endpoint", true, endpoint);
    assert_eq!((mt_at_k, comp), (vec![62.5], None));
    assert_eq!(
        reason,
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
        let (mt_at_k, comp, reason) = beside_a_whole_one("environment", true, turns);
        assert_eq!((mt_at_k.len(), comp), (0, None));
        assert!(reason.starts_with("MT@k and Comp are unknown: 1 of 2 trials"), "{reason}");
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
fn rounds_by_themselves_are_clustered_by_task_and_gap_counts_a_copied_run_once() {
    let room = tempfile::tempdir().unwrap();
    let place = |name: &str| room.path().join(name);
    let alone = [
        ("parser", &["1", "0001", "1"][..]),
        ("lexer", &["1", "1", "1"]),
        ("cache", &["0000", "0000", "0000"]),
    ];
    write_tasks(&place("alone"), "sr", 1, &alone);
    let chains = [("parser", &["1", "0001", "1"][..]), ("lexer", &["1", "1", "1"]), ("cache", &["0000"])];
    write_tasks(&place("chains"), "mt_at_k", 2, &chains);
    write_tasks(&place("elsewhere/copy"), "mt_at_k", 2, &chains);
    let all = [("parser", &["1", "1", "1"][..]), ("lexer", &["1", "1", "1"]), ("cache", &["01", "1", "1"])];
    write_tasks(&place("better"), "mt_at_k", 3, &all);
    let library = Library::new(&["alone", "chains", "elsewhere", "better"].map(place));
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

#[test]
fn rounds_by_themselves_have_no_scores_of_chains_and_are_not_called_tasks() {
    let head = "run,harness,model,scenario,turn,attempt,passed,planned_turns,benchmark,scoring\n";
    let round = |name: &str, passed: bool| format!("s,h,m,{name},1,1,{passed},1,harbor-sr:ds,turns\n");
    let rows: String = [("t1/r1", true), ("t1/r2", true), ("t2/r1", true), ("t2/r2", false)]
        .map(|(n, p)| round(n, p))
        .concat();
    let (library, _folder) = table(&format!("{head}{rows}"));
    let run = runs(&library).remove(0);
    // 75, 75 and 3 of two tasks.
    assert_eq!((run.score, run.dataset_score, run.case_score, run.perfect), (None, None, None, None));
    let rate = run.pass_rate.unwrap();
    assert_eq!((rate.tasks, rate.trials, rate.passed), (2, 4, 3));
    let member = library.workbench.compare_runs(compared_runs(&[&run.id])).unwrap().members.remove(0);
    assert_eq!((member.score, member.scores.unwrap().perfect), (None, None));

    let tasks_request = || TasksRequest { members: members(&[&run.id]), ..TasksRequest::default() };
    let grid = library.workbench.table(&TableSubject::TaskGrid { request: tasks_request() }).unwrap();
    assert_eq!((grid.title.as_str(), grid.rows.len()), ("Rounds", 4));
    assert!(grid.notes.contains(&"4 rounds: 1 is solved by no run.".to_owned()), "{:?}", grid.notes);
    let per_round =
        library.workbench.table(&TableSubject::PerTask { request: tasks_request() }).unwrap().to_markdown();
    assert!(per_round.contains("| Rounds solved |") && !per_round.contains("Tasks solved"), "{per_round}");
}

#[test]
fn rounds_that_only_one_run_played_are_not_paired() {
    let head = "run,harness,model,scenario,turn,attempt,passed,planned_turns,benchmark\n";
    let round =
        |run: &str, name: &str, passed: bool| format!("{run},h,m,{name},1,1,{passed},1,harbor-sr:ds\n");
    let shared = |run: &str| ["t1/r1", "t1/r2", "t2/r1"].map(|name| round(run, name, true)).concat();
    let further_rounds = [round("s", "t2/r2", false), round("s", "t2/r3", true)].concat();
    let (library, _folder) = table(&format!("{head}{}{further_rounds}{}", shared("s"), shared("s2")));
    let runs = runs(&library);
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    let comparison = library.workbench.compare_runs(compared_runs(&ids)).unwrap();
    let pair = &comparison.pairs[0];
    let paired = pair.paired.as_ref().unwrap();
    // Both passed the three rounds that both played, of two tasks.
    assert_eq!((paired.n, paired.mean, pair.logrank_stratified.is_some()), (2, 0.0, false));
}
