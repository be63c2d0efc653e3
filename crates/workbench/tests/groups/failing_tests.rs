//! Failing tests, failures and repairs of groups.

use workbench::api::{
    FailureCasesRequest, FailureGrouping, FailureOrigin, FailureScope, FailuresRequest, ListRuns,
    RetriesRequest, TableSubject, TurnRef,
};

use crate::groups::{FAILED, Given, PASSED, Try, given, library};
use crate::library::{self, Library, members};

const SECOND: Try = FAILED;
const FIRST: Try = Try { outcomes: "F.", ..PASSED };

#[test]
fn failing_tests_say_where_they_passed_before() {
    // t::two fails at turn 1 and passes at once; at turn 3 it fails again, and at turn 4, where t::one does, too.
    let failed_twice = Try { outcomes: "FF", ..PASSED };
    let turns: &[&[&[Try]]] = &[&[&[SECOND, PASSED], &[PASSED], &[SECOND], &[failed_twice]]];
    let (_folder, library) = library(&[given("a", "h", "x", turns)]);
    let origins_request = FailuresRequest { members: members(&["lab.a"]), ..FailuresRequest::default() };
    let cases = |request: FailureCasesRequest| library.workbench.list_failure_cases(request).unwrap();
    let page =
        cases(FailureCasesRequest { failures: origins_request.clone(), ..FailureCasesRequest::default() });
    let standing: Vec<Vec<_>> = page
        .rows
        .iter()
        .map(|row| {
            let shown_test = |t: &workbench::api::StandingTest| {
                (t.test.clone(), t.stood.history, t.stood.passed_in_turn, t.stood.since_turn)
            };
            row.failing.iter().map(shown_test).collect()
        })
        .collect();
    let [one, two] = ["t::one", "t::two"].map(str::to_owned);
    assert_eq!(standing[0], [(two.clone(), FailureOrigin::New, None, None)]);
    assert_eq!(standing[1], [(two.clone(), FailureOrigin::Regressed, Some(2), None)]);
    assert_eq!(
        standing[2],
        [
            (one, FailureOrigin::Regressed, Some(3), None),
            (two, FailureOrigin::StillFailing, Some(2), Some(3))
        ]
    );
    let request = FailureCasesRequest {
        failures: origins_request,
        turn: Some(4),
        most_tests: 1,
        ..FailureCasesRequest::default()
    };
    let episode = page.rows[0].episode.clone();
    let page = cases(FailureCasesRequest { episode: Some(episode), ..request.clone() });
    assert_eq!((page.total, page.rows[0].turn, page.rows[0].failing.len()), (1, 4, 1));
    assert_eq!(cases(FailureCasesRequest { episode: Some("other".into()), ..request }).total, 0);
}

#[test]
fn repair_counts_one_population_in_every_group() {
    // Turn 1: two stretches that end in the same turn. Turn 2: one that ends at turn 3. Turn 4: one that never ends.
    let turns: &[&[&[Try]]] = &[&[&[FIRST, SECOND, PASSED], &[SECOND], &[PASSED], &[FIRST]]];
    let (_folder, library) = library(&[given("a", "h", "x", turns), given("bb", "h", "y", &[&[&[PASSED]]])]);
    let failures_request =
        FailuresRequest { members: members(&["lab.a", "lab.bb"]), ..FailuresRequest::default() };
    let failures = library.workbench.get_failures(failures_request.clone()).unwrap();
    let repair = &failures.repair;
    assert_eq!(
        (repair.stretches, repair.stretches_repaired, repair.repaired_in_same_turn),
        (4, Some(3), Some(2))
    );
    assert_eq!(repair.median_turns.time(), Some(0), "half of all four ended in their turn");
    assert_eq!((repair.failed_first, repair.tried_again, repair.repaired), (3, 1, 1));
    assert_eq!(failures.repairs[0].repair, *repair);
    assert_eq!((failures.repairs[1].repair.stretches, failures.groups[1].attempts), (0, 0));

    let by_turn = FailuresRequest { group: FailureGrouping::Turn, ..failures_request.clone() };
    let by_turn = library.workbench.get_failures(by_turn).unwrap();
    let counts: Vec<_> =
        by_turn.groups.iter().map(|g| (g.key.as_str(), g.attempts_in_scope, g.attempts)).collect();
    // Two runs reached turn 1, in four attempts.
    assert_eq!(counts, [("1", 4, 2), ("2", 1, 1), ("4", 1, 1)]);
    assert!((by_turn.groups[0].rate.unwrap().0 - 0.5).abs() < 1e-12);
    let began = |failures: &workbench::api::Failures| {
        let repair_of = |g: &workbench::api::RepairGroup| {
            (g.key.clone(), g.repair.stretches, g.repair.median_turns.time())
        };
        failures.repairs.iter().map(repair_of).collect::<Vec<_>>()
    };
    let in_turns = [("1".to_owned(), 2, Some(0)), ("2".to_owned(), 1, Some(1)), ("4".to_owned(), 1, None)];
    assert_eq!(began(&by_turn), in_turns);

    let scoped = |scope| {
        library.workbench.get_failures(FailuresRequest { scope, ..failures_request.clone() }).unwrap()
    };
    let turns = scoped(FailureScope::Turns);
    assert_eq!((turns.attempts, turns.total.attempts_in_scope), (2, 5));
    let first = scoped(FailureScope::First);
    assert_eq!(
        (first.attempts, first.total.attempts_in_scope, first.all_attempts),
        (1, 3, 7),
        "turns 1 and 2, and 1"
    );
    // What a retry repaired is no final attempt of a turn not passed: a narrower scope says nothing of it.
    assert_eq!((&turns.repair, &first.repair), (repair, repair));
    // Nor is a group left out because nothing in scope failed in it: turns 1 and 4 have no first failure.
    let first_request = FailuresRequest {
        group: FailureGrouping::Turn,
        scope: FailureScope::First,
        ..failures_request.clone()
    };
    let first_failures = library.workbench.get_failures(first_request).unwrap();
    assert_eq!(first_failures.groups.iter().map(|g| g.key.as_str()).collect::<Vec<_>>(), ["2"]);
    assert_eq!(began(&first_failures), in_turns);
    let turn_request =
        FailuresRequest { group: FailureGrouping::Turn, scope: FailureScope::First, ..failures_request };
    let times = library.workbench.table(&TableSubject::RepairTimes { request: turn_request }).unwrap();
    assert_eq!(times.rows.len(), 4, "three turns, and all");
}

