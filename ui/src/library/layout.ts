// Which lines of the library's table are in view. All heights are known (group line 32 px, row 28 px), so the place of
// every line follows from the groups alone, before its row has been read. Pure.

export const ROW = 28;
export const GROUP = 32;
/** Browsers misplace what lies further down in one element; beyond this the scrolled way is stretched. */
export const TALLEST = 1_000_000;

export interface GroupShape {
  readonly runs: number;
  readonly folded: boolean;
}

export type Line =
  { readonly kind: "group"; readonly group: number } | { readonly kind: "row"; readonly row: number; readonly group: number };

export interface Layout {
  /** px of everything. */
  readonly height: number;
  /** Top of each group's line, in px. */
  readonly tops: readonly number[];
  /** First row of each group. */
  readonly firsts: readonly number[];
  readonly groups: readonly GroupShape[];
  /** Height of a group's line; 0 = no such lines. */
  readonly head: number;
}

/** `heads` = whether groups have a line of their own. */
export function layOut(groups: readonly GroupShape[], heads: boolean): Layout {
  const head = heads ? GROUP : 0;
  const tops: number[] = [];
  const firsts: number[] = [];
  let top = 0;
  let row = 0;
  for (const group of groups) {
    tops.push(top);
    firsts.push(row);
    top += head + (group.folded ? 0 : group.runs * ROW);
    row += group.runs;
  }
  return { height: top, tops, firsts, groups, head };
}

/** The last index whose value is at most `at`. */
function lastAtMost(values: readonly number[], at: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? Infinity) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Lines that touch `from`..`to` px, with `top` the place of the first of them. */
export function linesBetween(layout: Layout, from: number, to: number): { top: number; lines: Line[] } {
  const lines: Line[] = [];
  const first = Math.max(0, lastAtMost(layout.tops, Math.max(0, from)));
  let start: number | undefined;
  for (let g = first; g < layout.groups.length; g += 1) {
    const group = layout.groups[g];
    const top = layout.tops[g] ?? 0;
    if (group === undefined || top > to) break;
    if (layout.head > 0 && top + layout.head > from) {
      start ??= top;
      lines.push({ kind: "group", group: g });
    }
    if (group.folded) continue;
    const rowsTop = top + layout.head;
    const begin = Math.min(group.runs, Math.max(0, Math.floor((from - rowsTop) / ROW)));
    const end = Math.min(group.runs, Math.max(0, Math.ceil((to - rowsTop) / ROW)));
    for (let r = begin; r < end; r += 1) {
      start ??= rowsTop + r * ROW;
      lines.push({ kind: "row", row: (layout.firsts[g] ?? 0) + r, group: g });
    }
  }
  return { top: start ?? 0, lines };
}

/** Group of a row. */
export function groupOf(layout: Layout, row: number): number {
  // Empty groups share their first row with the next one; the last of them is the one with rows.
  return Math.max(0, lastAtMost(layout.firsts, row));
}

/** Top of a row's line in px. */
export function topOf(layout: Layout, row: number): number {
  const g = groupOf(layout, row);
  return (layout.tops[g] ?? 0) + layout.head + (row - (layout.firsts[g] ?? 0)) * ROW;
}

/** The next row in view order that is not folded away; `from` may be -1. `undefined` = none. */
export function nextRow(layout: Layout, from: number, step: 1 | -1): number | undefined {
  const total = layout.groups.reduce((sum, group) => sum + group.runs, 0);
  for (let row = from + step; row >= 0 && row < total; row += step) {
    if (layout.groups[groupOf(layout, row)]?.folded !== true) return row;
  }
  return undefined;
}

/** How the scrolled way maps onto the table: 1 until it is taller than an element may be. */
export function stretch(layout: Layout, viewport: number): number {
  return layout.height <= TALLEST ? 1 : (layout.height - viewport) / (TALLEST - viewport);
}
