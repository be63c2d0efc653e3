// Tasks by members, in words. Pure.
import type { TaskCell } from "../host/bindings/TaskCell";
import type { TaskMode } from "../host/bindings/TaskMode";
import { count, counted } from "../parts/format";
import type { Look } from "../parts/look";

export const taskModes: readonly TaskMode[] = ["all", "only_one", "different", "nobody"];

/** The name of a mode, and what it is. */
export const taskModeNames: Readonly<Record<TaskMode, readonly [string, string]>> = {
  all: ["All", "Every task"],
  only_one: ["Only one", "Tasks that one run alone solves"],
  different: ["Different", "Tasks that one run solves and another does not"],
  nobody: ["Nobody", "Tasks that no run solves"],
};

/** A task is solved if one of its trials passed. */
export function cellLookOfTask(cell: Pick<TaskCell, "trials" | "passed">): Look {
  if (cell.trials === 0) return "censored";
  return cell.passed === 0 ? "failed" : cell.passed === cell.trials ? "passed" : "retry";
}

/** `passed`, `2 of 3`, `1 of 1, 2 not scored`, `not scored`: the words of the table that is exported. */
export function taskCellText(cell: Pick<TaskCell, "trials" | "passed" | "unscored">): string {
  if (cell.trials === 0) return "not scored";
  if (cell.trials === 1 && cell.unscored === 0) return cell.passed === 1 ? "passed" : "failed";
  const unscored = cell.unscored === 0 ? "" : `, ${count(cell.unscored)} not scored`;
  return `${count(cell.passed)} of ${count(cell.trials)}${unscored}`;
}

/** `2 of 3 scored trials passed, 1 trial not scored` */
export function taskCellTitle(cell: Pick<TaskCell, "trials" | "passed" | "unscored">): string {
  const unscored = cell.unscored === 0 ? "" : `, ${counted(cell.unscored, "trial")} not scored`;
  return cell.trials === 0
    ? `${counted(cell.unscored, "trial")} not scored`
    : `${count(cell.passed)} of ${counted(cell.trials, "scored trial")} passed${unscored}`;
}
