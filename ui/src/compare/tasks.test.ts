import { describe, expect, it } from "vitest";
import { cellLookOfTask, taskCellText, taskCellTitle } from "./tasks";

const cell = (trials: number, passed: number, unscored = 0) => ({ trials, passed, unscored });

describe("a task of a member", () => {
  it("follows its scored trials", () => {
    const cells = [cell(0, 0, 1), cell(1, 1), cell(1, 0), cell(3, 0), cell(3, 2), cell(3, 3, 1), cell(1, 1, 2), cell(1, 0, 1)];
    expect(cells.map(cellLookOfTask)).toEqual(["censored", "passed", "failed", "failed", "retry", "passed", "passed", "failed"]);
    expect(cells.map(taskCellText)).toEqual([
      "not scored",
      "passed",
      "failed",
      "0 of 3",
      "2 of 3",
      "3 of 3, 1 not scored",
      "1 of 1, 2 not scored",
      "0 of 1, 1 not scored",
    ]);
    expect(taskCellTitle(cell(3, 2, 1))).toBe("2 of 3 scored trials passed, 1 trial not scored");
    expect(taskCellTitle(cell(0, 0, 1))).toBe("1 trial not scored");
  });
});
