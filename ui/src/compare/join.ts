// The tests of one turn in two attempts, joined by the id of the test. Pure.
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import type { DisagreementMode } from "../host/bindings/DisagreementMode";
import type { TestResult } from "../host/bindings/TestResult";

/** `skipped`: it neither passed nor failed. `clear`: not named, and so it passed. */
export type SideState = "failed" | "error" | "passed" | "skipped" | "clear" | "unknown";

export interface JoinedTest {
  readonly id: string;
  readonly left: SideState;
  readonly right: SideState;
  /** What is known of it where it did not pass. */
  readonly leftResult: TestResult | null;
  readonly rightResult: TestResult | null;
}

export type JoinedGroup = "left" | "right" | "both" | "left_unknown" | "right_unknown" | "other";
export const groupNames: Readonly<Record<JoinedGroup, string>> = {
  left: "Only left fails",
  right: "Only right fails",
  both: "Both fail",
  left_unknown: "Left fails, right is unknown",
  right_unknown: "Right fails, left is unknown",
  other: "Fails on neither side, according to the sources",
};

const bad = (state: SideState): boolean => state === "failed" || state === "error";

function statesOf(attempt: AttemptDetail | undefined): (id: string) => { state: SideState; result: TestResult | null } {
  if (!attempt) return () => ({ state: "unknown", result: null });
  const failing = new Map(attempt.failing.map((t) => [t.id, t]));
  const passed = new Set(attempt.passed_tests);
  const skipped = new Set(attempt.skipped_tests);
  return (id) => {
    const result = failing.get(id) ?? null;
    if (result) return { state: result.outcome === "error" ? "error" : "failed", result };
    if (passed.has(id)) return { state: "passed", result: null };
    if (skipped.has(id)) return { state: "skipped", result: null };
    return { state: attempt.unnamed_passed ? "clear" : "unknown", result: null };
  };
}

export function joinTests(left: AttemptDetail | undefined, right: AttemptDetail | undefined): JoinedTest[] {
  const ids = new Set<string>();
  for (const side of [left, right]) for (const t of side?.failing ?? []) ids.add(t.id);
  for (const side of [left, right]) for (const id of side?.passed_tests ?? []) ids.add(id);
  for (const side of [left, right]) for (const id of side?.skipped_tests ?? []) ids.add(id);
  const [ofLeft, ofRight] = [statesOf(left), statesOf(right)];
  return [...ids].map((id) => {
    const [l, r] = [ofLeft(id), ofRight(id)];
    return { id, left: l.state, right: r.state, leftResult: l.result, rightResult: r.result };
  });
}

export function groupOf(test: JoinedTest): JoinedGroup {
  if (bad(test.left)) return bad(test.right) ? "both" : test.right === "unknown" ? "left_unknown" : "left";
  return !bad(test.right) ? "other" : test.left === "unknown" ? "right_unknown" : "right";
}

/** Whether it fails on one side and is unknown on the other: it may differ, and is not counted among those that do. */
export const mayDiffer = (test: JoinedTest): boolean => groupOf(test) === "left_unknown" || groupOf(test) === "right_unknown";

export function belongs(test: JoinedTest, mode: DisagreementMode): boolean {
  switch (mode) {
    case "all":
      return true;
    case "different":
      return groupOf(test) === "left" || groupOf(test) === "right";
    case "failures":
      return test.left === "failed" || test.right === "failed";
    case "errors":
      return test.left === "error" || test.right === "error";
  }
}
