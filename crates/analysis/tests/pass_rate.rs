//! Pass rates, pass@k and pass^k against statsmodels, scipy and counting (golden values, see `golden/make_pass_rate.py`).
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on has failed")]

use std::collections::HashMap;

use analysis::clusters::{InScenario, observations};
use analysis::pass_rate::{MAX_K, TaskTrials, difference, only_solver, pass_at, pass_hat, pass_rate};
use analysis::survival::{Observation, summarize};
use model::{PassRate, RateInterval};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    sets: Vec<Set>,
    differences: Vec<Difference>,
}

#[derive(Deserialize)]
struct Set {
    name: String,
    tasks: Vec<Vec<Option<u8>>>,
    value: Option<f64>,
    trials: u32,
    passed: u32,
    scored_tasks: u32,
    unscored: u32,
    interval: Option<(f64, f64)>,
    pass_at_k: Vec<f64>,
    pass_hat_k: Vec<f64>,
    pass_at_k_ci: Vec<Option<(f64, f64)>>,
    pass_hat_k_ci: Vec<Option<(f64, f64)>>,
}

#[derive(Deserialize)]
struct Difference {
    a: String,
    b: String,
    value: f64,
    ci_low: f64,
    ci_high: f64,
}

fn golden() -> Golden {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/pass_rate.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn observation(outcome: Option<u8>) -> Observation {
    match outcome {
        Some(0) => Observation::failed_at(1),
        Some(_) => Observation::censored_after(1),
        None => Observation::censored_after(0),
    }
}

fn episodes(tasks: &[Vec<Option<u8>>]) -> Vec<InScenario> {
    let trials = tasks.iter().enumerate().flat_map(|(task, trials)| trials.iter().map(move |t| (task, *t)));
    trials.map(|(task, outcome)| InScenario::new(format!("task-{task}"), observation(outcome))).collect()
}

fn near(result: f64, reference: f64, label: &str) {
    assert!((result - reference).abs() < 1e-9, "{label}: {result} is not {reference}");
}

#[test]
fn rates_intervals_and_estimators_are_those_of_others() {
    for set in golden().sets {
        let result = pass_rate(&episodes(&set.tasks));
        assert_eq!(
            (result.value, result.trials, result.passed, result.tasks, result.unscored),
            (set.value, set.trials, set.passed, set.scored_tasks, set.unscored),
            "{}",
            set.name
        );
        assert_eq!(result.ci_low.is_some(), set.interval.is_some(), "{}", set.name);
        if let Some((low, high)) = set.interval {
            near(result.ci_low.unwrap(), low, &set.name);
            near(result.ci_high.unwrap(), high, &set.name);
        }
        let expected = if result.repeats() { RateInterval::Clustered } else { RateInterval::Wilson };
        let expected = set.interval.map(|_| expected);
        assert_eq!(result.interval, expected, "{}", set.name);
        for (result, reference) in
            [(&result.pass_at_k, &set.pass_at_k), (&result.pass_hat_k, &set.pass_hat_k)]
        {
            assert_eq!(result.len(), reference.len(), "{}", set.name);
            result.iter().zip(reference).for_each(|(result, reference)| near(*result, *reference, &set.name));
        }
        for (result, reference) in
            [(&result.pass_at_k_ci, &set.pass_at_k_ci), (&result.pass_hat_k_ci, &set.pass_hat_k_ci)]
        {
            assert_eq!(result.len(), reference.len(), "{}", set.name);
            for (result, reference) in result.iter().zip(reference) {
                assert_eq!(result.is_some(), reference.is_some(), "{}", set.name);
                if let Some(((low, high), (reference_low, reference_high))) = result.zip(*reference) {
                    near(low, reference_low, &set.name);
                    near(high, reference_high, &set.name);
                }
            }
        }
    }
}

#[test]
fn differences_are_those_of_statsmodels() {
    let golden = golden();
    let rates: HashMap<&str, PassRate> =
        golden.sets.iter().map(|set| (set.name.as_str(), pass_rate(&episodes(&set.tasks)))).collect();
    assert!(!golden.differences.is_empty());
    for pair in &golden.differences {
        let label = format!("{} − {}", pair.a, pair.b);
        let (value, interval) = difference(&rates[pair.a.as_str()], &rates[pair.b.as_str()]).unwrap();
        let (low, high) = interval.unwrap();
        near(value, pair.value, &label);
        near(low, pair.ci_low, &label);
        near(high, pair.ci_high, &label);
    }
    let unknown = &rates["nothing scored"];
    assert_eq!(difference(unknown, &rates["all passed"]), None);
    let (value, interval) = difference(&rates["one task"], &rates["all passed"]).unwrap();
    assert_eq!((value, interval), (-0.25, None), "one of the intervals is not defined");
}

#[test]
fn only_one_solves_a_task_where_the_others_are_known_to_fail_it() {
    let task = |trials, passed| TaskTrials { trials, passed, unscored: 0 };
    assert_eq!(only_solver(&[task(1, 0), task(3, 1), task(2, 0)]), Some(1));
    assert_eq!(only_solver(&[task(1, 1), task(3, 1), task(2, 0)]), None, "two solve it");
    assert_eq!(only_solver(&[task(1, 0), task(3, 0)]), None, "nobody solves it");
    assert_eq!(only_solver(&[task(1, 1), task(0, 0)]), None, "the other might");
    assert_eq!(only_solver(&[task(1, 1)]), None, "there are no others");
    assert_eq!(only_solver(&[]), None);
}

#[test]
fn k_has_an_end() {
    let many: Vec<Vec<Option<u8>>> = vec![vec![Some(1); 400], vec![Some(0); 300]];
    let rate = pass_rate(&episodes(&many));
    assert_eq!((rate.pass_at_k.len(), rate.pass_hat_k.len()), (MAX_K as usize, MAX_K as usize));
    assert!(rate.pass_at_k.iter().all(|value| *value == 0.5));
}

fn trials() -> impl Strategy<Value = Vec<Option<u8>>> {
    prop::collection::vec(prop::option::weighted(0.9, 0u8..2), 1..7)
}

/// Of each task what its rounds came to.
const ROUNDS: [[u8; 3]; 3] = [[1, 0, 1], [1, 1, 1], [0, 0, 0]];

#[test]
fn rounds_of_a_task_are_one_task_and_never_tries_of_each_other() {
    let rounds = |trials: usize| -> Vec<InScenario> {
        let all = ROUNDS
            .iter()
            .enumerate()
            .flat_map(|(task, rounds)| rounds.iter().enumerate().map(move |round| (task, round)));
        all.flat_map(|(task, (round, passed))| {
            (0..trials).map(move |_| {
                InScenario::in_part(
                    format!("task-{task}"),
                    format!("round-{round}"),
                    observation(Some(*passed)),
                )
            })
        })
        .collect()
    };
    let whole = pass_rate(&episodes(&ROUNDS.map(|rounds| rounds.map(Some).to_vec())));
    let by_round = pass_rate(&rounds(1));
    assert_eq!(
        (by_round.value, by_round.tasks, by_round.trials, by_round.passed),
        (Some(5.0 / 9.0), 3, 9, 5)
    );
    assert_eq!(
        (by_round.ci_low, by_round.ci_high, by_round.interval),
        (whole.ci_low, whole.ci_high, Some(RateInterval::Clustered))
    );
    // A round was played once: nothing says what two trials of it come to.
    assert_eq!((by_round.pass_at_k.len(), whole.pass_at_k.len()), (1, 3));
    near(by_round.pass_at_k[0], 5.0 / 9.0, "pass@1");
    let (low, high) = by_round.pass_at_k_ci[0].unwrap();
    near(low, by_round.ci_low.unwrap(), "its lower end");
    near(high, by_round.ci_high.unwrap(), "its upper end");
    // Two trials that agree are no more rounds.
    let twice = pass_rate(&rounds(2));
    assert_eq!((twice.tasks, twice.trials, twice.pass_at_k.len()), (3, 18, 2));
    near(twice.pass_at_k[1], 5.0 / 9.0, "pass@2");
    near(twice.pass_hat_k[1], 5.0 / 9.0, "pass^2");
}

proptest! {
    #[test]
    fn the_rate_is_the_mean_over_one_turn_and_its_interval_holds_it(tasks in prop::collection::vec(trials(), 0..20)) {
        let episodes = episodes(&tasks);
        let rate = pass_rate(&episodes);
        let mean = summarize(&observations(&episodes), Some(1)).restricted_mean.mean;
        prop_assert_eq!(rate.value.is_some(), mean.is_some());
        if let Some((value, mean)) = rate.value.zip(mean) {
            prop_assert!((value - mean).abs() < 1e-12);
            prop_assert_eq!(rate.ci_low.is_some(), rate.tasks > 1 || !rate.repeats());
            if let Some((low, high)) = rate.ci_low.zip(rate.ci_high) {
                prop_assert!(0.0 <= low && low <= value && value <= high && high <= 1.0 && low < high);
            }
        }
        prop_assert_eq!(rate.trials + rate.unscored, episodes.len() as u32);
    }

    #[test]
    fn pass_at_1_is_the_pass_rate_where_tasks_have_as_many_trials(
        tasks in (1usize..6).prop_flat_map(|n| prop::collection::vec(prop::collection::vec((0u8..2).prop_map(Some), n), 1..20)),
    ) {
        let rate = pass_rate(&episodes(&tasks));
        prop_assert!((rate.pass_at_k[0] - rate.value.unwrap()).abs() < 1e-12);
        prop_assert!((rate.pass_hat_k[0] - rate.value.unwrap()).abs() < 1e-12);
        prop_assert_eq!(rate.pass_at_k.len(), tasks[0].len());
        // And its interval is that of the pass rate.
        let rate_interval = rate.ci_low.zip(rate.ci_high);
        if let (Some((low, high)), Some((rate_low, rate_high))) = (rate.pass_at_k_ci[0], rate_interval) {
            prop_assert!((low - rate_low).abs() < 1e-9 && (high - rate_high).abs() < 1e-9);
        }
        prop_assert_eq!(rate.pass_at_k_ci[0].is_some(), tasks.len() > 1);
    }

    #[test]
    fn more_trials_never_make_one_of_them_less_likely_to_pass_nor_all_of_them_more(tasks in prop::collection::vec(trials(), 0..20)) {
        let rate = pass_rate(&episodes(&tasks));
        prop_assert!(rate.pass_at_k.is_sorted_by(|a, b| *a <= b + 1e-12));
        prop_assert!(rate.pass_hat_k.is_sorted_by(|a, b| a + 1e-12 >= *b));
        for (at_k, hat_k) in rate.pass_at_k.iter().zip(&rate.pass_hat_k) {
            prop_assert!((0.0..=1.0).contains(at_k) && (0.0..=1.0).contains(hat_k) && *hat_k <= at_k + 1e-12);
        }
        let intervals = rate.pass_at_k_ci.iter().zip(&rate.pass_at_k).chain(rate.pass_hat_k_ci.iter().zip(&rate.pass_hat_k));
        for (interval, value) in intervals {
            let Some((low, high)) = interval else { continue };
            prop_assert!(0.0 <= *low && *low <= value + 1e-12 && *value <= high + 1e-12 && *high <= 1.0 && low < high);
        }
    }

    #[test]
    fn order_does_not_matter_and_names_of_tasks_do_not(tasks in prop::collection::vec(trials(), 1..12)) {
        let rate = pass_rate(&episodes(&tasks));
        let turned: Vec<Vec<Option<u8>>> =
            tasks.iter().rev().map(|trials| trials.iter().rev().copied().collect()).collect();
        let other = pass_rate(&episodes(&turned));
        prop_assert_eq!((rate.value, rate.trials, rate.tasks, rate.interval), (other.value, other.trials, other.tasks, other.interval));
        prop_assert!((rate.ci_low.unwrap_or(0.0) - other.ci_low.unwrap_or(0.0)).abs() < 1e-12);
    }

    #[test]
    fn failures_and_passes_change_places(n in 1u32..40, c in 0u32..40, k in 1u32..40) {
        let (c, k) = (c.min(n), k.min(n));
        let trials = |passed| TaskTrials { trials: n, passed, unscored: 0 };
        prop_assert!((pass_at(trials(c), k) - (1.0 - pass_hat(trials(n - c), k))).abs() < 1e-12);
    }
}
