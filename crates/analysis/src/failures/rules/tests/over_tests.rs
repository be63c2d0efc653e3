//! The rules over failing tests.

use model::{TestOutcome, TestResult};

use super::super::{TEST_RULES, first};
use crate::failures::Suites;
use crate::failures::evidence::Evidence;

/// A failing test; `none_passed`, `old`, `default` as in [`Evidence`].
struct Sample {
    test: TestResult,
    none_passed: bool,
    old: bool,
    default: bool,
}

fn test(id: &str, message: &str) -> Sample {
    let mut test = TestResult::new(id, TestOutcome::Failed);
    test.message = Some(message.to_owned());
    Sample { test, none_passed: false, old: false, default: false }
}

/// A case as EvoCode-Bench describes it.
fn case(kind: &str, intent: &str, expected: &str, actual: &str) -> Sample {
    let mut sample = test("c007", &format!("{actual}\nscenario: {intent}"));
    sample.test.kind = Some(kind.to_owned());
    sample.test.intent = Some(intent.to_owned());
    sample.test.expected = Some(expected.to_owned());
    sample.test.actual = Some(actual.to_owned());
    sample
}

impl Sample {
    fn none_passed(mut self) -> Self {
        self.none_passed = true;
        self
    }

    fn old(mut self) -> Self {
        self.old = true;
        self
    }

    fn same_default(mut self) -> Self {
        self.default = true;
        self
    }

    fn evidence(&self) -> Evidence {
        let mut evidence = Evidence::from_test(&self.test, self.none_passed, Suites::Own);
        evidence.old_name_answers = self.old;
        evidence.default_is_wrong = self.default;
        evidence
    }
}

const REFUSED: &str =
    "Before the case: POST /reset: no answer: no connection (Connection refused (os error 111))";

