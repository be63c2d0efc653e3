// A cell of the grid of episodes and turns, and the end of its row, in words. Pure.
import type { GridRow } from "../host/bindings/GridRow";
import { episodeName } from "../parts/episode";
import { endReasonLabels } from "../parts/format";
import { type Look, lookOf } from "./gridGeometry";

const words: Readonly<Record<Look, string>> = {
  passed: "passed",
  retry: "passed after retries",
  failed: "failed, first failure",
  error: "error, first turn not passed",
  censored: "censored here",
  "not-reached": "not reached",
  "after-passed": "passed, after the first failure",
  "after-retry": "passed after retries, after the first failure",
  "after-failed": "failed, after the first failure",
  "after-error": "error, after the first failure",
  nothing: "no such turn",
};

/** What ended an episode from outside is no failure. */
const lookInWords = (row: GridRow, turn: number): string =>
  row.censored ? words[lookOf(row, turn)].replace("the first failure", "the episode was stopped") : words[lookOf(row, turn)];
/** `≥ 4` of a censored episode. */
export const staminaText = (row: GridRow): string => (row.censored ? "≥\u202f" : "") + String(row.stamina);

/** Why the episode ended. */
export const endInWords = (row: GridRow): string =>
  endReasonLabels[row.end_reason] +
  (row.unrecognised ? ", cause not recognized" : "") +
  (row.invalid === null ? "" : `; withdrawn: ${row.invalid}`);

/** A cell of the grid, aloud. */
export function cellInWords(row: GridRow, turn: number): string {
  const failing = row.failing[turn - 1];
  const tests = failing != null && failing > 0 ? `, ${String(failing)} failing ${failing === 1 ? "test" : "tests"}` : "";
  return `${episodeName(row)}, turn ${String(turn)}: ${lookInWords(row, turn)}${tests}; stamina ${staminaText(row)}, ${endInWords(row)}`;
}
