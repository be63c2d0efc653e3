//! Intervals hold the truth as often as they say: by bootstrap where runs share some of their scenarios only, and of pass
//! rates over tasks with several trials.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on has failed")]

use analysis::band::kaplan_meier_by_scenario;
use analysis::bootstrap::{Resampling, bootstrap_difference};
use analysis::clusters::{InScenario, observations};
use analysis::difference::clustered_difference;
use analysis::logrank::{clustered_log_rank, log_rank};
use analysis::pass_rate::pass_rate;
use analysis::proportion::wilson;
use analysis::survival::{Observation, SurvivalPoint, kaplan_meier};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

const TAU: u32 = 12;
const COMPARISONS: u64 = 600;

fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A run over scenarios `from..to`, whose difficulty both runs meet.
fn run(rng: &mut ChaCha8Rng, difficulty: &[f64], first: usize, end: usize) -> Vec<InScenario> {
    (first..end)
        .map(|scenario| {
            let fails = 1 + ((1.0 - uniform(rng)).ln() / -(0.1 * difficulty[scenario])) as u32;
            InScenario::new(scenario.to_string(), Observation::failed_at(fails))
        })
        .collect()
}

/// The share of 95 % intervals that hold the true difference, which is 0: both runs are alike. The first run plays the
/// scenarios `0..own + shared`, the second `own..2 own + shared`.
fn coverage(own_count: usize, shared: usize) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut held = 0;
    for seed in 0..COMPARISONS {
        let difficulty: Vec<f64> = (0..2 * own_count + shared)
            .map(|_| (1.2 * (uniform(&mut rng) + uniform(&mut rng) + uniform(&mut rng) - 1.5)).exp())
            .collect();
        let a = run(&mut rng, &difficulty, 0, own_count + shared);
        let b = run(&mut rng, &difficulty, own_count, 2 * own_count + shared);
        let resampling = Resampling { seed, resamples: 300, threads: 1 };
        let drawn = bootstrap_difference(&a, &b, TAU, resampling).unwrap();
        let low = drawn.ci_low.is_none_or(|low| low <= 0.0);
        let high = drawn.ci_high.is_none_or(|high| 0.0 <= high);
        held += u32::from(low && high);
    }
    f64::from(held) / COMPARISONS as f64
}

#[test]
fn differences_over_partly_shared_scenarios_hold_the_truth() {
    // Own scenarios of each run, shared ones, and what a bootstrap of so few must reach. Drawn apart by who played them,
    // these are 94, 90, 87 and 82 %.
    for (own_count, shared, least) in [(10, 10, 0.945), (4, 4, 0.92), (2, 10, 0.905), (1, 6, 0.885)] {
        let held = coverage(own_count, shared);
        assert!((least..=0.975).contains(&held), "{own_count} own and {shared} shared: {held:.3}");
    }
}

#[test]
fn no_resample_leaves_a_run_without_scenarios() {
    // Three of four draws of these two scenarios would leave one run or the other with nothing, and so without a mean.
    let a = [InScenario::new("a", Observation::failed_at(4))];
    let b = [InScenario::new("b", Observation::failed_at(2))];
    let drawn = bootstrap_difference(&a, &b, TAU, Resampling::default()).unwrap();
    assert_eq!((drawn.value, drawn.ci_low, drawn.ci_high), (2.0, None, None));
    // One that is shared and one more: the second varies only by how often that one is drawn.
    let two_scenarios = [a[0].clone(), InScenario::new("c", Observation::failed_at(8))];
    let drawn = bootstrap_difference(&two_scenarios, &a, TAU, Resampling::default()).unwrap();
    assert_eq!((drawn.value, drawn.ci_low, drawn.ci_high), (2.0, Some(0.0), Some(2.0)));
}

/// The shares of 95 % intervals of a pass rate that hold the true one, clustered by task and as if all trials were
/// independent. A third of the tasks pass at `rate`, the others always or never, and they have 1 to `most` trials.
fn rate_coverage(tasks: usize, most: u64, rate: f64) -> [f64; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let mut held = [0, 0];
    for _ in 0..COMPARISONS {
        let mut episodes = Vec::new();
        for task in 0..tasks {
            let task_rate = match uniform(&mut rng) {
                u if u < 1.0 / 3.0 => rate,
                _ => f64::from(u8::from(uniform(&mut rng) < rate)),
            };
            for _ in 0..=rng.next_u64() % most {
                let passed = uniform(&mut rng) < task_rate;
                let observation =
                    if passed { Observation::censored_after(1) } else { Observation::failed_at(1) };
                episodes.push(InScenario::new(task.to_string(), observation));
            }
        }
        let drawn = pass_rate(&episodes);
        held[0] += u32::from(drawn.ci_low.unwrap() <= rate && rate <= drawn.ci_high.unwrap());
        let plain = wilson(drawn.passed, drawn.trials).unwrap();
        held[1] += u32::from(plain.ci_low <= rate && rate <= plain.ci_high);
    }
    held.map(|held| f64::from(held) / COMPARISONS as f64)
}

