//! The retry view, harness × model, cost, sensitivity.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on has failed")]

use analysis::bootstrap::Resampling;
use analysis::clusters::InScenario;
use analysis::cost::{CostPerTurn, cost_per_turn, pareto};
use analysis::matrix::{MatrixRun, matrix};
use analysis::retries::AttemptEnd::{Censored, Event, Passed};
use analysis::retries::{AttemptEnd, EpisodeAttempts, MAX_BUDGETS, TurnAttempts, feedback_gain, readings};
use analysis::sensitivity::{EpisodeEnd, sensitivity};
use analysis::survival::{Observation, summarize_over};
use model::{Attempt, CensoringPolicy, EndReason, Ending, Episode, Turn, Verdict};
use proptest::prelude::*;

fn resampling() -> Resampling {
    Resampling { seed: 11, resamples: 500, threads: 1 }
}

fn attempts(scenario: &str, observed: Observation, turns: &[&[AttemptEnd]]) -> EpisodeAttempts {
    let turns = (1..).zip(turns).map(|(turn, a)| TurnAttempts { turn, attempts: a.to_vec() }).collect();
    EpisodeAttempts { scenario: scenario.to_owned(), observed, turns }
}

#[test]
fn a_budget_ends_an_episode_at_the_first_turn_that_needed_more() {
    let e = attempts(
        "s",
        Observation::failed_at(4),
        &[&[Passed], &[Event, Passed], &[Event, Event, Passed], &[Event, Event, Event]],
    );
    let truncated_to = |r| e.truncated(r);
    assert_eq!(truncated_to(0), Observation::failed_at(2));
    assert_eq!(truncated_to(1), Observation::failed_at(3));
    assert_eq!(truncated_to(2), Observation::failed_at(4));
    assert_eq!(truncated_to(u32::MAX), Observation::failed_at(4));
}

#[test]
fn a_budget_that_ends_in_an_attempt_stopped_from_outside_is_censored() {
    let passed = attempts("s", Observation::censored_after(2), &[&[Passed], &[Censored, Passed]]);
    assert_eq!(passed.truncated(0), Observation::censored_after(1), "the endpoint broke the first attempt");
    assert_eq!(passed.truncated(1), Observation::censored_after(2), "it passed the benchmark");
    // It failed at its first attempt and was stopped in its second: with one attempt it had failed.
    let stopped = attempts("s", Observation::censored_after(0), &[&[Event, Censored]]);
    assert_eq!(stopped.truncated(0), Observation::failed_at(1));
    assert_eq!(stopped.truncated(1), Observation::censored_after(0));
    // And the other way round.
    let failed = attempts("s", Observation::failed_at(1), &[&[Censored, Event]]);
    assert_eq!(failed.truncated(0), Observation::censored_after(0));
    assert_eq!(failed.truncated(1), Observation::failed_at(1));
}

/// Something outside ended the episode before the attempts at its second turn were used up.
#[test]
fn a_failed_attempt_of_a_turn_that_was_not_decided_ends_the_budget_that_it_uses_up() {
    let cut = attempts("a", Observation::censored_after(1), &[&[Passed], &[Event, Event]]);
    assert_eq!(cut.truncated(0), Observation::failed_at(2));
    assert_eq!(cut.truncated(1), Observation::failed_at(2));
    assert_eq!(
        cut.truncated(2),
        Observation::censored_after(1),
        "nobody knows what a third attempt comes to"
    );
    // With one that passes three turns: S = 1, 1/2, 1/2 without retries, and 1, 1, 1 with one.
    let single_attempt = attempts("a", Observation::censored_after(1), &[&[Passed], &[Event]]);
    let all = attempts("b", Observation::censored_after(3), &[&[Passed], &[Passed], &[Passed]]);
    let curve = readings(&[single_attempt, all], Some(2));
    let points: Vec<(u32, Option<f64>)> = curve
        .iter()
        .map(|reading| summarize_over(reading, 3))
        .map(|summary| (summary.events, summary.restricted_mean.mean))
        .collect();
    assert_eq!(points, [(1, Some(2.0)), (0, Some(3.0))]);
}