/// By rule: a failing test that it decides, and a similar one that it does not decide.
fn samples() -> Vec<(&'static str, Sample, Sample)> {
    vec![
        ("server.refused", test("orders.missing", REFUSED).none_passed(), test("orders.missing", REFUSED)),
        (
            "server.gone",
            test(
                "t.py::test_a",
                "requests.exceptions.ConnectionError: Max retries exceeded with url: /orders (Caused by NewConnectionError: Failed to establish a new connection: [Errno 111] Connection refused)",
            ),
            test(
                "t.py::test_a",
                "AssertionError: POST /connections: expected 201, got 400\nassert 400 == 201",
            ),
        ),
        (
            "server.broke_off",
            test(
                "orders.missing",
                "Step 1: GET /orders/7: no answer: connection closed before message completed",
            ),
            test(
                "orders.missing",
                "Step 1: GET /orders/7: expected status 404, got status 200 with {\"title\":\"connection reset\"}",
            ),
        ),
        (
            "server.too_long",
            test("orders.missing", "Step 1: GET /orders/7: no answer: nothing complete came within 10 s"),
            case("core", "a step times out after its limit", "status timeout", "status failed"),
        ),
        (
            "server.status_5xx",
            test(
                "orders.cancel.guard.shipped",
                "Step 3: POST /orders/1/cancel: expected status 409, got status 500 with {}",
            ),
            test(
                "orders.cancel.guard.shipped",
                "Step 3: POST /orders/1/cancel: expected status 409, got status 200 with {\"code\":500}",
            ),
        ),
        (
            "program.not_built",
            case("core", "encode ordinal header", "id,size", "skipped: build failed"),
            case("core", "the build fails on a cycle", "exit 1", "expected exit=1, got exit=0"),
        ),
        (
            "program.not_there",
            case("core", "report prints a table", "a table", "mlpipe: unknown command \"report\""),
            test(
                "orders.update",
                "Step 2: PATCH /orders/1: expected /note to be \"a\", got \"not implemented\"",
            ),
        ),
        (
            "program.crashed",
            case(
                "core",
                "sum of a column",
                "3",
                "Traceback (most recent call last):\n  File \"x.py\"\nTypeError",
            ),
            case("core", "sum of a column", "3", "4"),
        ),
        (
            "route.old_name",
            test("orders.create.full", "Step 1: POST /orders: expected status 201, got status 404 with {}")
                .old(),
            test("orders.create.full", "Step 1: POST /orders: expected status 201, got status 404 with {}"),
        ),
        (
            "route.not_there",
            test(
                "suites/turn_2.py::test_orders__cancel__effect__status",
                "AssertionError: POST /orders/1/cancel: 404 {\"code\": \"not_found\"}\nassert 404 == 200\n +  where 404 = <Response [404]>.status_code",
            ),
            test(
                "orders.customer.cascade",
                "Step 4: GET /orders/1: expected status 200, got status 404 with {}",
            ),
        ),
        (
            "case.null_refused",
            test(
                "orders.cancel.guard.paid",
                "Step 1: POST /orders {\"paid\":null}: expected status 201, got status 422 with {\"detail\":\"paid must not be null\"}",
            ),
            test(
                "orders.cancel.guard.paid",
                "Step 1: POST /orders {\"paid\":null}: expected status 201, got status 422 with {\"detail\":\"no such field\"}",
            ),
        ),
        (
            "case.set_up_refused",
            test(
                "orders.cancel.guard.shipped",
                "Step 1: POST /orders {}: expected status 201, got status 422 with {}",
            ),
            test(
                "orders.cancel.guard.shipped.holds",
                "Step 2: POST /orders/1/cancel: expected status 200, got status 409 with {}",
            ),
        ),
        (
            "status.of_same_kind",
            test(
                "orders.cancel.guard.shipped",
                "Step 3: POST /orders/1/cancel: expected status 409, got status 422 with {}",
            ),
            test(
                "orders.cancel.guard.shipped",
                "Step 3: POST /orders/1/cancel: expected status 409, got status 200 with {}",
            ),
        ),
        (
            "case.gone",
            test("gone.orders.field.note", "Step 2: GET /orders/1: expected /note to be nothing, got null"),
            test("orders.note.null", "Step 1: GET /orders/1: expected /note to be null, got \"\""),
        ),
        (
            "case.wide",
            test(
                "orders.create.wide",
                "Step 1: POST /orders {\"title\":\"\"}: expected status 201, got status 422 with {}",
            ),
            test(
                "orders.create.full",
                "Step 1: POST /orders {\"title\":\"a\"}: expected status 201, got status 422 with {}",
            ),
        ),
        (
            "case.unknown_route",
            test(
                "conventions.unknown_route",
                "Step 1: GET /nowhere: expected status 404, got status 200 with {}",
            ),
            test("orders.missing", "Step 1: GET /orders/7: expected status 404, got status 200 with {}"),
        ),
        (
            "value.not_asked_for",
            test(
                "orders.create.full",
                "Step 1: POST /orders: expected /created_at to be nothing, got \"2026\"",
            ),
            test("orders.create.full", "Step 1: POST /orders: expected /title to be \"nothing\", got null"),
        ),
        (
            "case.error_code",
            test(
                "orders.cancel.guard.paid",
                "Step 2: POST /orders/1/cancel: expected /problem/kind to be \"refused\", got \"no\"",
            ),
            test(
                "orders.cancel.guard.paid",
                "Step 2: POST /orders/1/cancel: expected /status to be \"open\", got \"no\"",
            ),
        ),
        (
            "case.guard",
            test(
                "orders.cancel.guard.shipped",
                "Step 3: POST /orders/1/cancel: expected status 409, got status 200 with {}",
            ),
            test(
                "orders.cancel.effect.status",
                "Step 3: POST /orders/1/cancel: expected /status to be \"x\", got \"y\"",
            ),
        ),
        (
            "case.deletion",
            test(
                "orders.customer.cascade",
                "Step 4: GET /orders/1: expected status 404, got status 200 with {}",
            ),
            test(
                "orders.customer.unknown",
                "Step 4: POST /orders: expected status 422, got status 201 with {}",
            ),
        ),
        (
            "case.analytic",
            test(
                "analytics.revenue.grouped",
                "Step 5: GET /analytics/revenue: expected /groups to be in any order [], got [{}]",
            ),
            test("orders.total.bounds", "Step 5: POST /orders: expected /total to be 3, got 4"),
        ),
        (
            "case.null",
            test(
                "orders.note.null",
                "Step 1: POST /orders {\"note\":null}: expected status 201, got status 422 with {}",
            ),
            test(
                "orders.note.wrong_type",
                "Step 1: POST /orders {\"note\":1}: expected status 422, got status 201 with {}",
            ),
        ),
        (
            "value.nothing",
            test("orders.create.full", "Step 1: POST /orders {}: expected /note to be \"a\", got nothing"),
            test("orders.create.full", "Step 1: POST /orders {}: expected /note to be \"a\", got null"),
        ),
        (
            "case.default",
            test(
                "orders.create.minimal",
                "Step 1: POST /orders {}: expected /status to be \"open\", got null",
            ),
            test(
                "orders.create.minimal",
                "Step 1: POST /orders {}: expected status 201, got status 422 with {}",
            ),
        ),
        (
            "value.same_default",
            test("orders.replace.full", "Step 4: PUT /orders/1 {}: expected /title to be \"main\", got null")
                .same_default(),
            test("orders.replace.full", "Step 4: PUT /orders/1 {}: expected /title to be \"main\", got null"),
        ),
        (
            "case.effect",
            test(
                "orders.cancel.effect.status",
                "Step 3: POST /orders/1/cancel: expected /status to be \"x\", got \"y\"",
            ),
            test("orders.status.values", "Step 3: POST /orders: expected /status to be \"x\", got \"y\""),
        ),
        (
            "case.error",
            test(
                "conventions.error.invalid",
                "Step 1: POST /orders: expected /message to be a text that is not empty, got 3",
            ),
            test("conventions.reset", "Step 4: GET /orders: expected /total to be 0, got 2"),
        ),
        (
            "case.list",
            test(
                "orders.filter.total.at_least",
                "Step 4: GET /orders?min_total=5: expected id of /items to be [2,3], got [1,2,3] (3 items)",
            ),
            test(
                "orders.filter.total.at_least",
                "Step 2: PATCH /orders/1: expected status 200, got status 422 with {}",
            ),
        ),
        (
            "status.refused",
            test(
                "t.py::test_create",
                "AssertionError: POST /orders: expected 201, got 422\nassert 422 == 201\n +  where 422 = <Response>.status_code",
            ),
            test(
                "t.py::test_create",
                "AssertionError: POST /orders: expected 422, got 201\nassert 201 == 422\n +  where 201 = <Response>.status_code",
            ),
        ),
        (
            "status.accepted",
            test(
                "orders.title.out_of_bounds",
                "Step 1: POST /orders {\"title\":\"\"}: expected status 422, got status 201 with {}",
            ),
            test(
                "orders.title.bounds",
                "Step 1: POST /orders {\"title\":\"\"}: expected status 201, got status 422 with {}",
            ),
        ),
        (
            "status.other",
            test("orders.update", "Step 2: PATCH /orders/1: expected status 200, got status 302 with {}"),
            test("orders.update", "Step 2: PATCH /orders/1: expected /title to be \"a\", got \"b\""),
        ),
        (
            "exit.accepted",
            case("error", "an out-of-range index exits 1", "exit 1", "expected exit=1, got exit=0"),
            case("core", "plan imports exits 0", "exit 0", "expected exit=0, got exit=1"),
        ),
        (
            "exit.other",
            case("core", "plan imports exits 0", "exit 0", "expected exit=0, got exit=1"),
            case("core", "plan imports has 3 layers", "rebuild_plan length 3", "expected='3', got=''"),
        ),
        (
            "exit.alone",
            case("core", "heat solve converges", "converged: yes", "exit code 1"),
            case("core", "heat solve converges", "converged: yes", "exit code 1, converged: no"),
        ),
        (
            "value.empty",
            case("core", "pivot header", "id,height", "expected=id,height actual="),
            case("core", "pivot header", "id,height", "assertion failed"),
        ),
        (
            "value.differs",
            case("core", "let extracts fields", "10 20 30", "10 20"),
            case("core", "let extracts fields", "10 20 30", "let extracts fields"),
        ),
    ]
}

