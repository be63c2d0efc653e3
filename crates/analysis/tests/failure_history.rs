//! Histories of episodes: which tests are new, regressed or still failing, repairs and flips.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use analysis::failures::history::{
    PassVisibility, RepairTimes, Standing, history, repair_times, turn_repairs,
};
use model::{Attempt, EndReason as R, Episode, Median, STATED_FAILING, TestOutcome, TestResult, Verdict};

use super::failures::{attempt, brief, episode};

/// Standings of a turn's attempt, by the tests' ids.
fn standings(episode: &Episode, turn: u32, number: u32) -> Vec<(String, Standing)> {
    let history = history(episode);
    let found = history.attempts.iter().find(|a| (a.turn, a.attempt) == (turn, number));
    let attempt =
        episode.turn(turn).unwrap().attempts.iter().find(|attempt| attempt.number == number).unwrap();
    found.map_or_else(Vec::new, |found| {
        found.tests.iter().map(|t| (attempt.tests[t.test].id.clone(), t.standing)).collect()
    })
}

const NEW: Standing = Standing::New;

fn regression(passed_in_turn: u32) -> Standing {
    Standing::Regression { passed_in_turn }
}

fn still(since_turn: u32, passed_in_turn: Option<u32>) -> Standing {
    Standing::StillFailing { since_turn, passed_in_turn }
}

#[test]
fn new_regression_and_still_failing_are_told_apart() {
    let episode = episode(vec![
        vec![attempt(1, "a. bF"), attempt(2, "a. b.")],
        vec![attempt(1, "a. b. cF"), attempt(2, "aF b. cF")],
        vec![attempt(1, "aF b. c. dF")],
        vec![attempt(1, "a. b. cF d.")],
    ]);
    let standings_at = |turn, number| {
        standings(&episode, turn, number).into_iter().map(|(_, standing)| standing).collect::<Vec<_>>()
    };
    assert_eq!(standings_at(1, 1), [NEW]);
    assert_eq!(standings_at(2, 1), [NEW]);
    // `a` passed in the attempt before, of the same turn.
    assert_eq!(standings_at(2, 2), [regression(2), still(2, None)]);
    assert_eq!(standings_at(3, 1), [still(2, Some(2)), NEW]);
    assert_eq!(standings_at(4, 1), [regression(3)]);
    let count = |wanted: fn(&Standing) -> bool| {
        history(&episode).attempts.iter().flat_map(|a| &a.tests).filter(|t| wanted(&t.standing)).count()
    };
    let counts = [
        count(|s| *s == Standing::New),
        count(|s| matches!(s, Standing::Regression { .. })),
        count(|s| matches!(s, Standing::StillFailing { .. })),
        count(|s| *s == Standing::Unknown),
    ];
    assert_eq!(counts, [3, 2, 2, 0]);
}

#[test]
fn what_earlier_turns_do_not_name_is_unknown() {
    let episode = episode(vec![
        vec![brief(1, "a. b. c.")],
        vec![brief(1, "aF b. c."), brief(2, "a. bF c.")],
        vec![attempt(1, "a. b. cF")],
    ]);
    assert_eq!(standings(&episode, 2, 1), [("a".to_owned(), Standing::Unknown)]);
    // In the same turn the suite is the same: `b` did not fail at the attempt before, so it passed.
    assert_eq!(standings(&episode, 2, 2), [("b".to_owned(), regression(2))]);
    assert_eq!(standings(&episode, 3, 1), [("c".to_owned(), Standing::Unknown)]);
}

#[test]
fn attempts_without_tests_hide_nothing() {
    let mut error = Attempt::new(1, Verdict::Error);
    error.end_reason = Some(R::ServerFailed);
    let episode = episode(vec![vec![attempt(1, "a.")], vec![error], vec![attempt(1, "aF bF")]]);
    let last: Vec<_> = standings(&episode, 3, 1).into_iter().map(|(_, standing)| standing).collect();
    assert_eq!(last, [regression(1), NEW]);
}

#[test]
fn skipped_tests_say_nothing() {
    let episode =
        episode(vec![vec![attempt(1, "a. b.")], vec![attempt(1, "as b.")], vec![attempt(1, "aF b.")]]);
    assert_eq!(standings(&episode, 3, 1), [("a".to_owned(), regression(1))]);
}

