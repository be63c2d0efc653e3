//! Medians, horizons and series of retries.

use model::Median;
use workbench::api::{FailuresRequest, MatrixRequest, Member, Pairs, RetriesRequest, TableSubject};

use crate::groups::{FAILED, PASSED, Try, given, library};
use crate::library::members;

/// Nothing was tried again, and the test that fails still fails a turn later.
#[test]
fn a_median_that_is_not_reached_stands_beside_one_that_is_unknown() {
    let (_folder, library) = library(&[given("a", "h", "x", &[&[&[FAILED], &[FAILED]]])]);
    let request = FailuresRequest::default();
    let repair = library.workbench.get_failures(request.clone()).unwrap().repair;
    assert_eq!((repair.median_attempts, repair.median_turns), (Median::Unknown, Median::NotReached));
    let shown = library.workbench.table(&TableSubject::RepairTimes { request }).unwrap().to_markdown();
    assert!(shown.contains("| 2 | 0 | 0 | n/a | unknown | 1 | 0 | 0 | 0 | not reached |"), "{shown}");
}

#[test]
fn a_run_that_was_broken_off_is_named_as_what_holds_the_horizon_down_and_can_be_left_out() {
    let whole: &[&[&[Try]]] = &[&[&[PASSED], &[PASSED], &[PASSED], &[PASSED]], &[&[PASSED], &[FAILED]]];
    let broken_off: &[&[&[Try]]] = &[&[&[PASSED], &[PASSED]], &[&[FAILED]]];
    let (_folder, library) = library(&[
        given("whole", "h", "x", whole),
        given("another", "h", "y", whole),
        given("short", "h", "z", broken_off),
    ]);
    let all = library.compared(members(&["lab.whole", "lab.another", "lab.short"]), Pairs::Reference);
    assert_eq!(all.tau, Some(2));
    let names_turns = |c: &&String| {
        c.starts_with("Compared over 2 turns: ")
            && c.ends_with(" is known to turn 2, those of the others to turn 4.")
    };
    assert_eq!(all.cautions.iter().filter(names_turns).count(), 1, "{:?}", all.cautions);
    let two = library.compared(members(&["lab.whole", "lab.another"]), Pairs::Reference);
    assert!(two.tau == Some(4) && two.cautions.iter().all(|c| !c.contains("Compared over")));

    let matrix = |request: MatrixRequest| library.workbench.get_matrix(request).unwrap();
    let held = matrix(MatrixRequest::default());
    let shortest = held.shortest.clone().unwrap();
    assert_eq!(
        (held.tau, shortest.runs.as_slice(), shortest.otherwise),
        (Some(2), &["lab.short".to_owned()][..], 4)
    );
    assert!(
        held.cautions.iter().any(|c| c.starts_with("Compared over 2 turns: the curve of z is known to")),
        "by the name of its cell, as a comparison says it: {:?}",
        held.cautions
    );
    let long_runs = matrix(MatrixRequest { without: shortest.runs, ..MatrixRequest::default() });
    assert_eq!((long_runs.tau, long_runs.shortest, long_runs.models.len()), (Some(4), None, 2));
    let requested = matrix(MatrixRequest { tau: Some(1), ..MatrixRequest::default() });
    assert_eq!((requested.tau, requested.shortest), (Some(1), None), "who asks for a τ knows it");
}

/// "Best and worst harness are picked after looking" stood there where no harness is best.
#[test]
fn nothing_is_said_to_be_picked_where_all_harnesses_are_equal() {
    let short: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED]]];
    let long: &[&[&[Try]]] = &[&[&[PASSED], &[PASSED], &[FAILED]]];
    let is_picked = |second| {
        let (_folder, library) = library(&[given("a", "h", "x", short), given("b", "k", "x", second)]);
        let matrix = library.workbench.get_matrix(MatrixRequest::default()).unwrap();
        assert!(matrix.spread[0].is_some(), "{matrix:?}");
        matrix.cautions.iter().any(|caution| caution.contains("picked after looking"))
    };
    assert_eq!([is_picked(short), is_picked(long)], [false, true]);
}

/// "To turn 9" was said where some of the others are known to turn 15.
#[test]
fn the_others_are_known_at_least_to_the_turn_that_is_named() {
    let tries: &[&[&[Try]]] = &[&[&[PASSED]]];
    let two: &[&[&[Try]]] = &[&[&[PASSED], &[PASSED]]];
    let four: &[&[&[Try]]] = &[&[&[PASSED], &[PASSED], &[PASSED], &[PASSED]]];
    let (_folder, library) = library(&[
        given("short", "h", "x", tries),
        given("middling", "h", "y", two),
        given("long", "h", "z", four),
    ]);
    let all = library.compared(members(&["lab.short", "lab.middling", "lab.long"]), Pairs::Reference);
    let ending = "is known to turn 1, those of the others to turn 2 or later.";
    assert!(all.cautions.iter().any(|caution| caution.ends_with(ending)), "{:?}", all.cautions);
    let two = library.compared(members(&["lab.short", "lab.long"]), Pairs::Reference);
    let ending = "is known to turn 1, that of the other to turn 4.";
    assert!(two.cautions.iter().any(|caution| caution.ends_with(ending)), "{:?}", two.cautions);
}

/// "The other has data to turn 15" was said of a run whose last episode had failed at turn 9. Its curve is known beyond.
#[test]
fn nothing_is_said_of_data_where_all_episodes_have_failed() {
    let passed: &[&[&[Try]]] = &[&[&[PASSED]]];
    let failed: &[&[&[Try]]] = &[&[&[PASSED], &[FAILED], &[FAILED], &[FAILED]]];
    let (_folder, library) = library(&[given("short", "h", "x", passed), given("ended", "h", "y", failed)]);
    let comparison = library.compared(members(&["lab.short", "lab.ended"]), Pairs::Reference);
    assert_eq!(comparison.tau, Some(1));
    let caution_text =
        comparison.cautions.iter().find(|caution| caution.starts_with("Compared over 1 turn: ")).unwrap();
    assert!(
        caution_text.contains("the curve of x is known to turn 1, that of the other to turn "),
        "{caution_text}"
    );
    assert!(!caution_text.contains(" data"), "{caution_text}");
}

#[test]
fn a_series_of_retries_is_of_the_runs_that_its_cell_has() {
    let long: &[&[&[Try]]] = &[&[&[PASSED], &[PASSED], &[FAILED, PASSED]]];
    let short: &[&[&[Try]]] = &[&[&[FAILED, FAILED]]];
    let (_folder, library) =
        library(&[given("a1", "a", "m", long), given("a2", "a", "m", long), given("a3", "a", "m", short)]);
    let cell = Member::Cell { harness: "a".into(), model: "m".into(), benchmark: String::new() };
    let pooled = |only: &[&str]| {
        let only = only.iter().map(|run| format!("lab.{run}")).collect();
        let request = RetriesRequest { members: vec![cell.clone()], only };
        library.workbench.get_retries(request).unwrap().series.remove(0).points[0].stamina.n
    };
    assert_eq!((pooled(&[]), pooled(&["a1", "a2"])), (3, 2));
}
