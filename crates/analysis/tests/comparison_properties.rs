//! What must hold of comparisons whatever the data: symmetry, order, odd and small data, threads.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on has failed")]

use analysis::bootstrap::{Resampling, bootstrap_difference, bootstrap_mean, bootstrap_ratio};
use analysis::clusters::{InScenario, observations};
use analysis::compare::{CompareOptions, ComparedRun, Pairs, compare};
use analysis::difference::{common_tau, mean_difference, mean_ratio};
use analysis::holm::holm;
use analysis::logrank::{log_rank, stratified_log_rank};
use analysis::paired::paired;
use analysis::permutation::permutation_log_rank;
use analysis::survival::{Observation, restricted_mean};
use model::Ending;
use proptest::prelude::*;

fn episode() -> impl Strategy<Value = InScenario> {
    (0u32..6, 0u32..15, any::<bool>()).prop_map(|(scenario, turns, failed)| {
        let ending = if failed { Ending::Event } else { Ending::Censored };
        InScenario::new(format!("s{scenario}"), Observation { turns, ending })
    })
}

fn run() -> impl Strategy<Value = Vec<InScenario>> {
    prop::collection::vec(episode(), 1..20)
}

fn at_risk(run: &[InScenario]) -> bool {
    run.iter().any(|e| e.observation.last_at_risk() > 0)
}

fn quick(threads: u32) -> Resampling {
    Resampling { seed: 7, resamples: 203, threads }
}

fn scenarios(prefix: &str, observations: &[Observation]) -> Vec<InScenario> {
    observations.iter().enumerate().map(|(i, o)| InScenario::new(format!("{prefix}{i}"), *o)).collect()
}

fn failed(turns: &[u32]) -> Vec<Observation> {
    turns.iter().map(|t| Observation::failed_at(*t)).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(1.0)
}

