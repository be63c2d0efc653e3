//! The paired comparison of two runs on shared scenarios.
//!
//! Scenarios differ much in difficulty. If two runs share them, the differences within scenarios are more precise than the
//! difference of two means.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clusters::InScenario;
use crate::difference::common_tau;
use crate::random::Stream;
use crate::survival::{MAX_TURNS, Observation, restricted_mean};
use crate::tail_probabilities::{student_975, student_two_sided};

/// One shared scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairedScenario {
    /// Its name.
    pub scenario: String,
    /// The value of the first run: min(stamina, τ), or the pseudo-observation if the run has episodes that were censored
    /// before τ; the mean of several episodes of the scenario. If scenarios have parts, the mean over the parts that both runs
    /// played.
    pub a: f64,
    /// The same for the second run.
    pub b: f64,
    /// `a` − `b`.
    pub difference: f64,
    /// Mean of the observed min(stamina, τ) of the first run; a lower bound if `a_at_least`.
    pub a_observed: f64,
    /// The same for the second run.
    pub b_observed: f64,
    /// Whether an episode of the first run was censored before τ here, so that its stamina is at least the observed one.
    pub a_at_least: bool,
    /// The same for the second run.
    pub b_at_least: bool,
}

/// A paired comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairedDifferences {
    /// Shared scenarios.
    pub n: u32,
    /// Mean of the differences, first − second, in turns.
    pub mean: f64,
    /// Lower end of the 95 % interval (Student's t); `None` = one scenario, or equal differences.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Two-sided p-value of the paired t test; `None` = one scenario, or equal differences.
    pub p: Option<f64>,
    /// Two-sided p-value by flipping signs; `None` = one scenario.
    pub p_sign_flip: Option<f64>,
    /// Whether every flip was counted. Otherwise 9,999 random flips were, from `seed`.
    pub sign_flip_exact: bool,
    /// The seed of random flips.
    pub seed: u64,
    /// The horizon in turns: the given one, or a shorter one to which both curves over the shared scenarios are known.
    pub tau: u32,
    /// The scenarios, by name.
    pub scenarios: Vec<PairedScenario>,
}

/// Up to so many differences other than 0, every flip of signs is counted.
const EXACT_SIGNS: usize = 14;
const DRAWN_SIGNS: u32 = 9_999;

/// Compares `a` with `b` on shared scenarios, over `tau` turns.
///
/// An episode that was observed up to τ or to its failure counts min(stamina, τ). Where a run has episodes that were
/// censored before τ, each of its episodes counts its pseudo-observation n θ − (n − 1) θ₋ᵢ, with θ the restricted mean
/// of the run on the shared scenarios and θ₋ᵢ the same without episode i (Andersen, Hansen and Klein 2004, Lifetime
/// Data Analysis 10:335): their mean is about θ, and without censoring they are exactly min(stamina, τ). They may be below 0
/// or above τ.
///
/// Other scenarios do not count, and of a scenario with parts no part that only one run played. τ is therefore lowered to the last turn to which both curves over the shared scenarios are
/// known ([`common_tau`]).
///
/// Test and interval are those of the paired t test, with the interval clipped to −τ and τ. The sign-flip test counts how often
/// random signs of the differences give a mean as far from 0 (exact up to 14 differences other than 0). Episodes that were
/// never at risk are left out. `None` = no shared scenario, or τ = 0.
pub fn paired(a: &[InScenario], b: &[InScenario], tau: u32, seed: u64) -> Option<PairedDifferences> {
    let tau = tau.min(MAX_TURNS);
    if tau == 0 {
        return None;
    }
    let (mut a, mut b) = (by_part(a), by_part(b));
    a.retain(|part, _| b.contains_key(part));
    b.retain(|part, _| a.contains_key(part));
    let shared_only =
        |run: &EpisodesByPart<'_>| -> Vec<Observation> { run.values().flatten().copied().collect() };
    let tau = common_tau(&[(&shared_only(&a), Some(tau)), (&shared_only(&b), Some(tau))]);
    let mut sides: BTreeMap<&str, (Vec<OneSide>, Vec<OneSide>)> = BTreeMap::new();
    for ((values_a, values_b), (scenario, _)) in
        values(&a, tau).into_iter().zip(values(&b, tau)).zip(a.keys())
    {
        let both_sides = sides.entry(*scenario).or_default();
        both_sides.0.push(values_a);
        both_sides.1.push(values_b);
    }
    let scenarios: Vec<PairedScenario> = sides
        .iter()
        .map(|(scenario, (values_a, values_b))| {
            let (a, b) = (OneSide::over_parts(values_a), OneSide::over_parts(values_b));
            PairedScenario {
                scenario: (*scenario).to_owned(),
                a: a.used,
                b: b.used,
                difference: a.used - b.used,
                a_observed: a.observed,
                b_observed: b.observed,
                a_at_least: a.at_least,
                b_at_least: b.at_least,
            }
        })
        .collect();
    if scenarios.is_empty() {
        return None;
    }
    let differences: Vec<f64> = scenarios.iter().map(|s| s.difference).collect();
    let student = student(&differences);
    let (p_sign_flip, sign_flip_exact) = sign_flip(&differences, seed);
    Some(PairedDifferences {
        n: scenarios.len() as u32,
        mean: mean(&differences),
        ci_low: student.map(|s| s.ci_low.max(-f64::from(tau))),
        ci_high: student.map(|s| s.ci_high.min(f64::from(tau))),
        p: student.map(|s| s.p),
        p_sign_flip,
        sign_flip_exact,
        seed,
        tau,
        scenarios,
    })
}

