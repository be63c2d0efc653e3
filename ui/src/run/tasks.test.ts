import { describe, expect, it } from "vitest";
import type { GridRow } from "../host/bindings/GridRow";
import type { TaskRow } from "../host/bindings/TaskRow";
import { outcomeLook, outcomeOf, taskLines } from "./tasks";

const trial = (scenario: string, repeat: number, stamina: number, censored = false): GridRow =>
  ({
    episode: `${scenario}-${String(repeat)}`,
    scenario,
    title: null,
    repeat,
    stamina,
    censored,
    invalid: null,
    end_reason: stamina > 0 ? "passed_all" : censored ? "endpoint" : "tests_failed",
  }) as GridRow;
const mean = (value: number | null): { mean: number | null; known: number; total: number } => ({
  mean: value,
  known: value === null ? 0 : 1,
  total: 1,
});
const task = (name: string, trials: number, passed: number, cost: number | null): TaskRow => ({
  task: name,
  title: null,
  only: null,
  cells: [{ run: "r", episode: "e", trials, passed, unscored: 0, seconds: mean(null), tokens: mean(null), cost_usd: mean(cost) }],
});

describe("tasks of a run of one turn", () => {
  it("follow the results of their trials", () => {
    expect([trial("a", 1, 1), trial("a", 2, 0), trial("a", 3, 0, true)].map(outcomeOf)).toEqual(["passed", "failed", "not scored"]);
    expect(
      [trial("a", 1, 1), trial("a", 2, 0), trial("a", 3, 0, true), { ...trial("a", 4, 0), end_reason: "agent_timeout" as const }].map(
        outcomeLook,
      ),
    ).toEqual(["passed", "failed", "censored", "error"]);
  });
  it("stand by name, or by a number with what is not known last", () => {
    const rows = [trial("b", 2, 0), trial("a", 1, 1), trial("b", 1, 1), trial("c", 1, 0, true)];
    const tasks = [task("a", 1, 1, 0.2), task("b", 2, 1, 0.9), task("c", 0, 0, null)];
    const names = (sort: Parameters<typeof taskLines>[2]): string[] => taskLines(rows, tasks, sort).map((line) => line.task);
    expect(names("task")).toEqual(["a", "b", "c"]);
    expect(taskLines(rows, tasks, "task")[1]?.trials.map((row) => row.repeat)).toEqual([1, 2]);
    expect(names("passed")).toEqual(["b", "a", "c"]);
    expect(names("cost")).toEqual(["b", "a", "c"]);
    expect(names("seconds")).toEqual(["a", "b", "c"]);
    expect(taskLines(rows, undefined, "cost").map((line) => line.cell)).toEqual([undefined, undefined, undefined]);
  });
});
