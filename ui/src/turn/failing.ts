/** Failing tests of an attempt, sorted under the requirement that they check. */
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import type { TestHistory } from "../host/bindings/TestHistory";
import type { TestResult } from "../host/bindings/TestResult";
import { endReasonLabels } from "../parts/format";

/** Which failing tests may be shown: all, or those that stood so before. */
export const historyFilters = ["all", "new", "regressed", "still_failing", "unknown"] as const;
export type HistoryFilter = (typeof historyFilters)[number];

/** A failing test and how it stood before. */
export interface Failing {
  readonly test: TestResult;
  readonly history: TestHistory;
}

export interface FailingGroup {
  /** The requirement; null = the source names none. */
  readonly name: string | null;
  /** Its kind, where all tests of the group share one. */
  readonly kind: string | null;
  readonly tests: readonly Failing[];
}

/** The failing tests of an attempt that belong to a choice. */
export function failingTests(attempt: AttemptDetail, show: HistoryFilter): Failing[] {
  const unknown: TestHistory = { history: "unknown", passed_in_turn: null, since_turn: null };
  const all = attempt.failing.map((test, at) => ({ test, history: attempt.histories[at] ?? unknown }));
  return show === "all" ? all : all.filter((failure) => failure.history.history === show);
}

/** How many failing tests belong to each choice. Those that the source does not describe are among all only. */
export function counts(attempt: AttemptDetail): Record<HistoryFilter, number> {
  const countOf = (show: HistoryFilter): number => attempt.histories.filter((test) => test.history === show).length;
  return {
    all: attempt.failing.length + attempt.failing_not_described,
    new: countOf("new"),
    regressed: countOf("regressed"),
    still_failing: countOf("still_failing"),
    unknown: countOf("unknown"),
  };
}

/**
 * The choices that are offered: those that some test belongs to. Where nothing is still failing, "New 0" and "Regressed 0" are
 * offered, too, unless no history is known.
 */
export function offeredFilters(tally: Readonly<Record<HistoryFilter, number>>, show: HistoryFilter): HistoryFilter[] {
  const isNoneKnown = tally.unknown > 0 && tally.new + tally.regressed + tally.still_failing === 0;
  const isToldAtZero = (filter: HistoryFilter): boolean =>
    !isNoneKnown && tally.still_failing === 0 && (filter === "new" || filter === "regressed");
  return historyFilters.filter((filter) => filter === "all" || filter === show || tally[filter] > 0 || isToldAtZero(filter));
}

/** Groups in the order in which they first occur; tests without a requirement last. */
export function group(tests: readonly Failing[]): FailingGroup[] {
  const groups = new Map<string | null, Failing[]>();
  for (const failure of tests) {
    const list = groups.get(failure.test.group);
    if (list) list.push(failure);
    else groups.set(failure.test.group, [failure]);
  }
  const named = [...groups].sort(([a], [b]) => Number(a === null) - Number(b === null));
  return named.map(([name, list]) => {
    const kind = list[0]?.test.kind ?? null;
    return { name, kind: list.every((failure) => failure.test.kind === kind) ? kind : null, tests: list };
  });
}

/** Tests that fail for one reason. */
export interface SameReasonGroup {
  /** Tells it from the other groups: two may have one reason. */
  readonly key: string;
  readonly reason: string;
  readonly tests: readonly Failing[];
}

/** So many tests that fail alike are one row. */
const MANY_ALIKE = 3;
/** A value shorter than this is a wrong answer, and not the reason of one. */
const MIN_REASON_LENGTH = 20;
/** `expected exit=0, got exit=1`, `assertion failed (actual=1)`: what came stands at the end. */
const STATED_ANSWER = /^(?:expected|assertion failed)\b.*?\b(?:actual|got)\b[\s:=]*(.*)$/is;
/** `null (diff=50 tol=0.01)`: how far off an answer is stands behind it. */
const DISTANCE = /\s*\((?:diff|tol)[^)]*\)\s*$/i;
/** An output that speaks of an error: a program that was not called rightly, or gave up. It is a reason whatever a test expects. */
const FAULTS = [
  /skipped|error\b|exception|panic|not found|no such|not (?:yet )?implemented|missing|required|usage|traceback|bad ?substitution/i,
  /unknown (?:(?:sub)?command|flag|option|argument|\w+ type)/i,
  /exit=12[67]|(?:exit|code|rc)=[1-9].*err\w*\W*\w/is,
];
/** `Got: Error: no eligible endpoint` may be the answer of a program that works: the label alone tells no fault. */
const ERROR_LABEL = /(^|[:=|<]\s*)error:/gi;

/** A message in two parts: what the source says, and the lines with the scenario and the input of the case that readers put below. */
function messageParts(test: Pick<TestResult, "message" | "scenario">): { readonly stated: string; readonly below: readonly string[] } {
  const lines = (test.message ?? "").split("\n");
  const beforeInput = lines.at(-1)?.startsWith("input: ") === true ? lines.length - 1 : lines.length;
  let end = beforeInput;
  // The input stands below the scenario, where there is one.
  if (test.scenario !== null) end = lines[beforeInput - 1] === `scenario: ${test.scenario}` ? beforeInput - 1 : lines.length;
  return { stated: lines.slice(0, end).join("\n"), below: lines.slice(end) };
}

/** What the message says beside the expected and the actual value, which are shown with it; null where that is nothing. */
export function messageBesideValues(test: Pick<TestResult, "expected" | "actual" | "message" | "scenario">): string | null {
  const { stated, below } = messageParts(test);
  if (stated.trim() !== (test.actual ?? "").trim()) return test.message;
  const expected = test.expected?.trim();
  return below.filter((line) => line !== `scenario: ${expected ?? ""}`).join("\n") || null;
}