/// The episodes of a run by scenario and part; a whole scenario is one part.
type EpisodesByPart<'a> = BTreeMap<(&'a str, Option<&'a str>), Vec<Observation>>;

fn by_part(episodes: &[InScenario]) -> EpisodesByPart<'_> {
    let mut parts = EpisodesByPart::new();
    for episode in episodes.iter().filter(|e| e.observation.last_at_risk() > 0) {
        parts.entry(episode.scenario_and_part()).or_default().push(episode.observation);
    }
    parts
}

/// The values of one run for one part of a scenario, or for a scenario.
struct OneSide {
    used: f64,
    observed: f64,
    at_least: bool,
}

impl OneSide {
    /// The means over the parts of a scenario.
    fn over_parts(parts: &[Self]) -> Self {
        let mean_over = |value: fn(&Self) -> f64| parts.iter().map(value).sum::<f64>() / parts.len() as f64;
        Self {
            used: mean_over(|part| part.used),
            observed: mean_over(|part| part.observed),
            at_least: parts.iter().any(|part| part.at_least),
        }
    }
}

fn values(run: &EpisodesByPart<'_>, tau: u32) -> Vec<OneSide> {
    let all: Vec<Observation> = run.values().flatten().copied().collect();
    let early = |o: &Observation| o.failed_turn().is_none() && o.turns < tau;
    let capped = |o: Observation| f64::from(o.turns.min(tau));
    let single: Vec<f64> = if all.iter().any(early) {
        pseudo_observations(&all, tau)
    } else {
        all.iter().map(|o| capped(*o)).collect()
    };
    let mut rest = single.as_slice();
    run.values()
        .map(|episodes| {
            let (own, others) = rest.split_at(episodes.len());
            rest = others;
            let observed: Vec<f64> = episodes.iter().map(|o| capped(*o)).collect();
            OneSide { used: mean(own), observed: mean(&observed), at_least: episodes.iter().any(early) }
        })
        .collect()
}

/// n θ − (n − 1) θ₋ᵢ. Equal episodes have equal values, so each kind is left out once.
fn pseudo_observations(all: &[Observation], tau: u32) -> Vec<f64> {
    let theta = |episodes: &[Observation]| restricted_mean(episodes, tau).mean.unwrap_or(0.0);
    let n = all.len() as f64;
    let whole = theta(all);
    let mut known: BTreeMap<(u32, bool), f64> = BTreeMap::new();
    let mut others = all.to_vec();
    all.iter()
        .enumerate()
        .map(|(i, o)| {
            *known.entry((o.turns, o.failed_turn().is_some())).or_insert_with(|| {
                others.swap_remove(i);
                let without = theta(&others);
                others.clear();
                others.extend_from_slice(all);
                // For one episode, it equals θ.
                if all.len() == 1 { whole } else { n * whole - (n - 1.0) * without }
            })
        })
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[derive(Clone, Copy)]
struct Student {
    ci_low: f64,
    ci_high: f64,
    p: f64,
}

fn student(differences: &[f64]) -> Option<Student> {
    let df = differences.len() as u32 - 1;
    let quantile = student_975(df)?;
    let center = mean(differences);
    let squares: f64 = differences.iter().map(|d| (d - center) * (d - center)).sum();
    let largest = differences.iter().fold(0.0_f64, |m, d| m.max(d.abs()));
    let se = (squares / f64::from(df) / differences.len() as f64).sqrt();
    if se <= 1e-12 * largest {
        return None;
    }
    Some(Student {
        ci_low: center - quantile * se,
        ci_high: center + quantile * se,
        p: student_two_sided(center / se, df)?,
    })
}

/// The p-value and whether it is exact.
fn sign_flip(differences: &[f64], seed: u64) -> (Option<f64>, bool) {
    if differences.len() < 2 {
        return (None, true);
    }
    // A difference of 0 is the same with either sign.
    let largest = differences.iter().fold(0.0_f64, |m, d| m.max(d.abs()));
    let mut moved: Vec<f64> = differences.iter().map(|d| d.abs()).filter(|d| *d > 1e-12 * largest).collect();
    moved.sort_by(f64::total_cmp);
    let observed = differences.iter().sum::<f64>().abs() - 1e-9 * largest;
    let extreme = |flips: &[u64]| {
        let sum: f64 = moved.chunks(64).zip(flips).map(|(part, bits)| flipped_sum(part, *bits)).sum();
        u32::from(sum.abs() >= observed)
    };
    if moved.len() <= EXACT_SIGNS {
        let all = 1_u32 << moved.len();
        let count: u32 = (0..all).map(|flips| extreme(&[u64::from(flips)])).sum();
        return (Some(f64::from(count) / f64::from(all)), true);
    }
    let mut stream = Stream::new(seed, 0);
    let mut flips = vec![0; moved.len().div_ceil(64)];
    let mut count = 0;
    for _ in 0..DRAWN_SIGNS {
        flips.fill_with(|| stream.bits());
        count += extreme(&flips);
    }
    (Some(f64::from(1 + count) / f64::from(1 + DRAWN_SIGNS)), false)
}

/// The sum of `values`, with flipped signs for set bits. It has no branch, because processors cannot predict it.
fn flipped_sum(values: &[f64], bits: u64) -> f64 {
    values.iter().zip(0..).map(|(v, i)| f64::from_bits(v.to_bits() ^ ((bits >> i & 1) << 63))).sum()
}
