//! Comparisons against R's survival, survRM2 and coin, and scipy (golden values, see `golden/make_comparison.py`).
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on has failed")]

use analysis::clusters::{InScenario, observations};
use analysis::difference::{clustered_difference, clustered_ratio, mean_difference, mean_ratio, shortest};
use analysis::holm::holm;
use analysis::logrank::{LogRank, clustered_log_rank, fitting_log_rank, log_rank, stratified_log_rank};
use analysis::paired::paired;
use analysis::permutation::permutation_log_rank;
use analysis::survival::Observation;
use model::Ending;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    holm: Vec<HolmCase>,
    sets: Vec<Set>,
}

#[derive(Deserialize)]
struct HolmCase {
    p: Vec<Option<f64>>,
    adjusted: Vec<Option<f64>>,
}

#[derive(Deserialize)]
struct Set {
    name: String,
    groups: Vec<Vec<(String, u32, u8)>>,
    logrank: Test,
    stratified: Option<Test>,
    permutation: Option<f64>,
    taus: Vec<AtTau>,
}

#[derive(Deserialize)]
struct Test {
    chi2: f64,
    df: u32,
    p: f64,
    observed: Vec<u32>,
    expected: Vec<f64>,
}

#[derive(Deserialize)]
struct AtTau {
    tau: u32,
    difference: Contrast,
    ratio: Contrast,
    paired: Option<PairedTest>,
}

#[derive(Deserialize)]
struct Contrast {
    value: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    p: Option<f64>,
}

#[derive(Deserialize)]
struct PairedTest {
    a: Vec<f64>,
    b: Vec<f64>,
    mean: f64,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    p: Option<f64>,
    sign_flip: Option<f64>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("golden/comparison.json")).unwrap()
}

type Groups = Vec<Vec<(String, u32, u8)>>;

fn groups(set: &Set) -> Vec<Vec<InScenario>> {
    in_scenarios(&set.groups)
}

fn in_scenarios(groups: &Groups) -> Vec<Vec<InScenario>> {
    let episode = |(scenario, turns, event): &(String, u32, u8)| {
        let ending = if *event == 1 { Ending::Event } else { Ending::Censored };
        InScenario::new(scenario.as_str(), Observation { turns: *turns, ending })
    };
    groups.iter().map(|g| g.iter().map(episode).collect()).collect()
}

#[track_caller]
fn near(result: Option<f64>, reference: Option<f64>, label: &str) {
    let same = match (result, reference) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-8 * b.abs().max(1e-2),
        (a, b) => a == b,
    };
    assert!(same, "{label}: {result:?}, they say {reference:?}");
}

#[track_caller]
fn same_test(result: Option<&LogRank>, reference: &Test, label: &str) {
    let result = result.unwrap_or_else(|| panic!("{label}: not defined"));
    near(Some(result.chi2), Some(reference.chi2), label);
    near(Some(result.p), Some(reference.p), label);
    assert_eq!(result.df, reference.df, "{label}");
    for ((group, observed), expected) in
        result.groups.iter().zip(&reference.observed).zip(&reference.expected)
    {
        assert_eq!(group.observed, *observed, "{label}");
        near(Some(group.expected), Some(*expected), label);
    }
}

#[test]
fn r_agrees_on_log_rank_tests() {
    let golden = golden();
    assert!(golden.sets.len() >= 10);
    for set in &golden.sets {
        let episodes = groups(set);
        let plain: Vec<Vec<Observation>> = episodes.iter().map(|g| observations(g)).collect();
        let plain: Vec<&[Observation]> = plain.iter().map(Vec::as_slice).collect();
        same_test(log_rank(&plain).as_ref(), &set.logrank, &set.name);
        let tagged: Vec<&[InScenario]> = episodes.iter().map(Vec::as_slice).collect();
        if let Some(reference) = &set.stratified {
            same_test(stratified_log_rank(&tagged).as_ref(), reference, &format!("{}, stratified", set.name));
        }
        if let Some(reference) = set.permutation {
            let result = permutation_log_rank(&plain, 0, 1).unwrap();
            assert!(result.exact, "{}", set.name);
            near(Some(result.p), Some(reference), &format!("{}, permutation", set.name));
        }
    }
    assert!(golden.sets.iter().filter(|s| s.stratified.is_some()).count() >= 10);
    assert!(golden.sets.iter().filter(|s| s.permutation.is_some()).count() >= 4);
}

