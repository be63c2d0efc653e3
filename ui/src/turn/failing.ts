/** Failing tests of an attempt, sorted under the requirement that they check. */
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import type { TestResult } from "../host/bindings/TestResult";

export type Show = "all" | "new" | "regressed";

export interface FailingGroup {
  /** The requirement; null = the source names none. */
  readonly name: string | null;
  /** Its kind, where all tests of the group share one. */
  readonly kind: string | null;
  readonly tests: readonly TestResult[];
}

/** What is known of the turn before: ids that failed there. null = unknown or there is none. */
export type FailedBefore = ReadonlySet<string> | null;

/** Whether a failing test belongs to a choice. New = did not fail at the turn before and did not pass there either. */
export function belongs(id: string, show: Show, regressed: ReadonlySet<string>, before: FailedBefore): boolean {
  if (show === "all") return true;
  if (show === "regressed") return regressed.has(id);
  return before !== null && !regressed.has(id) && !before.has(id);
}

export function counts(attempt: AttemptDetail, before: FailedBefore): { all: number; new: number | null; regressed: number } {
  const regressed = new Set(attempt.regressed);
  return {
    all: attempt.failing.length + attempt.failing_not_described,
    new: before === null ? null : attempt.failing.filter((t) => belongs(t.id, "new", regressed, before)).length,
    regressed: attempt.failing.filter((t) => regressed.has(t.id)).length,
  };
}

/** Groups in the order in which they first occur; tests without a requirement last. */
export function group(tests: readonly TestResult[]): FailingGroup[] {
  const groups = new Map<string | null, TestResult[]>();
  for (const test of tests) {
    const list = groups.get(test.group);
    if (list) list.push(test);
    else groups.set(test.group, [test]);
  }
  const named = [...groups].sort(([a], [b]) => Number(a === null) - Number(b === null));
  return named.map(([name, list]) => {
    const kind = list[0]?.kind ?? null;
    return { name, kind: list.every((t) => t.kind === kind) ? kind : null, tests: list };
  });
}

/** `off by 0.22497` where expected and actual are both numbers; null otherwise. */
export function offBy(expected: string | null, actual: string | null): string | null {
  if (expected === null || actual === null) return null;
  const a = asNumber(expected);
  const b = asNumber(actual);
  if (a === null || b === null || a === b) return null;
  return Math.abs(a - b).toPrecision(6).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

function asNumber(text: string): number | null {
  return /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(text) ? Number(text) : null;
}

/** A test's id in two parts: the file or class path, and the name that a reader looks for. */
export function splitId(id: string): { path: string; name: string } {
  const bracket = id.indexOf("[");
  const head = bracket < 0 ? id : id.slice(0, bracket);
  const cut = head.lastIndexOf("::");
  return cut < 0 ? { path: "", name: id } : { path: id.slice(0, cut + 2), name: id.slice(cut + 2) };
}