#[test]
fn every_rule_over_tests_has_an_example_and_a_counter_example() {
    let samples = samples();
    let sampled: Vec<_> = samples.iter().map(|(id, ..)| *id).collect();
    assert_eq!(sampled, TEST_RULES.iter().map(|rule| rule.id).collect::<Vec<_>>());
    for (id, example, counter) in &samples {
        let evidence = example.evidence();
        let decides = first(TEST_RULES, &evidence).map(|rule| rule.id);
        assert_eq!(decides, Some(*id), "{evidence:#?}");
        let rule = TEST_RULES.iter().find(|rule| rule.id == *id).unwrap();
        let evidence = counter.evidence();
        assert!(!(rule.applies)(&evidence), "{id} applies to {evidence:#?}");
    }
}

/// Failures that a person gives another class than the kind of their case suggests.
#[test]
fn what_came_out_decides_against_the_kind_of_a_case() {
    let old_list = "Step 6: GET /orders?sort=sizeMm: expected status 200, got status 422 with {}";
    let samples = [
        // The record that the case needs is refused for another reason than what is gone.
        (
            "gone.orders.field.note",
            "Step 1: POST /orders {}: expected status 201, got status 422 with {\"detail\":\"title is required\"}",
            "status.refused",
        ),
        (
            "gone.orders.field.sent_on",
            "Step 1: POST /orders {}: expected status 201, got status 422 with {\"detail\":\"sentOn is required\"}",
            "case.gone",
        ),
        // It is still there, and refuses for a reason of its own.
        (
            "gone.orders.action.ship",
            "Step 2: POST /orders/1/ship {}: expected status 404, got status 400 with {}",
            "case.gone",
        ),
        (
            "gone.orders.value.status.open",
            "Step 2: POST /orders {}: expected status 400, got status 422 with {}",
            "status.of_same_kind",
        ),
        (
            "orders.create.wide",
            "Step 1: POST /orders {\"title\":\"\"}: expected status 201, got status 422 with {\"detail\":\"title must be a number\"}",
            "status.refused",
        ),
        (
            "orders.create.wide",
            "Step 1: POST /orders {\"size\":-9}: expected status 201, got status 422 with {\"detail\":\"size must be at least 0\"}",
            "case.wide",
        ),
        (
            "orders.delete",
            "Step 1: POST /orders {}: expected status 201, got status 404 with {}",
            "route.not_there",
        ),
        (
            "orders.delete",
            "Step 3: DELETE /orders/2: expected /deleted to be true, got nothing",
            "value.nothing",
        ),
        (
            "analytics.revenue.value",
            "Step 1: GET /analytics/revenue: expected /value to be null, got nothing",
            "value.nothing",
        ),
        // As pytest prints it.
        (
            "test_orders__paid__null",
            "AssertionError: Step 1: POST /orders {\"title\":\"a\"}: expected status 422, got status 201 with {}",
            "status.accepted",
        ),
        (
            "test_orders__paid__null",
            "AssertionError: Step 1: POST /orders {\"paid\":null}: expected status 201, got status 422 with {\"detail\":\"paid must be a date\"}",
            "case.null",
        ),
        (
            "test_orders__paid__null",
            "AssertionError: Step 2: PATCH /orders/1 {\"paid\":null}: expected status 200, got status 422 with {\"detail\":\"paid cannot be changed\"}",
            "status.refused",
        ),
        (
            "orders.paid.null",
            "Step 1: POST /orders {\"paid\":null}: expected status 201, got status 422 with {\"detail\":\"there is no field 'seats'\"}",
            "status.refused",
        ),
        ("orders.sort.size_mm", old_list, "case.list"),
    ];
    let rule = |sample: &Sample| first(TEST_RULES, &sample.evidence()).map(|rule| rule.id);
    for (id, message, expected) in samples {
        assert_eq!(rule(&test(id, message)), Some(expected), "{id} {message}");
    }
    assert_eq!(rule(&test("orders.sort.size_mm", old_list).old()), Some("route.old_name"));
}
