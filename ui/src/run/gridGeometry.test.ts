import { describe, expect, it } from "vitest";
import type { GridRow } from "../host/bindings/GridRow";
import { drawRow, edgePath, lookOf, nextFirstFailure } from "./gridGeometry";

function row(cells: string, over: Partial<GridRow> = {}): GridRow {
  const stamina = /^[pr]*/.exec(cells)?.[0].length ?? 0;
  return {
    episode: "e",
    scenario: "s",
    title: null,
    repeat: 1,
    planned_turns: cells.length,
    cells,
    failing: [...cells].map((c) => (c === "f" ? 3 : null)),
    stamina,
    censored: false,
    failed_turn: stamina < cells.length ? stamina + 1 : null,
    end_reason: "tests_failed",
    unrecognised: false,
    score: null,
    invalid: null,
    ...over,
  };
}

describe("cells", () => {
  it("fade behind the first turn not passed", () => {
    const r = row("prfpref");
    expect([1, 2, 3, 4, 5, 6, 7, 8].map((t) => lookOf(r, t))).toEqual([
      "passed",
      "retry",
      "failed",
      "after-passed",
      "after-retry",
      "after-error",
      "after-failed",
      "nothing",
    ]);
  });

  it("show the bar of a censored episode where observation stopped, and dots behind it", () => {
    const r = row("ppnnn", { censored: true, end_reason: "endpoint" });
    expect([2, 3, 4].map((t) => lookOf(r, t))).toEqual(["passed", "censored", "not-reached"]);
    const failed = row("ppnnn", { end_reason: "agent_error" });
    expect(lookOf(failed, 3)).toBe("not-reached");
  });

  it("stay inside of their column and row", () => {
    for (const px of [6, 9, 16, 36, 60]) {
      for (const height of [8, 20]) {
        const drawing = drawRow(row("prfpref"), px, height);
        for (const { d } of drawing.paths) {
          for (const [, x, y] of d.matchAll(/M([\d.-]+) ([\d.-]+)/g)) {
            expect(Number(x)).toBeGreaterThanOrEqual(0);
            expect(Number(x)).toBeLessThan(7 * px);
            expect(Number(y)).toBeGreaterThanOrEqual(0);
            expect(Number(y)).toBeLessThan(height);
          }
        }
      }
    }
  });

  it("carry text only where it fits", () => {
    expect(drawRow(row("pff"), 16, 20).counts).toEqual([{ x: 40, n: 3, turn: 3 }]);
    expect(drawRow(row("pff"), 15, 20).counts).toEqual([]);
    // 481, 535 and 638 in cells of 18 px were one number of nine digits.
    const many = { ...row("pfff"), failing: [0, 481, 53, 638] };
    expect(drawRow(many, 18, 20).counts).toEqual([]);
    expect(drawRow(many, 20, 20).counts.map(({ n }) => n)).toEqual([53, 638]);
    expect(drawRow(row("pff"), 36, 8).counts).toEqual([]);
    expect(drawRow(row("pff"), 16, 20).crosses).not.toBe("");
    expect(drawRow(row("pff"), 6, 20).crosses).toBe("");
  });

  it("merge into one path for each look", () => {
    const drawing = drawRow(row("p".repeat(100)), 6, 20);
    expect(drawing.paths).toHaveLength(1);
    expect(drawing.paths[0]?.d.match(/M/g)).toHaveLength(100);
  });
});

describe("edge line", () => {
  it("is one staircase when sorted, and loose ends otherwise", () => {
    expect(edgePath([9, 9, 4, 0], 36, 20, true)).toBe("M324 0V20V40H144V60H0V80");
    expect(edgePath([4, 9], 10, 20, false)).toBe("M40 0V20M90 20V40");
    expect(edgePath([], 10, 20, true)).toBe("");
  });
});

describe("next first failure", () => {
  const rows = [row("ppp", { censored: true, end_reason: "passed_all" }), row("ppf"), row("pn", { censored: true }), row("f")];
  it("skips what is censored and wraps around", () => {
    expect(nextFirstFailure(rows, 0, 1)).toEqual({ row: 1, turn: 3 });
    expect(nextFirstFailure(rows, 1, 1)).toEqual({ row: 3, turn: 1 });
    expect(nextFirstFailure(rows, 3, 1)).toEqual({ row: 1, turn: 3 });
    expect(nextFirstFailure(rows, 1, -1)).toEqual({ row: 3, turn: 1 });
    expect(nextFirstFailure([], 0, 1)).toBeNull();
    expect(nextFirstFailure([rows[0]!, rows[2]!], 0, 1)).toBeNull();
  });
});