/**
 * Why a test fails, without what differs from test to test of one reason: its scenario, the request that it sent, addresses, ports
 * and lines of a script of tests. `null` = nothing tells.
 */
export function reasonOf(test: Pick<TestResult, "expected" | "actual" | "message" | "scenario">): string | null {
  const { stated, below } = messageParts(test);
  const actual = (test.actual ?? "").trim();
  const text = stated.trim() || actual;
  // Where the source tells values, a short message is one of them.
  const tellsValues = stated.trim() === "" || below.length > 0 || test.expected !== null || actual !== "";
  const answer = STATED_ANSWER.exec(text)?.[1]?.replace(DISTANCE, "");
  if (text === "" || (tellsValues && (answer ?? text).length < MIN_REASON_LENGTH)) return null;
  // A line of a file that is read is part of the reason.
  return (answer === undefined ? text.replace(/(\.(?:sh|bash|py)["']?[:,]? )line \d+/gi, "$1line …") : text)
    .replace(/0x[0-9a-f]{4,}/gi, "0x…")
    .replace(/(:|port[= ])\d{4,5}\b/g, "$1…")
    .replace(/\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) (\/[^\s?]*)(?:\?\S*)?(?: \{.*?\})?(?=: )/gs, "$1")
    .replace(/^(\w+: )?Step \d+: /, "$1");
}

/**
 * Whether nothing tells why a test fails but what came out, which speaks of no error: a wrong answer. `expected: a | actual: b` says
 * itself what it is wrong for.
 */
function isOnlyAnswer(test: Pick<TestResult, "actual" | "message" | "scenario">): boolean {
  const stated = messageParts(test).stated.trim();
  const actual = (test.actual ?? "").trim();
  const text = actual.replace(ERROR_LABEL, "$1");
  return (stated === "" || stated === actual) && !/^expected\b/i.test(actual) && !FAULTS.some((fault) => fault.test(text));
}

/**
 * The tests that share their reason with enough others, most first, and the rest in their order. Where the same wrong answer came
 * for different expectations, these are different failures.
 */
export function groupByReason(tests: readonly Failing[]): {
  readonly alike: readonly SameReasonGroup[];
  readonly rest: readonly Failing[];
} {
  const byKey = new Map<string, { readonly key: string; readonly reason: string; readonly tests: Failing[] }>();
  for (const failure of tests) {
    const reason = reasonOf(failure.test);
    if (reason === null) continue;
    const key = JSON.stringify(isOnlyAnswer(failure.test) ? [reason, failure.test.expected] : [reason]);
    const known = byKey.get(key);
    if (known) known.tests.push(failure);
    else byKey.set(key, { key, reason, tests: [failure] });
  }
  const many = [...byKey.values()].filter((one) => one.tests.length >= MANY_ALIKE);
  const taken = new Set(many.flatMap((one) => one.tests));
  return { alike: many.sort((a, b) => b.tests.length - a.tests.length), rest: tests.filter((failure) => !taken.has(failure)) };
}

/**
 * How far a number is from the expected one: `0.22497`. Null unless the distance means something: one of the two is a computed
 * decimal, or the test names a tolerance. Statuses, ids, counts and exit codes are right or wrong.
 */
export function offBy(test: Pick<TestResult, "expected" | "actual" | "message" | "intent">): string | null {
  const { expected, actual } = test;
  if (expected === null || actual === null) return null;
  const a = asNumber(expected);
  const b = asNumber(actual);
  if (a === null || b === null || a === b) return null;
  const decimal = [expected, actual].some((text) => /[.e]/i.test(text.trim()));
  const tolerance = [test.message, test.intent].some(
    (text) => text !== null && /tolerance|\babs_tol\b|\brel_tol\b|\bapprox\(|±/i.test(text),
  );
  if (!decimal && !tolerance) return null;
  return Math.abs(a - b)
    .toPrecision(6)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
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

/** So many letters of a file of tests are shown. */
const FILE_LENGTH = 28;

/** The file or class of a test's path, its end whole: `test_orders.py`; a longer one is cut between words. */
export function fileInWords(path: string): string {
  const whole = path.replace(/::$/, "");
  const name = whole.slice(whole.lastIndexOf("/") + 1);
  if (name.length <= FILE_LENGTH) return name;
  const end = name.slice(-FILE_LENGTH + 1);
  // From the first word that is whole; a single long word is cut.
  const word = end.search(/[_\-:](?=[^_\-:])/);
  return `…${word < 0 ? end : end.slice(word + 1)}`;
}

/** So many passed tests are listed at once. */
export const PASSED_PAGE = 200;

/** So many letters count as a line. */
const LINE = 200;

/** The first lines of a text. */
export const cutToLines = (text: string, lines: number): string =>
  text
    .split("\n")
    .slice(0, lines)
    .join("\n")
    .slice(0, lines * LINE);

/** Whether a text has more than so many lines. */
export const isLongerThan = (text: string, lines: number): boolean =>
  text.length > lines * LINE || text.split("\n", lines + 1).length > lines;

/** Why an attempt that did not pass has no failing test to show. */
export function noFailingTestInWords(attempt: Pick<AttemptDetail, "verdict" | "end_reason" | "reward">): string {
  const reason = attempt.end_reason ? `: ${endReasonLabels[attempt.end_reason]}` : "";
  switch (attempt.verdict) {
    case "error":
      return `No test verdict${reason}.`;
    case "unfinished":
      return `The files end before the tests did${reason}.`;
    case "not_tested":
      return "This benchmark has no tests: nothing judges this phase.";
    default:
      return `The source says that this attempt failed and describes no failing test${attempt.reward === null ? "" : ` (reward ${String(attempt.reward)})`}.`;
  }
}
