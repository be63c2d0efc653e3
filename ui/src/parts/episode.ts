// How an episode is called and how it ended. It is called by its title; a short scenario name (`scenario_4`) stays in front, because titles of
// generated scenarios repeat.
import type { GridRow } from "../host/bindings/GridRow";
import { endLook, endReasonLabels } from "./format";
import type { Look } from "./look";

const SHORT = 16;

export function episodeName(row: Pick<GridRow, "scenario" | "title" | "repeat">): string {
  const { scenario, title, repeat } = row;
  const name = title === null || title === scenario ? scenario : scenario.length <= SHORT ? `${scenario} · ${title}` : title;
  return repeat !== 1 ? `${name}, repeat ${String(repeat)}` : name;
}

/** How it ended, as a glyph and in a word; of one that does not count, that. */
export function endOf(row: Pick<GridRow, "end_reason" | "censored" | "invalid">): { readonly look: Look; readonly label: string } {
  return row.invalid === null
    ? { look: endLook(row.end_reason, row.censored), label: endReasonLabels[row.end_reason] }
    : { look: "not-reached", label: "withdrawn" };
}
