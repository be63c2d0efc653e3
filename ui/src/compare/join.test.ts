import { expect, test } from "vitest";
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import type { TestOutcome } from "../host/bindings/TestOutcome";
import type { TestResult } from "../host/bindings/TestResult";
import { belongs, groupOf, joinTests, mayDiffer } from "./join";

const result = (id: string, outcome: TestOutcome = "failed"): TestResult => ({
  id,
  outcome,
  group: null,
  kind: null,
  intent: null,
  scenario: null,
  expected: null,
  actual: null,
  message: null,
});
const attempt = (failing: TestResult[], passed_tests: string[], more: Partial<AttemptDetail> = {}): AttemptDetail => ({
  number: 1,
  verdict: "failed",
  end_reason: null,
  passed: 3,
  total: 5,
  reward: null,
  failing,
  failing_not_described: 0,
  passed_tests,
  skipped_tests: [],
  unnamed_passed: false,
  histories: [],
  tokens: { input: null, cached: null, output: null },
  cost_usd: null,
  tool_calls: null,
  steps: null,
  timing: { started_at: null, finished_at: null, agent_seconds: null, test_seconds: null },
  exception: null,
  grader_places: null,
  logs: [],
  has_transcript: false,
  has_code: false,
  extra: {},
  ...more,
});

test("tests are joined by id; what is not named is clear only where it passed", () => {
  const joined = joinTests(
    attempt([result("a"), result("b", "error")], ["c"], { unnamed_passed: true }),
    attempt([result("a"), result("d")], [], { failing_not_described: 2 }),
  );
  const states = Object.fromEntries(joined.map((t) => [t.id, [t.left, t.right, groupOf(t)]]));
  expect(states).toEqual({
    a: ["failed", "failed", "both"],
    b: ["error", "unknown", "left_unknown"],
    d: ["clear", "failed", "right"],
    c: ["passed", "unknown", "other"],
  });
});

test("a skipped test neither passed nor failed, and has a row of its own", () => {
  const joined = joinTests(
    attempt([result("a")], ["b"], { skipped_tests: ["c", "d"], unnamed_passed: true }),
    attempt([result("c")], ["a"], { skipped_tests: ["b"] }),
  );
  const states = Object.fromEntries(joined.map((t) => [t.id, [t.left, t.right, groupOf(t)]]));
  expect(states).toEqual({
    a: ["failed", "passed", "left"],
    c: ["skipped", "failed", "right"],
    b: ["passed", "skipped", "other"],
    d: ["skipped", "unknown", "other"],
  });
});

test("nothing is known of the tests of a turn that was not reached", () => {
  expect(joinTests(attempt([result("a")], []), undefined)[0]?.right).toBe("unknown");
  // It failed on the other side: whether it differs is unknown, and "different" does not count it.
  const sides = [joinTests(attempt([result("a")], []), undefined), joinTests(undefined, attempt([result("a")], []))].flat();
  expect(sides.map(groupOf)).toEqual(["left_unknown", "right_unknown"]);
  expect(sides.map((t) => [belongs(t, "different"), mayDiffer(t), belongs(t, "failures")])).toEqual([
    [false, true, true],
    [false, true, true],
  ]);
  expect(joinTests(undefined, undefined)).toEqual([]);
});

test("modes pick what differs, fails or errs", () => {
  const joined = joinTests(attempt([result("a"), result("b"), result("e", "error")], ["c"]), attempt([result("a")], ["b", "c", "e"]));
  const ids = (mode: Parameters<typeof belongs>[1]): string[] => joined.filter((t) => belongs(t, mode)).map((t) => t.id);
  expect(ids("all")).toEqual(["a", "b", "e", "c"]);
  expect(ids("different")).toEqual(["b", "e"]);
  expect(ids("failures")).toEqual(["a", "b"]);
  expect(ids("errors")).toEqual(["e"]);
});
