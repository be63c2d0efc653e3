//! Scores against their definitions, the worked examples of Harbor's failing tasks, and EvoCode-Bench's published table.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on has failed")]

use analysis::score::{
    EpisodeParts, Score, TaskTotals, case_score, dataset_score, perfect_tasks, stamina_bench_score,
};
use model::{Attempt, Counting, Episode, Turn, Verdict};

/// An episode from (verdict, passed/total) of each turn's final attempt.
fn episode(scenario: &str, planned: Option<u32>, turns: &[(Verdict, Option<(u32, u32)>)]) -> EpisodeParts {
    let mut episode = Episode::new(scenario, scenario);
    episode.planned_turns = planned;
    for (number, (verdict, counts)) in (1..).zip(turns) {
        let mut turn = Turn::new(number);
        // An attempt before the final one must not matter.
        turn.attempts.push(Attempt { passed: Some(0), total: Some(99), ..Attempt::new(1, Verdict::Failed) });
        turn.attempts.push(Attempt {
            passed: counts.map(|c| c.0),
            total: counts.map(|c| c.1),
            ..Attempt::new(2, *verdict)
        });
        episode.turns.push(turn);
    }
    EpisodeParts::from_episode(&episode)
}

fn percent(score: Score) -> f64 {
    score.percent.unwrap()
}

fn assert_near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
}

use Verdict::{Error, Failed, Passed, Unfinished};

#[test]
fn stamina_bench_means_over_turns_then_scenarios() {
    let long = episode(
        "a",
        Some(4),
        &[
            (Passed, Some((10, 10))),
            (Failed, Some((5, 10))),
            (Failed, Some((9, 12))),
            (Passed, Some((12, 12))),
        ],
    );
    let short = episode("b", Some(1), &[(Failed, Some((1, 4)))]);
    assert_near(long.stamina_bench_score().unwrap(), 100.0 * (1.0 + 0.5 + 0.75 + 1.0) / 4.0);
    assert_near(percent(stamina_bench_score(&[long.clone(), short.clone()])), f64::midpoint(81.25, 25.0));
    // A repeat counts within its scenario only.
    let again = episode("b", Some(1), &[(Passed, Some((4, 4)))]);
    assert_near(percent(stamina_bench_score(&[long, short, again])), f64::midpoint(81.25, 62.5));
}

#[test]
fn what_the_readme_leaves_open_is_decided_once() {
    // Error and planned but unreached turns count 0, a pass without counts 1, an attempt in flight 0.
    let parts =
        episode("a", Some(5), &[(Passed, None), (Error, None), (Passed, Some((2, 2))), (Unfinished, None)]);
    assert_near(parts.stamina_bench_score().unwrap(), 40.0);
    // No test ran: nothing passed.
    assert_near(episode("a", None, &[(Failed, Some((0, 0)))]).stamina_bench_score().unwrap(), 0.0);
    // A failure without counts has an unknown ratio, which is left out and said.
    let unknown = episode("a", None, &[(Passed, Some((3, 3))), (Failed, None), (Failed, Some((1, 2)))]);
    let score = stamina_bench_score(std::slice::from_ref(&unknown));
    assert_eq!((score.percent, score.unknown_turns, score.undeclared), (Some(75.0), 1, 1));
    // But not where what is left has only passes: 100 would be said of whoever fails without counts.
    let trivial = episode("a", None, &[(Passed, Some((3, 3))), (Passed, None), (Failed, None)]);
    assert_eq!(trivial.stamina_bench_score(), None);
    let passed = episode("b", None, &[(Passed, None)]);
    let score = stamina_bench_score(&[trivial, passed]);
    assert_eq!((score.percent, score.unknown_turns), (None, 1));
    let nothing = episode("a", None, &[(Failed, None)]);
    assert_eq!(stamina_bench_score(&[nothing]).percent, None);
    assert_eq!(stamina_bench_score(&[]).percent, None);
}

