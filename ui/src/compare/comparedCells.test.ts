import { expect, test } from "vitest";
import type { DisagreementCell } from "../host/bindings/DisagreementCell";
import type { DisagreementRow } from "../host/bindings/DisagreementRow";
import type { TurnState } from "../host/bindings/TurnState";
import { hrefOf, parseRoute } from "../shell/routes";
import { cellInWords, cellText, pairOf, sideBySide } from "./comparedCells";

const cell = (state: TurnState, passed: number | null = null, total: number | null = 10): DisagreementCell => ({
  run: "a/b",
  episode: "e 1",
  state,
  failed: state === "failed",
  passed,
  total,
  after_failure: false,
  episodes: [1, 0],
});
const row = (...cells: (DisagreementCell | null)[]): DisagreementRow => ({ scenario: "s", title: null, turn: 3, cells, spread: null });

test("the reference is looked at beside the member that differs most, or the requested one", () => {
  const r = row(cell("failed", 9), cell("error"), cell("failed", 2), cell("passed", 10), null);
  expect(pairOf(r, 0, null)).toEqual([0, 3]);
  expect(pairOf(r, 3, null)).toEqual([3, 0]);
  expect(pairOf(r, 0, 2)).toEqual([0, 2]);
  expect(pairOf(r, 0, 4)).toEqual([0, 3]);
  expect(pairOf(r, 0, 0)).toEqual([0, 3]);
  // A reference that did not play it gives way.
  expect(pairOf(r, 4, null)).toEqual([0, 3]);
  expect(pairOf(row(null, cell("failed")), 0, null)).toBeNull();
});

test("who never reached the turn says least, and an end that counts as a failure is one", () => {
  const killed: DisagreementCell = { ...cell("error", null, null), failed: true };
  // A pass against one that was not reached, one that was stopped from outside and one that the agent failed.
  expect(pairOf(row(cell("passed", 10), cell("not_reached", null, null), cell("error", null, null), killed), 0, null)).toEqual([0, 3]);
  expect(pairOf(row(cell("passed", 10), cell("not_reached", null, null), cell("censored", null, null)), 0, null)).toEqual([0, 2]);
  expect(pairOf(row(cell("failed", 4), cell("not_reached", null, null), cell("failed", 4)), 0, null)).toEqual([0, 2]);
  expect(pairOf(row(killed, cell("failed", 4), cell("passed", 10)), 0, null)).toEqual([0, 2]);
});

test("the side-by-side address holds any id", () => {
  const route = sideBySide(row(cell("failed"), cell("passed")), [0, 1], { members: "x" });
  expect(route).not.toBeNull();
  expect(parseRoute(hrefOf(route!))).toEqual(route);
  expect(route?.query).toMatchObject({ left: "a%2Fb/e%201", turn: "3", pair: "0.1", members: "x" });
});

test("a cell says its tests, or its state where they are not counted", () => {
  expect([
    cellText(cell("failed", 9)),
    cellText(cell("error")),
    cellText(cell("passed_after_retries", null, null)),
    cellText(cell("not_reached")),
  ]).toEqual(["9 / 10", "error", "passed", "not reached"]);
  expect(cellInWords("x", null)).toBe("x did not play this scenario");
  expect(cellInWords("x", cell("failed", 0, 1))).toBe("x: failed, 0 of 1 test");
  expect(cellInWords("x", { ...cell("failed", 9), after_failure: true, episodes: [3, 2] })).toBe(
    "x: failed, 9 of 10 tests, after an earlier failure, does not count for stamina, 2 of 3 episodes passed; the worst is shown",
  );
});
