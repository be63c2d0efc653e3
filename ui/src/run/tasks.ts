// The tasks of a run of one turn, each with its trials: who passed, and what it took. Pure.
import type { GridRow } from "../host/bindings/GridRow";
import type { TaskCell } from "../host/bindings/TaskCell";
import type { TaskRow } from "../host/bindings/TaskRow";
import type { Look } from "../parts/look";

export const taskSorts = ["task", "passed", "seconds", "tokens", "cost"] as const;
export type TaskSort = (typeof taskSorts)[number];

/** A task of the list. */
export interface TaskLine {
  readonly task: string;
  readonly title: string | null;
  /** Its trials, by their numbers. */
  readonly trials: readonly GridRow[];
  /** What it came to and took; `undefined` = not known yet. */
  readonly cell: TaskCell | undefined;
}

/** What a trial of one turn came to. */
export function outcomeOf(row: Pick<GridRow, "stamina" | "censored" | "invalid">): "passed" | "failed" | "not scored" | "withdrawn" {
  if (row.invalid !== null) return "withdrawn";
  return row.stamina > 0 ? "passed" : row.censored ? "not scored" : "failed";
}

/** How it looks: an end without a verdict that counts as a failure is distinguished from failed tests. */
export function outcomeLook(row: Pick<GridRow, "stamina" | "censored" | "end_reason" | "invalid">): Look {
  const outcome = outcomeOf(row);
  if (outcome === "withdrawn") return "not-reached";
  if (outcome === "not scored") return "censored";
  return outcome === "passed" ? "passed" : row.end_reason === "tests_failed" ? "failed" : "error";
}

const valueOf: Readonly<Record<Exclude<TaskSort, "task">, (cell: TaskCell) => number | null>> = {
  passed: (cell) => (cell.trials === 0 ? null : cell.passed / cell.trials),
  seconds: (cell) => cell.seconds.mean,
  tokens: (cell) => cell.tokens.mean,
  cost: (cell) => cell.cost_usd.mean,
};

/** By name, or by a number with the smallest share passed, or the most time, tokens or cost, first; what is not known last. */
export function taskLines(rows: readonly GridRow[], tasks: readonly TaskRow[] | undefined, sort: TaskSort): TaskLine[] {
  const cells = new Map((tasks ?? []).map((row) => [row.task, row.cells[0] ?? undefined]));
  const byTask = new Map<string, GridRow[]>();
  for (const row of rows) {
    const trials = byTask.get(row.scenario);
    if (trials) trials.push(row);
    else byTask.set(row.scenario, [row]);
  }
  const lines = [...byTask].map(([task, trials]): TaskLine => ({
    task,
    title: trials[0]?.title ?? null,
    trials: trials.sort((a, b) => a.repeat - b.repeat),
    cell: cells.get(task),
  }));
  lines.sort((a, b) => (a.task < b.task ? -1 : a.task > b.task ? 1 : 0));
  if (sort === "task") return lines;
  const numberOf = valueOf[sort];
  const key = (line: TaskLine): number => {
    const value = line.cell === undefined ? null : numberOf(line.cell);
    return value === null ? Infinity : sort === "passed" ? value : -value;
  };
  // Stable: what is equal stays by name. Infinity less itself is no number.
  return lines.sort((a, b) => (key(a) === key(b) ? 0 : key(a) - key(b)));
}