/// The tasks of facts/harbor.md §2: rounds passed, of 4, and Harbor's own reward, which leaves the rest out.
#[test]
fn harbors_aborted_chains_are_scored_over_the_declared_steps() {
    let c = Some((1, 1));
    let tasks = [
        (vec![(Passed, c), (Passed, c), (Failed, Some((1, 5))), (Passed, c)], 0.75, 0.80),
        (vec![(Passed, c), (Passed, c), (Error, None)], 0.50, 0.50),
        (vec![(Passed, c), (Failed, None), (Passed, c), (Passed, c)], 0.75, 0.75),
        (vec![(Passed, c), (Failed, Some((3, 7)))], 0.25, (1.0 + 3.0 / 7.0) / 4.0),
        (vec![], 0.0, 0.0),
        (vec![(Passed, c), (Error, None)], 0.25, 0.25),
    ];
    let mut all = Vec::new();
    for (number, (turns, score, cases)) in tasks.iter().enumerate() {
        let parts = episode(&format!("v{number}"), Some(4), turns);
        assert_near(parts.dataset_score().unwrap(), 100.0 * score);
        assert_near(percent(dataset_score(std::slice::from_ref(&parts), &[])), 100.0 * score);
        if parts.counted_turns > 0 {
            assert_near(percent(case_score(std::slice::from_ref(&parts), &[])), 100.0 * cases);
        }
        all.push(parts);
    }
    assert_near(percent(dataset_score(&all, &[])), 100.0 * (0.75 + 0.5 + 0.75 + 0.25 + 0.0 + 0.25) / 6.0);
    assert_eq!(perfect_tasks(&all, &[]), 0);
}

#[test]
fn repeats_are_averaged_within_their_task_and_one_must_be_perfect() {
    let c = Some((1, 1));
    let all = [
        episode("a", Some(2), &[(Passed, c), (Failed, c)]),
        episode("a", Some(2), &[(Failed, c), (Passed, c)]),
        episode("b", Some(2), &[(Passed, c), (Passed, c)]),
    ];
    assert_near(percent(dataset_score(&all, &[])), f64::midpoint(50.0, 100.0));
    assert_eq!(perfect_tasks(&all, &[]), 1, "a was never passed as a whole");
    // Where nothing is declared, the longest episode of the task stands in.
    let undeclared =
        [episode("a", None, &[(Passed, c)]), episode("a", None, &[(Passed, c), (Failed, c), (Failed, c)])];
    let score = dataset_score(&undeclared, &[]);
    assert_near(percent(score), 100.0 / 3.0);
    assert_eq!(score.undeclared, 1);
    assert_eq!(perfect_tasks(&undeclared, &[]), 0);
}

#[test]
fn tasks_known_by_their_totals_count() {
    let all = [episode("a", Some(2), &[(Passed, Some((1, 1))), (Passed, Some((1, 1)))])];
    let totals = |passed, case_ratio| TaskTotals {
        scenario: "b".into(),
        turns: Some(10),
        passed_turns: passed,
        case_ratio,
    };
    assert_near(percent(dataset_score(&all, &[totals(Some(5.0), None)])), 75.0);
    assert_near(percent(dataset_score(&all, &[totals(None, None)])), 50.0);
    assert_eq!(case_score(&all, &[totals(Some(5.0), None)]).scenarios, 1);
    assert_near(percent(case_score(&all, &[totals(Some(5.0), Some(0.9))])), 95.0);
    assert_eq!(perfect_tasks(&all, &[totals(Some(10.0), None)]), 2);
    // Described and counted: the description wins.
    let twice = TaskTotals { scenario: "a".into(), ..totals(Some(0.0), None) };
    assert_near(percent(dataset_score(&all, &[twice])), 100.0);
}

#[test]
fn no_case_counts_means_no_case_score() {
    let parts = episode("a", Some(2), &[(Passed, None), (Failed, None)]);
    assert_eq!(case_score(&[parts], &[]).percent, None);
}

#[test]
fn no_case_that_ran_is_a_case_score_of_nothing() {
    let nop = episode("a", Some(2), &[(Error, Some((0, 0))), (Error, Some((0, 0)))]);
    assert_eq!(case_score(std::slice::from_ref(&nop), &[]).percent, Some(0.0));
    // One that says it is enough to know that the source counts cases.
    let unreached = episode("b", Some(2), &[]);
    assert_eq!(case_score(&[unreached.clone(), nop], &[]).percent, Some(0.0));
    assert_eq!(case_score(&[unreached], &[]).percent, None);
}

#[test]
fn counts_without_the_tests_own_sum_are_no_cases() {
    let parts = |counting| {
        let mut episode = Episode::new("a", "a");
        episode.planned_turns = Some(2);
        for (number, counting) in [(1, Counting::Share), (2, counting)] {
            let mut turn = Turn::new(number);
            let attempt = Attempt::new(1, Failed);
            turn.attempts.push(Attempt { passed: Some(1), total: Some(2), counting, ..attempt });
            episode.turns.push(turn);
        }
        EpisodeParts::from_episode(&episode)
    };
    assert_near(percent(case_score(&[parts(Counting::Share)], &[])), 50.0);
    assert_near(percent(case_score(&[parts(Counting::Zero)], &[])), 25.0);
    assert_eq!(parts(Counting::Outside).counted_turns, 1);
}