proptest! {
    #[test]
    fn a_log_rank_test_does_not_depend_on_order(a in run(), b in run(), c in run(), turn in 0usize..20) {
        let (pa, pb, pc) = (observations(&a), observations(&b), observations(&c));
        let first = log_rank(&[&pa, &pb, &pc]);
        let mut turned = pa.clone();
        turned.rotate_left(turn % pa.len());
        let second = log_rank(&[&pc, &turned, &pb]);
        prop_assert_eq!(first.is_some(), second.is_some());
        if let (Some(first), Some(second)) = (&first, &second) {
            prop_assert!(close(first.chi2, second.chi2) && first.df == second.df, "{first:?} {second:?}");
            prop_assert!((0.0..=1.0).contains(&first.p) && first.chi2 >= 0.0 && (1..=2).contains(&first.df));
            prop_assert!(close(first.groups[0].expected, second.groups[1].expected));
            let observed: u32 = first.groups.iter().map(|g| g.observed).sum();
            let expected: f64 = first.groups.iter().map(|g| g.expected).sum();
            prop_assert!(close(f64::from(observed), expected));
        }
        let strata = stratified_log_rank(&[&a, &b, &c]);
        let other = stratified_log_rank(&[&b, &c, &a]);
        prop_assert_eq!(strata.as_ref().map(|t| t.df), other.as_ref().map(|t| t.df));
        if let (Some(first), Some(second)) = (strata, other) {
            prop_assert!(close(first.chi2, second.chi2));
        }
    }

    #[test]
    fn two_groups_are_symmetric(a in run(), b in run(), tau in 1u32..16) {
        let (pa, pb) = (observations(&a), observations(&b));
        let (ab, ba) = (log_rank(&[&pa, &pb]), log_rank(&[&pb, &pa]));
        prop_assert_eq!(ab.as_ref().map(|t| t.df), ba.as_ref().map(|t| t.df));
        if let (Some(ab), Some(ba)) = (ab, ba) {
            prop_assert!(close(ab.chi2, ba.chi2));
        }
        let (ab, ba) = (mean_difference(&pa, &pb, tau), mean_difference(&pb, &pa, tau));
        prop_assert_eq!(ab.map(|d| d.value), ba.map(|d| -d.value));
        prop_assert_eq!(ab.and_then(|d| d.ci_low), ba.and_then(|d| d.ci_high).map(|x| -x));
        prop_assert_eq!(ab.and_then(|d| d.p), ba.and_then(|d| d.p));
        let (ab, ba) = (paired(&a, &b, tau, 3), paired(&b, &a, tau, 3));
        prop_assert_eq!(ab.as_ref().map(|p| p.n), ba.as_ref().map(|p| p.n));
        if let (Some(ab), Some(ba)) = (ab, ba) {
            prop_assert!(close(ab.mean, -ba.mean));
            prop_assert_eq!(ab.p_sign_flip, ba.p_sign_flip);
        }
    }

    #[test]
    fn identical_groups_do_not_differ(a in run(), tau in 1u32..16) {
        let plain = observations(&a);
        if let Some(test) = log_rank(&[&plain, &plain, &plain]) {
            prop_assert!(test.chi2 < 1e-9 && test.p > 1.0 - 1e-9, "{test:?}");
        }
        if at_risk(&a) {
            let difference = mean_difference(&plain, &plain, tau).unwrap();
            prop_assert_eq!(difference.value, 0.0);
            prop_assert!(difference.p.is_none_or(|p| p == 1.0));
            let paired = paired(&a, &a, tau, 1).unwrap();
            prop_assert_eq!(paired.mean, 0.0);
            prop_assert_eq!((paired.p, paired.ci_low), (None, None));
            prop_assert!(paired.p_sign_flip.is_none_or(|p| p == 1.0));
            let drawn = bootstrap_difference(&a, &a, tau, quick(1)).unwrap();
            prop_assert_eq!((drawn.value, drawn.ci_low), (0.0, None));
        }
    }

    #[test]
    fn a_bootstrap_is_the_same_on_any_number_of_threads_and_in_any_order(a in run(), b in run(), tau in 1u32..16) {
        let estimate = bootstrap_ratio(&a, &b, tau, quick(1));
        for threads in [2, 4, 300] {
            prop_assert_eq!(estimate, bootstrap_ratio(&a, &b, tau, quick(threads)));
        }
        let mut turned = a.clone();
        turned.reverse();
        let two = bootstrap_ratio(&turned, &b, tau, quick(1));
        let near = |x: Option<f64>, y: Option<f64>| match (x, y) {
            (Some(x), Some(y)) => close(x, y),
            (x, y) => x == y,
        };
        prop_assert!(near(estimate.map(|r| r.value), two.map(|r| r.value)));
        prop_assert!(near(estimate.and_then(|r| r.ci_low), two.and_then(|r| r.ci_low)), "{estimate:?} {two:?}");
        prop_assert!(near(estimate.and_then(|r| r.ci_high), two.and_then(|r| r.ci_high)), "{estimate:?} {two:?}");
    }

    #[test]
    fn the_means_that_are_resampled_are_the_restricted_means(a in run(), tau in 1u32..30) {
        let resampled = bootstrap_mean(&a, tau, Resampling { resamples: 0, ..quick(1) });
        let restricted = restricted_mean(&observations(&a), tau).mean;
        prop_assert_eq!(resampled.is_some(), restricted.is_some());
        if let (Some(resampled), Some(restricted)) = (resampled, restricted) {
            prop_assert!(close(resampled.value, restricted), "{} {}", resampled.value, restricted);
        }
    }

    #[test]
    fn every_curve_is_known_up_to_the_common_horizon(a in run(), b in run()) {
        let (pa, pb) = (observations(&a), observations(&b));
        let tau = common_tau(&[(&pa, Some(14)), (&pb, None)]);
        for run in [&pa, &pb] {
            let points = analysis::survival::kaplan_meier(run, tau);
            prop_assert!(points.last().is_none_or(|p| p.at_risk > 0 || p.survival == 0.0));
        }
        prop_assert_eq!(tau, common_tau(&[(&pb, None), (&pa, Some(14))]));
    }

    #[test]
    fn without_censoring_pairs_are_exactly_the_staminas(turns in prop::collection::vec((0u32..20, 0u32..20), 1..12), tau in 1u32..25) {
        let observations = |pick: fn(&(u32, u32)) -> u32| -> Vec<Observation> {
            turns.iter().map(|t| Observation::failed_at(pick(t) + 1)).collect()
        };
        let (a, b) = (scenarios("s", &observations(|t| t.0)), scenarios("s", &observations(|t| t.1)));
        let result = paired(&a, &b, tau, 1).unwrap();
        for scenario in &result.scenarios {
            let i: usize = scenario.scenario[1..].parse().unwrap();
            prop_assert_eq!(scenario.a, f64::from(turns[i].0.min(tau)));
            prop_assert_eq!(scenario.b, f64::from(turns[i].1.min(tau)));
            prop_assert!(!scenario.a_at_least && !scenario.b_at_least);
        }
    }

    #[test]
    fn a_permutation_test_is_a_share_and_the_same_again(a in run(), b in run(), seed in any::<u64>()) {
        let (pa, pb) = (observations(&a), observations(&b));
        let test_result = permutation_log_rank(&[&pa, &pb], 50, seed);
        prop_assert_eq!(test_result, permutation_log_rank(&[&pa, &pb], 50, seed));
        prop_assert!(test_result.is_none_or(|t| t.p > 0.0 && t.p <= 1.0));
    }

    #[test]
    fn a_comparison_of_anything_holds_together(runs in prop::collection::vec(run(), 0..5)) {
        let compared: Vec<ComparedRun<'_>> =
            runs.iter().map(|r| ComparedRun { episodes: r, planned: Some(14) }).collect();
        let options = CompareOptions { pairs: Pairs::All, resampling: quick(1), permutations: 20, ..CompareOptions::default() };
        let result = compare(&compared, options);
        prop_assert_eq!(result.runs.len(), runs.len());
        prop_assert_eq!(result.pairs.len(), runs.len() * runs.len().saturating_sub(1) / 2);
        for pair in &result.pairs {
            if let (Some(test), Some(holm)) = (&pair.logrank, pair.p_holm) {
                prop_assert!(holm >= test.p);
            }
            let inside = |value: f64, low: Option<f64>, high: Option<f64>| {
                low.is_none_or(|low| low <= value + 1e-9) && high.is_none_or(|high| value <= high + 1e-9)
            };
            prop_assert!(pair.difference.is_none_or(|d| inside(d.value, d.ci_low, d.ci_high)));
            prop_assert!(pair.ratio.is_none_or(|d| inside(d.value, d.ci_low, d.ci_high)));
            let (a, b) = (&runs[pair.a], &runs[pair.b]);
            prop_assert_eq!(pair.difference_bootstrap, bootstrap_difference(a, b, result.tau, quick(1)));
        }
        let again = compare(&compared, options);
        prop_assert_eq!(result, again);
    }
}

