//! Survival against lifelines and R (golden values, see `golden/make_survival.py`) and against its own definitions.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on has failed")]

use analysis::band::kaplan_meier_by_scenario;
use analysis::clusters::InScenario;
use analysis::survival::{
    MAX_TURNS, Median, Observation, SurvivalPoint, anyone_at_risk, kaplan_meier, known_until, median,
    median_stamina, natural_tau, restricted_mean, summarize, summarize_over,
};
use model::{CensoringPolicy, EndReason, Ending};
use proptest::prelude::*;
use serde::Deserialize;

fn failed(turns: &[u32]) -> Vec<Observation> {
    turns.iter().map(|t| Observation::failed_at(*t)).collect()
}

fn censored(turns: &[u32]) -> Vec<Observation> {
    turns.iter().map(|t| Observation::censored_after(*t)).collect()
}

#[derive(Deserialize)]
struct Golden {
    sets: Vec<Set>,
}

#[derive(Deserialize)]
struct Set {
    name: String,
    episodes: Vec<(u32, u8)>,
    table: Vec<SurvivalPoint>,
    median: Option<u32>,
    restricted: Vec<Restricted>,
}

#[derive(Deserialize)]
struct Restricted {
    tau: u32,
    mean: f64,
    se: Option<f64>,
}

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-9,
        (a, b) => a == b,
    }
}

#[derive(Deserialize)]
struct GoldenBands {
    sets: Vec<Repeated>,
}

#[derive(Deserialize)]
struct Repeated {
    name: String,
    episodes: Vec<(String, u32, u8)>,
    /// Turn, S, and the standard error of ln S.
    points: Vec<(u32, f64, Option<f64>)>,
}

/// How much more than the standard error the band spans on its scale, by the 97.5 % quantile of Student's t.
fn half_width(low: f64, survival: f64) -> f64 {
    (low.ln() / survival.ln()).ln() * survival.ln().abs()
}

#[test]
fn r_agrees_on_bands_by_scenario() {
    let golden: GoldenBands = serde_json::from_str(include_str!("golden/band.json")).unwrap();
    assert_eq!(golden.sets.len(), 5);
    // qt(0.975, G - 1) in R.
    let quantiles = [
        (12, 2.200_985_160_091_64),
        (7, 2.446_911_851_144_97),
        (5, 2.776_445_105_197_79),
        (2, 12.706_204_736_174_69),
    ];
    let mut bands = 0;
    for set in &golden.sets {
        let observation = |turns: u32, event: u8| {
            if event == 1 { Observation::failed_at(turns + 1) } else { Observation::censored_after(turns) }
        };
        let episodes: Vec<InScenario> = (set.episodes.iter())
            .map(|(scenario, turns, event)| InScenario::new(scenario.as_str(), observation(*turns, *event)))
            .collect();
        let at_risk = set.episodes.iter().filter(|(_, turns, event)| *turns > 0 || *event == 1);
        let scenarios =
            at_risk.map(|(scenario, ..)| scenario).collect::<std::collections::BTreeSet<_>>().len();
        let quantile = quantiles.iter().find(|(count, _)| *count == scenarios).map(|(_, quantile)| *quantile);
        let factor = (scenarios as f64 / (scenarios as f64 - 1.0)).sqrt() * quantile.unwrap_or(f64::NAN);
        for (point, (turn, survival, error)) in
            kaplan_meier_by_scenario(&episodes, set.points.len() as u32).iter().zip(&set.points)
        {
            assert_eq!(point.turn, *turn);
            assert!(near(Some(point.survival), Some(*survival)), "{}: {point:?}", set.name);
            let Some((low, high)) = point.ci_low.zip(point.ci_high) else { continue };
            let expected = error.unwrap() * factor;
            // Of two scenarios the lower end may be 0 as far as a number goes.
            let lower = (low > 0.0).then(|| half_width(low, *survival));
            for end in lower.into_iter().chain([-half_width(high, *survival)]) {
                assert!((end - expected).abs() < 1e-8, "{}, turn {turn}: {end} is not {expected}", set.name);
            }
            bands += 1;
        }
    }
    // Two scenarios of six episodes each come out alike at some turns: no band there.
    assert_eq!(bands, 28);
}