#[test]
fn an_attempt_without_a_verdict_ended_as_its_episode() {
    let read = |verdict, attempt_end, episode_end| {
        let mut turn = Turn::new(1);
        turn.attempts = vec![Attempt { end_reason: attempt_end, ..Attempt::new(1, verdict) }];
        let mut episode = Episode::new("k", "shop");
        (episode.turns, episode.end_reason) = (vec![turn], Some(episode_end));
        EpisodeAttempts::from_episode(&episode, &CensoringPolicy::default()).truncated(0)
    };
    let stopped = Observation::censored_after(0);
    assert_eq!(read(Verdict::Error, None, EndReason::Environment), stopped);
    assert_eq!(read(Verdict::Error, None, EndReason::AgentTimeout), Observation::failed_at(1));
    assert_eq!(read(Verdict::Error, Some(EndReason::BuildFailed), EndReason::Environment).turns, 0);
    assert_eq!(read(Verdict::Failed, None, EndReason::Unfinished), Observation::failed_at(1));
}

#[test]
fn a_turn_without_records_is_not_guessed() {
    let mut e = attempts("s", Observation::failed_at(4), &[&[Passed], &[Event, Passed], &[Passed], &[Event]]);
    e.turns.remove(1);
    assert_eq!(e.truncated(0), Observation::censored_after(1));
    let none = attempts("s", Observation::censored_after(0), &[]);
    assert_eq!(none.truncated(3), Observation::censored_after(0));
}

#[test]
fn attempts_are_read_off_an_episode_under_a_policy() {
    let attempt = |number, verdict, reason| Attempt { end_reason: reason, ..Attempt::new(number, verdict) };
    let mut turn = Turn::new(1);
    turn.attempts = vec![
        attempt(1, Verdict::Error, Some(EndReason::Endpoint)),
        attempt(2, Verdict::Failed, None),
        attempt(3, Verdict::Passed, None),
    ];
    let mut second = Turn::new(2);
    second.attempts = vec![attempt(1, Verdict::Unfinished, None)];
    let mut episode = Episode::new("k", "shop");
    episode.turns = vec![turn, second];
    let read = EpisodeAttempts::from_episode(&episode, &CensoringPolicy::default());
    assert_eq!(read.turns[0].attempts, [Censored, Event, Passed]);
    assert_eq!(read.turns[1].attempts, [Censored]);
    assert_eq!(read.observed, Observation::censored_after(1));
    let strict = CensoringPolicy {
        overrides: [(EndReason::Endpoint, Ending::Event)].into(),
        ..CensoringPolicy::default()
    };
    assert_eq!(EpisodeAttempts::from_episode(&episode, &strict).turns[0].attempts[0], Event);
}

#[test]
fn the_feedback_gain_is_the_ratio_of_the_ends_of_the_curve() {
    // Turn 1 at the first attempt in half of the scenarios, else at the second; all fail at turn 4.
    let episodes: Vec<EpisodeAttempts> = (0..8)
        .map(|i| {
            let first: &[AttemptEnd] = if i % 2 == 0 { &[Passed] } else { &[Event, Passed] };
            let turns = [first, &[Event, Passed], &[Event, Event, Passed], &[Event, Event, Event]];
            attempts(&format!("s{i}"), Observation::failed_at(4), &turns)
        })
        .collect();
    let curve = |limit| readings(&episodes, limit);
    let mean = |reading: &Vec<Observation>| summarize_over(reading, 10).restricted_mean.mean.unwrap();
    assert_eq!(curve(Some(3)).iter().map(mean).collect::<Vec<_>>(), [0.5, 2.0, 3.0]);
    assert_eq!(curve(None), curve(Some(3)), "the most attempts stand in for the limit");
    assert_eq!(curve(Some(1)).len(), 1, "no retries");
    assert_eq!(curve(Some(u32::MAX)).len(), MAX_BUDGETS as usize);
    let gain = feedback_gain(&episodes, 2, 10, resampling()).unwrap();
    assert_eq!((gain.value, gain.scenarios, gain.seed), (6.0, 8, 11));
    assert!(gain.ci_low.unwrap() >= 3.0 && gain.ci_low.unwrap() < 6.0 && gain.ci_high.unwrap() > 6.0);
    let hard: Vec<EpisodeAttempts> = (0..3)
        .map(|i| attempts(&format!("s{i}"), Observation::failed_at(2), &[&[Event, Passed], &[Event, Event]]))
        .collect();
    assert_eq!(feedback_gain(&hard, 1, 10, resampling()), None, "0 is no denominator");
    assert_eq!(readings(&[], Some(3)), vec![Vec::new(); 3]);
    assert_eq!(feedback_gain(&[], 2, 10, resampling()), None);
}

