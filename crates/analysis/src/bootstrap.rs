//! Intervals by resampling scenarios, which stay valid when several episodes share a scenario.
//!
//! Episodes of a scenario depend on each other, in one run and between runs. The cluster bootstrap (Davison and Hinkley 1997,
//! §3.8; Field and Welsh 2007, JRSS B 69:369) samples *scenarios* with replacement, each with all its episodes in every
//! group. Comparisons thus stay paired on shared scenarios. If groups share only some scenarios, the sample is from the
//! scenarios of all groups.
//!
//! The interval is the percentile interval (Efron and Tibshirani 1993, §13.3): of B sorted values, the k-th from both
//! ends with k = ⌊0.025 (B + 1)⌋. The seed is part of the result. Resample i depends only on (seed, i), so the result
//! does not depend on the number of threads.

use serde::{Deserialize, Serialize};

use crate::clusters::{Clusters, InScenario};

/// How to resample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resampling {
    /// The seed of the resamples.
    pub seed: u64,
    /// The number of resamples.
    pub resamples: u32,
    /// The number of threads. It does not change the result.
    pub threads: u32,
}

/// The most threads.
const MOST_THREADS: u32 = 64;

impl Default for Resampling {
    fn default() -> Self {
        Self { seed: 1, resamples: 2_000, threads: 1 }
    }
}

/// A number with its interval by cluster bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BootstrapEstimate {
    /// The number, from the data itself.
    pub value: f64,
    /// Lower end of the 95 % interval; `None` = no variation (one scenario, or equal ones).
    pub ci_low: Option<f64>,
    /// Upper end; `None` also if a ratio has no upper bound, because its denominator is 0 in too many resamples.
    pub ci_high: Option<f64>,
    /// The number of scenarios.
    pub scenarios: u32,
    /// Resamples.
    pub resamples: u32,
    /// Their seed.
    pub seed: u64,
}

/// Mean stamina over `tau` turns. `None` = nobody was at risk, or τ = 0.
pub fn bootstrap_mean(
    episodes: &[InScenario],
    tau: u32,
    resampling: Resampling,
) -> Option<BootstrapEstimate> {
    bootstrap(&[episodes], tau, resampling, |means| means[0])
}

/// The difference of mean stamina, `a` − `b`. `None` = one of the means is not defined.
///
/// A comparison resamples all runs at once and takes each difference from those resamples. This is the definition of one
/// pair, with which tests and the measured coverage compare it; it is public because they are outside the crate.
pub fn bootstrap_difference(
    a: &[InScenario],
    b: &[InScenario],
    tau: u32,
    resampling: Resampling,
) -> Option<BootstrapEstimate> {
    bootstrap(&[a, b], tau, resampling, |means| means[0] - means[1])
}

/// The ratio of mean stamina, `a` / `b`. `None` = one of the means is not defined, or that of `b` is 0.
///
/// Resamples whose denominator is 0 count as +∞, and those of 0 / 0 against both ends.
pub fn bootstrap_ratio(
    a: &[InScenario],
    b: &[InScenario],
    tau: u32,
    resampling: Resampling,
) -> Option<BootstrapEstimate> {
    bootstrap(&[a, b], tau, resampling, |means| ratio(means[0], means[1]))
}

/// NaN for 0 / 0.
fn ratio(a: f64, b: f64) -> f64 {
    match (a > 0.0, b > 0.0) {
        (_, true) => a / b,
        (true, false) => f64::INFINITY,
        (false, false) => f64::NAN,
    }
}

/// A number computed from the mean stamina of each group.
fn bootstrap(
    groups: &[&[InScenario]],
    tau: u32,
    resampling: Resampling,
    number: impl Fn(&[f64]) -> f64,
) -> Option<BootstrapEstimate> {
    ResampledMeans::new(groups, tau, resampling).bootstrapped(number)
}

/// Mean stamina of each group, in the data and in every resample.
pub(crate) struct ResampledMeans {
    observed: Vec<f64>,
    /// By resample, with one mean per group.
    resampled: Vec<f64>,
    scenarios: u32,
    resampling: Resampling,
    same_scenarios: bool,
}

impl ResampledMeans {
    pub(crate) fn new(groups: &[&[InScenario]], tau: u32, resampling: Resampling) -> Self {
        let clusters = Clusters::new(groups, tau);
        let mut observed = vec![0.0; groups.len()];
        clusters.means(&mut clusters.workspace(), &mut observed);
        Self {
            observed,
            resampled: resample(&clusters, resampling, groups.len()),
            scenarios: clusters.scenarios(),
            resampling,
            same_scenarios: clusters.same_scenarios(),
        }
    }

    /// Whether every group has every scenario. The resamples are then also those of a part of the groups.
    pub(crate) fn same_scenarios(&self) -> bool {
        self.same_scenarios
    }

    /// A number with its interval. `None` = it is not finite in the data.
    pub(crate) fn bootstrapped(&self, number: impl Fn(&[f64]) -> f64) -> Option<BootstrapEstimate> {
        let value = number(&self.observed);
        if !value.is_finite() {
            return None;
        }
        let mut values: Vec<f64> = self.resampled.chunks(self.observed.len().max(1)).map(number).collect();
        let (ci_low, ci_high) = percentiles(&mut values);
        Some(BootstrapEstimate {
            value,
            ci_low,
            ci_high,
            scenarios: self.scenarios,
            resamples: self.resampling.resamples,
            seed: self.resampling.seed,
        })
    }
}

fn resample(clusters: &Clusters, resampling: Resampling, groups: usize) -> Vec<f64> {
    let work = |first: u32, values: &mut [f64]| {
        let mut workspace = clusters.workspace();
        for (index, means) in (first..).zip(values.chunks_mut(groups)) {
            clusters.draw(resampling.seed, index, &mut workspace);
            clusters.means(&mut workspace, means);
        }
    };
    let mut values = vec![0.0; resampling.resamples as usize * groups];
    let share = resampling.resamples.div_ceil(resampling.threads.clamp(1, MOST_THREADS)).max(1);
    if groups == 0 {
        return values;
    }
    if share >= resampling.resamples {
        work(0, &mut values);
    } else {
        std::thread::scope(|scope| {
            for (number, part) in (0..).zip(values.chunks_mut(share as usize * groups)) {
                scope.spawn(move || work(number * share, part));
            }
        });
    }
    values
}

/// An undefined value (NaN) may be anything: it counts as the least for the lower end and as the greatest for the upper.
fn percentiles(values: &mut Vec<f64>) -> (Option<f64>, Option<f64>) {
    let all = values.len();
    let k = (0.025 * (all as f64 + 1.0)) as usize;
    values.retain(|v| !v.is_nan());
    let undefined = all - values.len();
    values.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return (None, None) };
    let same = last.is_finite() && last - first <= 1e-12 * last.abs();
    if k == 0 || (same && undefined == 0) {
        return (None, None);
    }
    let value_at = |i: usize| values.get(i).copied().filter(|v| v.is_finite());
    ((k - 1).checked_sub(undefined).and_then(value_at), value_at(all - k))
}