#[test]
fn lifelines_and_r_agree() {
    let golden: Golden = serde_json::from_str(include_str!("golden/survival.json")).unwrap();
    assert!(golden.sets.len() >= 10);
    for set in &golden.sets {
        let episodes: Vec<Observation> = set
            .episodes
            .iter()
            .map(|(turns, event)| Observation {
                turns: *turns,
                ending: if *event == 1 { Ending::Event } else { Ending::Censored },
            })
            .collect();
        let result = kaplan_meier(&episodes, set.table.len() as u32);
        for (result, reference) in result.iter().zip(&set.table) {
            let same = (result.turn, result.at_risk, result.events, result.censored)
                == (reference.turn, reference.at_risk, reference.events, reference.censored)
                && near(Some(result.survival), Some(reference.survival))
                && near(result.ci_low, reference.ci_low)
                && near(result.ci_high, reference.ci_high);
            assert!(same, "{}:\n{result:?}\n{reference:?}", set.name);
        }
        assert_eq!(median(&result).time(), set.median, "{}", set.name);
        for reference in &set.restricted {
            let result = restricted_mean(&episodes, reference.tau);
            let same = near(result.mean, Some(reference.mean)) && near(result.standard_error, reference.se);
            assert!(
                same,
                "{}, τ = {}: {result:?}, they say {} ± {:?}",
                set.name, reference.tau, reference.mean, reference.se
            );
        }
    }
}

