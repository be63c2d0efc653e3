// Pairs of members as they are read here: always the other one against the reference. Pure.
import type { ComparedPair } from "../host/bindings/ComparedPair";
import type { Comparison } from "../host/bindings/Comparison";

/** The pair of a member with the reference; `undefined` = not tested. */
export function pairWith(comparison: Comparison, other: number): ComparedPair | undefined {
  return comparison.pairs.find((pair) => pair.a === other && pair.b === comparison.reference);
}

/** The member that the reference is paired with: the chosen one, or the first other. */
export function otherOf(members: number, reference: number, chosen: number | null): number {
  if (chosen !== null && chosen !== reference && chosen < members) return chosen;
  return reference === 0 ? 1 : 0;
}
