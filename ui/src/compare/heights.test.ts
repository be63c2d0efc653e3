import { expect, test } from "vitest";
import { figureLeast, gridLeast } from "./heights";

test("a figure has room for a plot and for a row of each member", () => {
  expect(figureLeast(4)).toBe(240);
  // 14 lines of the table, and a plot of 140.
  expect(figureLeast(13) - 14 * 15).toBeGreaterThanOrEqual(140 + 54 + 32 + 22);
  expect(figureLeast(42) - figureLeast(41)).toBe(15);
});

test("what stands below the figure keeps its room", () => {
  expect(gridLeast(13, null) - figureLeast(13)).toBeGreaterThanOrEqual(140);
  expect(gridLeast(13, 352) - figureLeast(13)).toBeGreaterThanOrEqual(352);
  expect(gridLeast(1, null)).toBe(320);
});
