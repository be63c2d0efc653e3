//! Difference and ratio of the mean stamina of two runs over one τ.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Z_95;
use crate::clusters::{InScenario, observations};
use crate::survival::{MAX_TURNS, Observation, RestrictedMean, restricted_mean};
use crate::tail_probabilities::{normal_two_sided, student_975, student_two_sided};

/// An estimate with its 95 % interval and p-value. No interval and no p where there is no variation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Two-sided.
    pub p: Option<f64>,
}

/// The greatest horizon to which every curve is known. Runs are compared over this τ.
///
/// A curve is known up to the last turn with an episode at risk, and forever once S has reached 0. If all have reached 0, τ is
/// the most turns planned in any of them (the second of each pair), or the last failure if that is unknown. 0 means that there
/// is nothing to compare: no runs, or a run without an episode at risk.
pub fn common_tau(runs: &[(&[Observation], Option<u32>)]) -> u32 {
    let known = runs.iter().filter_map(|(observations, _)| known_to(observations)).min();
    longest(runs).min(known.unwrap_or(MAX_TURNS)).min(MAX_TURNS)
}

/// The most turns planned in any of the runs, or the last with an episode at risk where that is unknown.
fn longest(runs: &[(&[Observation], Option<u32>)]) -> u32 {
    let last_turn = |(observations, planned): &(&[Observation], Option<u32>)| {
        planned.filter(|p| *p > 0).unwrap_or_else(|| last_at_risk(observations))
    };
    runs.iter().map(last_turn).max().unwrap_or(0)
}

/// The runs that limit a common τ, and τ without them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShortestRuns {
    /// Their indexes: the runs that are known to the fewest turns.
    pub runs: Vec<usize>,
    /// The common τ of the other runs, in turns. It is greater than that of all.
    pub otherwise: u32,
    /// How many other runs there are.
    pub others: u32,
    /// The last turn to which one of them is known; at least `otherwise`.
    pub furthest: u32,
}

/// The runs that limit [`common_tau`]. `None` = there are no other runs, or τ would be the same.
pub fn shortest(runs: &[(&[Observation], Option<u32>)]) -> Option<ShortestRuns> {
    let known: Vec<Option<u32>> = runs.iter().map(|(observations, _)| known_to(observations)).collect();
    let least = known.iter().flatten().min()?;
    let (holding, others): (Vec<usize>, Vec<usize>) =
        (0..runs.len()).partition(|run| known[*run] == Some(*least));
    let others: Vec<_> = others.into_iter().map(|run| runs[run]).collect();
    let otherwise = common_tau(&others);
    let most = longest(&others);
    let furthest = others.iter().map(|(observations, _)| known_to(observations).unwrap_or(most)).max();
    let furthest = furthest.map_or(otherwise, |last| last.min(MAX_TURNS).max(otherwise));
    (otherwise > common_tau(runs)).then_some(ShortestRuns {
        runs: holding,
        otherwise,
        others: others.len() as u32,
        furthest,
    })
}

/// The last turn with an episode at risk; 0 = there is none.
fn last_at_risk(observations: &[Observation]) -> u32 {
    observations.iter().map(|o| o.last_at_risk()).max().unwrap_or(0)
}

/// The last turn to which a curve is known; `None` = forever, because S has reached 0.
fn known_to(observations: &[Observation]) -> Option<u32> {
    let last = last_at_risk(observations);
    (last == 0 || observations.contains(&Observation::censored_after(last))).then_some(last)
}

/// The difference of mean stamina over `tau` turns, `a` − `b`, of independent groups.
///
/// Its standard error is the root of the sum of both variances (Greenwood), the interval ± 1.96 of them, clipped to
/// [−τ, τ], the test the normal one: survRM2's RMST difference (Uno et al. 2014, J. Clin. Oncol. 32:2380), which is the
/// same for our sums because both start at turn 1. A group with equal episodes adds no variance. If both groups are
/// such, or a group has one episode, there is no interval. `None` = a mean is not defined.
pub fn mean_difference(a: &[Observation], b: &[Observation], tau: u32) -> Option<Estimate> {
    let (a, b) = (Side::from_observations(a, tau)?, Side::from_observations(b, tau)?);
    let value = a.mean - b.mean;
    let limit = f64::from(tau);
    let variance = a.variance.zip(b.variance).map(|(a, b)| a + b);
    let se = variance.filter(|v| *v > 0.0).map(f64::sqrt);
    Some(Estimate {
        value,
        ci_low: se.map(|se| (value - Z_95 * se).max(-limit)),
        ci_high: se.map(|se| (value + Z_95 * se).min(limit)),
        p: se.map(|se| normal_two_sided(value / se)),
    })
}

