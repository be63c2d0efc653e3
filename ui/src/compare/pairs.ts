// Pairs of members as they are read here: always the other one against the reference. Pure.
import type { ComparedPair } from "../host/bindings/ComparedPair";
import type { Comparison } from "../host/bindings/Comparison";
import type { ContrastTab } from "./address";
import type { PairedComparison } from "../host/bindings/PairedComparison";
import type { PairedScenarioRow } from "../host/bindings/PairedScenarioRow";
import { counted, decimals, points, signed, signedInterval } from "../parts/format";

/** The pair of a member with the reference; `undefined` = not tested. */
export function pairWith(comparison: Pick<Comparison, "pairs" | "reference">, other: number): ComparedPair | undefined {
  return comparison.pairs.find((pair) => pair.a === other && pair.b === comparison.reference);
}

/** The member that the reference is paired with: the chosen one, or the first other. */
export function otherOf(members: number, reference: number, chosen: number | null): number {
  if (chosen !== null && chosen !== reference && chosen < members) return chosen;
  return reference === 0 ? 1 : 0;
}

/** Why nothing is paired between two members of these names. */
export function notPaired(pair: Pick<ComparedPair, "in_both"> | undefined, a: string, b: string, rates: boolean): string {
  if (pair !== undefined && pair.in_both > 0) return `${a} and ${b} have runs, or trials of them, in common: nothing is paired.`;
  if (rates) return `${a} and ${b} share no task of which both have a scored trial.`;
  return `${a} and ${b} share no scenario in which both were at risk.`;
}

/** Why no turn is listed on which members disagree. A trial that two have in common counts in one of them, so what is left may share no scenario. */
export function noDisagreement({
  members,
  pairs,
  reference,
  shared_scenarios,
  of_one_turn,
}: Pick<Comparison, "members" | "pairs" | "reference" | "shared_scenarios" | "of_one_turn">): string {
  if (members.length !== 2 || shared_scenarios > 0) return "They agree on every turn that more than one of them reached.";
  const other = 1 - reference;
  const pair = pairWith({ pairs, reference }, other);
  return notPaired(pair, members[other]?.name ?? "This run", members[reference]?.name ?? "the reference", of_one_turn);
}

/** How many scenarios all members share; `null` = they have trials in common, which are of one scenario whatever their sources call it. */
export const knownShared = ({ overlaps, shared_scenarios }: Pick<Comparison, "overlaps" | "shared_scenarios">): number | null =>
  shared_scenarios === 0 && overlaps.length > 0 ? null : shared_scenarios;

/** Over what a member is paired with the reference: `on 12 shared scenarios`; of `tau`, the horizon of the comparison, they may know less. */
export function pairedOver(paired: Pick<PairedComparison, "n" | "tau"> | null, tau: number | null, rates: boolean): string {
  if (paired === null) return "nothing is paired";
  return `on ${counted(paired.n, rates ? "shared task" : "shared scenario")}${tau !== null && paired.tau < tau ? ", as far as they are known" : ""}`;
}

/** A difference as it is shown: of pass rates in percentage points, else in turns. */
export const difference = (value: number, rates: boolean): string => (rates ? points(value) : signed(value));

/** The ends of its interval. */
export function differenceInterval(low: number | null, high: number | null, rates: boolean): string {
  return rates && low !== null && high !== null ? signedInterval(low * 100, high * 100, 1) : signedInterval(low, high);
}

/** What a member has in a scenario: `50 %` of its trials passed, or `4.50` turns. */
export function ofScenario(value: number, rates: boolean): string {
  if (rates) return `${decimals(value * 100, Number.isInteger(value * 100) ? 0 : 1)}\u202f%`;
  return Number.isInteger(value) ? String(value) : decimals(value, 2);
}

/** The observed difference in a scenario, a − b, with `≥` or `≤` where one of both values is a lower bound. */
export function observedDifference(
  { a, b, a_at_least, b_at_least }: Pick<PairedScenarioRow, "a" | "b" | "a_at_least" | "b_at_least">,
  rates: boolean,
): string {
  const value = rates ? difference(a - b, rates) : signed(a - b, Number.isInteger(a - b) ? 0 : 2);
  return a_at_least === b_at_least ? value : `${a_at_least ? "≥" : "≤"}\u202f${value}`;
}

/** Whether censoring makes the mean of the differences another one, as it is shown, than the mean of the observed differences. */
export function isAdjusted(paired: PairedComparison): boolean {
  return decimals(paired.mean, 2) !== decimals(paired.observed_mean, 2);
}

/**
 * How members are contrasted where nobody chose: scenario by scenario if the reference and the other share at least two, since
 * that interval is the one to trust first (docs/metrics.md, Paired); else by the difference of their means.
 */
export function contrastOf(comparison: Comparison, other: number, chosen: ContrastTab | null): ContrastTab {
  if (chosen !== null) return chosen;
  return (pairWith(comparison, other)?.paired?.n ?? 0) >= 2 ? "paired" : "difference";
}
