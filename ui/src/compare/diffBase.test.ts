import { expect, test } from "vitest";
import { beginOf, sinceInWords } from "./diffBase";

test("a turn begins with what the last attempt before it left", () => {
  const choices = [
    [1, 1],
    [2, 1],
    [2, 2],
    [4, 1],
  ] as const;
  expect(beginOf(choices, 4)).toEqual([2, 2]);
  expect(beginOf(choices, 1)).toBeNull();
  expect(beginOf([], 3)).toBeNull();
});

test("what code is held against is said", () => {
  expect([sinceInWords([2, 2], 4), sinceInWords([4, 1], 4), sinceInWords(null, 1)]).toEqual([
    "changes since turn 2, attempt 2",
    "changes since attempt 1 of this turn",
    "nothing before: everything is new",
  ]);
});
