//! The comparison of runs with a baseline or with each other, over one τ, with all its numbers.

use serde::{Deserialize, Serialize};

use crate::bootstrap::{BootstrapEstimate, ResampledMeans, Resampling, bootstrap_mean};
use crate::clusters::{InScenario, has_repeats, observations};
use crate::difference::{
    Estimate, clustered_difference, clustered_ratio, common_tau, mean_difference, mean_ratio,
};
use crate::holm::holm;
use crate::logrank::{LogRank, fitting_log_rank, stratified_log_rank};
use crate::paired::{PairedDifferences, paired};
use crate::permutation::{Permutation, permutation_log_rank};
use crate::survival::{MAX_TURNS, Observation, StaminaSummary, anyone_at_risk, summarize_over};

/// A run (or group of runs) to compare.
#[derive(Debug, Clone, Copy)]
pub struct ComparedRun<'a> {
    /// Its episodes.
    pub episodes: &'a [InScenario],
    /// The most turns planned in any of them; `None` = unknown.
    pub planned: Option<u32>,
}

/// Which pairs are tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pairs {
    /// Every run with the one at this index.
    Baseline(usize),
    /// Every run with every later one.
    All,
}

/// Options of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompareOptions {
    /// Which pairs are tested. Holm's correction counts them.
    pub pairs: Pairs,
    /// A shorter horizon than the data allows; `None` = the greatest one to which every curve is known.
    pub tau: Option<u32>,
    /// The bootstrap. Permutations and sign flips use its seed as well.
    pub resampling: Resampling,
    /// Permutations of the log-rank test for pairs of at most [`SMALL`] episodes; 0 = none.
    pub permutations: u32,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { pairs: Pairs::Baseline(0), tau: None, resampling: Resampling::default(), permutations: 2_000 }
    }
}

/// Two runs with at most so many episodes in all also get the permutation test.
pub const SMALL: usize = 40;

/// One run of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStamina {
    /// Mean stamina (Greenwood) over the common τ; n, events, censored and median of the whole run.
    pub summary: StaminaSummary,
    /// The mean with its interval by cluster bootstrap.
    pub bootstrap: Option<BootstrapEstimate>,
}

/// Two runs of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Index of the first run.
    pub a: usize,
    /// Index of the second run, the baseline if there is one. Differences are `a` − `b`, ratios `a` / `b`.
    pub b: usize,
    /// Whether some scenario has several episodes of a run, which depend on each other. The log-rank test is then
    /// [`clustered_log_rank`](crate::logrank::clustered_log_rank), difference and ratio have intervals and p
    /// by a jackknife over scenarios, and the permutation test is not defined.
    pub clustered: bool,
    /// The log-rank test; `None` = not defined.
    pub logrank: Option<LogRank>,
    /// Its p-value after Holm's correction over the pairs.
    pub p_holm: Option<f64>,
    /// The log-rank test stratified by scenario, if scenarios are shared.
    pub stratified: Option<LogRank>,
    /// The log-rank test by permutation, for few episodes.
    pub permutation: Option<Permutation>,
    /// Difference of mean stamina (Greenwood, or by a jackknife over scenarios).
    pub difference: Option<Estimate>,
    /// The same by cluster bootstrap.
    pub difference_bootstrap: Option<BootstrapEstimate>,
    /// Ratio of mean stamina (log scale; Greenwood, or by a jackknife over scenarios).
    pub ratio: Option<Estimate>,
    /// On shared scenarios; `None` = none are shared.
    pub paired: Option<PairedDifferences>,
}

/// A comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The horizon of all means; 0 = nothing to compare.
    pub tau: u32,
    /// The runs, in the order given.
    pub runs: Vec<RunStamina>,
    /// The pairs.
    pub pairs: Vec<Pair>,
    /// The log-rank test of all runs at once; `None` = not defined.
    pub overall: Option<LogRank>,
    /// Whether that is clustered by scenario.
    pub clustered: bool,
}