#[test]
fn nothing_is_defined_without_failures_or_without_a_group() {
    let censored = vec![Observation::censored_after(5); 4];
    let some = failed(&[2, 3]);
    assert_eq!(log_rank(&[&censored, &censored]), None, "no failures");
    assert_eq!(log_rank(&[&some, &[]]), None, "a group without episodes");
    assert_eq!(log_rank(&[&some]), None, "one group");
    assert_eq!(log_rank(&[]), None);
    assert_eq!(log_rank(&[&failed(&[1, 1]), &failed(&[1])]), None, "all fail at once");
    let never = vec![Observation::censored_after(0); 3];
    assert_eq!(log_rank(&[&some, &never]), None, "nobody was at risk together");
    assert_eq!(log_rank(&[&some, &failed(&[4, 5]), &never]).unwrap().df, 1, "the third adds nothing");
    assert_eq!(permutation_log_rank(&[&never, &some], 10, 1), None);
    assert_eq!(permutation_log_rank(&[&censored, &censored], 10, 1), None);
    assert_eq!(mean_difference(&never, &some, 4), None);
    assert_eq!(mean_ratio(&some, &failed(&[1, 1]), 4), None, "a mean of 0 is no denominator");
    assert_eq!(mean_difference(&some, &some, 0), None);
    assert_eq!(common_tau(&[]), 0);
    assert_eq!(common_tau(&[(&never, Some(5))]), 0);
}