/// 41 passed, 2 failed and 1 was skipped of 44, all of which are named: later tests were unknown.
#[test]
fn a_new_test_is_new_where_the_total_includes_named_skipped_ones() {
    let passed = (0..41).map(|number| format!("p{number}. ")).collect::<Vec<_>>().concat();
    let standing_after = |skipped: &str| {
        let mut first = attempt(1, &format!("{passed}aF bF {skipped}"));
        (first.passed, first.total) = (Some(41), Some(44));
        first.extra.insert(STATED_FAILING.to_owned(), 2.into());
        let later = format!("{passed}a. b. newF");
        standings(&episode(vec![vec![first], vec![attempt(1, &later)]]), 2, 1)
    };
    assert_eq!(standing_after("cs"), [("new".to_owned(), NEW)]);
    assert_eq!(standing_after(""), [("new".to_owned(), Standing::Unknown)], "one of 44 has no name");
}

/// A reward passed an attempt of which not every test did. Those that it does not name counted as passed, which ended periods of
/// failing.
#[test]
fn an_attempt_that_a_reward_passed_says_nothing_of_tests_that_it_does_not_name() {
    let repaired_with = |tests: &str, passed: u32| {
        let mut second = attempt(2, tests);
        (second.verdict, second.passed, second.total) = (Verdict::Passed, Some(passed), Some(4));
        let episode = episode(vec![vec![attempt(1, "aF b. c. d."), second]]);
        history(&episode).repairs[0].repaired
    };
    assert!(!repaired_with("b. c.", 3), "`a` or `d` did not pass");
    assert!(repaired_with("", 4));
    assert!(
        repaired_with("b. c. dF", 3) && repaired_with("b. c. ds", 3),
        "the one that did not pass is named"
    );
}

#[test]
fn files_that_name_their_turn_hold_the_same_tests() {
    let episode = episode(vec![
        vec![attempt(1, "suites/turn_1.py::test_a.")],
        vec![attempt(1, "suites/turn_2.py::test_aF")],
    ]);
    assert_eq!(standings(&episode, 2, 1)[0].1, regression(1));
}

#[test]
fn numbered_ids_are_followed_by_what_describes_them() {
    let described = |number: u32, tests: &[(&str, &str)]| {
        let mut attempt = Attempt::new(number, Verdict::Failed);
        (attempt.passed, attempt.total) = (Some(3), Some(3 + tests.len() as u32));
        for (id, intent) in tests {
            let mut test = TestResult::new(*id, TestOutcome::Failed);
            test.intent = Some((*intent).to_owned());
            attempt.tests.push(test);
        }
        attempt
    };
    let episode = episode(vec![
        vec![described(1, &[("c001", "list"), ("c002", "sort"), ("c003", "twice"), ("c004", "twice")])],
        vec![described(1, &[("c001", "sort"), ("c002", "new one"), ("c003", "twice")])],
    ]);
    let last: Vec<_> = standings(&episode, 2, 1).into_iter().map(|(_, standing)| standing).collect();
    // The same number is another test; the same description is the same test, unless two have it.
    assert_eq!(last[0], still(1, None));
    assert_eq!(last[1], Standing::Unknown);
    let first: BTreeSet<_> =
        standings(&episode, 1, 1).into_iter().map(|(_, standing)| format!("{standing:?}")).collect();
    assert_eq!(first, BTreeSet::from(["New".to_owned()]));
}

/// Cases of Harbor jobs, with what they check: passed ones are described, too.
#[test]
fn described_numbers_are_new_or_regressed_where_nothing_is_hidden() {
    let described = |tests: &[(&str, &str)]| {
        let mut attempt = attempt(1, &tests.iter().map(|(id, _)| *id).collect::<Vec<_>>().join(" "));
        for (test, (_, intent)) in attempt.tests.iter_mut().zip(tests) {
            test.intent = Some((*intent).to_owned()).filter(|text| !text.is_empty());
        }
        vec![attempt]
    };
    let standings_in_turn_2 = |first: &[(&str, &str)], second: &[(&str, &str)]| -> Vec<Standing> {
        let episode = episode(vec![described(first), described(second)]);
        standings(&episode, 2, 1).into_iter().map(|(_, standing)| standing).collect()
    };
    let second = [("c001F", "added"), ("c002F", "listed")];
    assert_eq!(standings_in_turn_2(&[("c001.", "listed")], &second), [NEW, regression(1)]);
    // Two tests share a description: what became of each of them is unknown, and no other test is one of them.
    let shared = [("c001.", "listed"), ("c002.", "listed")];
    assert_eq!(standings_in_turn_2(&shared, &second), [NEW, Standing::Unknown]);
    assert_eq!(
        standings_in_turn_2(&[("c001.", "listed")], &[("c001F", "listed"), ("c002F", "listed")]),
        [Standing::Unknown, Standing::Unknown]
    );
    assert_eq!(
        standings_in_turn_2(&[("c001.", "other")], &[("c001F", "listed"), ("c002F", "listed")]),
        [NEW, NEW]
    );
    // A test without a description may be any.
    assert_eq!(
        standings_in_turn_2(&[("c001.", ""), ("c002.", "listed")], &second),
        [Standing::Unknown, regression(1)]
    );
    assert_eq!(standings_in_turn_2(&[("c001.", "listed")], &[("c001F", "")]), [Standing::Unknown]);
}

