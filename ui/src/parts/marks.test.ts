import { expect, test } from "vitest";
import type { FigureMark } from "../host/bindings/FigureMark";
import { markAt, markStep } from "./marks";

const mark = (series: number, item: number | null, x: number, y: number, size = 10): FigureMark => ({
  series,
  item,
  x0: x,
  y0: y,
  x1: x + size,
  y1: y + size,
  lines: [],
});

test("the mark around the pointer counts, of several the nearest middle, and a little beside it still", () => {
  const marks = [mark(0, 1, 0, 0, 100), mark(1, 1, 40, 40), mark(0, 2, 200, 0)];
  expect(markAt(marks, 46, 44)).toBe(1);
  expect(markAt(marks, 90, 90)).toBe(0);
  expect(markAt(marks, 215, 5)).toBe(2);
  expect(markAt(marks, 190, 5)).toBe(2);
  expect(markAt(marks, 150, 60)).toBeNull();
  expect(markAt([], 0, 0)).toBeNull();
});

test("arrows go along a series and to the next one at the same item", () => {
  const marks = [mark(0, 1, 0, 0), mark(0, 2, 20, 0), mark(0, 3, 40, 0), mark(1, 2, 20, 30), mark(1, 3, 40, 30)];
  expect(markStep(marks, null, "ArrowRight")).toBe(0);
  expect(markStep(marks, 0, "ArrowRight")).toBe(1);
  expect(markStep(marks, 0, "ArrowLeft")).toBe(0);
  expect(markStep(marks, 2, "ArrowDown")).toBe(4);
  expect(markStep(marks, 0, "ArrowDown")).toBe(3);
  expect(markStep(marks, 3, "ArrowUp")).toBe(1);
  expect(markStep(marks, 4, "ArrowRight")).toBe(4);
  expect(markStep(marks, 1, "End")).toBe(4);
  expect(markStep(marks, 1, "j")).toBeNull();
});

test("where every series has one mark, all arrows go through the series", () => {
  const marks = [mark(0, null, 0, 0), mark(1, null, 0, 30), mark(2, null, 0, 60)];
  expect(markStep(marks, 0, "ArrowDown")).toBe(1);
  expect(markStep(marks, 1, "ArrowRight")).toBe(2);
  expect(markStep(marks, 2, "ArrowUp")).toBe(1);
  expect(markStep([], 0, "ArrowUp")).toBeNull();
});

test("in a turned matrix, where a harness stands upright, arrows go where they point", () => {
  // Two harnesses as columns, three models as rows.
  const marks = [0, 1].flatMap((harness) => [0, 1, 2].map((model) => mark(harness, model, harness * 20, model * 20)));
  expect(markStep(marks, 0, "ArrowDown")).toBe(1);
  expect(markStep(marks, 1, "ArrowUp")).toBe(0);
  expect(markStep(marks, 1, "ArrowRight")).toBe(4);
  expect(markStep(marks, 4, "ArrowLeft")).toBe(1);
  expect(markStep(marks, 5, "ArrowRight")).toBe(5);
  expect(markStep(marks, 2, "ArrowDown")).toBe(2);
  // The same harnesses as rows.
  const rows = [0, 1].flatMap((harness) => [0, 1, 2].map((model) => mark(harness, model, model * 20, harness * 20)));
  expect(markStep(rows, 0, "ArrowRight")).toBe(1);
  expect(markStep(rows, 1, "ArrowDown")).toBe(4);
});