/// An episode as a runner with `limit` attempts per turn would record it.
fn recorded() -> impl Strategy<Value = EpisodeAttempts> {
    (prop::collection::vec(1u32..6, 1..9), 0u32..4).prop_map(|(needed, scenario)| {
        let limit = 4;
        let mut turns = Vec::new();
        let mut observed = None;
        for (turn, needs) in (1..).zip(needed) {
            let mut attempts = vec![Event; (needs - 1).min(limit) as usize];
            if needs <= limit {
                attempts.push(Passed);
            }
            turns.push(TurnAttempts { turn, attempts });
            if needs > limit {
                observed = Some(Observation::failed_at(turn));
                break;
            }
        }
        let observed = observed.unwrap_or(Observation::censored_after(turns.len() as u32));
        EpisodeAttempts { scenario: format!("s{scenario}"), observed, turns }
    })
}

proptest! {
    #[test]
    fn more_retries_never_cost_stamina(episodes in prop::collection::vec(recorded(), 1..12)) {
        for e in &episodes {
            prop_assert_eq!(e.truncated(3), e.observed, "the whole budget is what was observed");
            prop_assert!((0..3).all(|r| e.truncated(r).turns <= e.truncated(r + 1).turns));
            prop_assert!((0..4).all(|r| e.truncated(r) == e.observed || e.truncated(r).ending == Ending::Event));
        }
        let curve = readings(&episodes, Some(4));
        prop_assert_eq!(curve.len(), 4);
        let tau = 3;
        if let Some(gain) = feedback_gain(&episodes, 3, tau, resampling()) {
            let mean = |r: usize| summarize_over(&curve[r], tau).restricted_mean.mean.unwrap();
            prop_assert!((gain.value - mean(3) / mean(0)).abs() < 1e-9);
        }
    }

    #[test]
    fn nobody_on_the_front_is_beaten(points in prop::collection::vec((0u8..9, 0u8..9), 0..12)) {
        let points: Vec<(f64, f64)> = points.iter().map(|p| (f64::from(p.0), f64::from(p.1))).collect();
        let front = pareto(&points);
        prop_assert!(points.is_empty() || front.iter().any(|f| *f));
        for (p, is_on_front) in points.iter().zip(&front) {
            let beaten = points.iter().any(|q| (q.0 < p.0 && q.1 >= p.1) || (q.0 <= p.0 && q.1 > p.1));
            prop_assert_eq!(*is_on_front, !beaten);
        }
    }
}

fn fail_at(turns: &[u32]) -> Vec<InScenario> {
    turns
        .iter()
        .enumerate()
        .map(|(i, t)| InScenario::new(format!("s{i}"), Observation::failed_at(*t)))
        .collect()
}

#[test]
fn a_matrix_has_cells_margins_and_extremes() {
    let (open, mini) = (fail_at(&[7, 9, 8, 8]), fail_at(&[2, 3, 2, 1]));
    let (open_weak, more) = (fail_at(&[2, 2, 2, 2]), fail_at(&[4, 2]));
    let run = |harness, model, episodes| MatrixRun { harness, model, episodes, planned: Some(20) };
    let runs = [
        run("opencode", "strong", open.as_slice()),
        run("mini", "strong", mini.as_slice()),
        run("opencode", "weak", open_weak.as_slice()),
        run("mini", "strong", more.as_slice()),
    ];
    let m = matrix(&runs, None, resampling());
    assert_eq!(m.tau, 20);
    let names = |margins: &[analysis::matrix::Margin]| -> Vec<String> {
        margins.iter().map(|m| m.name.clone()).collect()
    };
    assert_eq!(
        (names(&m.harnesses), names(&m.models)),
        (vec!["mini".to_owned(), "opencode".to_owned()], vec!["strong".to_owned(), "weak".to_owned()])
    );
    let pooled = m.cells[0][0].as_ref().unwrap();
    assert_eq!((pooled.runs.as_slice(), pooled.summary.n, pooled.summary.events), (&[1, 3][..], 6, 6));
    assert!((pooled.summary.restricted_mean.mean.unwrap() - 8.0 / 6.0).abs() < 1e-12);
    assert_eq!(m.cells[0][1], None, "no run is no cell");
    let alike = m.cells[1][1].as_ref().unwrap().summary.restricted_mean;
    assert_eq!(alike.ci_low, None, "all did the same");
    let mini = &m.harnesses[0];
    assert_eq!((mini.present, mini.missing), (1, 1));
    assert_eq!(m.harnesses[1].mean, Some(4.0), "cells weigh the same");
    assert_eq!(m.extremes[1], None, "one harness alone is neither best nor worst");
    let strong = m.extremes[0].as_ref().unwrap();
    assert_eq!((strong.best, strong.worst), (1, 0));
    let ratio = strong.ratio.as_ref().unwrap();
    assert!((ratio.value - 5.25).abs() < 1e-12 && ratio.ci_low.unwrap() > 3.0, "{ratio:?}");
    let mut turned = runs;
    turned.reverse();
    let again = matrix(&turned, None, resampling());
    assert_eq!((again.tau, again.harnesses, again.models), (m.tau, m.harnesses, m.models));
    assert_eq!(matrix(&[], None, resampling()).cells.len(), 0);
}

