//! Log-rank tests of whether curves differ, for two or more groups: plain, stratified by scenario, and for repeated
//! scenarios. [`crate::permutation`] has the test for groups that are too small for χ².
//!
//! Turns are discrete, so several episodes fail at the same turn. The variance is the hypergeometric one, which is right
//! for ties.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::clusters::{InScenario, has_repeats, observations};
use crate::survival::Observation;
use crate::tail_probabilities::chi_squared_above;

/// One group of a log-rank test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LogRankGroup {
    /// Episodes.
    pub n: u32,
    /// Episodes that failed.
    pub observed: u32,
    /// Expected failures if all groups had one curve.
    pub expected: f64,
}

/// A log-rank test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogRank {
    /// The statistic.
    pub chi2: f64,
    /// Degrees of freedom: one less than the groups that were ever at risk together.
    pub df: u32,
    /// P(χ² ≥ `chi2`).
    pub p: f64,
    /// The groups, in the order given.
    pub groups: Vec<LogRankGroup>,
}

/// The log-rank test (Mantel 1966; Peto and Peto 1972, JRSS A 135:185; `survdiff` with rho = 0 in R).
///
/// At each turn with d failures among n at risk, group j with nⱼ at risk is expected to have nⱼ d/n of them, with the
/// hypergeometric covariance nⱼ (δⱼₖ n − nₖ) d (n − d) / (n² (n − 1)), which allows for ties (Klein and Moeschberger
/// 2003, eq. 7.3.5). χ² is the quadratic form of observed − expected with the (generalized) inverse of the sum.
///
/// `None` = not defined: fewer than two groups, a group without episodes, no failures, or no variation (no two groups were
/// ever at risk together, or all fail at once).
pub fn log_rank(groups: &[&[Observation]]) -> Option<LogRank> {
    if groups.len() < 2 || groups.iter().any(|g| g.is_empty()) {
        return None;
    }
    let mut sums = Sums::new(groups.len());
    let tagged: Vec<(usize, Observation)> =
        groups.iter().enumerate().flat_map(|(g, all)| all.iter().map(move |o| (g, *o))).collect();
    sums.add_stratum(&tagged);
    sums.test()
}

/// The log-rank test stratified by scenario: observed, expected and covariance are summed up within each scenario, so
/// that a scenario is only compared with itself (Klein and Moeschberger 2003, §7.5; `strata()` in R's `survdiff`).
///
/// A scenario of only one group adds nothing to χ². If scenarios have parts, each part is compared with itself. `None` as for
/// [`log_rank`].
pub fn stratified_log_rank(groups: &[&[InScenario]]) -> Option<LogRank> {
    if groups.len() < 2 || groups.iter().any(|g| g.is_empty()) {
        return None;
    }
    let mut strata: BTreeMap<_, Vec<(usize, Observation)>> = BTreeMap::new();
    for (g, all) in groups.iter().enumerate() {
        for episode in *all {
            strata.entry(episode.scenario_and_part()).or_default().push((g, episode.observation));
        }
    }
    let mut sums = Sums::new(groups.len());
    for stratum in strata.values() {
        sums.add_stratum(stratum);
    }
    sums.test()
}

/// The log-rank test if episodes of one scenario depend on each other, in one group and between groups: the
/// covariance of observed − expected is the sum over scenarios of the products of their scores (Lin and Wei 1989, JASA
/// 84:1074; Lee, Wei and Amato 1992; the robust score test of `coxph` with `cluster()` and Breslow's ties in R).
///
/// The score of an episode for group j is Σ over turns of (1 in j − nⱼ/n) · (failed − at risk · d/n), with the n at risk
/// and d failures of that turn; the scores of a scenario are summed over its episodes in all groups. If every episode
/// has its own scenario, it differs from [`log_rank`] only in the estimate of the variance.
///
/// `None` as for [`log_rank`], and if there are not more scenarios with a score than degrees of freedom.
pub fn clustered_log_rank(groups: &[&[InScenario]]) -> Option<LogRank> {
    let k = groups.len();
    let plain: Vec<Vec<Observation>> = groups.iter().map(|group| observations(group)).collect();
    let plain: Vec<&[Observation]> = plain.iter().map(Vec::as_slice).collect();
    let LogRank { groups: sums, .. } = log_rank(&plain)?;

    // Per turn with failures: failures, and at risk of each group.
    let mut turns: BTreeMap<u32, (f64, Vec<f64>)> = BTreeMap::new();
    for turn in groups.iter().copied().flatten().filter_map(|episode| episode.observation.failed_turn()) {
        turns.entry(turn).or_insert_with(|| (0.0, vec![0.0; k])).0 += 1.0;
    }
    for (g, all) in groups.iter().enumerate() {
        for episode in *all {
            for (_, at_risk) in turns.range_mut(..=episode.observation.last_at_risk()).map(|(_, turn)| turn) {
                at_risk[g] += 1.0;
            }
        }
    }
    // Per turn: the share of each group at risk, and the sums up to it of the hazard and of the hazard times that share.
    let mut hazard = 0.0;
    let mut weighted = vec![0.0; k];
    let cumulated: BTreeMap<u32, (Vec<f64>, f64, Vec<f64>)> = turns
        .iter()
        .map(|(turn, (failed, at_risk))| {
            let n: f64 = at_risk.iter().sum();
            let shares: Vec<f64> = at_risk.iter().map(|own| own / n).collect();
            hazard += failed / n;
            weighted.iter_mut().zip(&shares).for_each(|(sum, share)| *sum += share * failed / n);
            (*turn, (shares, hazard, weighted.clone()))
        })
        .collect();
    let mut scores: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (g, all) in groups.iter().enumerate() {
        for episode in *all {
            let last = episode.observation.last_at_risk();
            let Some((_, (shares, hazard, weighted))) = cumulated.range(..=last).next_back() else {
                continue;
            };
            let failed = f64::from(u8::from(episode.observation.failed_turn().is_some()));
            let scenario_scores = scores.entry(&episode.scenario).or_insert_with(|| vec![0.0; k]);
            for (j, score) in scenario_scores.iter_mut().enumerate() {
                let own = f64::from(u8::from(j == g));
                *score += failed * (own - shares[j]) - (own * hazard - weighted[j]);
            }
        }
    }
    let mut covariance = vec![0.0; k * k];
    for score in scores.values() {
        for j in 0..k {
            for l in 0..k {
                covariance[j * k + l] += score[j] * score[l];
            }
        }
    }
    let telling = scores.values().filter(|score| score.iter().any(|s| s.abs() > 1e-12)).count();
    Sums { groups: sums, covariance }.test().filter(|test| telling > test.df as usize)
}

