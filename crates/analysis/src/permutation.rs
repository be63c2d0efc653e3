//! The log-rank test by permutation, for groups that are too small for χ².

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::random::Stream;
use crate::survival::Observation;

/// A p-value from rearranging the observations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Permutation {
    /// The share of arrangements at least as extreme as the observed one.
    pub p: f64,
    /// The number of arrangements.
    pub arrangements: u32,
    /// Whether these are all arrangements. Otherwise they are random, and `p` = (1 + as extreme) / (1 + arrangements).
    pub exact: bool,
    /// The seed of random arrangements.
    pub seed: u64,
}

/// Up to so many arrangements, all are used. Otherwise random ones are.
const EXACT: u64 = 20_000;

/// A statistic that is smaller by less than this share of the observed one is equal to it: sums in another order differ by
/// rounding.
const RELATIVE: f64 = 1e-9;
/// The same in absolute terms, for a statistic whose true value is 0, of which no share is a tolerance. Rounding of sums of
/// log-rank scores, which are about 1, gives statistics below 1e-24; statistics that differ do so by far more than 1e-12.
const ABSOLUTE: f64 = 1e-12;

/// The log-rank test by permutation, for groups too small for χ²: how often a random distribution of the episodes over
/// groups of these sizes differs as much.
///
/// The statistic is Σⱼ Uⱼ²/nⱼ, where Uⱼ = observed − expected of group j is the sum of its episodes' log-rank scores,
/// event − Nelson–Aalen estimate of all groups together (Peto and Peto 1972; the sums do not depend on the
/// arrangement, which makes this the conditional test of R's `coin::logrank_test`). With two groups and at most 20,000
/// arrangements, all are used; otherwise `draws` random ones, from `seed`. Episodes that were never at risk are left out.
///
/// It tests whether groups are exchangeable, so it also detects groups that were *censored* differently. `None` as
/// for [`log_rank`](crate::logrank::log_rank), and without `draws`.
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
    let observed = spread(&scores, &sizes) * (1.0 - RELATIVE) - ABSOLUTE;
    if sizes.len() == 2 && combinations(scores.len(), sizes[0]).is_some_and(|c| c <= EXACT) {
        let (mut all, mut extreme) = (0, 0);
        for_each_choice(scores.len(), sizes[0], &mut |chosen| {
            // The scores of both groups sum to 0.
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
    // Sorted, so that the result does not depend on the order of episodes.
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

/// n over k; `None` = too large.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;

    /// Four episodes that were censored after turn 12, and one that failed at turn 8, at this place.
    fn group(failed_at: usize) -> Vec<Observation> {
        let mut group = vec![Observation::censored_after(12); 4];
        group.insert(failed_at, Observation::failed_at(8));
        group
    }

    /// p was 0.86: the statistic is 0, and was compared by its rounding.
    #[test]
    fn groups_that_are_equal_have_a_p_of_1_in_any_order_of_their_episodes() {
        for (first, second) in [(0, 1), (4, 1), (4, 0), (2, 2)] {
            let (a, b) = (group(first), group(second));
            let two = permutation_log_rank(&[&a, &b], 2_000, 1).unwrap();
            assert!(two.exact && two.arrangements == 252, "{two:?}");
            assert!((two.p - 1.0).abs() < 1e-12, "{first} {second}: {two:?}");
            let three = permutation_log_rank(&[&a, &b, &group(3)], 2_000, 1).unwrap();
            assert!(!three.exact && (three.p - 1.0).abs() < 1e-12, "{first} {second}: {three:?}");
        }
    }

    #[test]
    fn groups_that_differ_are_told_apart_as_before() {
        // 1 of 70 arrangements is as extreme on either side.
        let (a, b) = ([1, 2, 3, 4].map(Observation::failed_at), [5, 6, 7, 8].map(Observation::failed_at));
        let p = permutation_log_rank(&[&a, &b], 0, 1).unwrap().p;
        assert!((p - 2.0 / 70.0).abs() < 1e-12, "{p}");
    }
}
