// Whether selected runs may be compared, in one sentence. Pure.
import type { RunRow } from "../host/bindings/RunRow";

type Settings = Pick<RunRow, "benchmark" | "attempt_limit" | "planned_turns" | "episodes" | "stamina">;

const differ = (rows: readonly Settings[], of: (row: Settings) => unknown): boolean =>
  new Set(rows.map((row) => JSON.stringify(of(row) ?? null))).size > 1;

/** `Same benchmark; attempt limit differs`. Empty for fewer than two runs. */
export function comparability(rows: readonly Settings[]): string {
  if (rows.length < 2) return "";
  if (differ(rows, (row) => row.benchmark.key)) return "Different benchmarks: stamina is not comparable";
  const differing = [
    ...(differ(rows, (row) => row.attempt_limit) ? ["attempt limit"] : []),
    ...(differ(rows, (row) => row.planned_turns) ? ["planned turns"] : []),
    ...(differ(rows, (row) => row.stamina.tau) ? ["τ"] : []),
    ...(differ(rows, (row) => row.episodes) ? ["number of episodes"] : []),
  ];
  if (differing.length === 0) return "Same benchmark and plan";
  const words = differing.length === 1 ? differing[0] : `${differing.slice(0, -1).join(", ")} and ${differing.at(-1) ?? ""}`;
  return `Same benchmark; ${words ?? ""} ${differing.length === 1 ? "differs" : "differ"}`;
}