/// Recomputes the table that EvoCode-Bench prints, from the published files, where they lie beside the repository.
#[test]
fn the_published_evocode_table() {
    // Dataset score, case score from the site's JSON (facts/harbor.md §4), perfect tasks.
    const TABLE: [(&str, f64, f64, u32); 13] = [
        ("Opus-4.8-xhigh", 59.1, 96.6, 9),
        ("GPT-5.5", 29.5, 81.8, 0),
        ("MiniMax-M3", 23.4, 61.5, 2),
        ("GLM-5.2", 16.2, 47.6, 1),
        ("DeepSeek-V4-Pro", 14.1, 61.7, 1),
        ("Kimi-K2.6", 13.2, 65.7, 0),
        ("DeepSeek-V4-Flash", 12.2, 58.9, 0),
        ("Qwen3.7-Max", 11.9, 67.4, 0),
        ("Qwen3.6-Plus", 9.7, 67.6, 0),
        ("Kimi-K2.7-Code", 7.8, 45.4, 0),
        ("Doubao-Seed-2.1-Pro", 6.7, 42.0, 0),
        ("GLM-5.1", 5.9, 53.2, 0),
        ("MiniMax-M2.7", 5.1, 44.9, 0),
    ];
    let Some(root) = test_folders::data_beside_the_repository("data/evocode-published") else { return };
    let index = std::fs::read_to_string(root.join("index.json")).unwrap();
    let sweep = std::fs::read_to_string(root.join("sweep_2026-06_single_shot.csv")).unwrap();
    let columns: Vec<&str> = sweep.lines().next().unwrap().split(',').collect();
    let index: serde_json::Value = serde_json::from_str(&index).unwrap();
    let number = |v: &serde_json::Value| v.as_f64().unwrap_or(0.0) as u32;
    let tasks: Vec<(&serde_json::Value, Option<serde_json::Value>)> = index["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| {
            let file = std::fs::read(root.join(format!("tasks/{}.json", task["task"].as_str().unwrap())));
            (task, file.ok().map(|bytes| serde_json::from_slice(&bytes).unwrap()))
        })
        .collect();
    for (name, dataset, cases, perfect) in TABLE {
        let mut parts = Vec::new();
        let mut totals = Vec::new();
        // The sweep calls one model otherwise.
        let in_sweep = if name == "Opus-4.8-xhigh" { "Claude-Opus-4.8" } else { name };
        let column = columns.iter().position(|c| *c == in_sweep).unwrap();
        for (task, file) in &tasks {
            let id = task["task"].as_str().unwrap();
            let turns = number(&task["n_rounds"]);
            let Some(file) = file else {
                let cell = sweep.lines().find(|l| l.starts_with(id)).unwrap().split(',').nth(column).unwrap();
                let cases = cell.split(" c").nth(1).unwrap().split('%').next().unwrap();
                let passed = (task["score"][name].as_f64().unwrap() * f64::from(turns)).round();
                totals.push(TaskTotals {
                    scenario: id.into(),
                    turns: Some(turns),
                    passed_turns: Some(passed),
                    case_ratio: Some(cases.parse::<f64>().unwrap() / 100.0),
                });
                continue;
            };
            let cells: Vec<_> = (1..=turns)
                .map(|turn| &file["models"][name][turn.to_string()])
                .map(|cell| {
                    let verdict = match cell["reward"].as_f64() {
                        Some(reward) if reward >= 0.999 => Passed,
                        Some(_) => Failed,
                        None => Error,
                    };
                    (verdict, cell.is_object().then(|| (number(&cell["pass"]), number(&cell["total"]))))
                })
                .collect();
            parts.push(episode(id, Some(turns), &cells));
        }
        let score = dataset_score(&parts, &totals);
        assert_eq!(score.scenarios, 26);
        // Printed with one decimal.
        assert!((percent(score) - dataset).abs() <= 0.05 + 1e-9, "{name}: {score:?}");
        assert_eq!(perfect_tasks(&parts, &totals), perfect, "{name}");
        // The missing task's case ratio is known to a whole percent, that is ± 0.02 in the mean of 26.
        let score = case_score(&parts, &totals);
        assert!((percent(score) - cases).abs() <= 0.05 + 0.02, "{name}: {score:?}");
    }
}
