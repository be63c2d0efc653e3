// How high the panes of the Compare page must be at least, in px, so that a figure of many members is whole. Pure.
import { MAX_COMPARED } from "./address";

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
/** Of more members each curve has a panel: name, count, the least plot, axis and numbers at risk. */
const PANEL = 129;
/** Name of the axis above the panels and the one below them. */
const AROUND = 36;
/** Panels beside each other on a narrow and on a wide window, and the most lines of them; beyond, the pane scrolls. */
const ACROSS = { narrow: 3, wide: 4 } as const;
const MOST_LINES = 6;
/** Without a list. */
const ALONE = 320;
/** The list below the figures, and the edge between them. */
const LIST = 140;
const EDGE = 9;

/** The pane of the figure: its plot, and a row of the at-risk table for every member under a head; or its lines of panels. */
export function figureLeast(members: number, wide: boolean): number {
  if (members <= FEW) return USUAL;
  if (members <= MAX_COMPARED) return PANE + AXIS + PLOT + ROW * (members + 1);
  return PANE + AROUND + PANEL * Math.min(MOST_LINES, Math.ceil(members / ACROSS[wide ? "wide" : "narrow"]));
}

/** The panes together. With `lower` px of numbers under the figure, or with a list under both. */
export function gridLeast(members: number, lower: number | null): number {
  if (lower !== null) return figureLeast(members, true) + EDGE + lower;
  return members > 1 ? figureLeast(members, false) + EDGE + LIST : ALONE;
}
