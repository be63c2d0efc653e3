import { expect, test } from "vitest";
import type { Matrix } from "../host/bindings/Matrix";
import type { MatrixCell } from "../host/bindings/MatrixCell";
import type { MatrixLine } from "../host/bindings/MatrixLine";
import { cellMembers, comparedInWords, heldInWords, leastWidth, readCells, times, toggled } from "./matrixWords";

test("cells are chosen and left again", () => {
  expect(readCells("3,1,3,x,")).toEqual([3, 1]);
  expect(toggled([3, 1], 7)).toBe("3,1,7");
  expect(toggled([3, 1], 3)).toBe("1");
  expect(toggled([3], 3)).toBeNull();
});

const cell = (runs: string[], harness = 0, model = 0): MatrixCell => ({
  harness,
  model,
  runs,
  simulated: false,
  early_censored: null,
  doubts: [],
  score_doubts: [],
  mixed: [],
  pass_rate: null,
  scores: null,
  stamina: { mean: 1, ci_low: null, ci_high: null, clustered: false, tau: 1, n: 1, events: 1, censored: 0, median: 0 },
});
const line = (name: string | null): MatrixLine => ({ name, mean: null, cells: 1, missing: 0 });

test("cells are compared with all their runs, and a cell of one run as that run", () => {
  const matrix = { benchmark: ["b", "B"], harnesses: [line("opencode"), line(null)], models: [line("glm")] } as unknown as Matrix;
  const many = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
  expect(cellMembers(matrix, [cell(many), cell(["x"], 1), cell(["y", "z"], 1)])).toEqual([
    { by: "cell", harness: "opencode", model: "glm", benchmark: "b" },
    { by: "run", run: "x" },
    { by: "cell", harness: "", model: "glm", benchmark: "b" },
  ]);
  expect(
    cellMembers(
      matrix,
      many.map((run) => cell([run])),
    ),
  ).toHaveLength(8);
  expect(comparedInWords([cell(many), cell(["x"])])).toBe("Compare 2 cells (10 runs)");
  expect(comparedInWords(many.map((run) => cell([run])))).toBe("Compare the first 8 of 9 cells (8 runs)");
});

test("a matrix of many models and harnesses scrolls before its numbers are cut", () => {
  const width = (harnesses: number, models: number): number =>
    leastWidth({
      harnesses: Array.from({ length: harnesses }, () => line("h")),
      models: Array.from({ length: models }, () => line("m")),
    } as unknown as Matrix);
  // Many models of a few harnesses stand in rows, so they need no width.
  expect(width(2, 42)).toBe(width(2, 2));
  expect(width(1, 13)).toBeLessThan(360);
  expect(width(42, 42)).toBeGreaterThan(42 * 40);
});

test("ratios are said as times", () => {
  expect([6, 12.34, 250].map(times)).toEqual(["6.00×", "12.3×", "250×"]);
});

test("what holds τ down is named as the matrix names it", () => {
  const matrix = {
    tau: 7,
    shortest: { runs: ["lab.minimax-m3"], otherwise: 9, others: 2, furthest: 15 },
    harnesses: [line("terminus-2")],
    models: [line("GLM-5.2"), line("MiniMax-M3"), line(null)],
    cells: [cell(["lab.glm"]), cell(["lab.minimax-m3"], 0, 1), null],
  };
  expect(heldInWords(matrix)).toBe(
    "Compared over 7 turns: the curve of MiniMax-M3 is known to turn 7, those of the others to turn 9 or later.",
  );
  const two = {
    ...matrix,
    tau: 1,
    harnesses: [line("codex"), line("opencode")],
    shortest: { runs: ["a", "b"], otherwise: 3, others: 2, furthest: 3 },
    cells: [cell(["a"]), cell(["b"], 1, 1)],
  };
  expect(heldInWords(two)).toBe(
    "Compared over 1 turn: the curves of codex × GLM-5.2 and opencode × MiniMax-M3 are known to turn 1, those of the others to turn 3.",
  );
  expect(
    heldInWords({
      ...two,
      shortest: { runs: ["a", "b", "c", "d"], otherwise: 3, others: 1, furthest: 3 },
      cells: ["a", "b", "c", "d"].map((run) => cell([run])),
    }),
  ).toContain(": the curves of 4 cells are known to turn 1, ");
  expect(heldInWords({ ...matrix, shortest: { ...matrix.shortest, others: 1, furthest: 9 } })).toMatch(/, that of the other to turn 9\.$/);
  expect(heldInWords({ ...matrix, shortest: null })).toBeNull();
});
