//! Whether the end of a period of failing can be seen.

use model::{Attempt, Episode, TestOutcome, TestResult, Turn, Verdict};

use super::{PassVisibility, history};

/// An attempt that names all its tests: `a.` is test `a`, passed, and `aF` is the same one, failed.
fn attempt(number: u32, tests: &str) -> Attempt {
    let tests: Vec<TestResult> = tests
        .split_whitespace()
        .map(|test| {
            let outcome = if test.ends_with('F') { TestOutcome::Failed } else { TestOutcome::Passed };
            TestResult::new(&test[..test.len() - 1], outcome)
        })
        .collect();
    let failing = tests.iter().filter(|test| test.is_failing()).count();
    let mut attempt = Attempt::new(number, if failing == 0 { Verdict::Passed } else { Verdict::Failed });
    (attempt.passed, attempt.total) = (Some((tests.len() - failing) as u32), Some(tests.len() as u32));
    attempt.tests = tests;
    attempt
}

/// An episode of turns with their attempts.
fn episode(turns: &[&[&str]]) -> Episode {
    let mut episode = Episode::new("e", "scenario_0");
    for (number, attempts) in (1..).zip(turns) {
        let mut turn = Turn::new(number);
        turn.attempts = (1..).zip(attempts.iter()).map(|(number, tests)| attempt(number, tests)).collect();
        episode.turns.push(turn);
    }
    episode
}

/// Each period by its test and turn, with whether its end is hidden.
fn periods(turns: &[&[&str]]) -> Vec<(String, u32, bool)> {
    history(&episode(turns)).repairs.into_iter().map(|r| (r.id, r.turn, r.is_hidden)).collect()
}

fn period(id: &str, turn: u32, is_hidden: bool) -> (String, u32, bool) {
    (id.to_owned(), turn, is_hidden)
}

/// Runs of one turn: "did not end with a pass" was said of tests that ran once.
#[test]
fn tests_that_ran_once_are_never_seen_to_pass_later() {
    assert_eq!(periods(&[&["a. bF"]]), [period("b", 1, true)]);
    assert_eq!(periods(&[&["aF bF"]]), [period("a", 1, true), period("b", 1, true)]);
    assert_eq!(periods(&[&["a. bF", "a. bF"]]), [period("b", 1, false)]);
    assert_eq!(periods(&[&["a. bF"], &["a. bF"]]), [period("b", 1, false)]);
    // An attempt at which no test ran shows nothing.
    let mut with_error = episode(&[&["a. bF"]]);
    with_error.turns[0].attempts.push(Attempt::new(2, Verdict::Error));
    assert!(history(&with_error).repairs.iter().all(|repair| repair.is_hidden));
    // The source lists passed tests all the same.
    assert_eq!(history(&with_error).passes, PassVisibility::Shown);
}

/// One turn that was tried again made known how the tests of all other turns ended.
#[test]
fn only_a_later_attempt_of_its_turn_shows_that_a_numbered_test_passes() {
    let found =
        periods(&[&["c1. c2F", "c1. c2."], &["c1. c2F"], &["c1F c2. aF", "c1F c2F aF", "c1F c2F aF"]]);
    let expected = [
        period("c2", 1, false),
        period("c2", 2, true),
        period("c1", 3, false),
        period("a", 3, false),
        period("c2", 3, false),
    ];
    assert_eq!(found, expected);
    // It began to fail at the last attempt.
    assert_eq!(periods(&[&["c1F c2.", "c1F c2F"]]), [period("c1", 1, false), period("c2", 1, true)]);
    // Its description identifies it in other turns.
    let mut described = episode(&[&["c1F c2."], &["c1. c3."]]);
    for turn in &mut described.turns {
        turn.attempts[0].tests[0].intent = Some("lists".to_owned());
    }
    let repairs = history(&described).repairs;
    assert!(repairs.len() == 1 && repairs[0].repaired && !repairs[0].is_hidden, "{repairs:?}");
}
