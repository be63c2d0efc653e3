import { describe, expect, it } from "vitest";
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import type { FailureOrigin } from "../host/bindings/FailureOrigin";
import type { TestHistory } from "../host/bindings/TestHistory";
import type { TestResult } from "../host/bindings/TestResult";
import {
  type Failing,
  groupByReason,
  counts,
  cutToLines,
  fileInWords,
  group,
  isLongerThan,
  noFailingTestInWords,
  offBy,
  offeredFilters,
  failingTests,
  splitId,
} from "./failing";

const test = (id: string, name: string | null, kind: string | null = "core"): TestResult => ({
  id,
  outcome: "failed",
  group: name,
  kind,
  intent: null,
  scenario: null,
  expected: null,
  actual: null,
  message: null,
});
const stood = (history: FailureOrigin): TestHistory => ({ history, passed_in_turn: null, since_turn: null });
const failing = (id: string, name: string | null, kind?: string): Failing => ({ test: test(id, name, kind), history: stood("new") });

describe("failing tests", () => {
  it("are grouped by requirement in order, those without one last", () => {
    const groups = group([failing("a", null), failing("b", "r2"), failing("c", "r1"), failing("d", "r2", "boundary")]);
    expect(groups.map((g) => [g.name, g.kind, g.tests.map((failure) => failure.test.id)])).toEqual([
      ["r2", null, ["b", "d"]],
      ["r1", "core", ["c"]],
      [null, "core", ["a"]],
    ]);
  });

  it("are chosen and counted by how they stood before", () => {
    const attempt = {
      failing: ["old", "back", "fresh", "odd"].map((id) => test(id, null)),
      failing_not_described: 4,
      histories: [stood("still_failing"), stood("regressed"), stood("new"), stood("unknown")],
    } as unknown as AttemptDetail;
    expect(counts(attempt)).toEqual({ all: 8, new: 1, regressed: 1, still_failing: 1, unknown: 1 });
    expect(failingTests(attempt, "regressed").map((failure) => failure.test.id)).toEqual(["back"]);
    expect(failingTests(attempt, "all")).toHaveLength(4);
    expect(failingTests(attempt, "unknown").map((failure) => failure.test.id)).toEqual(["odd"]);
  });

  it("of unknown history are not counted as neither new nor regressed", () => {
    const none = { all: 8, new: 0, regressed: 0, still_failing: 0, unknown: 0 };
    expect(offeredFilters({ ...none, unknown: 8 }, "all")).toEqual(["all", "unknown"]);
    expect(offeredFilters({ ...none, unknown: 8 }, "new")).toEqual(["all", "new", "unknown"]);
    expect(offeredFilters({ ...none, new: 5, unknown: 3 }, "all")).toEqual(["all", "new", "regressed", "unknown"]);
    expect(offeredFilters({ ...none, still_failing: 8 }, "all")).toEqual(["all", "still_failing"]);
    expect(offeredFilters(none, "all")).toEqual(["all", "new", "regressed"]);
  });

  it("name their file with its end whole", () => {
    expect(fileInWords("tests/test_turn_8.py::")).toBe("test_turn_8.py");
    expect(fileInWords("tests/api/test_orders_and_their_customers_turn_8.py::")).toBe("…their_customers_turn_8.py");
    expect(fileInWords(`tests/${"a".repeat(40)}.py::`)).toBe(`…${"a".repeat(24)}.py`);
    expect(fileInWords("test_a.py::TestOrders::")).toBe("test_a.py::TestOrders");
  });

  it("that fail for one reason are one group", () => {
    const failed = (id: string, message: string | null, actual: string | null = null): Failing => ({
      test: { ...test(id, null), message, actual },
      history: stood("new"),
    });
    const refused = (path: string, body: string): string =>
      `AssertionError: Step 1: POST ${path} ${body}: expected status 201, got status 400 with {"detail":"ski_pair_id is required"}`;
    const tests = [
      failed("a", refused("/api/rentals", '{"days":23}')),
      failed("x", "expected 4 got 5"),
      failed("b", refused("/api/rentals", '{"days":1,"paid":false}')),
      failed("c", refused("/api/rentals", "{}")),
      failed("d", refused("/api/slopes", "{}")),
      failed("y", null, "5"),
      failed("z", null, "5"),
      failed("w", null, "5"),
    ];
    const found = groupByReason(tests);
    expect(found.alike.map((one) => one.tests.map((failure) => failure.test.id))).toEqual([["a", "b", "c"]]);
    expect(found.alike[0]?.reason).toBe(
      'AssertionError: /api/rentals: expected status 201, got status 400 with {"detail":"ski_pair_id is required"}',
    );
    expect(found.rest.map((failure) => failure.test.id)).toEqual(["x", "d", "y", "z", "w"]);
    const lost = (port: string): string =>
      `ConnectionError: HTTPConnectionPool(host='127.0.0.1', port=${port}): <object at 0x7f${port}>: refused`;
    expect(groupByReason(["41231", "41232", "51233"].map((port) => failed(port, lost(port)))).alike).toHaveLength(1);
  });

  it("say how far off a computed number is, and never of a status, an id or a count", () => {
    const off = (expected: string | null, actual: string | null, message: string | null = null): string | null =>
      offBy({ expected, actual, message, intent: null });
    expect(off("0.71167", "0.4867")).toBe("0.22497");
    expect(off("3", "2.5")).toBe("0.5");
    expect(off("404", "200")).toBeNull();
    expect(off("201", "405")).toBeNull();
    expect(off("0", "1")).toBeNull();
    expect(off("100", "90", "expected 100 within a tolerance of 5")).toBe("10");
    expect(off("5", "(empty)")).toBeNull();
    expect(off("5", "5.0")).toBeNull();
    expect(off(null, "1.5")).toBeNull();
  });

  it("have a name apart from their file", () => {
    expect(splitId("tests/test_a.py::TestX::test_b[k::v]")).toEqual({ path: "tests/test_a.py::TestX::", name: "test_b[k::v]" });
    expect(splitId("c003")).toEqual({ path: "", name: "c003" });
  });
});

describe("texts of tests", () => {
  it("are cut to lines, and so long lines count as several", () => {
    expect(cutToLines("a\nb\nc", 2)).toBe("a\nb");
    expect(cutToLines("x".repeat(500), 2)).toBe("x".repeat(400));
    expect(["a\nb", "a\nb\nc", "x".repeat(400), "x".repeat(401)].map((text) => isLongerThan(text, 2))).toEqual([false, true, false, true]);
  });

  it("say why an attempt that did not pass has no failing test", () => {
    const attempt = (verdict: AttemptDetail["verdict"], reward: number | null = null, reason: AttemptDetail["end_reason"] = null): string =>
      noFailingTestInWords({ verdict, reward, end_reason: reason });
    expect(attempt("error", null, "endpoint")).toMatch(/^No test verdict: .+\.$/);
    expect(attempt("error")).toBe("No test verdict.");
    expect(attempt("unfinished")).toBe("The files end before the tests did.");
    expect(attempt("not_tested")).toBe("This benchmark has no tests: nothing judges this phase.");
    expect(attempt("failed", 0.5)).toBe("The source says that this attempt failed and describes no failing test (reward 0.5).");
    expect(attempt("failed")).toBe("The source says that this attempt failed and describes no failing test.");
  });
});
