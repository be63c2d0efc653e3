import { expect, it } from "vitest";
import type { Comparison } from "../host/bindings/Comparison";
import type { PairedComparison } from "../host/bindings/PairedComparison";
import { contrastOf, isAdjusted } from "./pairs";

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
