//! The band of a survival curve for repeated scenarios, whose episodes depend on each other.

use std::collections::BTreeMap;

use crate::clusters::{InScenario, has_repeats, observations};
use crate::survival::{SurvivalPoint, kaplan_meier, log_log_band};
use crate::tail_probabilities::student_975;

/// A variance below this is 0 with a rounding error.
const NO_VARIATION: f64 = 1e-24;

/// Kaplan–Meier table for turns 1..=`horizon`, as [`kaplan_meier`] gives it; where some scenario has several episodes that were
/// at risk, with a band by scenario.
///
/// The variance of ln S(t) is then that of the infinitesimal jackknife over scenarios, Σ U² over scenarios with U = Σ over the
/// scenario's episodes and the turns i ≤ t of (dᵢ/nᵢ − failed) / (nᵢ − dᵢ) (`cluster` of R's `survfit`; Lin and Wei 1989, JASA
/// 84:1074), times G/(G − 1) for G scenarios that were at risk. The band is on the log(−log S) scale, with the quantile of
/// Student's t with G − 1 degrees of freedom in place of 1.96. With one scenario there is none.
pub fn kaplan_meier_by_scenario(episodes: &[InScenario], horizon: u32) -> Vec<SurvivalPoint> {
    let mut points = kaplan_meier(&observations(episodes), horizon);
    if has_repeats(episodes) {
        put_bands(episodes, &mut points);
    }
    points
}

/// An episode that was at risk.
struct EpisodeAtRisk {
    scenario: usize,
    last_at_risk: u32,
    failed: bool,
}

fn put_bands(episodes: &[InScenario], points: &mut [SurvivalPoint]) {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut placed: Vec<EpisodeAtRisk> = Vec::with_capacity(episodes.len());
    for episode in episodes.iter().filter(|episode| episode.observation.last_at_risk() > 0) {
        let next = numbers.len();
        let scenario = *numbers.entry(&episode.scenario).or_insert(next);
        let observation = episode.observation;
        let failed = observation.failed_turn().is_some();
        placed.push(EpisodeAtRisk { scenario, last_at_risk: observation.last_at_risk(), failed });
    }
    placed.sort_by_key(|episode| episode.last_at_risk);
    // For each scenario: the episodes at risk, and the influence on ln S so far.
    let mut at_risk = vec![0.0; numbers.len()];
    for episode in &placed {
        at_risk[episode.scenario] += 1.0;
    }
    let mut influence = vec![0.0; numbers.len()];
    let quantile = numbers.len().checked_sub(1).and_then(|df| student_975(u32::try_from(df).ok()?));
    let scenarios = numbers.len() as f64;
    let mut rest = placed.as_slice();
    let mut variance = 0.0;
    for point in points {
        let finished = rest.iter().take_while(|episode| episode.last_at_risk < point.turn).count();
        let (before, now) = rest.split_at(finished);
        rest = now;
        for episode in before {
            at_risk[episode.scenario] -= 1.0;
        }
        let (n, d) = (f64::from(point.at_risk), f64::from(point.events));
        // If all fail, the curve is 0 from here and has no band.
        if point.events > 0 && point.events < point.at_risk {
            for (influence, at_risk) in influence.iter_mut().zip(&at_risk) {
                *influence += at_risk * d / n / (n - d);
            }
            let last_here = rest.iter().take_while(|episode| episode.last_at_risk == point.turn);
            for episode in last_here.filter(|episode| episode.failed) {
                influence[episode.scenario] -= 1.0 / (n - d);
            }
            variance = influence
                .iter()
                .map(|influence_of_scenario| influence_of_scenario * influence_of_scenario)
                .sum();
        }
        (point.ci_low, point.ci_high) = match quantile {
            Some(quantile) if point.at_risk > 0 && variance > NO_VARIATION => {
                log_log_band(point.survival, variance * scenarios / (scenarios - 1.0), quantile)
            }
            _ => (None, None),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survival::Observation;

    fn in_scenarios(episodes: &[(&str, u32, bool)]) -> Vec<InScenario> {
        let observation = |turns: u32, failed: bool| {
            if failed { Observation::failed_at(turns + 1) } else { Observation::censored_after(turns) }
        };
        let each = episodes.iter();
        each.map(|(scenario, turns, failed)| InScenario::new(*scenario, observation(*turns, *failed)))
            .collect()
    }

    #[test]
    fn without_repeats_it_equals_the_plain_band() {
        // One of them was never at risk.
        let episodes = in_scenarios(&[("a", 0, true), ("b", 1, true), ("c", 3, false), ("a", 0, false)]);
        let plain = kaplan_meier(&observations(&episodes), 3);
        assert_eq!(kaplan_meier_by_scenario(&episodes, 3), plain);
        assert!(plain[0].ci_low.is_some());
    }

    #[test]
    fn the_curve_is_the_same_and_copies_of_each_episode_add_nothing() {
        let once =
            in_scenarios(&[("a", 0, true), ("b", 2, true), ("c", 3, false), ("d", 1, true), ("e", 3, false)]);
        let twice: Vec<InScenario> = once.iter().chain(&once).cloned().collect();
        let four: Vec<InScenario> = twice.iter().chain(&twice).cloned().collect();
        let (by_two, by_four) = (kaplan_meier_by_scenario(&twice, 3), kaplan_meier_by_scenario(&four, 3));
        let plain = kaplan_meier(&observations(&twice), 3);
        for ((two, four), plain) in by_two.iter().zip(&by_four).zip(&plain) {
            let curve_differences = [two.survival - four.survival, two.survival - plain.survival];
            assert!(curve_differences.iter().all(|off| off.abs() < 1e-12), "{two:?} {four:?} {plain:?}");
            let (two, four) = (two.ci_low.unwrap(), four.ci_low.unwrap());
            assert!((two - four).abs() < 1e-9, "{two} is not {four}");
            assert!(two < plain.ci_low.unwrap(), "{two} is not below {plain:?}");
        }
    }

    #[test]
    fn equal_scenarios_have_no_band() {
        let alike = in_scenarios(&[("a", 0, true), ("a", 1, false), ("b", 0, true), ("b", 1, false)]);
        let single_trials = in_scenarios(&[("a", 0, true), ("a", 1, false), ("a", 2, true)]);
        for episodes in [alike, single_trials] {
            for point in kaplan_meier_by_scenario(&episodes, 2) {
                assert_eq!((point.ci_low, point.ci_high), (None, None), "{point:?}");
            }
        }
    }

    #[test]
    fn many_scenarios_and_turns_take_little_time() {
        let episodes: Vec<InScenario> = (0..4_000_u32)
            .map(|number| InScenario::new((number / 2).to_string(), Observation::failed_at(1 + number)))
            .collect();
        let points = kaplan_meier_by_scenario(&episodes, 4_000);
        assert!(points[2_000].ci_low.is_some());
        assert!(points[3_999].survival <= 0.0);
    }
}
