import { expect, test } from "vitest";
import type { RunSort } from "../host/bindings/RunSort";
import { hasScale, hasSeveralTaus, headScale, namedColumns, shownColumns, unknownForAll } from "./columns";

test("a column that is unknown for all is hidden, unless it was asked for", () => {
  const knows = (...known: RunSort[]): { known: RunSort[] } => ({ known });
  const unknown = unknownForAll([knows("harness", "turns", "score"), knows("harness")]);
  expect([...unknown]).toEqual(["tokens", "cost", "date"]);
  expect(shownColumns(null, true, unknown).map((column) => column.id)).toEqual([
    "harness",
    "episodes",
    "turns",
    "stamina",
    "ci",
    "score",
    "ends",
  ]);
  expect(shownColumns(["cost"], true, unknown).map((column) => column.id)).toEqual(["cost"]);
  // One group that knows it is enough.
  expect(unknownForAll([knows("harness"), knows("cost")]).has("cost")).toBe(false);
  expect(unknownForAll([])).toEqual(new Set());
});

test("the column of mean stamina says what stands in it", () => {
  const shown = shownColumns(null, false, new Set());
  const title = (measured: Parameters<typeof namedColumns>[1]): string | undefined =>
    namedColumns(shown, measured).find((column) => column.id === "stamina")?.title;
  expect([title("stamina"), title("rates"), title("both")]).toEqual(["Stamina", "Pass rate", "Stamina or pass rate"]);
});

test("means over other numbers of turns say over how many, those over one number do not", () => {
  expect(hasSeveralTaus({ tau: [7, 15] })).toBe(true);
  expect(hasSeveralTaus({ tau: [9, 9] })).toBe(false);
  expect(hasSeveralTaus({ tau: null })).toBe(false);
  expect(hasSeveralTaus(undefined)).toBe(false);
});

test("without groups the head of the column shows the scale of the intervals", () => {
  const turns = { planned_turns: [3, 12] as [number, number], tau: [3, 12] as [number, number], scale: 12 };
  expect(headScale("none", [turns])).toEqual({ scale: 12, percent: false });
  expect(headScale("none", [{ planned_turns: [1, 1], tau: null, scale: 1 }])).toEqual({ scale: 1, percent: true });
  // The lines of groups have scales of their own.
  expect(headScale("benchmark", [turns])).toBeNull();
  expect(headScale("none", [{ planned_turns: null, tau: null, scale: 0 }])).toBeNull();
  expect(headScale("none", [])).toBeNull();
});

test("runs without tests have no scale", () => {
  expect(hasScale({ planned_turns: null, tau: null, scale: 1 })).toBe(false);
  expect(hasScale({ planned_turns: [3, 4], tau: [0, 0], scale: 1 })).toBe(false);
  expect(hasScale({ planned_turns: null, tau: [4, 4], scale: 4 })).toBe(true);
});
