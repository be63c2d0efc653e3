import { expect, test } from "vitest";
import { toMiddle, toMiddleIfHidden } from "./scroll";

test("a place comes to the middle of a pane, and one that is larger begins at its start", () => {
  const box = { start: 100, size: 400 };
  expect(toMiddle({ start: 1000, size: 20 }, box)).toBe(710);
  expect(toMiddle({ start: 290, size: 20 }, box)).toBe(0);
  expect(toMiddle({ start: 1000, size: 500 }, box)).toBe(900);
});

test("what is shown already does not move", () => {
  const box = { start: 0, size: 100 };
  expect(toMiddleIfHidden({ start: 0, size: 100 }, box)).toBe(0);
  expect(toMiddleIfHidden({ start: 90, size: 20 }, box)).toBe(50);
  expect(toMiddleIfHidden({ start: -30, size: 20 }, box)).toBe(-70);
});
