import { expect, test } from "vitest";
import { GROUP, groupOf, layOut, linesBetween, nextRow, ROW, stretch, TALLEST, topOf } from "./layout";

const shape = (runs: number, folded = false): { runs: number; folded: boolean } => ({ runs, folded });

test("every window shows exactly the lines that touch it", () => {
  const layout = layOut([shape(13), shape(9, true), shape(0), shape(7)], true);
  expect(layout.height).toBe(4 * GROUP + 20 * ROW);
  // The plain way: lay every line and look which ones touch.
  const all: { top: number; height: number; name: string }[] = [];
  let top = 0;
  let row = 0;
  for (const [g, group] of layout.groups.entries()) {
    all.push({ top, height: GROUP, name: `g${String(g)}` });
    top += GROUP;
    for (let r = 0; r < group.runs; r += 1, row += 1) {
      if (group.folded) continue;
      all.push({ top, height: ROW, name: `r${String(row)}` });
      top += ROW;
    }
  }
  for (let from = 0; from < layout.height; from += 7) {
    const to = from + 100;
    const got = linesBetween(layout, from, to);
    const want = all.filter((line) => line.top + line.height > from && line.top < to);
    const names = got.lines.map((line) => (line.kind === "group" ? `g${String(line.group)}` : `r${String(line.row)}`));
    expect(names.filter((name) => want.some((w) => w.name === name))).toEqual(want.map((w) => w.name));
    expect(names.length - want.length).toBeLessThanOrEqual(1);
    expect(got.top).toBe(all.find((line) => line.name === names[0])?.top);
  }
});

test("keys step over folded groups and stop at the ends", () => {
  const layout = layOut([shape(2), shape(3, true), shape(0), shape(1)], true);
  expect(nextRow(layout, -1, 1)).toBe(0);
  expect(nextRow(layout, 1, 1)).toBe(5);
  expect(nextRow(layout, 5, -1)).toBe(1);
  expect(nextRow(layout, 5, 1)).toBeUndefined();
  expect(groupOf(layout, 5)).toBe(3);
  expect(topOf(layout, 5)).toBe(4 * GROUP + 2 * ROW);
});

test("a million runs need no element taller than browsers can place", () => {
  const layout = layOut([shape(1_000_000)], false);
  const viewport = 700;
  const factor = stretch(layout, viewport);
  expect((TALLEST - viewport) * factor).toBeCloseTo(layout.height - viewport);
  const end = linesBetween(layout, layout.height - viewport, layout.height);
  expect(end.lines.at(-1)).toEqual({ kind: "row", row: 999_999, group: 0 });
  expect(stretch(layOut([shape(500)], true), viewport)).toBe(1);
});
