import { describe, expect, it } from "vitest";
import { type Axis, center, columnWidth, evenTurns, labeledTurns, leftEdge, sharedWidth, span, turnAt } from "./axis";

describe("turn axis", () => {
  it("keeps columns whole and between 6 and 240 px", () => {
    expect(columnWidth(540, 15)).toBe(36);
    expect(columnWidth(545, 15)).toBe(36);
    expect(columnWidth(540, 3)).toBe(180);
    expect(columnWidth(980, 4)).toBe(240);
    expect(columnWidth(540, 100)).toBe(6);
    expect(columnWidth(-20, 100)).toBe(6);
    expect(columnWidth(540, 0)).toBe(240);
  });

  it("leaves the words beside the figures free, and the whole width used", () => {
    for (const [width, words, right] of [
      [984, 152, 220],
      [1550, 216, 220],
      [700, 152, 200],
    ] as const) {
      for (const turns of [1, 2, 3, 4, 5, 9, 15, 20, 40, 100]) {
        const { px, figureLeft } = sharedWidth(width, words, right, turns);
        // Turn 0 is a column left of turn 1's center; "0.75" stands beside it.
        expect(figureLeft - px / 2).toBeGreaterThanOrEqual(36);
        const used = words + figureLeft + turns * px + right;
        if (px > 6) expect(used).toBeLessThanOrEqual(width);
        if (px < 240) expect(used + turns + 1).toBeGreaterThan(px === 72 ? 0 : width);
      }
    }
  });

  it("finds for every pixel of a column its turn, and none outside", () => {
    const axis: Axis = { turns: 15, px: 36, left: 224 };
    for (let turn = 1; turn <= axis.turns; turn += 1) {
      for (let x = leftEdge(axis, turn); x < leftEdge(axis, turn + 1); x += 1) expect(turnAt(axis, x)).toBe(turn);
      expect(turnAt(axis, center(axis, turn))).toBe(turn);
    }
    expect(turnAt(axis, 223.9)).toBeNull();
    expect(turnAt(axis, 224 + span(axis))).toBeNull();
  });

  it("names turns without letting two names touch", () => {
    expect(labeledTurns(15, 36)).toHaveLength(15);
    expect(labeledTurns(100, 6)).toEqual([1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    expect(labeledTurns(40, 15)).toEqual([1, 5, 10, 15, 20, 25, 30, 35, 40]);
    expect(labeledTurns(13, 6)).toEqual([1, 5, 10]);
    expect(labeledTurns(15, 18)).toEqual([1, 2, 4, 6, 8, 10, 12, 14]);
    expect(labeledTurns(15, 18, 3)).toEqual([1, 4, 6, 8, 10, 12, 14]);
    expect(labeledTurns(0, 60)).toEqual([]);
    expect(evenTurns(15, 18, 3)).toEqual([2, 4, 6, 8, 10, 12, 14]);
    expect(evenTurns(40, 15)).toEqual([5, 10, 15, 20, 25, 30, 35, 40]);
    expect(evenTurns(4, 60)).toEqual([1, 2, 3, 4]);
    expect(evenTurns(13, 6)).toEqual([5, 10]);
    for (const turns of [1, 2, 7, 33, 99, 101, 1000]) {
      for (const px of [6, 9, 14, 36, 60]) {
        const labels = labeledTurns(turns, px);
        expect(labels[0]).toBe(1);
        const gaps = labels.slice(1).map((t, i) => (t - (labels[i] ?? 0)) * px);
        expect(gaps.every((gap) => gap >= 14)).toBe(true);
      }
    }
  });
});