#[test]
fn where_nothing_varies_there_is_no_interval() {
    let d = mean_difference(&failed(&[1, 1, 1]), &failed(&[3, 3, 3]), 5).unwrap();
    assert_eq!((d.value, d.ci_low, d.ci_high, d.p), (-2.0, None, None, None));
    let d = mean_difference(&failed(&[4]), &failed(&[1, 2, 3]), 5).unwrap();
    assert_eq!((d.value, d.ci_low, d.p), (2.0, None, None), "nobody knows the variance of one episode");
    let d = mean_difference(&failed(&[4, 4]), &failed(&[1, 2, 3]), 5).unwrap();
    assert!(d.ci_low.unwrap() > 0.0, "two alike have a variance of 0, as in survRM2");
    let r = mean_ratio(&failed(&[1, 1]), &failed(&[1, 2, 3]), 5).unwrap();
    assert_eq!((r.value, r.ci_low, r.p), (0.0, None, None), "0 has no logarithm");
    let p = paired(&scenarios("s", &failed(&[2])), &scenarios("s", &failed(&[4])), 9, 1).unwrap();
    assert_eq!((p.n, p.mean, p.ci_low, p.p, p.p_sign_flip), (1, -2.0, None, None, None));
    let p = paired(&scenarios("s", &failed(&[2, 3, 4])), &scenarios("s", &failed(&[4, 5, 6])), 9, 1).unwrap();
    assert_eq!((p.n, p.mean, p.ci_low, p.p, p.p_sign_flip), (3, -2.0, None, None, Some(0.25)));
    assert_eq!(paired(&scenarios("a", &failed(&[2])), &scenarios("b", &failed(&[4])), 9, 1), None);
}

#[test]
fn what_was_censored_before_the_horizon_is_marked_in_pairs() {
    let a = vec![
        InScenario::new("x", Observation::censored_after(3)),
        InScenario::new("y", Observation::failed_at(7)),
        InScenario::new("z", Observation::censored_after(8)),
    ];
    let b = scenarios("", &failed(&[2, 5, 9]));
    let b: Vec<InScenario> =
        b.into_iter().zip(["x", "y", "z"]).map(|(e, name)| InScenario::new(name, e.observation)).collect();
    let p = paired(&a, &b, 8, 1).unwrap();
    let marks: Vec<bool> = p.scenarios.iter().map(|s| s.a_at_least).collect();
    assert_eq!(marks, [true, false, false], "z was seen up to the horizon");
    assert_eq!(p.scenarios[0].a_observed, 3.0);
    assert!(p.scenarios[0].a > 3.0, "the pseudo-observation expects it to go on");
    assert!(p.scenarios.iter().all(|s| !s.b_at_least && s.b == s.b_observed));
}

