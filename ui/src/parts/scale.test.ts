import { expect, test } from "vitest";
import { ticks } from "./scale";

test("ticks are those of the visual direction", () => {
  expect(ticks(9)).toEqual([0, 3, 6, 9]);
  expect(ticks(20)).toEqual([0, 5, 10, 15, 20]);
  expect(ticks(4)).toEqual([0, 1, 2, 3, 4]);
  expect(ticks(100)).toEqual([0, 25, 50, 75, 100]);
});

test("every scale begins at 0, ends at its end, rises, and has few ticks", () => {
  for (let end = 1; end <= 3000; end += 1) {
    const all = ticks(end);
    expect(all[0]).toBe(0);
    expect(all.at(-1)).toBe(end);
    expect(all.length).toBeLessThanOrEqual(6);
    for (let i = 1; i < all.length; i += 1) expect(all[i]).toBeGreaterThan(all[i - 1] ?? Infinity);
  }
});
