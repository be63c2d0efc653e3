// The Failures page's choices as they stand in its address, and its words. Pure.
import type { FailureCase } from "../host/bindings/FailureCase";
import type { FailureGroup } from "../host/bindings/FailureGroup";
import type { FailureGrouping } from "../host/bindings/FailureGrouping";
import type { FailureOrigin } from "../host/bindings/FailureOrigin";
import type { FailureScope } from "../host/bindings/FailureScope";
import type { Failures } from "../host/bindings/Failures";
import type { FailureCasesRequest } from "../host/bindings/FailureCasesRequest";
import type { FailuresRequest } from "../host/bindings/FailuresRequest";
import type { Repair } from "../host/bindings/Repair";
import type { TestHistory } from "../host/bindings/TestHistory";
import type { Exportable } from "../export/open.svelte";
import { bounded, count, counted, median } from "../parts/format";
import type { Query, Route } from "../shell/routes";

export const groupings: readonly { readonly by: FailureGrouping; readonly name: string }[] = [
  { by: "member", name: "Run" },
  { by: "harness", name: "Harness" },
  { by: "turn", name: "Turn" },
  { by: "attempt", name: "Attempt" },
];

export const scopes: readonly { readonly scope: FailureScope; readonly name: string; readonly about: string }[] = [
  { scope: "attempts", name: "Every attempt", about: "Every failed attempt" },
  { scope: "turns", name: "Final attempts", about: "Final attempts of turns that were not passed" },
  { scope: "first", name: "First failures", about: "The attempt that ended each episode's stamina" },
];

const scopeName = (scope: FailureScope): string => scopes.find((s) => s.scope === scope)?.name ?? scope;

export const originNames: Readonly<Record<FailureOrigin, string>> = {
  new: "new",
  regressed: "regressed",
  still_failing: "still failing",
  unknown: "unknown",
};

export const tabs = ["cases", "repair", "flips", "rules"] as const;
export type Tab = (typeof tabs)[number];
export const tabNames: Readonly<Record<Tab, string>> = { cases: "Cases", repair: "Repair", flips: "Flipping tests", rules: "Rules" };

/** What the tables of a tab are exported as; each has a button of its own. */
export function tables(tab: Tab, request: FailuresRequest, cases: FailureCasesRequest): readonly Exportable[] {
  switch (tab) {
    case "cases":
      return [{ title: "Cases", table: { kind: "cases", request: cases } }];
    case "repair":
      return [
        { title: "Repairs", table: { kind: "repairs", request } },
        { title: "Time to repair", table: { kind: "repair_times", request } },
        { title: "Failing tests by origin", table: { kind: "origins", request } },
      ];
    case "flips":
      return [{ title: "Flipping tests", table: { kind: "flips", request } }];
    case "rules":
      return [{ title: "Rules", table: { kind: "rules", request } }];
  }
}

export interface Choice {
  readonly group: FailureGrouping;
  readonly scope: FailureScope;
  readonly tab: Tab;
  /** Key of the group whose cases are shown; `""` = all. */
  readonly at: string;
  readonly class: string | undefined;
  /** Whether the class is that of failing tests, and not the attempts' own. */
  readonly byTests: boolean;
  readonly origin: FailureOrigin | undefined;
}

export function readChoice(query: Query): Choice {
  return {
    group: groupings.find((g) => g.by === query["group"])?.by ?? "member",
    scope: scopes.find((s) => s.scope === query["scope"])?.scope ?? "first",
    tab: tabs.find((t) => t === query["tab"]) ?? "cases",
    at: query["at"] ?? "",
    class: query["class"],
    byTests: query["of"] === "tests" && query["class"] !== undefined,
    origin: (["new", "regressed", "still_failing", "unknown"] as const).find((o) => o === query["origin"]),
  };
}

/** Rows of failed attempts that are listed at first, and further ones at a time. */
export const CASES = 200;

