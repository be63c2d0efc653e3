use model::{Attempt, Verdict};
use proptest::prelude::*;

use super::*;
use crate::failures::Context;

fn evidence(id: &str, message: &str) -> Evidence {
    let mut test = TestResult::new(id, TestOutcome::Failed);
    test.message = Some(message.to_owned());
    Evidence::from_test(&test, false, Suites::Own)
}

#[test]
fn ids_of_cases_are_parsed() {
    assert_eq!(case_parts("orders.cancel.guard.shipped"), ["orders", "cancel", "guard", "shipped"]);
    assert_eq!(case_parts("suites/turn_3.py::test_orders__title__null"), ["orders", "title", "null"]);
    assert_eq!(case_parts("gone.orders.guard.cancel#2"), ["gone", "orders", "guard", "cancel"]);
    for other in ["c004", "tests/test_orders.py::test_cancel", "a b.c", "x..y", "", "test_", "::test_a_b"] {
        assert!(case_parts(other).is_empty(), "{other}");
    }
}

#[test]
fn an_id_of_a_foreign_suite_names_no_case_whatever_its_form() {
    for id in ["orders.cancel.guard.shipped", "test_orders__cancel__guard__shipped", "analytics.total"] {
        let mut test = TestResult::new(id, TestOutcome::Failed);
        test.message = Some("expected exit=1, got exit=0".into());
        let e = Evidence::from_test(&test, false, Suites::Foreign);
        assert!(e.case.is_empty() && !e.is_of_requests(), "{id}");
        assert_eq!(e.exit, Some((Some(1), 0)), "{id}");
    }
}

#[test]
fn messages_of_the_client_are_parsed() {
    let e = evidence(
        "orders.title.null",
        "Step 2: PATCH /api/orders/1 {\"title\":null}: expected status 422, got status 200 with {}",
    );
    assert_eq!(e.status, Some((Some(422), 200)));
    assert_eq!(e.request, Some(FailedRequest { method: "PATCH".into(), path: "/api/orders/1".into() }));
    assert_eq!(e.sends_null(), Some(true));
    assert!(e.was_accepted() && !e.was_refused() && !e.set_up_was_refused());
    let e = evidence("orders.list.all", "Step 3: GET /orders?page=2: expected /total to be 3, got null");
    assert_eq!((e.expected.as_deref(), e.actual.as_deref()), (Some("3"), Some("null")));
    assert_eq!((e.field.as_deref(), e.status, e.sends_null()), (Some("total"), None, Some(false)));
    assert!(e.reads_a_list());
}