#[test]
fn survrm2_agrees_on_differences_and_ratios() {
    for set in golden().sets {
        let episodes = groups(&set);
        let (a, b) = (observations(&episodes[0]), observations(&episodes[1]));
        for horizon in &set.taus {
            let label = format!("{}, τ = {}", set.name, horizon.tau);
            let limit = f64::from(horizon.tau);
            let result = mean_difference(&a, &b, horizon.tau).unwrap();
            near(Some(result.value), horizon.difference.value, &label);
            near(result.ci_low, horizon.difference.ci_low.map(|x| x.max(-limit)), &label);
            near(result.ci_high, horizon.difference.ci_high.map(|x| x.min(limit)), &label);
            near(result.p, horizon.difference.p, &label);
            let result = mean_ratio(&a, &b, horizon.tau);
            near(result.map(|r| r.value), horizon.ratio.value, &label);
            near(result.and_then(|r| r.ci_low), horizon.ratio.ci_low, &label);
            near(result.and_then(|r| r.ci_high), horizon.ratio.ci_high, &label);
            near(result.and_then(|r| r.p), horizon.ratio.p, &label);
        }
    }
}

#[test]
fn r_and_scipy_agree_on_paired_comparisons() {
    let mut checked_cases = 0;
    for set in golden().sets {
        let episodes = groups(&set);
        for horizon in &set.taus {
            let label = format!("{}, τ = {}", set.name, horizon.tau);
            let result = paired(&episodes[0], &episodes[1], horizon.tau, 1);
            let Some(reference) = &horizon.paired else {
                assert!(result.is_none(), "{label}");
                continue;
            };
            let result = result.unwrap();
            assert_eq!(result.n as usize, reference.a.len(), "{label}");
            for ((scenario, a), b) in result.scenarios.iter().zip(&reference.a).zip(&reference.b) {
                near(Some(scenario.a), Some(*a), &label);
                near(Some(scenario.b), Some(*b), &label);
            }
            near(Some(result.mean), Some(reference.mean), &label);
            // Ours stays within what a difference can be.
            let most = f64::from(result.tau);
            near(result.ci_low, reference.ci_low.map(|low| low.max(-most)), &label);
            near(result.ci_high, reference.ci_high.map(|high| high.min(most)), &label);
            near(result.p, reference.p, &label);
            if reference.sign_flip.is_some() {
                assert!(result.sign_flip_exact, "{label}");
                near(result.p_sign_flip, reference.sign_flip, &label);
                checked_cases += 1;
            }
        }
    }
    assert!(checked_cases >= 8);
}

#[test]
fn r_agrees_on_holm() {
    for case in golden().holm {
        for (result, reference) in holm(&case.p).into_iter().zip(case.adjusted) {
            near(result, reference, "holm");
        }
    }
}

#[derive(Deserialize)]
struct Clustered {
    sets: Vec<ClusteredSet>,
}

#[derive(Deserialize)]
struct ClusteredSet {
    name: String,
    groups: Groups,
    clustered: ChiSquare,
    tau: u32,
    difference: Contrast,
    ratio: Contrast,
}

#[derive(Deserialize)]
struct ChiSquare {
    chi2: f64,
    df: u32,
    p: f64,
}

