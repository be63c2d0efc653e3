// The Matrix page's words and choices. Cells are numbered row by row, as the command gives them. Pure.
import { MAX_COMPARED } from "../compare/address";
import type { ScoreLine } from "../compare/scores";
import type { Matrix } from "../host/bindings/Matrix";
import type { MatrixCell } from "../host/bindings/MatrixCell";
import type { MatrixLine } from "../host/bindings/MatrixLine";
import type { Member } from "../host/bindings/Member";
import { counted, decimals, UNKNOWN } from "../parts/format";

export const lineName = (line: MatrixLine | undefined): string => line?.name ?? UNKNOWN;

/** Narrower than this no number of the matrix is whole, in px: the pane scrolls. The figure has the fewer of both in columns. */
export const leastWidth = (matrix: Matrix): number => 180 + 48 * (Math.min(matrix.harnesses.length, matrix.models.length) + 1);

/** `6.0×` */
export const times = (ratio: number): string =>
  `${ratio >= 100 ? decimals(ratio, 0) : ratio >= 10 ? decimals(ratio, 1) : decimals(ratio, 2)}×`;

/** The chosen cells of an address: `0,4`. */
export function readCells(text: string | undefined): number[] {
  return [
    ...new Set(
      (text ?? "")
        .split(",")
        .filter((word) => /^\d{1,6}$/.test(word))
        .map(Number),
    ),
  ];
}

/** The runs that an address leaves out: `lab.a,lab.b`. */
export const readRuns = (text: string | undefined): string[] => [...new Set((text ?? "").split(",").filter((run) => run !== ""))];

/** A horizon in whole turns; `null` = as far as every cell is known. */
export function readTau(text: string | undefined): number | null {
  const turns = Math.floor(Number(text ?? ""));
  return turns >= 1 && turns <= 1_000_000 ? turns : null;
}

/** The same with one cell more, or one less; `null` = none. */
export function toggled(chosen: readonly number[], at: number): string | null {
  const next = chosen.includes(at) ? chosen.filter((cell) => cell !== at) : [...chosen, at];
  return next.length === 0 ? null : next.join(",");
}

export function cellsOf(matrix: Matrix, chosen: readonly number[]): MatrixCell[] {
  return chosen.map((at) => matrix.cells[at]).filter((cell) => cell != null);
}

/** Which cells hold τ down, as a comparison says it: `Compared over 7 turns: the curve of MiniMax-M3 is known to turn 7, those of the others to turn 9 or later.` */
export function heldInWords(matrix: Pick<Matrix, "tau" | "shortest" | "harnesses" | "models" | "cells">): string | null {
  const { tau, shortest, harnesses, models } = matrix;
  if (shortest === null || tau === null) return null;
  const names = matrix.cells
    .filter((cell) => cell !== null)
    .filter((cell) => cell.runs.some((run) => shortest.runs.includes(run)))
    .map((cell) =>
      harnesses.length === 1
        ? lineName(models[cell.model])
        : models.length === 1
          ? lineName(harnesses[cell.harness])
          : `${lineName(harnesses[cell.harness])} × ${lineName(models[cell.model])}`,
    );
  const subject = names.length > 3 ? `${String(names.length)} cells` : names.join(", ").replace(/, ([^,]*)$/, " and $1");
  const curves = names.length === 1 ? `the curve of ${subject} is` : `the curves of ${subject} are`;
  const rest = shortest.others === 1 ? "that of the other" : "those of the others";
  const orLater = shortest.furthest > shortest.otherwise ? " or later" : "";
  return `Compared over ${counted(tau, "turn")}: ${curves} known to turn ${String(tau)}, ${rest} to turn ${String(shortest.otherwise)}${orLater}.`;
}

/** Cells whose turns are graded by themselves, as lines of a table of scores. */
export const scoreLinesOf = (matrix: Matrix): ScoreLine[] =>
  matrix.cells.flatMap((cell, at) =>
    cell?.scores == null
      ? []
      : [
          {
            key: String(at),
            name: `${lineName(matrix.harnesses[cell.harness])} × ${lineName(matrix.models[cell.model])}`,
            simulated: cell.simulated,
            stamina: cell.stamina,
            scores: cell.scores,
          },
        ],
  );

/** Cells as members of a comparison: all their runs together; a group of one run is that run. */
export function cellMembers(matrix: Matrix, cells: readonly MatrixCell[]): Member[] {
  return cells.slice(0, MAX_COMPARED).map((cell): Member => {
    const [run, more] = cell.runs;
    if (run !== undefined && more === undefined) return { by: "run", run };
    return {
      by: "cell",
      harness: matrix.harnesses[cell.harness]?.name ?? "",
      model: matrix.models[cell.model]?.name ?? "",
      benchmark: matrix.benchmark[0],
    };
  });
}

/** What the button says: how many of these cells are compared, where that is not all of them. */
export function comparedInWords(cells: readonly MatrixCell[]): string {
  const runs = cells.slice(0, MAX_COMPARED).reduce((sum, cell) => sum + cell.runs.length, 0);
  const ofRuns = `(${counted(runs, "run")})`;
  return cells.length > MAX_COMPARED
    ? `Compare the first ${String(MAX_COMPARED)} of ${counted(cells.length, "cell")} ${ofRuns}`
    : `Compare ${counted(cells.length, "cell")} ${ofRuns}`;
}

/** Whose retries are shown: the chosen cells', or those of the best cells. */
export function retryMembers(matrix: Matrix, chosen: readonly MatrixCell[]): Member[] {
  const cells =
    chosen.length > 0
      ? chosen
      : [...matrix.cells].filter((cell) => cell !== null).sort((a, b) => (b.stamina.mean ?? -1) - (a.stamina.mean ?? -1));
  return cellMembers(matrix, cells);
}
