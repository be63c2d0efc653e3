// Sessions of a benchmark without tests: what the run's page shows of them. Pure.
import type { PublishedNumber } from "../host/bindings/PublishedNumber";
import type { SessionMean } from "../host/bindings/SessionMean";
import type { SessionRow } from "../host/bindings/SessionRow";
import { decimals, fixedOrUnknown, UNKNOWN } from "../parts/format";

/** `0.812 (0.790–0.834), known for 5`; without an interval only the mean, and nothing of `n` where it is known for all scenarios. */
export function meanInWords(mean: SessionMean | undefined, scenarios: number): string {
  if (mean?.mean == null) return UNKNOWN;
  const ends = mean.ci_low === null || mean.ci_high === null ? "" : ` (${decimals(mean.ci_low, 3)}–${decimals(mean.ci_high, 3)})`;
  return `${fixedOrUnknown(mean.mean, 3)}${ends}${mean.n === scenarios ? "" : `, known for ${String(mean.n)}`}`;
}

export const meanOf = (means: readonly SessionMean[], name: string): SessionMean | undefined => means.find((m) => m.name === name);

/** `7 / 9`; `null` is unknown. */
export const partOf = (part: readonly [number, number] | null): string =>
  part === null ? UNKNOWN : `${String(part[0])} / ${String(part[1])}`;

/** In how many of the sessions that count the imported figure of this name is marked, and in how many it could be compared. */
export function differOf(differs: readonly (readonly [string, number, number])[], name: string): readonly [number, number] {
  const found = differs.find(([figure]) => figure === name);
  return found === undefined ? [0, 0] : [found[1], found[2]];
}

/** What the calls and their results show of what a metric is called, under a name of its own. */
const measured: Readonly<Record<string, readonly string[]>> = {
  execution_success_rate: ["tool_success", "distinct_functions"],
  information_coverage: ["files_written"],
  long_range_dependency_resolution: ["read_before_write"],
};

/** The corrected figures that stand beside a metric: name and value. None = nothing of what it is called is measured. */
export function correctedOf<T>(metric: string, figureOf: (name: string) => T): readonly (readonly [string, T])[] {
  return (measured[metric] ?? []).map((name) => [name.replaceAll("_", " "), figureOf(name)] as const);
}

/** A line of a session: one of the nine, comprehension, efficiency or overall. */
export interface SessionLine {
  readonly name: string;
  readonly imported: number | null;
  readonly compat: number | null;
  readonly differs: boolean;
  readonly corrected: readonly (readonly [string, string])[];
}

/** The nine metrics of a session with the figures that are made of them, in three columns. */
export function sessionLines(row: Pick<SessionRow, "figures" | "compat" | "differs">, metrics: readonly string[]): readonly SessionLine[] {
  const { imported, compat, corrected } = row.figures;
  const value: Readonly<Record<string, string>> = {
    tool_success: partOf(corrected.tool_success),
    distinct_functions: corrected.distinct_functions === null ? UNKNOWN : String(corrected.distinct_functions),
    files_written: corrected.files_written === null ? UNKNOWN : String(corrected.files_written.length),
    read_before_write: partOf(corrected.read_before_write),
  };
  const line = (name: string, own: number | null, computed: number | null): SessionLine => ({
    name,
    imported: own,
    compat: computed,
    differs: row.differs.includes(name),
    corrected: correctedOf(name, (figure) => value[figure] ?? UNKNOWN),
  });
  return [
    ...metrics.map((name, at) => line(name, imported.metrics[at] ?? null, compat?.[at] ?? null)),
    line("comprehension", imported.comprehension, row.compat?.[0] ?? null),
    line("efficiency", imported.efficiency, row.compat?.[1] ?? null),
    line("overall", imported.overall, row.compat?.[2] ?? null),
  ];
}

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
  for (const [name, means] of [
    ["this run, imported", own.imported],
    ["this run, compat", own.compat],
  ] as const) {
    const [comprehension, efficiency] = [meanOf(means, "comprehension")?.mean, meanOf(means, "efficiency")?.mean];
    if (comprehension != null && efficiency != null) points.push({ name, comprehension, efficiency, kind: "own" });
  }
  points.push({ name: "a session that does nothing", comprehension: nothing[0], efficiency: nothing[1], kind: "nothing" });
  for (const model of new Set(published.map((n) => n.model))) {
    const figureOf = (metric: string): number | undefined => published.find((n) => n.model === model && n.metric === metric)?.value;
    const [comprehension, efficiency] = [figureOf("lcba_comprehension"), figureOf("lcba_efficiency")];
    if (comprehension !== undefined && efficiency !== undefined) points.push({ name: model, comprehension, efficiency, kind: "published" });
  }
  return points;
}

/** Where the name of a mark stands, in the units of the picture. */
export interface Label {
  readonly x: number;
  readonly y: number;
  readonly anchor: "start" | "end" | "middle";
}

/** Width of a letter and height of a line of a label, about. */
const [LETTER, LINE] = [5.4, 10];

/** A place for the name of each mark: beside, over or under it, where it meets no other mark, no other name and no edge. */
export function labelPlaces(
  marks: readonly { readonly x: number; readonly y: number; readonly name: string }[],
  [left, top, right, bottom]: readonly [number, number, number, number],
): readonly Label[] {
  type Rect = readonly [number, number, number, number];
  const meet = (a: Rect, b: Rect): boolean => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  const taken: Rect[] = marks.map(({ x, y }) => [x - 5, y - 5, x + 5, y + 5]);
  return marks.map(({ x, y, name }, at) => {
    const width = name.length * LETTER;
    const place = (down: number, anchor: Label["anchor"]): readonly [Label, Rect] => {
      const base = y + 4 + down;
      const [at, from] = anchor === "start" ? [x + 7, x + 7] : anchor === "end" ? [x - 7, x - 7 - width] : [x, x - width / 2];
      return [{ x: at, y: base, anchor }, [from, base - LINE + 1, from + width, base + 1]];
    };
    const choices = [0, LINE, -LINE, 2 * LINE, -2 * LINE].flatMap((down) => [
      place(down, "start"),
      place(down, "end"),
      ...(down === 0 ? [] : [place(down, "middle")]),
    ]);
    const isFree = (rect: Rect): boolean =>
      rect[0] >= left &&
      rect[1] >= top &&
      rect[2] <= right &&
      rect[3] <= bottom &&
      taken.every((other, i) => i === at || !meet(rect, other));
    const [label, rect] = choices.find(([, choice]) => isFree(choice)) ?? place(0, "start");
    taken.push(rect);
    return label;
  });
}

/** The ends of an axis that holds all values, in steps of 0.05. */
export function axisOf(values: readonly number[]): readonly [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return [Math.max(0, Math.floor((low - 0.02) * 20) / 20), Math.min(1, Math.ceil((high + 0.02) * 20) / 20)];
}
