import { expect, test } from "vitest";
import { figureLeast, gridLeast } from "./heights";

test("a figure has room for a plot and for a row of each member", () => {
  expect(figureLeast(4, false)).toBe(240);
  // 9 lines of the table, and a plot of 140.
  expect(figureLeast(8, false) - 9 * 15).toBeGreaterThanOrEqual(140 + 54 + 32 + 22);
  expect(figureLeast(8, false) - figureLeast(7, false)).toBe(15);
});

test("more than eight members have lines of panels, of which six are shown at once", () => {
  expect(figureLeast(9, false)).toBe(76 + 36 + 3 * 129);
  expect(figureLeast(13, false) - figureLeast(12, false)).toBe(129);
  expect(figureLeast(13, true)).toBeLessThan(figureLeast(13, false));
  expect(figureLeast(42, false)).toBe(figureLeast(18, false));
});

test("what stands below the figure keeps its room", () => {
  expect(gridLeast(13, null) - figureLeast(13, false)).toBeGreaterThanOrEqual(140);
  expect(gridLeast(13, 352) - figureLeast(13, true)).toBeGreaterThanOrEqual(352);
  expect(gridLeast(1, null)).toBe(320);
});
