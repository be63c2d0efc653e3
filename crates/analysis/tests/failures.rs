//! Classes of attempts, histories of episodes and shares over runs.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use analysis::failures::history::{RepairTimes, Standing, history, repair_times, turn_repairs};
use analysis::failures::{
    Classification, Context, FailureClass as C, NO_RULE, NOT_DESCRIBED, Suites, classify_attempt, is_failed,
};
use analysis::proportion::wilson;
use model::{Attempt, EndReason as R, Episode, Median, TestOutcome, TestResult, Turn, Verdict};
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
fn attempt(number: u32, tests: &str) -> Attempt {
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
fn brief(number: u32, tests: &str) -> Attempt {
    let mut attempt = attempt(number, tests);
    attempt.tests.retain(TestResult::is_failing);
    attempt
}

fn episode(turns: Vec<Vec<Attempt>>) -> Episode {
    let mut episode = Episode::new("e", "scenario_0");
    for (index, attempts) in turns.into_iter().enumerate() {
        let mut turn = Turn::new(index as u32 + 1);
        turn.attempts = attempts;
        episode.turns.push(turn);
    }
    episode
}

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
    let without = |reason| Attempt { end_reason: Some(reason), ..Attempt::new(2, Verdict::Unfinished) };
    let repairs = |last: Vec<Attempt>| -> Vec<(bool, u32)> {
        let attempts = std::iter::once(attempt(1, "aF")).chain(last).collect();
        turn_repairs(&episode(vec![attempts]))
            .iter()
            .map(|repair| (repair.repaired, repair.attempts))
            .collect()
    };
    assert_eq!(repairs(vec![without(R::Endpoint)]), [(false, 0)]);
    assert_eq!(repairs(vec![without(R::AgentTimeout)]), [(false, 0)]);
    assert_eq!(repairs(vec![Attempt::new(2, Verdict::Error)]), [(false, 1)]);
    // It was an attempt all the same.
    assert_eq!(repairs(vec![without(R::Endpoint), attempt(3, "a.")]), [(true, 2)]);
    let of_one = turn_repairs(&episode(vec![vec![attempt(1, "aF"), without(R::Endpoint)]]));
    assert_eq!(repair_times(&of_one).median_attempts, Median::Unknown);
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
    let own = classify(&with_messages(9, &[("notes.guard.export", LAX)]));
    assert_eq!((own.primary, own.rule), (C::GuardIgnored, "case.guard"));
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
    let made = |record: &str| {
        format!(
            "Step 3: GET /parts: expected /records to be in any order [{{\"size\":20,\"note\":\"a\"}}], got [{record}]"
        )
    };
    let minimal = "Step 1: POST /parts {}: expected /size to be 20, got 21";
    let (default, lacks) = (made("{\"id\":1,\"note\":\"a\",\"size\":21}"), made("{\"id\":1,\"size\":20}"));
    let (wrong, none) = (made("{\"id\":1,\"note\":\"b\",\"size\":20.0}"), made(""));
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
