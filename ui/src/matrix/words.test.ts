import { expect, test } from "vitest";
import type { MatrixCell } from "../host/bindings/MatrixCell";
import { chosenMembers, comparedInWords, readCells, times, toggled } from "./words";

test("cells are chosen and left again", () => {
  expect(readCells("3,1,3,x,")).toEqual([3, 1]);
  expect(toggled([3, 1], 7)).toBe("3,1,7");
  expect(toggled([3, 1], 3)).toBe("1");
  expect(toggled([3], 3)).toBeNull();
});

test("a comparison has at most eight runs", () => {
  const cell = (runs: string[]): MatrixCell => ({ harness: 0, model: 0, runs, simulated: false, mixed: [], stamina: { mean: 1, ci_low: null, ci_high: null, tau: 1, n: 1, events: 1, censored: 0, median: 0 } });
  const many = [cell(["a", "b"]), cell(["c", "d", "e", "f", "g", "h", "i"])];
  expect(chosenMembers(many)).toHaveLength(8);
  expect(comparedInWords(many)).toBe("Compare the first 8 of 9 runs");
  expect([comparedInWords([cell(["a"])]), comparedInWords([cell(["a", "b"])])]).toEqual(["Compare 1 run", "Compare 2 runs"]);
});

test("ratios are said as times", () => {
  expect([6, 12.34, 250].map(times)).toEqual(["6.00×", "12.3×", "250×"]);
});