/// Numbers are given anew in each turn, so that only a further attempt of the same turn shows that such a test passes. It was
/// taken for seen as soon as any test was listed as passed: "24 stretches, of which 0 ended with a pass".
#[test]
fn a_pass_can_be_seen_only_of_a_test_that_is_followed() {
    let passes = |turns: Vec<Vec<Attempt>>| history(&episode(turns)).passes;
    let once = |first: &str, second: &str| passes(vec![vec![attempt(1, first)], vec![attempt(1, second)]]);
    assert_eq!(once("c001. c002F", "c001. c002."), PassVisibility::Hidden);
    assert_eq!(once("a. bF", "a. bF"), PassVisibility::Shown);
    // One followed test that passed is enough, whatever else there is.
    assert_eq!(once("c001. c002F", "a. c001F"), PassVisibility::Shown);
    // Nothing passed: of numbers no pass could be seen, of others it could.
    assert_eq!(once("c001F c002F", "c001F"), PassVisibility::Hidden);
    assert_eq!(once("aF bF", "aF"), PassVisibility::NonePassed);
    // Attempts of one turn have one suite.
    let again = vec![vec![attempt(1, "c001. c002F"), attempt(2, "c001. c002F")]];
    assert_eq!(passes(again), PassVisibility::Shown);
    let brief_again = vec![vec![brief(1, "c001. c002F"), brief(2, "c001. c002.")]];
    assert_eq!(passes(brief_again), PassVisibility::Shown);
    assert_eq!(passes(vec![vec![brief(1, "a. bF")]]), PassVisibility::Hidden);
    assert_eq!(passes(Vec::new()), PassVisibility::NonePassed);
}

#[test]
fn repairs_take_attempts_and_turns_or_are_censored() {
    let episode = episode(vec![
        vec![attempt(1, "aF bF"), attempt(2, "a. bF"), attempt(3, "a. bF")],
        vec![attempt(1, "a. b. cF")],
        vec![attempt(1, "aF b. cF")],
    ]);
    let history = history(&episode);
    let all: Vec<_> = history
        .repairs
        .iter()
        .map(|r| (r.id.as_str(), r.turn, r.attempt, r.repaired, r.attempts, r.turns))
        .collect();
    assert_eq!(
        all,
        [
            ("a", 1, 1, true, 1, 0),
            ("b", 1, 1, true, 3, 1),
            ("c", 2, 1, false, 1, 1),
            ("a", 3, 1, false, 0, 0)
        ]
    );
    let times = repair_times(&history.repairs);
    assert_eq!((times.failed, times.repaired, times.in_same_turn), (4, 2, 1));
    // Attempts: repaired after 1 and 3, censored after 1 and 0: at risk 3 at 1, 1 at 3: S(1) = 2/3, S(3) = 0.
    assert_eq!(times.median_attempts, Median::Reached(3));
    // Turns: repaired in the same turn (of 3 at risk) and one turn later (of 1): S = 2/3, 0.
    assert_eq!(times.median_turns, Median::Reached(1));
    let turns: Vec<_> = turn_repairs(&episode).iter().map(|r| (r.turn, r.repaired, r.attempts)).collect();
    assert_eq!(turns, [(1, false, 2), (2, false, 0), (3, false, 0)]);
    assert_eq!(repair_times([]), RepairTimes::default());
}

