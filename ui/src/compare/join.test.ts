import { expect, test } from "vitest";
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import type { TestOutcome } from "../host/bindings/TestOutcome";
import type { TestResult } from "../host/bindings/TestResult";
import { belongs, groupOf, joinTests } from "./join";

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

test("tests are joined by id; what is not named is clear only where every failing test is described", () => {
  const joined = joinTests(
    attempt([result("a"), result("b", "error")], ["c"]),
    attempt([result("a"), result("d")], [], { failing_not_described: 2 }),
  );
  const states = Object.fromEntries(joined.map((t) => [t.id, [t.left, t.right, groupOf(t)]]));
  expect(states).toEqual({
    a: ["failed", "failed", "both"],
    b: ["error", "unknown", "left"],
    d: ["clear", "failed", "right"],
    c: ["passed", "unknown", "other"],
  });
});

test("an attempt without a verdict, or none, says nothing of tests it does not name", () => {
  const left = attempt([result("a")], []);
  expect(joinTests(left, attempt([], [], { verdict: "error", passed: 0, total: 0 }))[0]?.right).toBe("unknown");
  expect(joinTests(left, undefined)[0]?.right).toBe("unknown");
  expect(joinTests(left, attempt([], [], { verdict: "passed", passed: 5 }))[0]?.right).toBe("clear");
  expect(joinTests(undefined, undefined)).toEqual([]);
});

test("a test that is not named is unknown where some neither passed nor failed", () => {
  const left = attempt([result("a")], []);
  const failing = [result("x"), result("y")];
  const stateWith = (total: number): string | undefined => joinTests(left, attempt(failing, [], { passed: 41, total }))[0]?.right;
  expect(stateWith(44)).toBe("unknown");
  expect(stateWith(43)).toBe("clear");
});

test("a test that is not named is unknown where a reward passed an attempt of which not every test did", () => {
  const left = attempt([result("a")], []);
  const stateWith = (passed: number): string | undefined =>
    joinTests(left, attempt([], [], { verdict: "passed", passed, total: 5 }))[0]?.right;
  expect(stateWith(3)).toBe("unknown");
  expect(stateWith(5)).toBe("clear");
});

test("modes pick what differs, fails or errs", () => {
  const joined = joinTests(attempt([result("a"), result("b"), result("e", "error")], ["c"]), attempt([result("a")], ["b", "c", "e"]));
  const ids = (mode: Parameters<typeof belongs>[1]): string[] => joined.filter((t) => belongs(t, mode)).map((t) => t.id);
  expect(ids("all")).toEqual(["a", "b", "e", "c"]);
  expect(ids("different")).toEqual(["b", "e"]);
  expect(ids("failures")).toEqual(["a", "b"]);
  expect(ids("errors")).toEqual(["e"]);
});