#[test]
fn pairs_reach_no_further_than_what_is_shared() {
    // Both know 12 turns, but on the scenario that both played the first was stopped after 5.
    let a = vec![
        InScenario::new("shared", Observation::censored_after(5)),
        InScenario::new("shared too", Observation::failed_at(3)),
        InScenario::new("own", Observation::censored_after(12)),
    ];
    let b = vec![
        InScenario::new("shared", Observation::censored_after(12)),
        InScenario::new("shared too", Observation::failed_at(7)),
    ];
    let p = paired(&a, &b, 12, 1).unwrap();
    assert_eq!((p.n, p.tau), (2, 5));
    let values: Vec<(f64, f64)> = p.scenarios.iter().map(|s| (s.a, s.b)).collect();
    assert_eq!(values, [(5.0, 5.0), (2.0, 5.0)], "nothing is made up for the turns 6 to 12");
    assert!(p.scenarios.iter().all(|s| !s.a_at_least && !s.b_at_least));
    // Where all have failed, the curves are known for ever.
    let dead = scenarios("s", &failed(&[2, 4]));
    assert_eq!(paired(&dead, &dead, 12, 1).unwrap().tau, 12);
}

#[test]
fn many_sign_flips_are_drawn_and_near_the_exact_share() {
    // 15 differences of 1 and 5 of −1: as far from 0 as this are P(X ≤ 5 or X ≥ 15) of Binomial(20, ½) = 0.0414.
    let a = scenarios("s", &failed(&[[3_u32; 15].as_slice(), &[2; 5]].concat()));
    let b = scenarios("s", &failed(&[[2_u32; 15].as_slice(), &[3; 5]].concat()));
    let p = paired(&a, &b, 9, 42).unwrap();
    assert!(!p.sign_flip_exact);
    assert!((p.p_sign_flip.unwrap() - 0.0414).abs() < 0.008, "{:?}", p.p_sign_flip);
    assert_eq!(p, paired(&a, &b, 9, 42).unwrap());
}

#[test]
fn drawn_permutations_are_near_the_exact_share() {
    // 48,620 arrangements of 9 and 9 are more than are looked at one by one; here they are, each by its own log-rank test.
    let (a, b) = (failed(&[2, 3, 3, 5, 8, 9, 4, 7, 7]), failed(&[1, 1, 2, 3, 4, 6, 2, 3, 5]));
    let all: Vec<Observation> = a.iter().chain(&b).copied().collect();
    let apart = |a: &[Observation], b: &[Observation]| {
        let test = log_rank(&[a, b]).unwrap();
        (f64::from(test.groups[0].observed) - test.groups[0].expected).abs()
    };
    let observed = apart(&a, &b) - 1e-9;
    let (mut arrangements, mut extreme) = (0, 0);
    for chosen in (0_u32..1 << 18).filter(|bits| bits.count_ones() == 9) {
        let (mut first_runs, mut other) = (Vec::new(), Vec::new());
        for (i, o) in all.iter().enumerate() {
            if chosen >> i & 1 == 1 { first_runs.push(*o) } else { other.push(*o) }
        }
        arrangements += 1;
        extreme += u32::from(apart(&first_runs, &other) >= observed);
    }
    assert_eq!(arrangements, 48_620);
    let exact = f64::from(extreme) / f64::from(arrangements);
    let drawn = permutation_log_rank(&[&a, &b], 4_000, 5).unwrap();
    assert!(!drawn.exact && drawn.arrangements == 4_000 && (0.005..0.5).contains(&exact), "{exact}");
    let error = (exact * (1.0 - exact) / 4_000.0).sqrt();
    assert!((drawn.p - exact).abs() < 4.0 * error, "{drawn:?} {exact}");
    assert_ne!(drawn.p, permutation_log_rank(&[&a, &b], 4_000, 6).unwrap().p, "another seed draws others");
}