/** How many rows of failed attempts are listed: so many as the address says, that who comes back finds the row that led away. */
export function readRows(query: Query): number {
  const rows = query["rows"] ?? "";
  return /^[1-9]\d{0,5}$/.test(rows) ? Math.max(CASES, Number(rows)) : CASES;
}

/** `34.2 %`: with one decimal as on every page and in the command line, so that 1 of 8 is not 12 %. */
export const percent = (share: number): string => `${bounded(share * 100, 100, 1)} %`;

/** How many turns that failed at first a later attempt repaired, of a group; of runs of one turn, a turn is a trial. */
export function repairedInWords(
  { failed_first, tried_again, repaired }: Repair,
  ofOneTurn: boolean,
): {
  readonly value: string;
  readonly small: string;
  readonly unknown: boolean;
} {
  const noun = ofOneTurn ? "trial" : "turn";
  if (failed_first === 0) return { value: "n/a", small: `no ${noun} failed first`, unknown: true };
  if (tried_again === 0) return { value: "n/a", small: `no ${noun} was tried again`, unknown: true };
  return { value: percent(repaired / failed_first), small: `of ${counted(failed_first, noun)}`, unknown: false };
}

/** Why no test that flips is listed: whether one does is unknown where no failing test is described, or no pass can be seen. */
export function noFlips({ stretches, stretches_repaired }: Pick<Repair, "stretches" | "stretches_repaired">): string {
  if (stretches === 0) return "Whether a test changed its outcome is unknown: no failing test is described.";
  if (stretches_repaired === null)
    return "Whether a test changed its outcome is unknown: passed tests are not described, or not followed over turns. Where tests ran once, none changed.";
  return "No test changed its outcome more than once.";
}

/** Why a class, or all failed attempts, have no interval: all are of one scenario, whose attempts are alike. Else how it is made. */
export function intervalInWords(interval: FailureGroup["interval"], ofOneTurn: boolean): string {
  const noun = ofOneTurn ? "task" : "scenario";
  if (interval === null) return `n/a: all failed attempts are of one ${noun}`;
  return interval === "wilson" ? "Wilson’s interval" : `Wilson’s interval, clustered by ${noun}: several failed attempts are of one`;
}

/** What the failed attempts of a scope are counted among. */
export function madeInWords(scope: FailureScope, attempts: number, ofOneTurn: boolean): string {
  if (ofOneTurn && scope === "first") return `of ${counted(attempts, "scored trial")}`;
  if (ofOneTurn && scope === "turns") return `of ${counted(attempts, "trial")} begun`;
  switch (scope) {
    case "attempts":
      return `of ${counted(attempts, "attempt")}`;
    case "turns":
      return `of ${counted(attempts, "turn")} reached`;
    case "first":
      return `of ${counted(attempts, "turn")} at risk`;
  }
}
const failedNames: Readonly<Record<FailureScope, string>> = {
  attempts: "Failed attempts",
  turns: "Turns not passed",
  first: "First failures",
};

/** What failed in a scope; of runs of one turn, a turn is a trial. */
export const failedInWords = (scope: FailureScope, ofOneTurn: boolean): string =>
  ofOneTurn && scope === "first" ? "Failed" : ofOneTurn && scope === "turns" ? "Ended in a failed attempt" : failedNames[scope];

/** Why a scope has no failed attempts, where something failed all the same. */
export function noneFailed(scope: FailureScope, ofOneTurn: boolean): string {
  const noun = ofOneTurn ? "trial" : "turn";
  if (scope === "first")
    return `No ${noun} ended in a failure that the policy counts. What ended from outside is under ${scopeName("turns")}.`;
  return scope === "turns" ? `Every ${noun} was passed in the end.` : `No ${noun} was failed.`;
}

