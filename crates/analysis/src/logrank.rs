//! Do curves differ? The log-rank test of two or more groups, stratified, by permutation, and Holm's correction.
//!
//! Turns are discrete and episodes many, so several fail at the same turn: the variance is the hypergeometric one,
//! which is right for ties.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::clusters::InScenario;
use crate::distribution::chi_squared_above;
use crate::random::Stream;
use crate::survival::Observation;

/// One group of a log-rank test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LogRankGroup {
    /// Episodes.
    pub n: u32,
    /// Episodes that failed.
    pub observed: u32,
    /// Failures that were to be expected if all groups shared one curve.
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
/// 2003, eq. 7.3.5). χ² is the quadratic form of observed − expected with the (generalised) inverse of the sum.
///
/// `None` = not defined: fewer than two groups, a group without episodes, no failures, or no variation (nobody of two
/// groups was ever at risk together, or all fail at once).
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
/// A scenario that only one group has played says nothing and adds nothing to χ². `None` as for [`log_rank`].
pub fn stratified_log_rank(groups: &[&[InScenario]]) -> Option<LogRank> {
    if groups.len() < 2 || groups.iter().any(|g| g.is_empty()) {
        return None;
    }
    let mut strata: BTreeMap<&str, Vec<(usize, Observation)>> = BTreeMap::new();
    for (g, all) in groups.iter().enumerate() {
        for episode in *all {
            strata.entry(&episode.scenario).or_default().push((g, episode.observation));
        }
    }
    let mut sums = Sums::new(groups.len());
    for stratum in strata.values() {
        sums.add_stratum(stratum);
    }
    sums.test()
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
        // Per turn and group, how many were last at risk before the next such turn; then summed up from the end.
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
        // What is left of a singular matrix is rounding error.
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

/// A p-value from rearranging what was observed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Permutation {
    /// The share of arrangements at least as extreme as the observed one.
    pub p: f64,
    /// Arrangements that were looked at.
    pub arrangements: u32,
    /// Whether those are all there are. Otherwise they were drawn, and `p` = (1 + as extreme) / (1 + arrangements).
    pub exact: bool,
    /// What they were drawn from.
    pub seed: u64,
}

/// The most arrangements that are all looked at; more are drawn from.
const EXACT: u64 = 20_000;

/// The log-rank test by permutation, for groups too small for χ²: how often a random distribution of the episodes over
/// groups of these sizes differs as much.
///
/// The statistic is Σⱼ Uⱼ²/nⱼ, where Uⱼ = observed − expected of group j is the sum of its episodes' log-rank scores,
/// event − Nelson–Aalen estimate of all groups together (Peto and Peto 1972; the sums do not depend on the
/// arrangement, which makes this the conditional test of R's `coin::logrank_test`). With two groups and at most 20,000
/// arrangements all are looked at, else `draws` are drawn from `seed`. Episodes that were never at risk are left out.
///
/// It asks whether groups are exchangeable, and so also answers to groups that were *censored* differently. `None` as
/// for [`log_rank`], and without `draws`.
pub fn permutation_log_rank(groups: &[&[Observation]], draws: u32, seed: u64) -> Option<Permutation> {
    let groups: Vec<Vec<Observation>> =
        groups.iter().map(|g| g.iter().copied().filter(|o| o.last_at_risk() > 0).collect()).collect();
    if groups.len() < 2 || groups.iter().any(Vec::is_empty) {
        return None;
    }
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    let mut scores = log_rank_scores(&groups.concat());
    if scores.iter().all(|s| (s - scores[0]).abs() < 1e-12) {
        return None;
    }
    let observed = spread(&scores, &sizes) * (1.0 - 1e-9);
    if sizes.len() == 2 && combinations(scores.len(), sizes[0]).is_some_and(|c| c <= EXACT) {
        let (mut all, mut extreme) = (0, 0);
        for_each_choice(scores.len(), sizes[0], &mut |chosen| {
            // The scores of both groups add up to 0.
            let u: f64 = chosen.iter().map(|i| scores[*i]).sum();
            all += 1;
            extreme += u32::from(u * u / sizes[0] as f64 + u * u / sizes[1] as f64 >= observed);
        });
        return Some(Permutation {
            p: f64::from(extreme) / f64::from(all),
            arrangements: all,
            exact: true,
            seed,
        });
    }
    if draws == 0 {
        return None;
    }
    // Sorted, so that the result does not depend on the order in which episodes are given.
    scores.sort_by(f64::total_cmp);
    let mut stream = Stream::new(seed, 0);
    let mut extreme = 0;
    for _ in 0..draws {
        for i in (1..scores.len()).rev() {
            scores.swap(i, stream.below(i as u32 + 1) as usize);
        }
        extreme += u32::from(spread(&scores, &sizes) >= observed);
    }
    Some(Permutation {
        p: f64::from(1 + extreme) / (1.0 + f64::from(draws)),
        arrangements: draws,
        exact: false,
        seed,
    })
}

fn log_rank_scores(episodes: &[Observation]) -> Vec<f64> {
    let horizon = episodes.iter().map(|o| o.last_at_risk()).collect::<BTreeSet<u32>>();
    let mut hazard = 0.0;
    let mut cumulative = BTreeMap::new();
    for turn in horizon {
        let at_risk = episodes.iter().filter(|o| o.last_at_risk() >= turn).count() as f64;
        let events = episodes.iter().filter(|o| o.failed_turn() == Some(turn)).count() as f64;
        hazard += events / at_risk;
        cumulative.insert(turn, hazard);
    }
    episodes
        .iter()
        .map(|o| f64::from(u8::from(o.failed_turn().is_some())) - cumulative[&o.last_at_risk()])
        .collect()
}

fn spread(scores: &[f64], sizes: &[usize]) -> f64 {
    let mut rest = scores;
    let mut sum = 0.0;
    for size in sizes {
        let (own, others) = rest.split_at(*size);
        let u: f64 = own.iter().sum();
        sum += u * u / *size as f64;
        rest = others;
    }
    sum
}

/// n over k; `None` = more than fits.
fn combinations(n: usize, k: usize) -> Option<u64> {
    let mut result = 1_u64;
    for i in 0..k.min(n - k) as u64 {
        result = result.checked_mul(n as u64 - i)? / (i + 1);
    }
    Some(result)
}

/// Calls `look` with every choice of `k` of `0..n`, in lexical order.
fn for_each_choice(n: usize, k: usize, look: &mut impl FnMut(&[usize])) {
    let mut chosen: Vec<usize> = (0..k).collect();
    loop {
        look(&chosen);
        let Some(i) = (0..k).rev().find(|i| chosen[*i] < n - k + i) else { return };
        chosen[i] += 1;
        for j in i + 1..k {
            chosen[j] = chosen[j - 1] + 1;
        }
    }
}

/// Holm's correction of p-values for having asked several questions (Holm 1979, Scand. J. Stat. 6:65; `p.adjust` in R).
///
/// What is not defined stays `None` and is not counted as a question.
pub fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|i| p_values[*i].is_some()).collect();
    let p = |i: usize| p_values[i].unwrap_or(1.0);
    order.sort_by(|a, b| p(*a).total_cmp(&p(*b)));
    let mut adjusted = vec![None; p_values.len()];
    let mut highest: f64 = 0.0;
    for (rank, i) in order.iter().enumerate() {
        highest = highest.max((order.len() - rank) as f64 * p(*i)).min(1.0);
        adjusted[*i] = Some(highest);
    }
    adjusted
}