#[test]
fn a_bootstrap_interval_is_that_of_all_resamples() {
    // Four scenarios have 256 resamples; the mean of min(stamina, τ) of each is easy.
    let staminas = [0.0, 2.0, 5.0, 9.0];
    let run = scenarios("s", &failed(&[1, 3, 6, 10]));
    let mut all: Vec<f64> =
        (0..256_usize).map(|i| (0..4).map(|k| staminas[i >> (2 * k) & 3]).sum::<f64>() / 4.0).collect();
    all.sort_by(f64::total_cmp);
    let drawn = bootstrap_mean(&run, 9, Resampling { seed: 3, resamples: 20_000, threads: 2 }).unwrap();
    assert_eq!((drawn.value, drawn.scenarios), (4.0, 4));
    // 2.5 % of 256 is the sixth or seventh.
    assert!((all[5]..=all[7]).contains(&drawn.ci_low.unwrap()), "{drawn:?} {}", all[6]);
    assert!((all[248]..=all[250]).contains(&drawn.ci_high.unwrap()), "{drawn:?} {}", all[249]);
}

#[test]
fn repeats_of_a_scenario_move_together() {
    // Two scenarios, each played ten times, all alike within: only two means can be drawn beside their average.
    let mut run = Vec::new();
    for (name, turn) in [("easy", 10), ("hard", 2)] {
        run.extend((0..10).map(|_| InScenario::new(name, Observation::failed_at(turn))));
    }
    let drawn = bootstrap_mean(&run, 12, Resampling::default()).unwrap();
    assert_eq!((drawn.value, drawn.ci_low, drawn.ci_high), (5.0, Some(1.0), Some(9.0)));
    // What both runs share moves in both: the difference of 1 turn is the same in every resample.
    let other: Vec<InScenario> = run
        .iter()
        .map(|e| InScenario::new(e.scenario.as_str(), Observation::failed_at(e.observation.turns + 2)))
        .collect();
    let drawn = bootstrap_difference(&other, &run, 12, Resampling::default()).unwrap();
    assert!((drawn.value - 1.0).abs() < 1e-12);
    assert_eq!((drawn.ci_low, drawn.ci_high), (None, None));
}

#[test]
fn a_ratio_without_upper_bound_says_so() {
    let a = scenarios("s", &failed(&[5, 6, 7, 8]));
    let b = scenarios("s", &failed(&[1, 1, 1, 3]));
    let drawn = bootstrap_ratio(&a, &b, 10, Resampling::default()).unwrap();
    assert!(drawn.ci_low.is_some() && drawn.ci_high.is_none(), "{drawn:?}");
    // Where both are 0 the ratio may be anything: three of the four draw each other often enough to know no end.
    let a = scenarios("s", &failed(&[1, 1, 1, 3]));
    let drawn = bootstrap_ratio(&a, &a, 10, Resampling::default()).unwrap();
    assert_eq!((drawn.value, drawn.ci_low, drawn.ci_high), (1.0, None, None));
    assert_eq!(bootstrap_ratio(&a, &scenarios("s", &failed(&[1, 1])), 10, Resampling::default()), None);
}

#[test]
fn curves_that_reached_zero_do_not_shorten_the_horizon() {
    let dead = failed(&[1, 2]);
    let alive = vec![Observation::censored_after(30), Observation::failed_at(4)];
    assert_eq!(common_tau(&[(&dead, Some(100)), (&alive, Some(100))]), 30);
    assert_eq!(common_tau(&[(&dead, Some(100))]), 100);
    assert_eq!(common_tau(&[(&dead, None)]), 2);
    assert_eq!(common_tau(&[(&failed(&[3, 9]), Some(5))]), 5, "no further than was planned");
    assert_eq!(common_tau(&[(&dead, Some(u32::MAX))]), analysis::survival::MAX_TURNS);
}