/// A harness was best, with a ratio of 1.00, by the rounding of its mean.
#[test]
fn means_that_differ_by_their_rounding_are_equal() {
    // Both have 3 survived turns in 5 episodes.
    let (plain, rounded) = (fail_at(&[1, 1, 2, 2, 2]), fail_at(&[1, 1, 1, 2, 3]));
    let more = fail_at(&[1, 1, 2, 2, 3]);
    let run = |harness, episodes| MatrixRun { harness, model: "m", episodes, planned: Some(3) };
    let equal = [run("a", plain.as_slice()), run("b", rounded.as_slice())];
    let m = matrix(&equal, None, resampling());
    let mean = |row: usize| m.cells[row][0].as_ref().unwrap().summary.restricted_mean.mean.unwrap();
    assert!(mean(0) != mean(1) && (mean(0) - mean(1)).abs() < 1e-12, "{} and {}", mean(0), mean(1));
    let extremes = m.extremes[0].as_ref().unwrap();
    assert_eq!((extremes.best, extremes.worst), (0, 0));
    // Of the lowest two the first by name is the worst.
    let apart = [run("a", rounded.as_slice()), run("b", plain.as_slice()), run("c", more.as_slice())];
    let m = matrix(&apart, None, resampling());
    let extremes = m.extremes[0].as_ref().unwrap();
    assert_eq!((extremes.best, extremes.worst), (2, 0));
}

#[test]
fn a_cell_in_which_nobody_was_at_risk_has_no_mean_and_shortens_nothing() {
    let good = fail_at(&[5, 6]);
    let never = [InScenario::new("s0", Observation::censored_after(0))];
    let m = matrix(
        &[
            MatrixRun { harness: "a", model: "x", episodes: &good, planned: Some(9) },
            MatrixRun { harness: "b", model: "x", episodes: &never, planned: Some(9) },
        ],
        None,
        resampling(),
    );
    let never = m.cells[1][0].as_ref().unwrap().summary;
    assert_eq!((m.tau, never.restricted_mean.mean, never.n), (9, None, 1));
    assert_eq!(m.extremes, [None], "one mean is neither best nor worst");
    assert_eq!((m.models[0].present, m.models[0].missing, m.models[0].mean), (1, 1, Some(4.5)));
}

#[test]
fn cost_per_survived_turn_is_known_only_when_all_costs_are() {
    assert_eq!(cost_per_turn(&[(Some(3.0), 4), (Some(1.0), 0)]), CostPerTurn::Known(1.0));
    assert_eq!(cost_per_turn(&[(Some(3.0), 4), (None, 1)]), CostPerTurn::Unknown { without_cost: 1 });
    assert_eq!(cost_per_turn(&[(Some(f64::NAN), 4)]), CostPerTurn::Unknown { without_cost: 1 });
    assert_eq!(cost_per_turn(&[(Some(3.0), 0)]), CostPerTurn::NoTurnSurvived);
    assert_eq!(cost_per_turn(&[]), CostPerTurn::NoEpisodes);
    for (cost, value, words) in [
        (CostPerTurn::Known(0.5), Some(0.5), None),
        (CostPerTurn::Unknown { without_cost: 2 }, None, Some("unknown")),
        (CostPerTurn::NoTurnSurvived, None, Some("no turn survived")),
    ] {
        assert_eq!((cost.value(), cost.words()), (value, words));
    }
}

#[test]
fn the_front_keeps_equals_and_drops_what_is_not_a_number() {
    let points = [(1.0, 5.0), (1.0, 5.0), (2.0, 5.0), (3.0, 9.0), (f64::NAN, 99.0), (0.5, f64::INFINITY)];
    assert_eq!(pareto(&points), [true, true, false, true, false, false]);
    // Equal means by another path: one of them stood behind the front.
    assert_eq!(pareto(&[(1.0, 0.8 * 0.75), (1.0, 0.6), (0.1 + 0.2, 0.5), (0.3, 0.5)]), [true; 4]);
}