/** What must be known of the origins of a scope: null where every failed attempt is counted, and where no turn was tried again. */
export function originsAbout(scope: FailureScope, { tried_again }: Pick<Repair, "tried_again">): string | null {
  if (scope === "attempts" || tried_again === 0) return null;
  return "New, regressed and still failing are counted at the last attempt of a turn. A test that failed at an attempt before it is still failing there. So few are new or regressed. “Every attempt” shows where failures began.";
}

/** How long turns that failed first took until they passed; of one there is no median: empty where it did not pass. */
export function attemptsUntilPass({ failed_first, median_attempts }: Pick<Repair, "failed_first" | "median_attempts">): string {
  if (failed_first !== 1) return `Median attempts until it passed: ${median(median_attempts)}.`;
  return typeof median_attempts === "number" ? `It passed after ${counted(median_attempts, "more attempt")}.` : "";
}

/** How long stretches of failing tests took until a pass; of one there is no median: empty where it passed in the same turn, or did not. */
export function turnsUntilPass(repair: Pick<Repair, "stretches" | "stretches_unknown" | "median_turns">): string {
  const followed = repair.stretches - repair.stretches_unknown;
  const turns = repair.median_turns;
  if (followed !== 1) return `Median turns from the first failure to the pass, over all ${count(followed)}: ${median(turns)}.`;
  return typeof turns === "number" && turns > 0 ? `It ended after ${counted(turns, "turn")}.` : "";
}

/** `regressed, passed in turn 2`; `still failing since turn 3, passed in turn 1`. */
export function historyInWords(test: TestHistory): string {
  const failing = test.since_turn === null ? "" : ` since turn ${String(test.since_turn)}`;
  const passed = test.passed_in_turn === null ? "" : `, passed in turn ${String(test.passed_in_turn)}`;
  return `${originNames[test.history]}${failing}${passed}`;
}

/** The same in two or three words: `passed in turn 2`, `since turn 3`, `new`. */
export function sinceInWords(test: TestHistory): string {
  if (test.since_turn !== null) return `failing since turn ${String(test.since_turn)}`;
  if (test.passed_in_turn !== null) return `passed in turn ${String(test.passed_in_turn)}`;
  return test.history === "new" ? "new" : "";
}

/** Where a case is looked at. */
export function caseRoute(place: Pick<FailureCase, "run" | "episode" | "turn" | "attempt" | "test">): Route {
  return {
    page: "turn",
    run: place.run,
    episode: place.episode,
    turn: place.turn,
    query: { attempt: String(place.attempt), ...(place.test === null ? {} : { test: place.test }) },
  };
}

export const classLabel = (failures: Failures | undefined, word: string): string =>
  failures?.classes.find((c) => c.class === word)?.label ?? word.replaceAll("_", " ");

/** `3 of 44`: failing tests of those that ran, also those that are not described; without counts `2 described`, or unknown. */
export function failingInWords({
  tests,
  not_described,
  passed,
  total,
}: Pick<FailureCase, "tests" | "not_described" | "passed" | "total">): string {
  const described = tests.reduce((sum, [, n]) => sum + n, 0);
  const failing = described + not_described;
  // A source may describe more tests than it counts.
  if (passed === null || total === null || failing > total) {
    if (failing === 0) return "unknown";
    const further = not_described > 0 ? `, ${count(not_described)} not described` : "";
    return counted(described, "described", "described") + further;
  }
  return `${count(failing)} of ${count(total)}`;
}

/** `2 new, 1 regressed` */
export function originsInWords([fresh, regressed, still, unknown]: FailureCase["origins"]): string {
  const parts: readonly [number, string][] = [
    [fresh, "new"],
    [regressed, "regressed"],
    [still, "still failing"],
    [unknown, "unknown"],
  ];
  return parts
    .filter(([n]) => n > 0)
    .map(([n, word]) => `${n} ${word}`)
    .join(", ");
}

/** Back to every case: what is asked for next is not narrowed by what was. */
export const everyCase = { at: null, class: null, of: null, origin: null, tab: null };
