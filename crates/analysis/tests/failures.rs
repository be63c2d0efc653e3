//! Classes of attempts, and what adds up over an episode.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use analysis::failures::history::{Standing, history, repair_times};
use analysis::failures::{
    Classification, Context, FailureClass as C, NO_RULE, NOT_DESCRIBED, Suites, classify_attempt, is_failed,
};
use analysis::proportion::wilson;
use model::{Attempt, EndReason as R, Episode, TestOutcome, TestResult, Turn, Verdict};
use proptest::prelude::*;

/// A test: `.` passed, `F` failed, `s` skipped.
fn test(id: &str, letter: char) -> TestResult {
    let outcome = match letter {
        '.' => TestOutcome::Passed,
        's' => TestOutcome::Skipped,
        _ => TestOutcome::Failed,
    };
    TestResult::new(id, outcome)
}

/// An attempt that names all its tests: `a.` is test `a`, passed.
pub(crate) fn attempt(number: u32, tests: &str) -> Attempt {
    let tests: Vec<TestResult> =
        tests.split_whitespace().map(|t| test(&t[..t.len() - 1], t.chars().last().unwrap())).collect();
    let ran = tests.iter().filter(|t| t.outcome != TestOutcome::Skipped).count();
    let failing = tests.iter().filter(|t| t.is_failing()).count();
    let mut attempt = Attempt::new(number, if failing == 0 { Verdict::Passed } else { Verdict::Failed });
    (attempt.passed, attempt.total) = (Some((ran - failing) as u32), Some(ran as u32));
    attempt.tests = tests;
    attempt
}

/// The same, as a log that names only what failed.
pub(crate) fn brief(number: u32, tests: &str) -> Attempt {
    let mut attempt = attempt(number, tests);
    attempt.tests.retain(TestResult::is_failing);
    attempt
}

pub(crate) fn episode(turns: Vec<Vec<Attempt>>) -> Episode {
    let mut episode = Episode::new("e", "scenario_0");
    for (index, attempts) in turns.into_iter().enumerate() {
        let mut turn = Turn::new(index as u32 + 1);
        turn.attempts = attempts;
        episode.turns.push(turn);
    }
    episode
}

fn classify(attempt: &Attempt) -> Classification {
    classify_attempt(attempt, &Context { suites: Suites::Own, ..Context::default() }).unwrap()
}

/// A failing test with a message, in an attempt of `total` of which the others passed.
fn with_messages(total: u32, tests: &[(&str, &str)]) -> Attempt {
    let mut attempt = Attempt::new(1, Verdict::Failed);
    (attempt.passed, attempt.total) = (Some(total - tests.len() as u32), Some(total));
    for (id, message) in tests {
        let mut test = TestResult::new(*id, TestOutcome::Failed);
        test.message = Some((*message).to_owned());
        attempt.tests.push(test);
    }
    attempt
}

const LAX: &str = "Step 1: POST /orders {}: expected status 422, got status 201 with {}";
const STRICT: &str = "Step 1: POST /orders {}: expected status 201, got status 422 with {}";
const REFUSED: &str = "Before the case: POST /reset: no answer: no connection (refused)";

#[test]
fn the_most_frequent_class_is_the_attempts_and_ties_go_by_order() {
    let c = classify(&with_messages(9, &[("o.a.x", LAX), ("o.b.x", STRICT), ("o.c.x", LAX)]));
    assert_eq!((c.primary, c.rule), (C::TooLax, "status.accepted"));
    assert_eq!(c.counts.into_iter().collect::<Vec<_>>(), [(C::TooStrict, 1), (C::TooLax, 2)]);
    let c = classify(&with_messages(9, &[("o.a.x", LAX), ("o.b.x", STRICT)]));
    assert_eq!(c.primary, C::TooStrict);
    // What is not classified is the attempt's class only if nothing else is there.
    let c = classify(&with_messages(9, &[("a", ""), ("b", ""), ("o.b.x", STRICT)]));
    assert_eq!(c.primary, C::TooStrict);
    let c = classify(&with_messages(9, &[("a", ""), ("b", "")]));
    assert_eq!((c.primary, c.rule, c.counts[&C::Other]), (C::Other, NO_RULE, 2));
}

#[test]
fn a_server_that_is_not_there_comes_first_only_if_nothing_passed() {
    let tests = [("o.a.x", REFUSED), ("o.b.x", REFUSED), ("o.c.x", LAX), ("o.d.x", LAX)];
    assert_eq!(classify(&with_messages(4, &tests)).primary, C::DidNotStart);
    // Others passed: it was there, and went away.
    let c = classify(&with_messages(9, &tests));
    assert_eq!((c.primary, c.counts[&C::Crashed]), (C::Crashed, 2));
    assert_eq!(classify(&with_messages(9, &tests[1..])).primary, C::TooLax);
}

#[test]
fn end_reasons_come_before_tests() {
    let mut attempt = with_messages(9, &[("o.a.x", LAX)]);
    attempt.end_reason = Some(R::ContextOverflow);
    let c = classify(&attempt);
    assert_eq!((c.primary, c.rule, c.counts[&C::TooLax]), (C::ContextOverflow, "end.context_overflow", 1));
}

