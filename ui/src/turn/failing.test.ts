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
  messageBesideValues,
  noFailingTestInWords,
  offBy,
  offeredFilters,
  failingTests,
  reasonOf,
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

  /** A case of EvoCode-Bench, with the message that its reader makes. */
  const caseOf = (id: string, scenario: string, expected: string, actual: string, reason = actual): TestResult => ({
    ...test(id, null),
    scenario,
    expected,
    actual,
    message: `${reason}\nscenario: ${scenario}`,
  });
  const alikeAmong = (tests: readonly TestResult[]): readonly (readonly [reason: string, tests: number])[] =>
    groupByReason(tests.map((one) => ({ test: one, history: stood("new") }))).alike.map((one) => [one.reason, one.tests.length] as const);

  it("of EvoCode-Bench that fail for one reason are one group, whatever their scenarios are", () => {
    // Data engineering, reproducibility (GLM-5.2, round 15): 237 of its 238 failing tests.
    const titles = ["output file exists", "row_count", "id column type", "id count", "id unique"].map((title) => `profile int: ${title}`);
    const unbuilt = titles.map((title, at) => caseOf(`c${String(219 + at)}`, title, title, "skipped: build failed"));
    const wrong = caseOf("c001", "build", "build succeeds", "expected=1 actual=0");
    expect(alikeAmong([wrong, ...unbuilt])).toEqual([["skipped: build failed", 5]]);
    // Data engineering, integration (GLM-5.1, round 1): a line of the script for each test.
    const lost = [
      ["missing --config", 889],
      ["unknown subcommand", 899],
      ["unsupported input format", 919],
      ["ndjson rejects non-string value", 761],
    ].map(([title, line]) =>
      caseOf(
        String(line),
        String(title),
        "non-zero exit and flowctl: error",
        `exit=127 stderr=/tests/test.sh: line ${String(line)}: /app/flowctl: No such file or directory`,
      ),
    );
    expect(alikeAmong(lost)).toEqual([["exit=127 stderr=/tests/test.sh: line …: /app/flowctl: No such file or directory", 4]]);
    // What a program says when it gives up is a reason, whatever each test expects.
    for (const fault of [
      "exit=1 out= err=flowctl: config: unknown stage type: rank",
      "exit=1 out= err=flowctl: config: rank: bad",
      "out=sh:1:Badsubstitution",
      "Output: Error: unknown command",
      "got: verify command not yet implemented",
      "KeyError: 'ski_pair_id' of the rental",
    ]) {
      const given = ["x", "y", "z"].map((title) => caseOf(title, title, `${title} is made`, fault));
      expect(alikeAmong(given), fault).toEqual([[fault, 3]]);
    }
    // Harbor puts the input below the scenario.
    const played = titles.map((title, at) => {
      const one = caseOf(String(at), title, title, "skipped: build failed");
      return { ...one, message: `${one.message ?? ""}\ninput: profile ${String(at)}` };
    });
    expect(alikeAmong(played)).toEqual([["skipped: build failed", 5]]);
  });

  it("that give the same wrong answer have no reason in common", () => {
    const answers = [
      "exit code 1",
      "expected=1 actual=0",
      "expected exit=0, got exit=1",
      "expected='built', got=''",
      "expected: a,b | actual: NOT_FOUND",
    ];
    for (const answer of answers) {
      const tests = ["x", "y", "z"].map((title) => caseOf(title, title, "0", answer));
      expect(alikeAmong(tests), answer).toEqual([]);
    }
    expect(reasonOf(caseOf("a", "skip", "rejected", "check returned 1", "assertion failed (actual=1)"))).toBeNull();
    const refused = "expected: END | actual: ERROR: unknown command";
    expect(reasonOf(caseOf("a", "scan", "END", refused))).toBe(refused);
    expect(reasonOf({ expected: null, actual: null, message: "KeyError: 'id'", scenario: null })).toBe("KeyError: 'id'");
  });

  it("that give the same long answer for different expectations are different failures", () => {
    const given = (answer: string, expected: readonly string[]): readonly TestResult[] =>
      expected.map((one, at) => caseOf(`c${String(at)}`, `${one} ${String(at)}`, one, answer));
    for (const answer of [
      "status:succeeded out=null",
      "status:dependency_failed",
      "exit=0 err=flowctl: config: ok",
      "Got: Error: no eligible endpoint",
      "Connection succeeded unexpectedly",
    ]) {
      expect(alikeAmong(given(answer, ["higher-weight endpoint chosen", "lower-address endpoint chosen", "rejected"])), answer).toEqual([]);
      // The same expectation is one failure, and two of them have keys of their own.
      const twice = given(answer, ["a", "a", "a", "b", "b", "b"]);
      expect(alikeAmong(twice), answer).toEqual([
        [answer, 3],
        [answer, 3],
      ]);
      const { alike } = groupByReason(twice.map((one) => ({ test: one, history: stood("new") })));
      expect(new Set(alike.map((one) => one.key)).size).toBe(2);
    }
    // An answer that says itself what was expected.
    const stated = "expected to match pattern: ^OK [0-9]+ | actual: ERROR: unexpected EOF in batch";
    expect(alikeAmong(given(stated, ["x", "y", "z"]))).toEqual([[stated, 3]]);
    // How far off it is makes a short answer no longer.
    for (const answer of ["expected=50 actual=null (diff=50 tol=0.01)", "expected=250.0 actual= (diff=250 tol=0.001)"])
      expect(alikeAmong(given(answer, ["50", "50", "50"])), answer).toEqual([]);
  });

  it("keep the lines of what a program read, and lose those of the script of tests", () => {
    const reason = (message: string): string | null => reasonOf({ expected: null, actual: null, message, scenario: null });
    expect(reason("syntax error at line 3")).toBe("syntax error at line 3");
    expect(reason("config: line 13: expected '['")).toBe("config: line 13: expected '['");
    expect(reason("/tests/test.sh: line 889: flowctl: not found")).toBe("/tests/test.sh: line …: flowctl: not found");
    expect(reason(`File "/tests/test_a.py", line 12, in run`)).toBe(`File "/tests/test_a.py", line …, in run`);
    const stated = "expected: run.sh: line 3: unclosed quote | actual: run.sh: line 7: unclosed quote";
    expect(reason(stated)).toBe(stated);
  });

  it("show what came once, and below it what else the message says", () => {
    const title = "profile int: row_count";
    expect(messageBesideValues(caseOf("c220", title, title, "skipped: build failed"))).toBeNull();
    expect(messageBesideValues(caseOf("c026", "missing --config", "non-zero exit", "exit=1"))).toBe("scenario: missing --config");
    const other = caseOf("c025", "stages", "rejected", "check returned 1", "assertion failed (actual=1)");
    expect(messageBesideValues(other)).toBe("assertion failed (actual=1)\nscenario: stages");
    const played = { ...other, actual: "1", message: "1\nscenario: stages\ninput: done 1" };
    expect(messageBesideValues(played)).toBe("scenario: stages\ninput: done 1");
    expect(messageBesideValues({ ...other, message: null })).toBeNull();
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
