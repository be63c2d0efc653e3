// How high the panes of the Compare page must be at least, in px, so that a figure of many members is whole. Pure.

/** Up to this number of members the usual height is enough. */
const FEW = 4;
const USUAL = 240;
/** Head and reading line of a pane, with the air above its drawing. */
const PANE = 32 + 38 + 6;
/** What a figure has around its plot: axis, ticks, name of the axis, mark of τ. */
const AXIS = 54;
const PLOT = 140;
/** A row of the at-risk table, as the figures crate draws it on a screen. */
const ROW = 15;
/** Without a list. */
const ALONE = 320;
/** The list below the figures, and the edge between them. */
const LIST = 140;
const EDGE = 9;

/** The pane of the figure: its plot, and a row of the at-risk table for every member under a head. */
export function figureLeast(members: number): number {
  return members <= FEW ? USUAL : PANE + AXIS + PLOT + ROW * (members + 1);
}

/** The panes together. With `lower` px of numbers under the figure, or with a list under both. */
export function gridLeast(members: number, lower: number | null): number {
  if (lower !== null) return figureLeast(members) + EDGE + lower;
  return members > 1 ? figureLeast(members) + EDGE + LIST : ALONE;
}
