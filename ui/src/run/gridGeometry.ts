/**
 * Geometry of the episode × turn grid: from a row's letters to what is drawn. Cells of one look are merged into one
 * path per row, so that a row of 100 turns is a handful of nodes.
 *
 * Two sizes: from 16 px on full cells with a glyph and the failing count; below, height carries the verdict
 * (passed 62 %, failed 100 %) and a retry is split by a gap.
 */
import type { GridRow } from "../host/bindings/GridRow";
import { COLUMN_MIN, COLUMN_WITH_TEXT } from "./axis";

/** How a cell looks. `after` = behind the first turn not passed: it no longer counts. */
export type Look =
  | "passed"
  | "retry"
  | "failed"
  | "error"
  | "censored"
  | "not-reached"
  | "after-passed"
  | "after-retry"
  | "after-failed"
  | "after-error"
  | "nothing";

/** What fills a cell. */
export const fills: Readonly<Record<Look, string>> = {
  passed: "var(--status-passed)",
  retry: "var(--status-retry)",
  failed: "var(--status-failed)",
  error: "url(#hatch-small)",
  censored: "var(--status-censored)",
  "not-reached": "var(--status-not-reached)",
  "after-passed": "var(--grid-after-passed)",
  "after-retry": "var(--status-retry)",
  "after-failed": "var(--grid-after-failed)",
  "after-error": "url(#hatch-small)",
  nothing: "none",
};

export const ROW = 20;
/** Row height with more than {@link MANY} episodes. */
export const ROW_SMALL = 8;
export const MANY = 200;

/** The look of turn `turn` (from 1) of a row. */
export function lookOf(row: Pick<GridRow, "cells" | "stamina" | "censored" | "end_reason">, turn: number): Look {
  const letter = row.cells[turn - 1];
  const first = row.stamina + 1;
  if (letter === undefined) return "nothing";
  const after = turn > first;
  switch (letter) {
    case "p":
      return after ? "after-passed" : "passed";
    case "r":
      return after ? "after-retry" : "retry";
    case "f":
      return after ? "after-failed" : "failed";
    case "e":
      return after ? "after-error" : "error";
    case "c":
      return "censored";
    case "n":
      // Where observation stopped, the bar of a censored episode stands, as on the curve.
      return turn === first && row.censored && row.end_reason !== "passed_all" ? "censored" : "not-reached";
    default:
      return "nothing";
  }
}

export interface RowDrawing {
  /** One SVG path for each look that occurs. */
  readonly paths: readonly { readonly look: Look; readonly d: string }[];
  /** Holes and gaps, filled with the surface. */
  readonly holes: string;
  /** × of failed cells, drawn as strokes on the fill. */
  readonly crosses: string;
  /** Failing counts: center x of the cell and the number. */
  readonly counts: readonly { readonly x: number; readonly n: number; readonly turn: number }[];
}

const rect = (x: number, y: number, w: number, h: number): string => `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}z`;

function round(v: number): number {
  return Math.round(v * 100) / 100;
}

/** Width of a digit of a failing count. */
const DIGIT = 6;

/** What to draw for a row whose top is y = 0 and whose first column begins at x = 0. */
export function drawRow(
  row: Pick<GridRow, "cells" | "failing" | "stamina" | "censored" | "end_reason">,
  px: number,
  height: number,
): RowDrawing {
  const big = px >= COLUMN_WITH_TEXT && height >= 16;
  const pad = height >= 16 ? 2 : 1;
  const inner = height - 2 * pad;
  const low = inner * 0.62;
  // Cells are 2 px apart; where a column is very narrow (the turn page's strip), 1 px or nothing.
  const gap = px >= COLUMN_MIN ? 2 : px >= 3 ? 1 : 0;
  const parts = new Map<Look, string[]>();
  const holes: string[] = [];
  const crosses: string[] = [];
  const counts: { x: number; n: number; turn: number }[] = [];
  const addPath = (look: Look, d: string): void => {
    const list = parts.get(look);
    if (list) list.push(d);
    else parts.set(look, [d]);
  };
  for (let turn = 1; turn <= row.cells.length; turn += 1) {
    const look = lookOf(row, turn);
    if (look === "nothing") continue;
    const x = (turn - 1) * px + gap / 2;
    const w = px - gap;
    const cx = (turn - 0.5) * px;
    const cy = height / 2;
    if (look === "censored") {
      addPath(look, rect(x, pad, Math.min(2, w), inner));
    } else if (look === "not-reached") {
      const r = height >= 16 ? 1 : 0.75;
      addPath(look, `M${round(cx - r)} ${round(cy)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`);
    } else if (look === "error" || look === "after-error") {
      addPath(look, rect(x + 0.5, pad + 0.5, Math.max(0.5, w - 1), inner - 1));
    } else if (big) {
      addPath(look, rect(x, pad, w, inner));
      if (look === "retry" || look === "after-retry") {
        holes.push(`M${round(cx - 2.5)} ${cy}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0z`);
      }
      if (look === "failed") crosses.push(`M${round(cx - 3)} ${cy - 3}l6 6m0 -6l-6 6`);
    } else {
      const passed = look !== "failed" && look !== "after-failed";
      addPath(look, passed ? rect(x, pad + inner - low, w, low) : rect(x, pad, w, inner));
      if (look === "retry" || look === "after-retry") {
        const gap = height >= 16 ? 2 : 1;
        holes.push(rect(x, pad + inner - low / 2 - gap / 2, w, gap));
      }
    }
    const n = row.failing[turn - 1];
    if (big && look === "after-failed" && n != null && n > 0) counts.push({ x: round(cx), n, turn });
  }
  return {
    paths: [...parts].map(([look, list]) => ({ look, d: list.join("") })),
    holes: holes.join(""),
    crosses: crosses.join(""),
    // Numbers that run into each other read as one. A cell without its number among others with one would read as none failing.
    counts: counts.every(({ n }) => String(n).length * DIGIT <= px - gap) ? counts : [],
  };
}

/**
 * The edge line: the end of each row's prefix of passed turns. Sorted by stamina it is one staircase, the survival
 * curve seen from the side; in any other order the ends are not joined.
 */
export function edgePath(staminas: readonly number[], px: number, height: number, joined: boolean): string {
  const steps: string[] = [];
  let at: number | null = null;
  staminas.forEach((stamina, i) => {
    const x = round(stamina * px);
    const y = i * height;
    if (at === null || !joined) steps.push(`M${x} ${y}`);
    else if (at !== x) steps.push(`H${x}`);
    steps.push(`V${y + height}`);
    at = x;
  });
  return steps.join("");
}

/** The first turn not passed of the next (or previous) row that has one, from row `from` on; wraps around. */
export function nextFirstFailure(
  rows: readonly Pick<GridRow, "failed_turn" | "censored">[],
  from: number,
  step: 1 | -1,
): { row: number; turn: number } | null {
  for (let k = 1; k <= rows.length; k += 1) {
    const i = (((from + step * k) % rows.length) + rows.length) % rows.length;
    const row = rows[i];
    if (row && row.failed_turn !== null && !row.censored) return { row: i, turn: row.failed_turn };
  }
  return null;
}
