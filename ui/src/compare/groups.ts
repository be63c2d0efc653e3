// Groups that the runs of a benchmark make: a harness with a model, a tag. Pure.
import type { Member } from "../host/bindings/Member";
import type { RunRow } from "../host/bindings/RunRow";

type Cell = Extract<Member, { by: "cell" }>;

/** Every harness with a model among the runs, by model and harness, with how many runs there are. */
export function cellsOf(rows: readonly Pick<RunRow, "harness" | "model">[], benchmark: string): { cell: Cell; runs: number }[] {
  const found = new Map<string, { cell: Cell; runs: number }>();
  for (const row of rows) {
    const cell: Cell = { by: "cell", harness: row.harness ?? "", model: row.model ?? "", benchmark };
    const key = JSON.stringify([cell.model, cell.harness]);
    const before = found.get(key);
    if (before) before.runs += 1;
    else found.set(key, { cell, runs: 1 });
  }
  return [...found].sort(([a], [b]) => a.localeCompare(b)).map(([, group]) => group);
}

/** Every tag among the runs, with how many have it. */
export function tagsOf(rows: readonly Pick<RunRow, "tags">[]): [string, number][] {
  const found = new Map<string, number>();
  for (const tag of rows.flatMap((row) => row.tags)) found.set(tag, (found.get(tag) ?? 0) + 1);
  return [...found].sort(([a], [b]) => a.localeCompare(b));
}