#[test]
fn failures_are_those_of_one_benchmark_and_say_what_is_not_comparable() {
    let tries: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let (_folder, library) =
        library(&[given("a", "h", "x", tries), Given { attempt_limit: 9, ..given("bb", "h", "y", tries) }]);
    library.workbench.ingest(&library::repository().join("tests/fixtures/harbor/jobs"), &|_, _| {}).unwrap();
    let failures = library.workbench.get_failures(FailuresRequest::default()).unwrap();
    assert_eq!(failures.benchmark.as_ref().unwrap().0, "staminabench");
    assert!(failures.benchmarks.len() > 1 && failures.episodes == 2);
    assert_eq!(failures.not_comparable, ["Attempt limit: 3 (1 member), 9 (1 member)"]);
    let other = FailuresRequest { benchmark: Some("harbor:tasks".into()), ..FailuresRequest::default() };
    assert_eq!(library.workbench.get_failures(other).unwrap().benchmark.unwrap().0, "harbor:tasks");
    let none = FailuresRequest { benchmark: Some("no".into()), ..FailuresRequest::default() };
    assert_eq!(library.workbench.get_failures(none).unwrap_err().code, "failures.no_runs");

    let retries = RetriesRequest { members: members(&["lab.a", "lab.bb"]), ..RetriesRequest::default() };
    let retries = library.workbench.get_retries(retries).unwrap();
    assert_eq!(retries.not_comparable, ["Attempt limit: 3 (1 member), 9 (1 member)"]);
}

/// Every failed attempt of real jobs and of the sample, as the Turn page and the Failures page tell it: the same words and
/// numbers for the same test. In the sample the suite is a new file every turn (`turn_15.py`).
#[test]
fn the_turn_page_and_the_failures_page_count_failing_tests_alike() {
    let sample = library::repository().join("data/sample-simulated.zip");
    let mut regressed = 0;
    for path in [sample, library::repository().join("tests/fixtures/harbor")] {
        let library = Library::new(&[path]);
        for run in library.workbench.list_runs(ListRuns::default()).unwrap().rows {
            let group = FailuresRequest { members: members(&[&run.id]), ..FailuresRequest::default() };
            let request = FailureCasesRequest {
                failures: group,
                most_tests: 100_000,
                limit: 10_000,
                ..Default::default()
            };
            let page = library.workbench.list_failure_cases(request).unwrap();
            // Every seventh is enough of the sample's many.
            let cases = page.rows.iter().filter(|case| !case.failing.is_empty());
            for case in cases.step_by(if page.rows.len() > 50 { 7 } else { 1 }) {
                let turn_ref =
                    TurnRef { run: run.id.clone(), episode: case.episode.clone(), turn: case.turn };
                let turn = library.workbench.get_turn(turn_ref).unwrap();
                let attempt = turn.attempts.iter().find(|attempt| attempt.number == case.attempt).unwrap();
                let mut turn_tests: Vec<_> = attempt
                    .failing
                    .iter()
                    .map(|test| test.id.clone())
                    .zip(attempt.histories.clone())
                    .collect();
                let mut case_tests: Vec<_> =
                    case.failing.iter().map(|test| (test.test.clone(), test.stood)).collect();
                turn_tests.sort_by(|a, b| a.0.cmp(&b.0));
                case_tests.sort_by(|a, b| a.0.cmp(&b.0));
                assert_eq!(turn_tests, case_tests, "{} {} turn {}", run.id, case.episode, case.turn);
                let counted = |history| {
                    attempt.histories.iter().filter(|entry| entry.history == history).count() as u32
                };
                regressed += counted(FailureOrigin::Regressed);
                let (new, regressions, still_failing, unknown) = case.origins;
                let all = [
                    (FailureOrigin::New, new),
                    (FailureOrigin::Regressed, regressions),
                    (FailureOrigin::StillFailing, still_failing),
                    (FailureOrigin::Unknown, unknown),
                ];
                assert_eq!(all.map(|(history, _)| counted(history)), all.map(|(_, n)| n));
            }
        }
    }
    assert!(regressed > 10, "the sample has tests that passed in an earlier turn: {regressed}");
}
