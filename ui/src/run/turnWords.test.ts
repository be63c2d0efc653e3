import { expect, it } from "vitest";
import type { SurvivalRow } from "../host/bindings/SurvivalRow";
import { nounsOf, turnInWords } from "./turnWords";

it("calls the scenarios of a run of one turn tasks", () => {
  const row = { turn: 1, survival: 0.5, ci_low: null, ci_high: null, at_risk: 4, events: 2, censored: 0 } as SurvivalRow;
  expect(turnInWords(1, row, nounsOf(true))).toContain("band n/a (one task, or all alike)");
  expect(turnInWords(1, row, nounsOf(false))).toContain("band n/a (one scenario, or all alike)");
});
