//! How often 95 % intervals hold the truth, and how often tests cry wolf, on made-up runs whose truth is known.
//!
//!     cargo run --release -p analysis --example coverage
//!
//! Scenarios have a difficulty (log-normal-like, the same for both runs); within a scenario every turn fails with the
//! same probability. `docs/metrics.md`, "How sure these intervals are", cites what it prints.
#![allow(clippy::print_stdout, reason = "it is there to print")]

use analysis::bootstrap::{Resampling, bootstrap_difference, bootstrap_mean};
use analysis::clusters::{InScenario, observations};
use analysis::difference::{common_tau, mean_difference, mean_ratio};
use analysis::logrank::{log_rank, stratified_log_rank};
use analysis::paired::paired;
use analysis::survival::{Observation, restricted_mean};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

const PLANNED: u32 = 30;
const TAU: u32 = 15;
const COMPARISONS: u32 = 1_500;
const RATE: f64 = 0.05;

struct Case {
    scenarios: u32,
    repeats: u32,
    /// Hazard of the second run; that of the first is `RATE`.
    other_rate: f64,
    /// Share of episodes that are stopped from outside at a turn drawn evenly.
    stopped: f64,
}

fn main() {
    println!("{COMPARISONS} comparisons each, τ = {TAU}; coverage of 95 % intervals, rejections at 5 %");
    for (scenarios, repeats, other_rate, stopped) in
        [(20, 1, RATE, 0.0), (20, 1, RATE, 0.15), (20, 1, 0.1, 0.15), (10, 1, RATE, 0.0), (8, 4, RATE, 0.1)]
    {
        report(&Case { scenarios, repeats, other_rate, stopped });
    }
}

fn report(case: &Case) {
    let mut rng = ChaCha8Rng::seed_from_u64(42);
    let (a_true, b_true) = (truth(RATE), truth(case.other_rate));
    let difference = a_true - b_true;
    let mut counts: [(&str, u32); 9] = [
        ("mean", 0),
        ("mean, bootstrap", 0),
        ("difference", 0),
        ("difference, bootstrap", 0),
        ("ratio", 0),
        ("paired", 0),
        ("log-rank rejects", 0),
        ("stratified rejects", 0),
        ("sign flip rejects", 0),
    ];
    let mut done = 0;
    for seed in 0..u64::from(COMPARISONS) {
        let difficulty: Vec<f64> = (0..case.scenarios).map(|_| drawn_difficulty(&mut rng)).collect();
        let a = run(&mut rng, &difficulty, RATE, case);
        let b = run(&mut rng, &difficulty, case.other_rate, case);
        let (plain_a, plain_b) = (observations(&a), observations(&b));
        if common_tau(&[(&plain_a, Some(PLANNED)), (&plain_b, Some(PLANNED))]) < TAU {
            continue;
        }
        done += 1;
        let resampling = Resampling { seed, resamples: 1_000, threads: 1 };
        let mean = restricted_mean(&plain_a, TAU);
        let drawn = bootstrap_mean(&a, TAU, resampling);
        let plain = mean_difference(&plain_a, &plain_b, TAU);
        let resampled = bootstrap_difference(&a, &b, TAU, resampling);
        let ratio = mean_ratio(&plain_a, &plain_b, TAU);
        let pairs = paired(&a, &b, TAU, seed);
        let hits = [
            holds(a_true, mean.ci_low, mean.ci_high),
            drawn.is_some_and(|d| holds(a_true, d.ci_low, d.ci_high)),
            plain.is_some_and(|d| holds(difference, d.ci_low, d.ci_high)),
            resampled.is_some_and(|d| holds(difference, d.ci_low, d.ci_high)),
            ratio.is_some_and(|r| holds(a_true / b_true, r.ci_low, r.ci_high)),
            pairs.as_ref().is_some_and(|p| holds(difference, p.ci_low, p.ci_high)),
            log_rank(&[&plain_a, &plain_b]).is_some_and(|t| t.p < 0.05),
            stratified_log_rank(&[&a, &b]).is_some_and(|t| t.p < 0.05),
            pairs.is_some_and(|p| p.p_sign_flip.is_some_and(|p| p < 0.05)),
        ];
        for (count, hit) in counts.iter_mut().zip(hits) {
            count.1 += u32::from(hit);
        }
    }
    println!(
        "\n{} scenarios × {}, {:.0} % stopped, true means {a_true:.2} and {b_true:.2}, {done} comparisons",
        case.scenarios,
        case.repeats,
        100.0 * case.stopped
    );
    for (name, count) in counts {
        println!("  {name:22} {:5.1} %", 100.0 * f64::from(count) / f64::from(done));
    }
}

/// Without an interval nothing is claimed, and so nothing missed.
fn holds(truth: f64, low: Option<f64>, high: Option<f64>) -> bool {
    low.is_none_or(|low| low <= truth) && high.is_none_or(|high| truth <= high)
}

/// Evenly from 0 to 1, 1 excluded.
fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// The exponential of nearly a normal number of standard deviation 0.6.
fn drawn_difficulty(rng: &mut ChaCha8Rng) -> f64 {
    (1.2 * (uniform(rng) + uniform(rng) + uniform(rng) - 1.5)).exp()
}

fn run(rng: &mut ChaCha8Rng, difficulty: &[f64], rate: f64, case: &Case) -> Vec<InScenario> {
    let mut episodes = Vec::new();
    for (scenario, difficulty) in difficulty.iter().enumerate() {
        for _ in 0..case.repeats {
            let fails = 1 + ((1.0 - uniform(rng)).ln() / -(rate * difficulty)) as u32;
            let stopped = uniform(rng) < case.stopped;
            let last = if stopped { (uniform(rng) * f64::from(PLANNED)) as u32 } else { PLANNED };
            let observation =
                if fails <= last { Observation::failed_at(fails) } else { Observation::censored_after(last) };
            episodes.push(InScenario::new(scenario.to_string(), observation));
        }
    }
    episodes
}

/// The mean stamina over τ turns, averaged over many difficulties.
fn truth(rate: f64) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let draws = 400_000;
    let sum: f64 = (0..draws)
        .map(|_| {
            let passes = (-rate * drawn_difficulty(&mut rng)).exp();
            (1..=TAU.cast_signed()).map(|turn| passes.powi(turn)).sum::<f64>()
        })
        .sum();
    sum / f64::from(draws)
}