#[test]
fn pass_rates_over_tasks_with_several_trials_hold_the_truth() {
    // What docs/metrics.md says of it.
    for (tasks, most, rate, documented) in [
        (5, 4, 0.5, [0.96, 0.80]),
        (8, 4, 0.5, [0.96, 0.76]),
        (20, 5, 0.15, [0.92, 0.75]),
        (80, 5, 0.5, [0.94, 0.74]),
        (80, 5, 0.15, [0.96, 0.78]),
    ] {
        let held = rate_coverage(tasks, most, rate);
        let near = held
            .iter()
            .zip(documented)
            .all(|(held, documented): (&f64, f64)| (held - documented).abs() < 0.006);
        assert!(near, "{tasks} tasks with up to {most} trials, {rate}: {held:?}");
    }
}

/// How often runs that are alike, each scenario played four times, are told apart at 5 %: by the plain log-rank test, by the
/// one that is clustered by scenario, and by the difference with a jackknife over scenarios.
fn rejected(own_count: usize, shared: usize) -> [f64; 3] {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    let mut rejected = [0_u32; 3];
    for _ in 0..COMPARISONS {
        let difficulty: Vec<f64> = (0..2 * own_count + shared)
            .map(|_| (1.2 * (uniform(&mut rng) + uniform(&mut rng) + uniform(&mut rng) - 1.5)).exp())
            .collect();
        let mut play = |first, end| -> Vec<InScenario> {
            (0..4).flat_map(|_| run(&mut rng, &difficulty, first, end)).collect()
        };
        let (a, b) = (play(0, own_count + shared), play(own_count, 2 * own_count + shared));
        let p = [
            log_rank(&[&observations(&a), &observations(&b)]).unwrap().p,
            clustered_log_rank(&[&a, &b]).unwrap().p,
            clustered_difference(&a, &b, TAU).unwrap().p.unwrap(),
        ];
        rejected.iter_mut().zip(p).for_each(|(count, p)| *count += u32::from(p < 0.05));
    }
    rejected.map(|count| f64::from(count) / COMPARISONS as f64)
}

#[test]
fn repeats_of_scenarios_do_not_make_runs_differ() {
    let cases = [(10, 0), (20, 0), (0, 8), (0, 20), (4, 4)];
    let found: Vec<[f64; 3]> =
        cases.iter().map(|(own_count, shared)| rejected(*own_count, *shared)).collect();
    let shares = format!("{cases:?}: {found:.3?}");
    assert!(
        found[0][0] >= 0.09 && found[1][0] >= 0.09,
        "taken for independent they differ too often: {shares}"
    );
    assert!(
        found.iter().all(|[_, log_rank, difference]| *log_rank <= 0.1 && *difference <= 0.075),
        "{shares}"
    );
}

/// How often bands at turn 4 hold the truth where each scenario is played `repeats` times and some episodes are censored: those
/// by scenario, and those that take episodes as independent.
fn band_coverage(scenarios: usize, repeats: usize) -> [f64; 2] {
    const TURN: u32 = 4;
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let rate = |rng: &mut ChaCha8Rng| 0.15 * (1.2 * (uniform(rng) + uniform(rng) + uniform(rng) - 1.5)).exp();
    // An episode of a rate passes turn 4 with probability exp(−4 rate).
    let draws = 200_000;
    let truth = (0..draws).map(|_| (-f64::from(TURN) * rate(&mut rng)).exp()).sum::<f64>() / f64::from(draws);
    let mut held = [0, 0];
    for _ in 0..COMPARISONS {
        let mut episodes = Vec::new();
        for scenario in 0..scenarios {
            let rate = rate(&mut rng);
            for _ in 0..repeats {
                let geometric = |rng: &mut ChaCha8Rng, rate: f64| ((1.0 - uniform(rng)).ln() / -rate) as u32;
                let (passed, seen_turns) = (geometric(&mut rng, rate), 1 + geometric(&mut rng, 0.1));
                let observation = if passed < seen_turns {
                    Observation::failed_at(passed + 1)
                } else {
                    Observation::censored_after(seen_turns)
                };
                episodes.push(InScenario::new(scenario.to_string(), observation));
            }
        }
        let holds = |points: &[SurvivalPoint]| {
            let point = points[TURN as usize - 1];
            // Where nothing varies there is no band, and nothing is said.
            point.ci_low.is_none_or(|low| low <= truth) && point.ci_high.is_none_or(|high| truth <= high)
        };
        held[0] += u32::from(holds(&kaplan_meier_by_scenario(&episodes, TURN)));
        held[1] += u32::from(holds(&kaplan_meier(&observations(&episodes), TURN)));
    }
    held.map(|held| f64::from(held) / COMPARISONS as f64)
}

#[test]
fn bands_over_scenarios_with_repeats_hold_the_truth() {
    for (scenarios, repeats) in [(3, 4), (5, 4), (10, 6), (20, 8)] {
        let [by_scenario, plain] = band_coverage(scenarios, repeats);
        assert!((0.935..=0.995).contains(&by_scenario), "{scenarios} × {repeats}: {by_scenario}");
        assert!(plain < by_scenario, "{scenarios} × {repeats}: {plain}");
    }
}
