import { expect, it } from "vitest";
import type { Comparison } from "../host/bindings/Comparison";
import type { PairedComparison } from "../host/bindings/PairedComparison";
import {
  contrastOf,
  difference,
  differenceInterval,
  isAdjusted,
  knownShared,
  noDisagreement,
  notPaired,
  observedDifference,
  ofScenario,
  pairedOver,
} from "./pairs";

const comparison = (shared: number | null): Comparison =>
  ({ reference: 0, pairs: [{ a: 1, b: 0, paired: shared === null ? null : { n: shared } }] }) as unknown as Comparison;

it("contrasts scenario by scenario where two share scenarios, unless something else is chosen", () => {
  expect(contrastOf(comparison(25), 1, null)).toBe("paired");
  expect(contrastOf(comparison(1), 1, null)).toBe("difference");
  expect(contrastOf(comparison(null), 1, null)).toBe("difference");
  expect(contrastOf(comparison(25), 1, "ratio")).toBe("ratio");
});

it("names both means where censoring makes them two", () => {
  const paired = (mean: number, observed_mean: number): PairedComparison => ({ mean, observed_mean }) as PairedComparison;
  expect(isAdjusted(paired(-2.52, -2.04))).toBe(true);
  expect(isAdjusted(paired(-2.041, -2.04))).toBe(false);
});

it("shows the difference of a lower bound as a bound", () => {
  const shown = (a: number, a_at_least: boolean, b: number, b_at_least: boolean): string =>
    observedDifference({ a, b, a_at_least, b_at_least }, false);
  expect([shown(8, true, 0, false), shown(0, false, 8, true), shown(9, false, 5, false), shown(3, true, 3, true)]).toEqual([
    "\u2265\u202f+8",
    "\u2264\u202f\u22128",
    "+4",
    "0",
  ]);
});

it("says differences of pass rates in percentage points, and no turns", () => {
  expect([difference(-0.2222, true), difference(-0.2222, false)]).toEqual(["\u221222.2", "\u22120.22"]);
  expect(differenceInterval(-0.502, 0.058, true)).toBe("[\u221250.2, 5.8]");
  expect([differenceInterval(null, null, true), differenceInterval(-1, 2.5, false)]).toEqual(["n/a", "[\u22121.00, 2.50]"]);
  expect([ofScenario(0.5, true), ofScenario(1 / 3, true), ofScenario(4, false), ofScenario(4.5, false)]).toEqual([
    "50\u202f%",
    "33.3\u202f%",
    "4",
    "4.50",
  ]);
});

it("names no shared scenarios where nothing is paired on them", () => {
  expect(pairedOver(null, 4, false)).toBe("nothing is paired");
  expect([pairedOver({ n: 1, tau: 4 }, 4, false), pairedOver({ n: 12, tau: 3 }, 4, false)]).toEqual([
    "on 1 shared scenario",
    "on 12 shared scenarios, as far as they are known",
  ]);
});

it("says why nothing is paired: runs in both members are no lack of shared scenarios", () => {
  expect(notPaired({ in_both: 1 }, "A", "B", false)).toBe("A and B have runs, or trials of them, in common: nothing is paired.");
  expect(notPaired({ in_both: 0 }, "A", "B", false)).toBe("A and B share no scenario in which both were at risk.");
  expect(notPaired({ in_both: 0 }, "A", "B", true)).toBe("A and B share no task of which both have a scored trial.");
  expect(pairedOver({ n: 12, tau: 1 }, 1, true)).toBe("on 12 shared tasks");
});

it("does not say that no scenario is shared by members that have trials in common", () => {
  const shared = (shared_scenarios: number, overlaps: Comparison["overlaps"]): number | null => knownShared({ shared_scenarios, overlaps });
  expect([shared(0, [[0, 1, 1]]), shared(2, [[0, 1, 1]]), shared(0, []), shared(3, [])]).toEqual([null, 2, 0, 3]);
});

it("says why no turn is listed: that two share no scenario only where they have no runs in common", () => {
  const comparisonWith = (shared_scenarios: number, in_both: number, reference = 0): Parameters<typeof noDisagreement>[0] =>
    ({
      reference,
      shared_scenarios,
      of_one_turn: false,
      members: [{ name: "A" }, { name: "B" }],
      pairs: [{ a: 1 - reference, b: reference, in_both }],
    }) as unknown as Comparison;
  expect(noDisagreement(comparisonWith(0, 1))).toBe("B and A have runs, or trials of them, in common: nothing is paired.");
  expect(noDisagreement(comparisonWith(0, 1, 1))).toBe("A and B have runs, or trials of them, in common: nothing is paired.");
  expect(noDisagreement(comparisonWith(0, 0))).toBe("B and A share no scenario in which both were at risk.");
  expect(noDisagreement(comparisonWith(3, 0))).toBe("They agree on every turn that more than one of them reached.");
});
