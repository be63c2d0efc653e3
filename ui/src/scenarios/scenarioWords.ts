// The words of the Scenarios page, and what its address keeps.
import type { AnswerCounts } from "../host/bindings/AnswerCounts";
import { count, decimals } from "../parts/format";
import type { ScenarioDocument } from "../host/bindings/ScenarioDocument";
import type { Query } from "../shell/routes";

export const tabs = ["schema", "changes", "compare", "suite", "files"] as const;
export type Tab = (typeof tabs)[number];
export const tabNames: Readonly<Record<Tab, string>> = {
  schema: "Schema",
  changes: "Request and changes",
  compare: "Compare turns",
  suite: "Suite",
  files: "Files",
};

/** Whether a pack is a zip by its name, which may be in capital letters. */
export const isZip = (path: string): boolean => path.toLowerCase().endsWith(".zip");

/** What the address says; what it leaves out is as at first sight. */
export interface Place {
  readonly source: number | undefined;
  readonly folder: string;
  readonly scenario: number;
  readonly turn: number;
  readonly tab: Tab;
}

function whole(word: string | undefined, least: number): number | undefined {
  return word !== undefined && /^\d{1,9}$/.test(word) && Number(word) >= least ? Number(word) : undefined;
}

export function readPlace(query: Query): Place {
  return {
    source: whole(query["source"], 0),
    folder: query["at"] ?? "",
    scenario: whole(query["scenario"], 0) ?? 0,
    turn: whole(query["turn"], 1) ?? 1,
    tab: tabs.find((tab) => tab === query["tab"]) ?? "schema",
  };
}

/** The turn that a turn is compared with: the one before, unless the address says another. */
export function comparedWith(query: Query, turn: number, turns: number): number {
  const given = whole(query["with"], 1);
  return given !== undefined && given <= turns ? given : Math.max(1, turn - 1);
}

export const documents: readonly { readonly id: ScenarioDocument; readonly name: string; readonly ending: string }[] = [
  { id: "request", name: "Request", ending: "md" },
  { id: "specification", name: "Specification", ending: "md" },
  { id: "schema", name: "Schema", ending: "yaml" },
  { id: "changes", name: "Changes", ending: "yaml" },
  { id: "reference", name: "Reference server (Flask)", ending: "py" },
  { id: "pytest", name: "Suite (pytest)", ending: "py" },
];

/** `delete_rule` → `delete rule`. */
export const plain = (word: string): string => word.replaceAll("_", " ");

/** What is said where the specification of a pack has other words than those of today for what a case cites. */
export const OWN_WORDS =
  "This pack states some of these rules in its own words, so only the rule's id is shown. Read the specification of the turn.";

/** What became of a model's answers: `9 answers taken, 1 refused, 0 filled from the seed`. */
export const answersOf = (answers: AnswerCounts): string =>
  `${count(answers.taken)} ${answers.taken === 1 ? "answer" : "answers"} taken, ${count(answers.refused)} refused, ${count(answers.filled)} filled from the seed`;

/** Where the parts of a turn or scenario come from: `4 from the model, 1 from the seed`; undefined where no model was asked or nothing says it. */
export function partsOf(parts: { readonly sampled: number | null; readonly fallback: number | null } | undefined): string | undefined {
  if (!parts || parts.sampled === null || parts.fallback === null) return undefined;
  return `${count(parts.sampled)} from the model, ${count(parts.fallback)} from the seed`;
}

/** The same over all scenarios of a pack; undefined unless each says it. */
export function partsOfAll(
  scenarios: readonly { readonly sampled: number | null; readonly fallback: number | null }[],
): string | undefined {
  if (scenarios.length === 0 || scenarios.some((s) => partsOf(s) === undefined)) return undefined;
  const sum = (key: "sampled" | "fallback"): number => scenarios.reduce((all, s) => all + (s[key] ?? 0), 0);
  return partsOf({ sampled: sum("sampled"), fallback: sum("fallback") });
}

/** A rate of killed mutants: `99.4 %`; nothing tried is no rate. */
export function rate(killed: number, mutants: number): string {
  if (mutants === 0) return "n/a";
  // Never rounded up to all.
  const percent = killed === mutants ? 100 : Math.min(99.9, Math.floor((killed / mutants) * 1000) / 10);
  return `${decimals(percent, percent === 100 ? 0 : 1)}\u202f%`;
}

/** What is wrong with what a number field holds, in the words of the host; undefined if nothing is. An emptied field is NaN or null. */
export function integerProblem(value: number | null | undefined, least: number, most: number): string | undefined {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
    ? undefined
    : `must be an integer from ${String(least)} to ${most.toLocaleString("en-US")}`;
}
