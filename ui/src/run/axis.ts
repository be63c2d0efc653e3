/**
 * The one turn axis of the run page. Turn `t` is the column from `leftEdge(t)` to `leftEdge(t + 1)`; whatever belongs
 * to the turn stands at the column's center. Curve, at-risk row, histogram, header and grid all use these functions
 * (and `crates/figures` the same rule), so that they meet to the pixel.
 */

/** Narrowest and widest column in px: a run of four turns takes the width that there is. */
export const COLUMN_MIN = 6;
export const COLUMN_MAX = 240;
/** From this width on, cells carry glyphs and failing counts. */
export const COLUMN_WITH_TEXT = 16;

export interface Axis {
  /** Number of turn columns. */
  readonly turns: number;
  /** Width of a column in px, a whole number so that every edge is sharp. */
  readonly px: number;
  /** Left edge of turn 1's column in px. */
  readonly left: number;
}

/** The column's width for `free` px; whole px, within the limits even if the columns then do not fit. */
export function columnWidth(free: number, turns: number): number {
  if (turns <= 0 || !Number.isFinite(free)) return COLUMN_MAX;
  return Math.min(COLUMN_MAX, Math.max(COLUMN_MIN, Math.floor(free / turns)));
}

/** Room of a figure left of turn 1's column, at least; turn 0 and the labels of the y axis stand in it. */
const FIGURE_LEFT_MIN = 72;
/** Room of the y axis's labels. */
const AXIS_LABELS = 36;

/**
 * How `width` px are shared out where words of `words` px stand left of the figures and `right` px are kept free: the column's
 * width, and the room of a figure left of turn 1's column. Turn 0 is a whole column left of turn 1, so half of it and the labels
 * beside it must fit in there, or they meet the words.
 */
export function sharedWidth(width: number, words: number, right: number, turns: number): { px: number; figureLeft: number } {
  const narrow = columnWidth(width - words - FIGURE_LEFT_MIN - right, turns);
  if (narrow / 2 + AXIS_LABELS <= FIGURE_LEFT_MIN) return { px: narrow, figureLeft: FIGURE_LEFT_MIN };
  const least = 2 * (FIGURE_LEFT_MIN - AXIS_LABELS);
  const px = Math.max(least, columnWidth(width - words - AXIS_LABELS - right, turns + 0.5));
  return { px, figureLeft: Math.ceil(px / 2) + AXIS_LABELS };
}

export function leftEdge(axis: Axis, turn: number): number {
  return axis.left + (turn - 1) * axis.px;
}

export function center(axis: Axis, turn: number): number {
  return axis.left + (turn - 0.5) * axis.px;
}

/** Width of all columns together. */
export function span(axis: Axis): number {
  return axis.turns * axis.px;
}

/** The turn whose column holds `x`, or null outside of the columns. */
export function turnAt(axis: Axis, x: number): number | null {
  const turn = Math.floor((x - axis.left) / axis.px) + 1;
  return turn >= 1 && turn <= axis.turns ? turn : null;
}

/** Distances between labels, in turns; the rule is that of `TurnAxis::ticks` in crates/figures. */
const STEPS = [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
const FONT = 11;
/** Least room between two labels in px. */
const GAP = 8;
/** IBM Plex Sans has digits of 0.6 em. */
const DIGIT = 0.6;

/** How far apart labels stand, in turns. */
function stepOf(turns: number, px: number, digits: number): number {
  const room = Math.max(digits, String(turns).length) * DIGIT * FONT + FONT;
  return px >= room && turns <= 30 ? 1 : (STEPS.find((s) => s * px >= room && Math.floor(turns / s) <= 15) ?? turns);
}

/** Labels that are all equally far apart: the multiples of the step, without turn 1 and the last one. */
export function evenTurns(turns: number, px: number, digits = 1): number[] {
  const step = stepOf(Math.max(1, turns), px, digits);
  return Array.from({ length: Math.floor(turns / step) }, (_, i) => (i + 1) * step);
}

/**
 * The turns that carry a number: every one if there is room, else turn 1 and the multiples of a round step, as under
 * the curve. The last turn is named too where it does not touch its neighbor. `digits` = how long what stands at a
 * turn can be, where that is not its number.
 */
export function labeledTurns(turns: number, px: number, digits = 1): number[] {
  if (turns <= 0) return [];
  const step = stepOf(turns, px, digits);
  if (step === 1) return Array.from({ length: turns }, (_, i) => i + 1);
  const apart = (a: number, b: number): boolean =>
    (b - a) * px >= ((Math.max(digits, String(a).length) + Math.max(digits, String(b).length)) / 2) * DIGIT * FONT + GAP;
  const labels = [1];
  for (let t = step; t <= turns; t += step) if (apart(1, t)) labels.push(t);
  if (apart(labels.at(-1) ?? 1, turns)) labels.push(turns);
  return labels;
}
