// How an episode is called: by its title; a short scenario name (`scenario_4`) stays in front, because titles of
// generated scenarios repeat.
import type { GridRow } from "../host/bindings/GridRow";

const SHORT = 16;

export function episodeName(row: Pick<GridRow, "scenario" | "title" | "repeat">): string {
  const { scenario, title, repeat } = row;
  const name = title === null || title === scenario ? scenario : scenario.length <= SHORT ? `${scenario} · ${title}` : title;
  return repeat > 1 ? `${name}, repeat ${String(repeat)}` : name;
}