/// The suitable log-rank test: [`clustered_log_rank`] if some scenario has several episodes in a group, else
/// [`log_rank`].
pub fn fitting_log_rank(groups: &[&[InScenario]]) -> Option<LogRank> {
    if groups.iter().any(|group| has_repeats(group)) {
        return clustered_log_rank(groups);
    }
    let plain: Vec<Vec<Observation>> = groups.iter().map(|group| observations(group)).collect();
    log_rank(&plain.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Observed, expected and covariance, summed over turns and strata.
struct Sums {
    groups: Vec<LogRankGroup>,
    /// k × k, row by row.
    covariance: Vec<f64>,
}

impl Sums {
    fn new(k: usize) -> Self {
        Self {
            groups: vec![LogRankGroup { n: 0, observed: 0, expected: 0.0 }; k],
            covariance: vec![0.0; k * k],
        }
    }

    fn add_stratum(&mut self, episodes: &[(usize, Observation)]) {
        let k = self.groups.len();
        for (g, episode) in episodes {
            self.groups[*g].n += 1;
            self.groups[*g].observed += u32::from(episode.failed_turn().is_some());
        }
        let turns: Vec<u32> = episodes
            .iter()
            .filter_map(|(_, o)| o.failed_turn())
            .collect::<BTreeSet<u32>>()
            .into_iter()
            .collect();
        // Per turn and group, the episodes whose last turn at risk is before the next such turn. Then sums from the end.
        let mut at_risk = vec![0_u32; turns.len() * k];
        let mut events = vec![0_u32; turns.len()];
        for (g, episode) in episodes {
            let upto = turns.partition_point(|t| *t <= episode.last_at_risk());
            if upto > 0 {
                at_risk[(upto - 1) * k + g] += 1;
                events[upto - 1] += u32::from(episode.failed_turn().is_some());
            }
        }
        for i in (0..turns.len().saturating_sub(1) * k).rev() {
            at_risk[i] += at_risk[i + k];
        }
        for (row, d) in at_risk.chunks(k).zip(&events) {
            let (d, n) = (f64::from(*d), f64::from(row.iter().sum::<u32>()));
            for (group, own) in self.groups.iter_mut().zip(row) {
                group.expected += f64::from(*own) * d / n;
            }
            if n > 1.0 && d < n {
                let factor = d * (n - d) / (n * n * (n - 1.0));
                for j in 0..k {
                    for l in 0..k {
                        let own = if j == l { n } else { 0.0 };
                        self.covariance[j * k + l] += factor * f64::from(row[j]) * (own - f64::from(row[l]));
                    }
                }
            }
        }
    }

    fn test(self) -> Option<LogRank> {
        let k = self.groups.len();
        let differences: Vec<f64> = self.groups.iter().map(|g| f64::from(g.observed) - g.expected).collect();
        let (chi2, df) = quadratic_form(self.covariance, differences, k);
        let p = chi_squared_above(chi2, df)?;
        Some(LogRank { chi2, df, p, groups: self.groups })
    }
}

/// xᵀ V⁻ x and the rank of V, for a symmetric positive semi-definite `v` (k × k) in whose range `x` lies, by
/// elimination with the largest diagonal element first.
fn quadratic_form(mut v: Vec<f64>, mut x: Vec<f64>, k: usize) -> (f64, u32) {
    let scale = (0..k).map(|i| v[i * k + i]).fold(0.0, f64::max);
    let mut left: Vec<usize> = (0..k).collect();
    let (mut form, mut rank) = (0.0, 0);
    while let Some(pivot) = left.iter().copied().max_by(|a, b| v[a * k + a].total_cmp(&v[b * k + b])) {
        let diagonal = v[pivot * k + pivot];
        // The rest of a singular matrix is rounding error.
        if diagonal <= scale * 1e-10 || diagonal <= 0.0 {
            break;
        }
        left.retain(|i| *i != pivot);
        form += x[pivot] * x[pivot] / diagonal;
        rank += 1;
        for &i in &left {
            let factor = v[i * k + pivot] / diagonal;
            x[i] -= factor * x[pivot];
            for &j in &left {
                v[i * k + j] -= factor * v[pivot * k + j];
            }
        }
    }
    (form, rank)
}