#[test]
fn r_agrees_on_comparisons_with_repeated_scenarios() {
    let golden: Clustered = serde_json::from_str(include_str!("golden/clustered.json")).unwrap();
    assert!(golden.sets.len() >= 7);
    for set in &golden.sets {
        let label = &set.name;
        let episodes = in_scenarios(&set.groups);
        let tagged: Vec<&[InScenario]> = episodes.iter().map(Vec::as_slice).collect();
        let result = clustered_log_rank(&tagged).unwrap();
        near(Some(result.chi2), Some(set.clustered.chi2), label);
        near(Some(result.p), Some(set.clustered.p), label);
        assert_eq!(result.df, set.clustered.df, "{label}");
        let fitting = fitting_log_rank(&tagged).unwrap();
        assert_eq!(fitting == result, label != "two, no repeats", "{label}");

        let [a, b] = [tagged[0], tagged[1]];
        let limit = f64::from(set.tau);
        let result = clustered_difference(a, b, set.tau).unwrap();
        near(Some(result.value), set.difference.value, label);
        near(result.ci_low, set.difference.ci_low.map(|x| x.max(-limit)), label);
        near(result.ci_high, set.difference.ci_high.map(|x| x.min(limit)), label);
        near(result.p, set.difference.p, label);
        let result = clustered_ratio(a, b, set.tau).unwrap();
        near(Some(result.value), set.ratio.value, label);
        near(result.ci_low, set.ratio.ci_low, label);
        near(result.ci_high, set.ratio.ci_high, label);
        near(result.p, set.ratio.p, label);
    }
}

#[test]
fn repeats_of_two_scenarios_say_little() {
    let repeated = |scenario: &str, turns: u32| {
        (0..20).map(|_| InScenario::new(scenario, Observation::failed_at(turns))).collect::<Vec<_>>()
    };
    let a = [repeated("easy", 6), repeated("easier", 5)].concat();
    let b = [repeated("hard", 2), repeated("harder", 1)].concat();
    let plain = log_rank(&[&observations(&a), &observations(&b)]).unwrap();
    assert!(plain.p < 1e-9, "80 episodes as if they were independent");
    let clustered = clustered_log_rank(&[&a, &b]).unwrap();
    assert!(clustered.p > 0.04, "four scenarios: {}", clustered.p);
    let single_episode = [repeated("only", 3)].concat();
    assert_eq!(
        clustered_log_rank(&[&single_episode, &repeated("only", 2)]),
        None,
        "one scenario has no variance"
    );
    assert_eq!(clustered_difference(&single_episode, &repeated("only", 2), 3).unwrap().ci_low, None);
}

/// Single rounds of tasks, of which the first run played two more than the second.
#[test]
fn parts_that_only_one_run_played_are_not_paired() {
    let round = |task: &str, name: &str, passed: bool| {
        let observation = if passed { Observation::censored_after(1) } else { Observation::failed_at(1) };
        InScenario::in_part(task, name, observation)
    };
    let shared = || [round("t1", "r1", true), round("t1", "r2", true), round("t2", "r1", true)];
    let mut more = shared().to_vec();
    more.extend([round("t2", "r2", false), round("t2", "r3", true)]);
    let few = shared();
    let compared = paired(&few, &more, 1, 1).unwrap();
    assert_eq!((compared.n, compared.mean, compared.p), (2, 0.0, None), "{compared:?}");
    assert_eq!(
        stratified_log_rank(&[few.as_slice(), more.as_slice()]).map(|test| test.p),
        None,
        "both passed what both played"
    );
    // Parts weigh alike, however often each is played: (1/2 + 1) / 2 of the first task.
    let again = [round("t1", "r1", true), round("t1", "r1", false), round("t1", "r2", true)];
    let compared = paired(&again, &few, 1, 1).unwrap();
    assert_eq!((compared.n, compared.scenarios[0].a, compared.mean), (1, 0.75, -0.25), "{compared:?}");
}

/// The others were said to be known to turn 9 where one of them has ended in failures, and is known to every planned turn.
#[test]
fn a_curve_that_has_reached_0_is_known_to_the_last_planned_turn() {
    let short = [Observation::censored_after(1)];
    let middling = [Observation::censored_after(9)];
    let ended = [Observation::failed_at(3)];
    let runs: [(&[Observation], Option<u32>); 3] =
        [(&short, Some(15)), (&middling, Some(15)), (&ended, Some(15))];
    let found = shortest(&runs).unwrap();
    assert_eq!((found.runs, found.otherwise, found.others, found.furthest), (vec![0], 9, 2, 15));
}
