// Sessions of a benchmark without tests: what the run's page shows of them. Pure.
import type { PublishedNumber } from "../host/bindings/PublishedNumber";
import type { SessionMean } from "../host/bindings/SessionMean";
import { UNKNOWN, fixed } from "../parts/format";

/** `0.812 (0.790–0.834)`; without an interval only the mean. */
export function meanInWords(mean: SessionMean | undefined): string {
  if (mean?.mean == null) return UNKNOWN;
  const ends = mean.ci_low === null || mean.ci_high === null ? "" : ` (${mean.ci_low.toFixed(3)}–${mean.ci_high.toFixed(3)})`;
  return `${fixed(mean.mean, 3)}${ends}`;
}

export const meanOf = (means: readonly SessionMean[], name: string): SessionMean | undefined => means.find((m) => m.name === name);

/** `7 / 9`; `null` is unknown. */
export const partOf = (of: readonly [number, number] | null): string => (of === null ? UNKNOWN : `${String(of[0])} / ${String(of[1])}`);

export interface PlanePoint {
  readonly name: string;
  readonly comprehension: number;
  readonly efficiency: number;
  readonly kind: "own" | "published" | "nothing";
}

/** The points of the plane: this run, a session that does nothing, and every model that is published with both figures. */
export function planePoints(
  own: { readonly imported: readonly SessionMean[]; readonly compat: readonly SessionMean[] },
  nothing: readonly [number, number],
  published: readonly PublishedNumber[],
): readonly PlanePoint[] {
  const points: PlanePoint[] = [];
  for (const [name, means] of [["this run, imported", own.imported], ["this run, compat", own.compat]] as const) {
    const [comprehension, efficiency] = [meanOf(means, "comprehension")?.mean, meanOf(means, "efficiency")?.mean];
    if (comprehension != null && efficiency != null) points.push({ name, comprehension, efficiency, kind: "own" });
  }
  points.push({ name: "a session that does nothing", comprehension: nothing[0], efficiency: nothing[1], kind: "nothing" });
  for (const model of new Set(published.map((n) => n.model))) {
    const of = (metric: string): number | undefined => published.find((n) => n.model === model && n.metric === metric)?.value;
    const [comprehension, efficiency] = [of("lcba_comprehension"), of("lcba_efficiency")];
    if (comprehension !== undefined && efficiency !== undefined) points.push({ name: model, comprehension, efficiency, kind: "published" });
  }
  return points;
}

/** The ends of an axis that holds all values, in steps of 0.05. */
export function axisOf(values: readonly number[]): readonly [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return [Math.max(0, Math.floor((low - 0.02) * 20) / 20), Math.min(1, Math.ceil((high + 0.02) * 20) / 20)];
}