#[test]
fn the_wrong_field_of_two_objects_is_in_only_one_of_them() {
    let body = |expected: &str, actual: &str| {
        evidence("a.b.c", &format!("Step 1: GET /a/1: expected the body to be {expected}, got {actual}"))
    };
    let e = body(r#"{"id":1,"note":"x:{"}"#, r#"{"id":1,"note":"x:{","deleted":false}"#);
    assert_eq!((e.field.as_deref(), e.expected.as_deref()), (Some("deleted"), Some("nothing")));
    let e = body(r#"{"id":1,"note":{"a":1},"to…"#, r#"{"id":1}"#);
    assert_eq!((e.field.as_deref(), e.actual.as_deref()), (Some("note"), Some("nothing")));
    // The cut part may have it.
    assert_eq!(body(r#"{"id":1,"note":"a"}"#, r#"{"id":1,"ti…"#).field, None);
    assert_eq!(body(r#"{"id":1}"#, r#"{"id":2}"#).field, None);
}

#[test]
fn messages_of_pytest_are_parsed() {
    let mut test = TestResult::new("test_turn.py::test_returns", TestOutcome::Failed);
    test.message = Some("AssertionError: POST /returns: expected 201, got 500\nassert 500 == 201\n +  where 500 = <Response>.status_code".into());
    (test.expected, test.actual) = (Some("201".into()), Some("500".into()));
    let e = Evidence::from_test(&test, false, Suites::Own);
    assert_eq!(e.status, Some((Some(201), 500)));
    assert_eq!(e.request.as_ref().map(|request| request.path.as_str()), Some("/returns"));
    assert_eq!(e.sends_null(), None);
    // Numbers without a context are not statuses.
    let mut test = TestResult::new("test_sum.py::test_sum", TestOutcome::Failed);
    (test.expected, test.actual) = (Some("200".into()), Some("201".into()));
    assert_eq!(Evidence::from_test(&test, false, Suites::Own).status, None);
}

#[test]
fn asserts_of_generated_suites_are_parsed() {
    let assertion = |call: &str| {
        evidence(
            "suites/turn_2.py::test_rides__update",
            &format!("AssertionError: assert False\n +  where False = {call}"),
        )
    };
    let e = assertion("same(31.0, 30.0)");
    assert_eq!((e.expected.as_deref(), e.actual.as_deref(), e.differs()), (Some("30.0"), Some("31.0"), true));
    let e = assertion("has({'id': 1, 'b': 'x, y', ...}, {'b': None})");
    assert_eq!((e.field, e.actual.as_deref()), (None, Some("{'id': 1, 'b': 'x, y', ...}")));
    let e = assertion("same({'id': 1}, {'id': 1, 'note': None})");
    assert_eq!((e.field.as_deref(), e.actual.as_deref()), (Some("note"), Some("nothing")));
    let e = assertion("absent({'id': 1, 'note': 3}, 'note')");
    assert_eq!((e.field.as_deref(), e.expected.as_deref()), (Some("note"), Some("nothing")));
    assert_eq!(assertion("something(1, 2)").place, None);
}

#[test]
fn exit_codes_and_sides_of_case_lines_are_parsed() {
    for (expected, message, exit) in [
        ("exit 0", "expected exit=0, got exit=1", Some((Some(0), 1))),
        ("exit 0", "compare exits 0 (exit=1, out=)", Some((Some(0), 1))),
        ("a table", "code=127 got=<<<>>>", Some((None, 127))),
        ("a table", "exit code -11", Some((None, -11))),
        ("a table", "no table", None),
    ] {
        let mut test = TestResult::new("c001", TestOutcome::Failed);
        (test.expected, test.message) = (Some(expected.into()), Some(message.into()));
        assert_eq!(Evidence::from_test(&test, false, Suites::Own).exit, exit, "{message}");
    }
    // The description of a test is not an actual value, but may have the expected one: here the title has the code.
    for (message, exit) in [
        ("expected exit code 124, got 0", None),
        ("expected exit code 2, got exit=0", Some((None, 0))),
        ("rc=1\nscenario: returns exit code 139 on a crash", Some((Some(139), 1))),
        ("scenario: returns exit code 139 on a crash", None),
    ] {
        let mut test = TestResult::new("c001", TestOutcome::Failed);
        test.message = Some(message.into());
        assert_eq!(Evidence::from_test(&test, false, Suites::Own).exit, exit, "{message}");
    }
    let e = evidence("c001", "expected=id,name actual=id\nscenario: header");
    assert_eq!((e.expected.as_deref(), e.actual.as_deref()), (Some("id,name"), Some("id")));
}

#[test]
fn a_group_of_one_word_takes_no_evidence_out_of_a_sentence() {
    let program_output = |group: &str, message: &str| {
        let mut test = TestResult::new("c001", TestOutcome::Failed);
        (test.group, test.message) = (Some(group.into()), Some(message.into()));
        Evidence::from_test(&test, false, Suites::Foreign).program_output
    };
    assert!(program_output("build", "build failed with exit=1").contains("build failed"));
    assert!(program_output("build", "Cannot find or build meshd binary").contains("cannot find or build"));
    // At the start of a line it is a label.
    for message in
        ["Timeout: wrong total", "[timeout] wrong total", "total\n  (timeout): wrong total", "timeout:"]
    {
        assert!(!program_output("Timeout", message).contains("timeout"), "{message}");
    }
    for message in ["timeouts: 3", "got a timeout: no answer", "timeout://host", "timeout after 3 s"] {
        assert!(program_output("Timeout", message).contains("timeout"), "{message}");
    }
    // A group that says something is a title.
    for group in ["unknown-command", "unknown command"] {
        assert!(!program_output(group, &format!("{group}: no hint")).contains("unknown"), "{group}");
    }
}

#[test]
fn only_a_part_of_huge_and_hostile_messages_is_read() {
    let (id, huge) = ("é.".repeat(1_000_000), ": expected ".repeat(2_000_000));
    let e = evidence(&id, &huge);
    assert!(e.output.len() <= MESSAGE + SIDE + 16 && e.about.len() <= 5 * ABOUT);
    // Without a clock: the text after the kept part makes no difference, because it is never read.
    let part = evidence(head(&id, ABOUT), head(&huge, MESSAGE));
    assert_eq!(format!("{e:?}"), format!("{part:?}"));

    let mut attempt = Attempt::new(1, Verdict::Error);
    attempt.exception = Some(("E".repeat(1 << 20), "é".repeat(1 << 20)));
    // Otherwise the log of the server is not read.
    attempt.passed = Some(0);
    let log = "é".repeat(1 << 20);
    let phrase = PhraseMeaning::NotLoaded.phrases()[0];
    for (log, is_read) in [(format!("{phrase}\n{log}"), false), (format!("{log}\n{phrase}"), true)] {
        let e = AttemptEvidence::from_attempt(
            &attempt,
            &Context { agent_log: Some(&log), server_log: Some(&log), ..Context::default() },
        );
        assert!(e.exception.len() <= ABOUT + MESSAGE + 8);
        assert_eq!(e.server_printed(PhraseMeaning::NotLoaded), is_read, "of a log only the end is read");
        assert_eq!(
            e.harness_stopped_with(PhraseMeaning::NotLoaded),
            is_read,
            "of a log only the end is read"
        );
    }
}

proptest! {
    #[test]
    fn nothing_that_is_written_makes_it_fail(
        id in "\\PC{0,40}", message in "\\PC{0,200}", side in proptest::option::of("\\PC{0,60}"),
        piece in prop::sample::select(vec![": expected the body to be {", "expected status ", "got status 9999999999999999999", "exit=-", "{\"", "POST /", "scenario: "]),
    ) {
        let mut test = TestResult::new(id, TestOutcome::Error);
        test.message = Some(format!("{message}{piece}{message}, got {piece}{message}"));
        test.expected = side.clone();
        test.actual = side;
        let _ = Evidence::from_test(&test, true, Suites::Own);
    }
}