#[test]
fn failing_tests_without_details_are_counted_and_have_no_class() {
    let mut attempt = Attempt::new(1, Verdict::Failed);
    (attempt.passed, attempt.total) = (Some(3), Some(10));
    let c = classify(&attempt);
    assert_eq!((c.primary, c.rule, c.not_described, c.tests.len()), (C::Other, NOT_DESCRIBED, 7, 0));
}

#[test]
fn what_did_not_fail_has_no_class() {
    let failed = |verdict, reason| {
        let mut attempt = Attempt::new(1, verdict);
        attempt.end_reason = reason;
        assert_eq!(classify_attempt(&attempt, &Context::default()).is_some(), is_failed(&attempt));
        is_failed(&attempt)
    };
    assert!(!failed(Verdict::Passed, None));
    assert!(!failed(Verdict::Unfinished, None));
    assert!(!failed(Verdict::Unfinished, Some(R::Unfinished)));
    assert!(!failed(Verdict::Error, Some(R::Cancelled)));
    assert!(failed(Verdict::Error, None));
    assert!(failed(Verdict::Unfinished, Some(R::Endpoint)));
    assert!(failed(Verdict::Failed, Some(R::TestsFailed)));
}

/// Outputs of failing tests of a real job of Harbor over a program, each under an id that looks like a case of the suites of this
/// project: `gone.notes` and `notes.sort.list` are titles there, and no evidence.
#[test]
fn the_form_of_an_id_is_no_evidence_in_a_foreign_suite() {
    const OUTPUTS: [(&str, C); 3] = [
        ("expected exit=1, got exit=0", C::TooLax),
        ("expected exit=0, got exit=2", C::WrongExit),
        ("expected='3 notes', got='2 notes'", C::WrongValue),
    ];
    const IDS: [&str; 9] = [
        "c001",
        "notes.export.delete",
        "notes.guard.export",
        "notes.sort.list",
        "analytics.total",
        "gone.notes",
        "notes.effect.done",
        "notes.create.minimal",
        "test_notes__text__null",
    ];
    for (output, class) in OUTPUTS {
        for id in IDS {
            let foreign = classify_attempt(&with_messages(9, &[(id, output)]), &Context::default()).unwrap();
            assert_eq!(foreign.primary, class, "{id}: {output} by {}", foreign.rule);
        }
        // A failing `gone.…` and a failing `….minimal` explain nothing elsewhere either.
        let all: Vec<(&str, &str)> = IDS.iter().map(|id| (*id, output)).collect();
        let foreign = classify_attempt(&with_messages(20, &all), &Context::default()).unwrap();
        assert_eq!(foreign.counts.keys().copied().collect::<Vec<_>>(), [class], "{output}");
    }
    // Of a suite of this project the same id names the kind of the case.
    let classified = classify(&with_messages(9, &[("notes.guard.export", LAX)]));
    assert_eq!((classified.primary, classified.rule), (C::GuardIgnored, "case.guard"));
}

#[test]
fn old_names_that_still_answer_explain_what_is_missing() {
    let missing = "Step 1: POST /purchases {}: expected status 201, got status 404 with {}";
    let still_there = "Step 1: GET /orders: expected status 404, got status 200 with {}";
    let c = classify(&with_messages(9, &[("orders.create.full", missing), ("orders.list.all", missing)]));
    assert_eq!(c.primary, C::MissingRoute);
    let c = classify(&with_messages(
        9,
        &[
            ("orders.create.full", missing),
            ("orders.list.all", missing),
            ("gone.collection.orders", still_there),
        ],
    ));
    assert_eq!(c.counts.into_iter().collect::<Vec<_>>(), [(C::StaleName, 3)]);
    // Of another entity it explains nothing.
    let field = "Step 2: GET /parts/1: expected /label to be \"a\", got nothing";
    let shown = "Step 2: GET /orders/1: expected /note to be nothing, got null";
    let c = classify(&with_messages(9, &[("parts.create.full", field), ("gone.orders.field.note", shown)]));
    assert_eq!(c.counts.into_iter().collect::<Vec<_>>(), [(C::StaleName, 1), (C::MissingField, 1)]);
}

#[test]
fn an_old_field_that_is_still_shown_is_no_invented_one() {
    let body = |entity: &str| {
        format!(
            "Step 3: PATCH /{entity}/1 {{}}: expected the body to be {{\"id\":1}}, got {{\"id\":1,\"sentOn\":null}}"
        )
    };
    let still_shown = "Step 2: GET /orders/1: expected /sentOn to be nothing, got null";
    let (orders, parts) = (body("orders"), body("parts"));
    let c = classify(&with_messages(
        9,
        &[("orders.update", &orders), ("parts.update", &parts), ("gone.orders.field.sent_on", still_shown)],
    ));
    assert_eq!(c.counts.into_iter().collect::<Vec<_>>(), [(C::StaleName, 2), (C::InventedFeature, 1)]);
}

