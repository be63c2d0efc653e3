import { expect, test } from "vitest";
import type { RunSort } from "../host/bindings/RunSort";
import type { RunRow } from "../host/bindings/RunRow";
import {
  CHECK,
  type ColumnRoom,
  fitColumns,
  groupScale,
  growingRoom,
  hasSeveralTaus,
  headScale,
  measuredIn,
  namedColumns,
  rowScale,
  shownColumns,
  unknownForAll,
} from "./columns";

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

test("what is measured follows all runs of a list, not those in view", () => {
  const group = (planned_turns: [number, number] | null, tau: [number, number] | null): Parameters<typeof measuredIn>[0][number] => ({
    planned_turns,
    tau,
    scale: tau?.[1] ?? 1,
  });
  expect(measuredIn([group([1, 1], [1, 1])])).toBe("rates");
  expect(measuredIn([group([12, 15], [12, 15])])).toBe("stamina");
  // The columns said "Stamina" until a run of one turn came into view.
  expect(measuredIn([group([1, 12], [1, 12])])).toBe("both");
  expect(measuredIn([group([1, 1], [1, 1]), group([12, 12], [12, 12])])).toBe("both");
  // A run of episodes of 1 to 12 turns has stamina.
  expect(measuredIn([group([1, 12], [12, 12])])).toBe("stamina");
  expect([measuredIn([]), measuredIn([group(null, null)])]).toEqual(["stamina", "stamina"]);
});

test("means over other numbers of turns say over how many, those over one number do not", () => {
  expect(hasSeveralTaus({ tau: [7, 15] })).toBe(true);
  expect(hasSeveralTaus({ tau: [9, 9] })).toBe(false);
  expect(hasSeveralTaus({ tau: null })).toBe(false);
  expect(hasSeveralTaus(undefined)).toBe(false);
});

test("without groups the head of the column shows the scale of the intervals", () => {
  const turns = { planned_turns: [3, 12] as [number, number], tau: [12, 12] as [number, number], scale: 12, share_scale: null };
  expect(headScale("none", [turns])).toEqual({ end: 12, unit: "turns" });
  expect(headScale("none", [{ planned_turns: [1, 1], tau: null, scale: 1, share_scale: null }])).toEqual({ end: 1, unit: "rates" });
  // The lines of groups have scales of their own.
  expect(headScale("benchmark", [turns])).toBeNull();
  expect(headScale("none", [{ planned_turns: null, tau: null, scale: 0, share_scale: null }])).toBeNull();
  expect(headScale("none", [])).toBeNull();
});

test("means over other numbers of turns are shares of them on one axis", () => {
  const group = { planned_turns: [1, 100] as [number, number], tau: [1, 100] as [number, number], scale: 100, share_scale: 0.6 };
  const runWith = (tau: number | null): Parameters<typeof rowScale>[1] => ({ stamina: { tau } as RunRow["stamina"], pass_rate: null });
  expect(groupScale(group)).toEqual({ end: 0.6, unit: "shares" });
  // 4.5 of 15 turns stands where 30 of 100 does.
  expect([15, 100].map((tau) => (0.3 * tau) / rowScale(group, runWith(tau)))).toEqual([0.5, 0.5]);
  expect(rowScale(group, { ...runWith(1), pass_rate: {} as RunRow["pass_rate"] })).toBe(0.6);
  expect(rowScale(group, runWith(null))).toBe(0.6);
  // One τ has one scale of turns, which may end before it.
  expect(rowScale({ tau: [15, 15], scale: 2, share_scale: null }, runWith(15))).toBe(2);
  expect(rowScale(undefined, runWith(9))).toBe(9);
});

test("columns leave their room to names that would be cut, the date last", () => {
  const shown = shownColumns(null, true, new Set());
  const room: ColumnRoom = { width: 1249, wide: true, names: 150, harness: 11, dateGivesWay: true };
  const forNames = (more: Partial<ColumnRoom>): number =>
    room.width - fitColumns(shown, { ...room, ...more }).reduce((sum, column) => sum + column.px, CHECK);
  const hasDate = (more: Partial<ColumnRoom>): boolean => fitColumns(shown, { ...room, ...more }).some((column) => column.id === "date");
  const steps = [150, 300, 370, 540].map((names) => forNames({ names }));
  expect(steps).toEqual([...steps].sort((a, b) => a - b));
  expect(new Set(steps).size).toBe(4);
  const dates = [hasDate({ names: 370 }), hasDate({ names: 540 }), hasDate({ names: 540, dateGivesWay: false })];
  expect(dates).toEqual([true, false, true]);
  // A long harness is not cut for it.
  expect(fitColumns(shown, { ...room, names: 540, harness: 30 }).find((column) => column.id === "harness")?.px).toBe(106);
});

test("what names ask for only grows while a list is scrolled, and begins anew with another list", () => {
  const grow = growingRoom();
  expect(grow("a", [], [])).toEqual({ names: 150, harness: 0 });
  expect(grow("a", [400, 200], [11])).toEqual({ names: 400, harness: 11 });
  // The long name is out of view.
  expect(grow("a", [200], [30])).toEqual({ names: 400, harness: 30 });
  expect(grow("a", [900], [5])).toEqual({ names: 560, harness: 30 });
  expect(grow("b", [200], [5])).toEqual({ names: 200, harness: 5 });
});

test("runs without tests have no scale", () => {
  const group = (tau: [number, number] | null, scale: number): Parameters<typeof groupScale>[0] => ({
    planned_turns: [3, 4],
    tau,
    scale,
    share_scale: null,
  });
  expect(groupScale(group(null, 1))).toBeNull();
  expect(groupScale(group([0, 0], 1))).toBeNull();
  expect(groupScale(group([4, 4], 4))).toEqual({ end: 4, unit: "turns" });
});