#[test]
fn who_is_censored_after_a_turn_counts_at_that_turn_and_not_at_the_next() {
    let episodes = [failed(&[3, 4]), censored(&[3])].concat();
    let points = kaplan_meier(&episodes, 5);
    let at_risk: Vec<u32> = points.iter().map(|p| p.at_risk).collect();
    assert_eq!(at_risk, [3, 3, 3, 1, 0]);
    assert_eq!(points[2].censored, 1);
    assert!((points[2].survival - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(points[3].survival, 0.0);
}

#[test]
fn no_band_where_nothing_varies() {
    let points = kaplan_meier(&failed(&[2, 2, 3]), 4);
    let bands: Vec<bool> = points.iter().map(|p| p.ci_low.is_some() && p.ci_high.is_some()).collect();
    assert_eq!(bands, [false, true, false, false]);
    assert_eq!(known_until(&points), 4, "S = 0 is known for ever");
    let points = kaplan_meier(&[failed(&[1]), censored(&[2])].concat(), 4);
    assert_eq!(known_until(&points), 2);
    assert_eq!(points[3].ci_low, None, "nobody is at risk");
}

#[test]
fn one_episode() {
    let s = summarize(&failed(&[5]), Some(9));
    assert_eq!(
        (s.restricted_mean.mean, s.restricted_mean.ci_low, s.restricted_mean.tau),
        (Some(4.0), None, Some(9))
    );
    assert_eq!((s.n, s.events, s.censored, s.median), (1, 1, 0, Median::Reached(4)));
    let s = summarize(&censored(&[9]), Some(9));
    assert_eq!(
        (s.restricted_mean.mean, s.restricted_mean.ci_high, s.restricted_mean.tau),
        (Some(9.0), None, Some(9))
    );
    assert_eq!((s.n, s.events, s.censored, s.median), (1, 0, 1, Median::NotReached));
}

#[test]
fn a_median_does_not_depend_on_the_horizon_of_the_mean() {
    // S(1) to S(4) are 1, S(5) is 1/4: three of four passed 4 turns and failed the fifth.
    let episodes = failed(&[5, 5, 5, 9]);
    for tau in [1, 2, 4, 5, 9] {
        let s = summarize_over(&episodes, tau);
        assert_eq!((s.median, s.restricted_mean.tau), (Median::Reached(4), Some(tau)), "τ = {tau}");
    }
    let stopped = [failed(&[5]), censored(&[2, 2, 9])].concat();
    assert_eq!(summarize_over(&stopped, 2).median, Median::Reached(4), "one of two at risk fails at turn 5");
    assert_eq!(summarize_over(&censored(&[3, 9]), 2).median, Median::NotReached);
}

#[test]
fn all_fail_at_turn_1() {
    let s = summarize(&failed(&[1, 1, 1]), Some(20));
    assert_eq!(
        (s.restricted_mean.mean, s.restricted_mean.ci_low, s.restricted_mean.tau),
        (Some(0.0), None, Some(20))
    );
    assert_eq!(s.median, Median::Reached(0));
}

#[test]
fn no_episodes_and_none_at_risk_have_no_mean() {
    for episodes in [vec![], censored(&[0, 0])] {
        let s = summarize(&episodes, Some(20));
        assert_eq!((s.restricted_mean.mean, s.restricted_mean.tau, s.median), (None, None, Median::Unknown));
        assert!(!anyone_at_risk(&episodes));
        assert!(kaplan_meier(&episodes, 3).iter().all(|point| point.known().is_none()));
        assert_eq!(s.n, episodes.len() as u32);
    }
    assert_eq!(known_until(&kaplan_meier(&[], 3)), 0);
}

#[test]
fn tau_reaches_as_far_as_the_data() {
    // Someone at risk at the last planned turn.
    assert_eq!(natural_tau(&[failed(&[3]), censored(&[15])].concat(), Some(15)), 15);
    assert_eq!(natural_tau(&failed(&[3, 15]), Some(15)), 15);
    // S reached 0 before: the rest is known.
    assert_eq!(natural_tau(&failed(&[3, 7]), Some(15)), 15);
    // Censored before: nothing is known after turn 9.
    assert_eq!(natural_tau(&[failed(&[3]), censored(&[9])].concat(), Some(15)), 9);
    // Everybody left at 9: the one that failed there was not the only one at risk.
    assert_eq!(natural_tau(&[failed(&[9]), censored(&[9])].concat(), Some(15)), 9);
    // The plan is unknown, or shorter than what was seen.
    assert_eq!(natural_tau(&failed(&[3, 7]), None), 7);
    assert_eq!(natural_tau(&failed(&[3, 7]), Some(5)), 5);
    // A plan from a hostile file does not make a table of four billion turns.
    assert_eq!(natural_tau(&failed(&[3]), Some(u32::MAX)), MAX_TURNS);
    assert_eq!(kaplan_meier(&failed(&[3, u32::MAX]), u32::MAX).len(), MAX_TURNS as usize);
}

#[test]
fn the_policy_decides_what_is_an_event() {
    let mut policy = CensoringPolicy::default();
    let observation = |reason, policy: &CensoringPolicy| Observation::from_reason(3, reason, policy);
    assert_eq!(observation(EndReason::TestsFailed, &policy), Observation::failed_at(4));
    assert_eq!(observation(EndReason::Endpoint, &policy), Observation::censored_after(3));
    assert_eq!(observation(EndReason::PassedAll, &policy), Observation::censored_after(3));
    policy.overrides.insert(EndReason::Endpoint, Ending::Event);
    assert_eq!(observation(EndReason::Endpoint, &policy), Observation::failed_at(4));
}

fn episodes() -> impl Strategy<Value = Vec<Observation>> {
    let ending = prop_oneof![Just(Ending::Event), Just(Ending::Censored)];
    prop::collection::vec((0u32..25, ending).prop_map(|(turns, ending)| Observation { turns, ending }), 0..40)
}

proptest! {
    #[test]
    fn the_table_is_a_survival_table(episodes in episodes(), horizon in 0u32..30) {
        let points = kaplan_meier(&episodes, horizon);
        prop_assert_eq!(points.len(), horizon as usize);
        let mut before = 1.0;
        for (point, turn) in points.iter().zip(1..) {
            prop_assert_eq!(point.turn, turn);
            prop_assert!(0.0 <= point.survival && point.survival <= before);
            prop_assert!(point.events + point.censored <= point.at_risk);
            prop_assert_eq!(point.ci_low.is_some(), point.ci_high.is_some());
            if let (Some(low), Some(high)) = (point.ci_low, point.ci_high) {
                prop_assert!(0.0 <= low && low < point.survival && point.survival < high && high <= 1.0);
            }
            before = point.survival;
        }
        for pair in points.windows(2) {
            prop_assert_eq!(pair[0].at_risk - pair[0].events - pair[0].censored, pair[1].at_risk);
        }
    }

    #[test]
    fn order_does_not_matter(episodes in episodes(), seed in any::<u64>()) {
        let mut shuffled = episodes.clone();
        // Sorting by a seeded hash is a permutation.
        shuffled.sort_by_key(|o| (u64::from(o.turns) ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        prop_assert_eq!(kaplan_meier(&episodes, 30), kaplan_meier(&shuffled, 30));
        prop_assert_eq!(summarize(&episodes, Some(20)), summarize(&shuffled, Some(20)));
    }

    #[test]
    fn all_censored_means_nobody_is_known_to_fail(turns in prop::collection::vec(1u32..25, 1..30)) {
        let episodes = censored(&turns);
        prop_assert!(kaplan_meier(&episodes, 30).iter().all(|p| p.survival == 1.0 && p.ci_low.is_none()));
        let s = summarize(&episodes, None);
        prop_assert_eq!(s.restricted_mean.mean, Some(f64::from(*turns.iter().max().unwrap())));
        prop_assert_eq!((s.restricted_mean.ci_low, s.median), (None, Median::NotReached));
    }

    #[test]
    fn without_censoring_it_is_the_empirical_distribution(
        turns in prop::collection::vec(1u32..25, 1..30), tau in 1u32..30,
    ) {
        let episodes = failed(&turns);
        let n = turns.len() as f64;
        for point in kaplan_meier(&episodes, 30) {
            let alive = turns.iter().filter(|t| **t > point.turn).count() as f64 / n;
            prop_assert!((point.survival - alive).abs() < 1e-12);
        }
        let stamina: Vec<f64> = turns.iter().map(|t| f64::from((t - 1).min(tau))).collect();
        let mean = stamina.iter().sum::<f64>() / n;
        let result = restricted_mean(&episodes, tau);
        prop_assert!((result.mean.unwrap() - mean).abs() < 1e-9);
        // Greenwood's variance is then the plain variance of the mean (with divisor n).
        let variance = stamina.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / n / n;
        prop_assert!((result.standard_error.unwrap_or(0.0).powi(2) - variance).abs() < 1e-9);
        prop_assert_eq!(result.standard_error.is_none(), variance < 1e-12);
        let mut sorted = turns.clone();
        sorted.sort_unstable();
        prop_assert_eq!(median_stamina(&kaplan_meier(&episodes, 30)).time(), Some(sorted[(turns.len() - 1) / 2] - 1));
    }

    #[test]
    fn the_mean_is_the_sum_and_its_interval_stays_inside(episodes in episodes(), tau in 0u32..30) {
        let result = restricted_mean(&episodes, tau);
        let points = kaplan_meier(&episodes, tau);
        let someone = points.first().is_some_and(|p| p.at_risk > 0);
        prop_assert_eq!(result.mean.is_some(), someone);
        let Some(mean) = result.mean else { return Ok(()) };
        prop_assert!((mean - points.iter().map(|p| p.survival).sum::<f64>()).abs() < 1e-9);
        if let (Some(low), Some(high)) = (result.ci_low, result.ci_high) {
            prop_assert!(0.0 <= low && low <= mean + 1e-12 && mean <= high + 1e-12 && high <= f64::from(tau));
        }
    }

    #[test]
    fn natural_tau_never_asks_about_unknown_turns(episodes in episodes(), planned in prop::option::of(0u32..30)) {
        let tau = natural_tau(&episodes, planned);
        prop_assert!(known_until(&kaplan_meier(&episodes, tau)) == tau);
    }
}
