import { expect, test } from "vitest";
import { ticks } from "./scale";

test("ticks are those of the visual direction", () => {
  expect(ticks(9)).toEqual([0, 3, 6, 9]);
  expect(ticks(20)).toEqual([0, 5, 10, 15, 20]);
  expect(ticks(4)).toEqual([0, 1, 2, 3, 4]);
  expect(ticks(100)).toEqual([0, 25, 50, 75, 100]);
});

test("a scale below one turn has ticks, too", () => {
  expect(ticks(0.5)).toEqual([0, 0.25, 0.5]);
  expect(ticks(0.2)).toEqual([0, 0.05, 0.1, 0.15, 0.2]);
  expect(ticks(0.1)).toEqual([0, 0.05, 0.1]);
});

test("every scale begins at 0, ends at its end, rises, and has few ticks", () => {
  // One look at all of them: an `expect` for each would be thousands, and too slow for a busy machine.
  const wrong: number[] = [];
  for (let end = 1; end <= 3000; end += 1) {
    const all = ticks(end);
    const rises = all.every((at, i) => i === 0 || at > (all[i - 1] ?? Infinity));
    if (all[0] !== 0 || all.at(-1) !== end || all.length > 6 || !rises) wrong.push(end);
  }
  expect(wrong).toEqual([]);
});