#[test]
fn readings_of_censoring_bracket_the_result() {
    let end = |turns, reason| EpisodeEnd { turns, reason, unrecognized: false };
    let episodes = [
        end(2, EndReason::TestsFailed),
        end(9, EndReason::TestsFailed),
        end(10, EndReason::PassedAll),
        end(3, EndReason::Endpoint),
        end(1, EndReason::Budget),
        end(0, EndReason::Endpoint),
    ];
    let policy = CensoringPolicy::default();
    let summary_of = |policy: &CensoringPolicy, tau| {
        let plain: Vec<Observation> =
            episodes.iter().map(|e| Observation::from_reason(e.turns, e.reason, policy)).collect();
        summarize_over(&plain, tau)
    };
    let s = sensitivity(&episodes, &policy, 10);
    assert_eq!((s.censored_failed.n, s.censored_failed.events), (6, 5), "who passed everything did not fail");
    assert_eq!((s.censored_dropped.n, s.censored_dropped.events), (3, 2));
    assert_eq!(s.censored_dropped.restricted_mean.mean, Some(7.0));
    assert!(s.censored_failed.restricted_mean.mean < summary_of(&policy, 10).restricted_mean.mean);
    let strict = CensoringPolicy {
        overrides: [(EndReason::Endpoint, Ending::Event), (EndReason::Budget, Ending::Event)].into(),
        ..CensoringPolicy::default()
    };
    let s = sensitivity(&episodes, &strict, 5);
    assert_eq!(summary_of(&strict, 5), s.censored_failed);
    let s = sensitivity(&[], &strict, 0);
    assert_eq!((s.censored_failed.n, s.censored_failed.restricted_mean.mean), (0, None));
}

#[test]
fn ends_whose_cause_is_not_recognised_are_read_as_censored_too() {
    let end = |turns, unrecognized| EpisodeEnd { turns, reason: EndReason::AgentError, unrecognized };
    let passed = EpisodeEnd { turns: 4, reason: EndReason::PassedAll, unrecognized: false };
    let episodes = [end(1, false), end(1, true), passed];
    let s = sensitivity(&episodes, &CensoringPolicy::default(), 4);
    // One was seen for one turn only, so two are at risk at the next, of whom one fails: S = 1, 1/2, 1/2, 1/2.
    assert_eq!((s.unrecognized_censored.n, s.unrecognized_censored.events), (3, 1));
    assert_eq!(s.unrecognized_censored.restricted_mean.mean, Some(1.0 + 3.0 * 0.5));
    // By the policy both are events: S = 1, 1/3, 1/3, 1/3.
    let plain: Vec<Observation> = episodes
        .iter()
        .map(|e| Observation::from_reason(e.turns, e.reason, &CensoringPolicy::default()))
        .collect();
    assert!((summarize_over(&plain, 4).restricted_mean.mean.unwrap() - 2.0).abs() < 1e-12);
}

#[test]
fn readings_of_censoring_have_the_horizon_of_the_headline_or_no_mean() {
    let end = |turns, reason| EpisodeEnd { turns, reason, unrecognized: false };
    // The task of 12 turns was stopped after 9; without it only tasks of 4 turns are left, of which one passed all.
    let episodes =
        [end(9, EndReason::Endpoint), end(4, EndReason::PassedAll), end(1, EndReason::TestsFailed)];
    let s = sensitivity(&episodes, &CensoringPolicy::default(), 9);
    let taus = [s.censored_failed, s.censored_dropped].map(|reading| reading.restricted_mean.tau);
    assert_eq!(taus, [Some(9); 2]);
    // S = 1, 2/3, … to turn 9, also when the stopped one fails at turn 10.
    assert!((s.censored_failed.restricted_mean.mean.unwrap() - (1.0 + 8.0 * 2.0 / 3.0)).abs() < 1e-12);
    let dropped = s.censored_dropped.restricted_mean;
    assert_eq!((dropped.mean, dropped.ci_low, dropped.standard_error), (None, None, None));
    assert_eq!((s.censored_dropped.n, s.censored_dropped.events), (2, 1));
    // Over what it knows it has one.
    let s = sensitivity(&episodes, &CensoringPolicy::default(), 4);
    assert_eq!(s.censored_dropped.restricted_mean.mean, Some(1.0 + 3.0 / 2.0));
}
