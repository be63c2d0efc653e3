// What the library shows, kept in its address: source or view, filters, order, grouping and the chosen row. Pure.
import type { ListRuns } from "../host/bindings/ListRuns";
import type { RunGrouping } from "../host/bindings/RunGrouping";
import type { RunSort } from "../host/bindings/RunSort";
import type { Query } from "../shell/routes";

export type View = "all" | "real" | "warnings";

export interface Filter {
  readonly text: string;
  readonly source: number | null;
  readonly view: View;
  readonly tag: string | null;
  readonly benchmarks: readonly string[];
  readonly harnesses: readonly string[];
  readonly models: readonly string[];
  readonly minEpisodes: number | null;
  readonly sort: RunSort;
  readonly ascending: boolean;
  readonly group: RunGrouping;
}

const SORTS = [
  "stamina",
  "model",
  "harness",
  "benchmark",
  "source",
  "episodes",
  "turns",
  "score",
  "tokens",
  "cost",
  "date",
] as const satisfies readonly RunSort[];
const GROUPS = ["benchmark", "harness", "model", "source", "none"] as const satisfies readonly RunGrouping[];
/** Names rise from a to z, numbers fall from the best. */
const NAMES: readonly RunSort[] = ["model", "harness", "benchmark", "source"];

export const sorts: readonly RunSort[] = SORTS;
export const groupings: readonly RunGrouping[] = GROUPS;
export const naturallyAscending = (sort: RunSort): boolean => NAMES.includes(sort);

/** Lists in an address are joined by commas; each value is escaped, so that it may hold one. `""` = unknown. */
const join = (values: readonly string[]): string => values.map((value) => `.${encodeURIComponent(value)}`).join(",");
function split(text: string | undefined): string[] {
  if (!text) return [];
  // Links that people and other pages write name one value as it is.
  if (!text.startsWith(".")) return [text];
  return text.split(",").flatMap((part) => {
    try {
      return part.startsWith(".") ? [decodeURIComponent(part.slice(1))] : [];
    } catch {
      return [];
    }
  });
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

export function readFilter(query: Query): Filter {
  const [by, direction] = (query["sort"] ?? "").split(".");
  const sort = SORTS.find((s) => s === by) ?? "stamina";
  return {
    text: query["q"] ?? "",
    source: wholeNumber(query["source"]),
    view: query["view"] === "real" || query["view"] === "warnings" ? query["view"] : "all",
    tag: query["tag"] ?? null,
    benchmarks: split(query["benchmark"]),
    harnesses: split(query["harness"]),
    models: split(query["model"]),
    minEpisodes: wholeNumber(query["episodes"]),
    sort,
    ascending: direction === "asc" ? true : direction === "desc" ? false : naturallyAscending(sort),
    group: GROUPS.find((g) => g === query["group"]) ?? "benchmark",
  };
}

/** The changes to an address that make it show `change`; what is default stands not in the address. */
export function filterChange(now: Filter, change: Partial<Filter>): Record<string, string | null> {
  const next = { ...now, ...change };
  const out: Record<string, string | null> = {};
  if ("text" in change) out["q"] = next.text;
  if ("source" in change) out["source"] = next.source === null ? null : String(next.source);
  if ("view" in change) out["view"] = next.view === "all" ? null : next.view;
  if ("tag" in change) out["tag"] = next.tag;
  if ("benchmarks" in change) out["benchmark"] = join(next.benchmarks);
  if ("harnesses" in change) out["harness"] = join(next.harnesses);
  if ("models" in change) out["model"] = join(next.models);
  if ("minEpisodes" in change) out["episodes"] = next.minEpisodes === null ? null : String(next.minEpisodes);
  if ("sort" in change || "ascending" in change) {
    const natural = next.ascending === naturallyAscending(next.sort);
    out["sort"] = next.sort === "stamina" && natural ? null : natural ? next.sort : `${next.sort}.${next.ascending ? "asc" : "desc"}`;
  }
  if ("group" in change) out["group"] = next.group === "benchmark" ? null : next.group;
  return out;
}

/** Whether anything but source and view hides runs. */
export function isFiltered(filter: Filter): boolean {
  return (
    filter.text !== "" ||
    filter.benchmarks.length > 0 ||
    filter.harnesses.length > 0 ||
    filter.models.length > 0 ||
    filter.minEpisodes !== null
  );
}

export const noFilter: Partial<Filter> = { text: "", benchmarks: [], harnesses: [], models: [], minEpisodes: null };

export function toRequest(filter: Filter, offset: number, limit: number): ListRuns {
  return {
    text: filter.text,
    sources: filter.source === null ? [] : [filter.source],
    benchmarks: [...filter.benchmarks],
    harnesses: [...filter.harnesses],
    models: [...filter.models],
    tags: filter.tag === null ? [] : [filter.tag],
    real_only: filter.view === "real",
    with_warnings: filter.view === "warnings",
    min_episodes: filter.minEpisodes,
    sort: filter.sort,
    ascending: filter.ascending,
    group: filter.group,
    offset,
    limit,
  };
}