#[test]
fn resamples_of_all_runs_are_those_of_each_pair() {
    let runs: Vec<Vec<InScenario>> =
        [1, 3, 5].iter().map(|k| scenarios("s", &failed(&[1 + k, 4 * k, 9, 2, 7 + k]))).collect();
    let never = scenarios("s", &[Observation::censored_after(0); 5]);
    let mut compared: Vec<ComparedRun<'_>> =
        runs.iter().map(|r| ComparedRun { episodes: r, planned: Some(12) }).collect();
    compared.push(ComparedRun { episodes: &never, planned: Some(12) });
    for n in [3, 4] {
        let options = CompareOptions { pairs: Pairs::All, resampling: quick(2), ..CompareOptions::default() };
        let result = compare(&compared[..n], options);
        for pair in result.pairs.iter().filter(|p| p.b < 3) {
            let (a, b) = (&runs[pair.a], &runs[pair.b]);
            assert!(pair.difference_bootstrap.unwrap().ci_low.is_some());
            assert_eq!(pair.difference_bootstrap, bootstrap_difference(a, b, 12, quick(1)));
        }
        for (run, episodes) in result.runs.iter().zip(&runs) {
            assert_eq!(run.bootstrap, bootstrap_mean(episodes, 12, quick(1)));
        }
        assert!(result.pairs.iter().filter(|p| p.b == 3).all(|p| p.difference_bootstrap.is_none()));
    }
}

#[test]
fn numbers_out_of_all_range_do_no_harm() {
    let far = |n: u32| {
        scenarios("s", &[Observation::failed_at(u32::MAX), Observation::censored_after(u32::MAX - n)])
    };
    let (a, b) = (far(0), far(1));
    let resampling = Resampling { resamples: 50, threads: u32::MAX, seed: u64::MAX };
    let runs = [&a, &b].map(|r| ComparedRun { episodes: r, planned: Some(u32::MAX) });
    let result = compare(&runs, CompareOptions { resampling, ..CompareOptions::default() });
    let most = analysis::survival::MAX_TURNS;
    assert_eq!((result.tau, result.runs[0].summary.restricted_mean.mean), (most, Some(f64::from(most))));
    let p = paired(&a, &b, u32::MAX, 1).unwrap();
    assert_eq!((p.tau, p.mean, p.scenarios[0].a), (most, 0.0, f64::from(most)));
    assert_eq!(bootstrap_mean(&a, u32::MAX, resampling).unwrap().value, f64::from(most));
    let none = Resampling { resamples: 0, threads: 0, seed: 0 };
    assert_eq!(bootstrap_mean(&a, 5, none).unwrap().ci_low, None);
}

#[test]
fn the_baseline_is_the_second_of_each_pair() {
    let runs: Vec<Vec<InScenario>> =
        [2, 4, 6].iter().map(|t| scenarios("s", &failed(&[*t, t + 1, t + 3, t + 3]))).collect();
    let compared: Vec<ComparedRun<'_>> =
        runs.iter().map(|r| ComparedRun { episodes: r, planned: Some(12) }).collect();
    let compare_pairs = |pairs| {
        compare(&compared, CompareOptions { pairs, resampling: quick(1), ..CompareOptions::default() })
    };
    let result = compare_pairs(Pairs::Baseline(1));
    let places: Vec<(usize, usize)> = result.pairs.iter().map(|p| (p.a, p.b)).collect();
    assert_eq!(places, [(0, 1), (2, 1)]);
    assert_eq!(result.tau, 12);
    assert!((result.pairs[1].difference.unwrap().value - 2.0).abs() < 1e-12);
    assert!(result.pairs.iter().all(|p| p.permutation.is_some_and(|t| t.exact && t.arrangements == 70)));
    let expected = holm(&[
        Some(result.pairs[0].logrank.as_ref().unwrap().p),
        Some(result.pairs[1].logrank.as_ref().unwrap().p),
    ]);
    assert_eq!(result.pairs.iter().map(|p| p.p_holm).collect::<Vec<_>>(), expected);
    assert!(compare_pairs(Pairs::Baseline(9)).pairs.is_empty());
    let shorter = compare(
        &compared,
        CompareOptions { tau: Some(3), resampling: quick(1), ..CompareOptions::default() },
    );
    assert_eq!(shorter.tau, 3);
    assert_eq!(shorter.runs[2].summary.restricted_mean.mean, Some(3.0));
}