#[test]
fn an_attempt_without_a_verdict_tries_no_turn_again() {
    let undecided_attempt =
        |reason| Attempt { end_reason: Some(reason), ..Attempt::new(2, Verdict::Unfinished) };
    let repairs = |last: Vec<Attempt>| -> Vec<(bool, u32)> {
        let attempts = std::iter::once(attempt(1, "aF")).chain(last).collect();
        turn_repairs(&episode(vec![attempts]))
            .iter()
            .map(|repair| (repair.repaired, repair.attempts))
            .collect()
    };
    assert_eq!(repairs(vec![undecided_attempt(R::Endpoint)]), [(false, 0)]);
    assert_eq!(repairs(vec![undecided_attempt(R::AgentTimeout)]), [(false, 0)]);
    assert_eq!(repairs(vec![Attempt::new(2, Verdict::Error)]), [(false, 1)]);
    // It was an attempt all the same.
    assert_eq!(repairs(vec![undecided_attempt(R::Endpoint), attempt(3, "a.")]), [(true, 2)]);
    let one_turn = turn_repairs(&episode(vec![vec![attempt(1, "aF"), undecided_attempt(R::Endpoint)]]));
    assert_eq!(repair_times(&one_turn).median_attempts, Median::Unknown);
}

#[test]
fn flips_are_tests_that_change_more_than_once() {
    let episode = episode(vec![
        vec![attempt(1, "a. bF c."), attempt(2, "aF b. c.")],
        vec![attempt(1, "a. bF c.")],
        vec![attempt(1, "aF b. c.")],
    ]);
    let flips = history(&episode).flips;
    let all: Vec<_> = flips.iter().map(|f| (f.id.as_str(), f.changes, f.outcomes.len())).collect();
    assert_eq!(all, [("a", 3, 4), ("b", 3, 4)]);
    assert_eq!(
        flips[0].outcomes.iter().map(|o| (o.turn, o.attempt, o.passed)).collect::<Vec<_>>(),
        [(1, 1, true), (1, 2, false), (2, 1, true), (3, 1, false)]
    );
    assert!(flips.iter().all(|f| f.turns == [1, 2, 3]));
}

#[test]
fn a_flip_knows_the_turns_whose_attempts_differ() {
    let changed_within = |turns: Vec<Vec<Attempt>>| {
        let flips = history(&episode(turns)).flips;
        let flip = flips.iter().find(|flip| flip.id == "a").expect("a flip");
        flip.changed_within.clone()
    };
    // It fails at the end of a turn, and once more in the next before it passes there: one change in that turn.
    let repaired = vec![
        vec![attempt(1, "a. b.")],
        vec![attempt(1, "aF b.")],
        vec![attempt(1, "aF b."), attempt(2, "a. b.")],
    ];
    assert_eq!(changed_within(repaired), [3]);
    // As many changes from turn to turn as there are.
    let by_turn = vec![
        vec![attempt(1, "aF b.")],
        vec![attempt(1, "aF b."), attempt(2, "a. b.")],
        vec![attempt(1, "aF b.")],
    ];
    assert_eq!(changed_within(by_turn), [2]);
    // Of the first attempt of turn 2 nothing is known.
    let unknown = vec![
        vec![attempt(1, "a. b.")],
        vec![Attempt::new(1, Verdict::Error), attempt(2, "aF b.")],
        vec![attempt(1, "a. b.")],
    ];
    assert!(changed_within(unknown).is_empty());
    let often = vec![vec![attempt(1, "aF b."), attempt(2, "a. b."), attempt(3, "aF b.")]];
    assert_eq!(changed_within(often), [1]);
}

#[test]
fn a_flip_knows_which_turns_say_nothing_of_it() {
    // At turn 2 the test is not among those that ran, and turn 4 tells its failing tests only in part.
    let mut partly = attempt(1, "b.");
    (partly.verdict, partly.passed, partly.total) = (model::Verdict::Failed, Some(1), Some(9));
    let episode = episode(vec![
        vec![attempt(1, "a. b.")],
        vec![attempt(1, "b.")],
        vec![attempt(1, "aF b.")],
        vec![partly],
        vec![attempt(1, "a. b.")],
    ]);
    let flips = history(&episode).flips;
    assert_eq!(flips.len(), 1);
    assert_eq!((flips[0].id.as_str(), flips[0].turns.as_slice()), ("a", &[1, 3, 5][..]));
}