/// The ratio of mean stamina over `tau` turns, `a` / `b`, of independent groups.
///
/// The interval is symmetric on the log scale, with the delta method's variance Var(a)/a² + Var(b)/b² (survRM2's ratio
/// of RMST). It is the ratio of means Σ_{t=1..τ} S(t). RMST(τ + 1) of textbooks is larger by 1 in both, so their
/// ratio is nearer to 1. `None` = a mean is not defined, or that of `b` is 0.
pub fn mean_ratio(a: &[Observation], b: &[Observation], tau: u32) -> Option<Estimate> {
    let (a, b) = (Side::from_observations(a, tau)?, Side::from_observations(b, tau)?);
    if b.mean <= 0.0 {
        return None;
    }
    let value = a.mean / b.mean;
    let relative = |side: Side| side.variance.map(|v| v / (side.mean * side.mean));
    let se = match (relative(a), relative(b)) {
        (Some(x), Some(y)) if value > 0.0 && x + y > 0.0 => Some((x + y).sqrt()),
        _ => None,
    };
    Some(Estimate {
        value,
        ci_low: se.map(|se| value * (-Z_95 * se).exp()),
        ci_high: se.map(|se| value * (Z_95 * se).exp()),
        p: se.map(|se| normal_two_sided(value.ln() / se)),
    })
}

/// The difference of mean stamina if episodes of a scenario depend on each other, in one group and between both.
///
/// The standard error is the jackknife's over scenarios (Efron and Stein 1981, *Ann. Stat.* 9:586; for clustered survival
/// data Lipsitz, Dear and Zhao 1994, *Biometrics* 50:842): √((G − 1)/G · Σ (θ₍g₎ − θ̄)²) over the G scenarios that somebody
/// was at risk in, where θ₍g₎ is the difference without scenario g. Interval and p are Student's with G − 1 degrees of
/// freedom, the interval clipped to [−τ, τ]. There is none with one scenario, without variation, or if a group has
/// no episode at risk without some scenario. `None` as for [`mean_difference`].
pub fn clustered_difference(a: &[InScenario], b: &[InScenario], tau: u32) -> Option<Estimate> {
    let limit = f64::from(tau);
    let spread = Jackknife::new(a, b, tau, |a, b| Some(a - b))?;
    let value = spread.value;
    Some(Estimate {
        value,
        ci_low: spread.half_width().map(|half| (value - half).max(-limit)),
        ci_high: spread.half_width().map(|half| (value + half).min(limit)),
        p: spread.p(),
    })
}

/// The ratio of mean stamina if episodes of a scenario depend on each other: the jackknife of [`clustered_difference`] on the
/// log scale. `None` as for [`mean_ratio`].
pub fn clustered_ratio(a: &[InScenario], b: &[InScenario], tau: u32) -> Option<Estimate> {
    let mean = |group: &[InScenario]| restricted_mean(&observations(group), tau).mean;
    let value = mean(a).zip(mean(b)).filter(|(_, b)| *b > 0.0).map(|(a, b)| a / b)?;
    let spread = Jackknife::new(a, b, tau, |a, b| (a > 0.0 && b > 0.0).then(|| (a / b).ln()));
    let half = spread.as_ref().and_then(Jackknife::half_width);
    Some(Estimate {
        value,
        ci_low: half.map(|half| value * (-half).exp()),
        ci_high: half.map(|half| value * half.exp()),
        p: spread.and_then(|spread| spread.p()),
    })
}

/// A number computed from two means, and its variation when single scenarios are left out.
struct Jackknife {
    value: f64,
    /// Its standard error, and the degrees of freedom.
    spread: Option<(f64, u32)>,
}

impl Jackknife {
    fn new(
        a: &[InScenario],
        b: &[InScenario],
        tau: u32,
        number: impl Fn(f64, f64) -> Option<f64>,
    ) -> Option<Self> {
        let mean = |group: &[InScenario], without: Option<&str>| {
            let kept = group.iter().filter(|episode| Some(episode.scenario.as_str()) != without);
            restricted_mean(&kept.map(|episode| episode.observation).collect::<Vec<_>>(), tau).mean
        };
        let without_scenario = |without: Option<&str>| number(mean(a, without)?, mean(b, without)?);
        let value = without_scenario(None)?;
        let at_risk = a.iter().chain(b).filter(|episode| episode.observation.last_at_risk() > 0);
        let scenarios: BTreeSet<&str> = at_risk.map(|episode| episode.scenario.as_str()).collect();
        let left: Option<Vec<f64>> =
            scenarios.iter().map(|scenario| without_scenario(Some(scenario))).collect();
        let spread = left.filter(|left| left.len() > 1).and_then(|left| {
            let n = left.len() as f64;
            let mean = left.iter().sum::<f64>() / n;
            let squares: f64 = left.iter().map(|each| (each - mean).powi(2)).sum();
            let se = ((n - 1.0) / n * squares).sqrt();
            (se > 1e-12).then_some((se, left.len() as u32 - 1))
        });
        Some(Self { value, spread })
    }

    fn half_width(&self) -> Option<f64> {
        self.spread.and_then(|(se, df)| Some(student_975(df)? * se))
    }

    fn p(&self) -> Option<f64> {
        self.spread.and_then(|(se, df)| student_two_sided(self.value / se, df))
    }
}

/// The mean of a group and its variance; `None` for one episode, whose variance is unknown.
#[derive(Clone, Copy)]
struct Side {
    mean: f64,
    variance: Option<f64>,
}

impl Side {
    fn from_observations(observations: &[Observation], tau: u32) -> Option<Self> {
        let RestrictedMean { mean, standard_error, .. } = restricted_mean(observations, tau);
        let at_risk = observations.iter().filter(|o| o.last_at_risk() > 0).count();
        let variance = (at_risk > 1).then(|| standard_error.map_or(0.0, |se| se * se));
        Some(Self { mean: mean?, variance })
    }
}
