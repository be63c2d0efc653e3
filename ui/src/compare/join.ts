// The tests of one turn in two attempts, joined by the id of the test. Pure.
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import type { DisagreementMode } from "../host/bindings/DisagreementMode";
import type { TestResult } from "../host/bindings/TestResult";

/** `clear`: not named, and all that did not pass in that attempt is described as failing, so it did not fail. */
export type SideState = "failed" | "error" | "passed" | "clear" | "unknown";

export interface JoinedTest {
  readonly id: string;
  readonly left: SideState;
  readonly right: SideState;
  /** What is known of it where it did not pass. */
  readonly leftResult: TestResult | null;
  readonly rightResult: TestResult | null;
}

export type JoinedGroup = "left" | "right" | "both" | "other";
export const groupNames: Readonly<Record<JoinedGroup, string>> = {
  left: "Only left fails",
  right: "Only right fails",
  both: "Both fail",
  other: "Fails on neither side, according to the sources",
};

const bad = (state: SideState): boolean => state === "failed" || state === "error";

function statesOf(attempt: AttemptDetail | undefined): (id: string) => { state: SideState; result: TestResult | null } {
  if (!attempt) return () => ({ state: "unknown", result: null });
  const failing = new Map(attempt.failing.map((t) => [t.id, t]));
  const passed = new Set(attempt.passed_tests);
  // Where the suite itself did not come to a verdict, silence says nothing. Tests that neither passed nor failed may be among those
  // that are not named, and a reward may pass an attempt with tests that failed.
  const complete =
    attempt.failing_not_described === 0 &&
    attempt.passed !== null &&
    attempt.total !== null &&
    (attempt.verdict === "passed" || attempt.verdict === "failed") &&
    attempt.passed + attempt.failing.length >= attempt.total;
  return (id) => {
    const result = failing.get(id) ?? null;
    if (result) return { state: result.outcome === "error" ? "error" : "failed", result };
    if (passed.has(id)) return { state: "passed", result: null };
    return { state: complete ? "clear" : "unknown", result: null };
  };
}

export function joinTests(left: AttemptDetail | undefined, right: AttemptDetail | undefined): JoinedTest[] {
  const ids = new Set<string>();
  for (const side of [left, right]) for (const t of side?.failing ?? []) ids.add(t.id);
  for (const side of [left, right]) for (const id of side?.passed_tests ?? []) ids.add(id);
  const [ofLeft, ofRight] = [statesOf(left), statesOf(right)];
  return [...ids].map((id) => {
    const [l, r] = [ofLeft(id), ofRight(id)];
    return { id, left: l.state, right: r.state, leftResult: l.result, rightResult: r.result };
  });
}

export function groupOf(test: JoinedTest): JoinedGroup {
  if (bad(test.left)) return bad(test.right) ? "both" : "left";
  return bad(test.right) ? "right" : "other";
}

export function belongs(test: JoinedTest, mode: DisagreementMode): boolean {
  switch (mode) {
    case "all":
      return true;
    case "different":
      return bad(test.left) !== bad(test.right);
    case "failures":
      return test.left === "failed" || test.right === "failed";
    case "errors":
      return test.left === "error" || test.right === "error";
  }
}