/// Compares runs.
///
/// τ is the greatest horizon to which the curve of every run is known. Runs without an episode at risk do not lower it, and
/// have no mean. Log-rank tests use all turns; means and numbers computed from them use the first τ.
pub fn compare(runs: &[ComparedRun<'_>], options: CompareOptions) -> Comparison {
    let plain: Vec<Vec<Observation>> = runs.iter().map(|r| observations(r.episodes)).collect();
    let curves: Vec<(&[Observation], Option<u32>)> = plain
        .iter()
        .zip(runs)
        .filter(|(o, _)| anyone_at_risk(o))
        .map(|(o, run)| (o.as_slice(), run.planned))
        .collect();
    let tau = common_tau(&curves).min(options.tau.unwrap_or(MAX_TURNS));
    let resampling = options.resampling;
    let episodes: Vec<&[InScenario]> = runs.iter().map(|r| r.episodes).collect();
    // If all runs have the same scenarios, the resamples of all are also those of every run and pair.
    let together =
        Some(ResampledMeans::new(&episodes, tau, resampling)).filter(ResampledMeans::same_scenarios);
    let pair = |(a, b): (usize, usize)| {
        let (episodes_a, episodes_b) = (runs[a].episodes, runs[b].episodes);
        let (plain_a, plain_b) = (plain[a].as_slice(), plain[b].as_slice());
        let apart =
            together.is_none().then(|| ResampledMeans::new(&[episodes_a, episodes_b], tau, resampling));
        let (means, i, j) = match (&together, &apart) {
            (Some(all), _) => (Some(all), a, b),
            (None, two) => (two.as_ref(), 0, 1),
        };
        let clustered = has_repeats(episodes_a) || has_repeats(episodes_b);
        let small = options.permutations > 0 && plain_a.len() + plain_b.len() <= SMALL && !clustered;
        Pair {
            a,
            b,
            clustered,
            logrank: fitting_log_rank(&[episodes_a, episodes_b]),
            p_holm: None,
            stratified: stratified_log_rank(&[episodes_a, episodes_b]),
            permutation: small
                .then(|| permutation_log_rank(&[plain_a, plain_b], options.permutations, resampling.seed))
                .flatten(),
            difference: if clustered {
                clustered_difference(episodes_a, episodes_b, tau)
            } else {
                mean_difference(plain_a, plain_b, tau)
            },
            difference_bootstrap: means.and_then(|r| r.bootstrapped(|m| m[i] - m[j])),
            ratio: if clustered {
                clustered_ratio(episodes_a, episodes_b, tau)
            } else {
                mean_ratio(plain_a, plain_b, tau)
            },
            paired: paired(episodes_a, episodes_b, tau, resampling.seed),
        }
    };
    let mut pairs: Vec<Pair> = pair_indices(options.pairs, runs.len()).into_iter().map(pair).collect();
    let p_values: Vec<Option<f64>> = pairs.iter().map(|p| p.logrank.as_ref().map(|l| l.p)).collect();
    for (pair, p) in pairs.iter_mut().zip(holm(&p_values)) {
        pair.p_holm = p;
    }
    Comparison {
        tau,
        runs: runs
            .iter()
            .zip(&plain)
            .enumerate()
            .map(|(i, (run, plain))| RunStamina {
                summary: summarize_over(plain, tau),
                bootstrap: match &together {
                    Some(means) => means.bootstrapped(|m| m[i]),
                    None => bootstrap_mean(run.episodes, tau, resampling),
                },
            })
            .collect(),
        pairs,
        overall: fitting_log_rank(&episodes),
        clustered: episodes.iter().any(|group| has_repeats(group)),
    }
}

fn pair_indices(pairs: Pairs, n: usize) -> Vec<(usize, usize)> {
    match pairs {
        Pairs::Baseline(b) if b < n => (0..n).filter(|a| *a != b).map(|a| (a, b)).collect(),
        Pairs::Baseline(_) => Vec::new(),
        Pairs::All => (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect(),
    }
}