#[test]
fn a_record_that_an_action_makes_has_the_wrong_default_or_lacks_a_field() {
    let created_class = |record: &str| {
        format!(
            "Step 3: GET /parts: expected /records to be in any order [{{\"size\":20,\"note\":\"a\"}}], got [{record}]"
        )
    };
    let minimal = "Step 1: POST /parts {}: expected /size to be 20, got 21";
    let (default, lacks) =
        (created_class("{\"id\":1,\"note\":\"a\",\"size\":21}"), created_class("{\"id\":1,\"size\":20}"));
    let (wrong, none) = (created_class("{\"id\":1,\"note\":\"b\",\"size\":20.0}"), created_class(""));
    let id = "orders.ship.effect.create_parts";
    let c = classify(&with_messages(
        9,
        &[("parts.create.minimal", minimal), (id, &default), (id, &lacks), (id, &wrong), (id, &none)],
    ));
    let expected = [(C::MissingField, 1), (C::WrongDefault, 2), (C::WrongEffect, 2)];
    assert_eq!(c.counts.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn a_wrong_default_explains_the_same_field_elsewhere() {
    let wrong = |place: &str| format!("Step 1: {place}: expected /title to be \"main\", got null");
    let (create, put) = (wrong("POST /orders {}"), wrong("PUT /orders/1 {}"));
    let c = classify(&with_messages(
        9,
        &[("orders.create.minimal", &create), ("orders.replace.full", &put), ("parts.replace.full", &put)],
    ));
    assert_eq!(c.counts.into_iter().collect::<Vec<_>>(), [(C::WrongDefault, 2), (C::WrongValue, 1)]);
}

#[test]
fn an_attempt_has_one_class_and_counts_its_tests() {
    let lax = classify(&with_messages(9, &[("o.a.x", LAX), ("o.b.x", LAX), ("o.c.x", STRICT)]));
    assert_eq!(lax.primary, C::TooLax);
    assert_eq!(lax.counts.into_iter().collect::<Vec<_>>(), [(C::TooStrict, 1), (C::TooLax, 2)]);
    let mut endpoint = Attempt::new(2, Verdict::Error);
    endpoint.end_reason = Some(R::Endpoint);
    let endpoint = classify(&endpoint);
    assert!(endpoint.primary == C::Endpoint && endpoint.counts.is_empty());
    // Wilson, 1 of 3: as in R, prop.test(1, 3, correct = FALSE).
    let share = wilson(1, 3).unwrap();
    assert!((share.ci_low - 0.061_491_94).abs() < 1e-6 && (share.ci_high - 0.792_340_3).abs() < 1e-6);
}

fn any_attempt(number: u32) -> impl Strategy<Value = Attempt> {
    let tests = proptest::collection::vec((0u8..6, prop::sample::select(vec!['.', 'F', 's'])), 0..6);
    (tests, any::<bool>(), proptest::option::of(prop::sample::select(R::ALL))).prop_map(
        move |(tests, all, reason)| {
            let text: BTreeSet<String> = tests.iter().map(|(id, l)| format!("t{id}x{l}")).collect();
            let text = text.into_iter().collect::<Vec<_>>().join(" ");
            let mut attempt = if all { attempt(number, &text) } else { brief(number, &text) };
            attempt.end_reason = reason;
            attempt
        },
    )
}

proptest! {
    #[test]
    fn counts_add_up_for_any_episode(
        turns in proptest::collection::vec((any_attempt(1), any_attempt(2)).prop_map(|(a, b)| vec![a, b]), 0..6),
    ) {
        let episode = episode(turns);
        for attempt in episode.turns.iter().flat_map(|t| &t.attempts) {
            let classified = classify_attempt(attempt, &Context::default());
            prop_assert_eq!(classified.is_some(), is_failed(attempt));
            let Some(classified) = classified else { continue };
            let failing = attempt.tests.iter().filter(|t| t.is_failing()).count();
            prop_assert_eq!((classified.tests.len(), classified.counts.values().sum::<u32>() as usize), (failing, failing));
        }
        let history = history(&episode);
        // Every failing test stands somewhere.
        let failing = episode.turns.iter().flat_map(|t| &t.attempts).flat_map(|a| &a.tests).filter(|t| t.is_failing()).count();
        prop_assert_eq!(history.attempts.iter().map(|a| a.tests.len()).sum::<usize>(), failing);
        // A stretch begins exactly where a failure is not a continued one.
        let begun = history.attempts.iter().flat_map(|a| &a.tests).filter(|t| !matches!(t.standing, Standing::StillFailing { .. })).count();
        prop_assert_eq!(history.repairs.len(), begun);
        let times = repair_times(&history.repairs);
        prop_assert!(times.in_same_turn <= times.repaired && times.repaired <= times.failed);
        for flip in &history.flips {
            prop_assert!(flip.changes >= 2 && flip.outcomes.windows(2).all(|w| w[0].passed != w[1].passed));
        }
    }
}
