// What the Compare page keeps in its address: who is compared, with whom, over how many turns, and what is shown of it.
// `#/compare?members=a.b,harness:opencode@staminabench&ref=1&tau=9`. Pure, so that tests cover it both ways.
import type { CompareRequest } from "../host/bindings/CompareRequest";
import type { DisagreementMode } from "../host/bindings/DisagreementMode";
import type { DisagreementSort } from "../host/bindings/DisagreementSort";
import type { Measure } from "../host/bindings/Measure";
import type { Member } from "../host/bindings/Member";
import type { Query } from "../shell/routes";
import { memberText, membersText, readMembers } from "./members";

/** Members of a comparison that the page and the matrix offer: with more, figures are harder to read, and each has a small panel. */
export const MAX_COMPARED = 8;

export const figures = ["survival", "failures", "bars", "cost"] as const;
export type FigureTab = (typeof figures)[number];
export const contrasts = ["difference", "ratio", "paired"] as const;
export type ContrastTab = (typeof contrasts)[number];
export const numbers = ["runs", "scores", "spent", "tests", "sensitivity"] as const;
export type NumbersTab = (typeof numbers)[number];
export const modes: readonly DisagreementMode[] = ["all", "different", "failures", "errors"];
export const sorts: readonly DisagreementSort[] = ["reference_fails", "spread", "scenario"];
export const measures: readonly Measure[] = [
  "stamina",
  "pass_rate",
  "score",
  "tokens",
  "cost",
  "time",
  "steps",
  "steps_survived",
  "tool_calls",
  "cost_per_survived_turn",
];

export interface CompareAddress {
  readonly members: readonly Member[];
  readonly reference: number;
  /** `null` = the furthest turn to which every curve is known. */
  readonly tau: number | null;
  readonly mode: DisagreementMode;
  readonly sort: DisagreementSort;
  /** Words of scenarios that are listed. */
  readonly text: string;
  readonly figure: FigureTab;
  /** What was chosen; null = the page chooses ([`contrastOf`]). */
  readonly contrast: ContrastTab | null;
  readonly numbers: NumbersTab;
  readonly measure: Measure;
  /** Whether every pair is tested in the table of tests. */
  readonly allPairs: boolean;
  /** Index of the member that the reference is paired with. */
  readonly other: number | null;
  readonly bands: boolean;
  /** Whether published numbers are laid over the bars of mean stamina. */
  readonly published: boolean;
}

function whole(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,4}$/.test(text) ? Number(text) : null;
}

export function readAddress(query: Query): CompareAddress {
  const members = readMembers(query);
  const reference = whole(query["ref"]) ?? 0;
  const tau = whole(query["tau"]);
  const other = whole(query["other"]);
  return {
    members,
    reference: reference < members.length ? reference : 0,
    tau: tau === 0 ? null : tau,
    mode: modes.find((m) => m === query["mode"]) ?? "different",
    sort: sorts.find((s) => s === query["sort"]) ?? "reference_fails",
    text: query["q"] ?? "",
    figure: figures.find((f) => f === query["figure"]) ?? "survival",
    contrast: contrasts.find((c) => c === query["contrast"]) ?? null,
    numbers: numbers.find((n) => n === query["numbers"]) ?? "runs",
    measure: measures.find((m) => m === query["measure"]) ?? "stamina",
    allPairs: query["pairs"] === "all",
    other: other !== null && other < members.length ? other : null,
    bands: query["bands"] === "all",
    published: query["published"] === "yes",
  };
}

/** What the commands are asked for. */
export const requestOf = (at: CompareAddress, pairs: CompareRequest["pairs"] = "reference"): CompareRequest => ({
  members: [...at.members],
  reference: at.reference,
  tau: at.tau,
  pairs,
});

/** The members in another order, or fewer or more of them; the reference stays the same member while it is there. */
export function addressWithMembers(at: CompareAddress, members: readonly Member[]): Record<string, string | null> {
  const reference = at.members[at.reference];
  const key = reference === undefined ? undefined : memberText(reference);
  const found = members.findIndex((m) => memberText(m) === key);
  return { members: membersText(members), ref: found > 0 ? String(found) : null, other: null };
}

/** The list with one of its items at another place. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list];
  const [item] = next.splice(from, 1);
  if (item !== undefined) next.splice(Math.min(Math.max(0, to), next.length), 0, item);
  return next;
}
