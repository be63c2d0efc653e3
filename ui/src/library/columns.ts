// The columns of the library, in order. Every column can be shown or hidden; check and model are always there.
import type { IntervalScale } from "../parts/scale";
import type { ExplainKey } from "../explain/keys";
import type { RunGroup } from "../host/bindings/RunGroup";
import type { RunGrouping } from "../host/bindings/RunGrouping";
import type { RunRow } from "../host/bindings/RunRow";
import type { RunSort } from "../host/bindings/RunSort";
import { counted, range, rangeOf } from "../parts/format";

export type ColumnId =
  "source" | "benchmark" | "harness" | "episodes" | "turns" | "stamina" | "ci" | "score" | "ends" | "tokens" | "cost" | "date" | "tags";

export interface Column {
  readonly id: ColumnId;
  readonly title: string;
  /** px on narrow and on wide windows. */
  readonly width: readonly [number, number];
  /** px where names need the room, if less will do. */
  readonly least?: number;
  readonly sort?: RunSort;
  readonly right?: true;
  /** Shown without being asked for: always, or on wide windows only. */
  readonly shown: "always" | "wide" | "asked";
  /** Which number it is, for its explanation. */
  readonly explain?: ExplainKey;
  /** What it is, for the header's tooltip and the columns menu. */
  readonly about: string;
}

export const columns: readonly Column[] = [
  { id: "source", title: "Source", width: [130, 150], sort: "source", shown: "asked", about: "Folder or zip" },
  { id: "benchmark", title: "Benchmark", width: [150, 180], sort: "benchmark", shown: "asked", about: "Benchmark" },
  { id: "harness", title: "Harness", width: [106, 150], sort: "harness", shown: "always", about: "Agent and its version" },
  {
    id: "episodes",
    title: "Episodes",
    width: [76, 84],
    sort: "episodes",
    right: true,
    shown: "always",
    about: "Episodes read, of those planned",
    explain: "episodes",
  },
  {
    id: "turns",
    title: "Turns",
    width: [76, 76],
    least: 66,
    sort: "turns",
    right: true,
    shown: "always",
    about: "Planned turns of an episode",
    explain: "planned_turns",
  },
  {
    id: "stamina",
    title: "Stamina",
    width: [88, 88],
    sort: "stamina",
    right: true,
    shown: "always",
    about:
      "Mean stamina up to τ turns, pass rate of runs of one turn; sorted by its share of τ within each benchmark and number of planned turns",
    explain: "mean_stamina",
  },
  {
    id: "ci",
    title: "95 % CI",
    width: [120, 192],
    least: 104,
    shown: "always",
    about: "95 % interval of mean stamina or pass rate; where τ differs, as a share of τ",
    explain: "mean_stamina_ci",
  },
  {
    id: "score",
    title: "Score",
    width: [72, 78],
    least: 68,
    sort: "score",
    right: true,
    shown: "always",
    about: "The benchmark's own score, recomputed, 0 to 100",
    explain: "score",
  },
  {
    id: "ends",
    title: "End reasons",
    width: [112, 120],
    least: 94,
    shown: "always",
    about: "How the episodes ended",
    explain: "end_reasons",
  },
  {
    id: "tokens",
    title: "Tokens",
    width: [76, 84],
    sort: "tokens",
    right: true,
    shown: "always",
    about: "Input and output tokens",
    explain: "tokens",
  },
  { id: "cost", title: "Cost", width: [72, 84], sort: "cost", right: true, shown: "always", about: "Cost in US dollars", explain: "cost" },
  { id: "date", title: "Date", width: [104, 104], sort: "date", right: true, shown: "wide", about: "Start, UTC" },
  { id: "tags", title: "Tags", width: [120, 160], shown: "asked", about: "Your tags" },
];

/** What the runs of a list have: all mean stamina, all pass rates, or some this and some that. */
export type Measured = "stamina" | "rates" | "both";

/** The columns by what stands in them. */
export function namedColumns(shown: readonly Column[], measured: Measured): readonly Column[] {
  if (measured === "stamina") return shown;
  return shown.map((column): Column =>
    column.id === "ci" && measured === "rates"
      ? { ...column, explain: "pass_rate_ci" }
      : column.id !== "stamina"
        ? column
        : measured === "rates"
          ? { ...column, title: "Pass rate", explain: "pass_rate" }
          : { ...column, title: "Stamina or pass rate", width: [136, 140] },
  );
}

/** `chosen` = what the user chose, or `null` for what fits the window and is known of at least one run. */
export function shownColumns(chosen: readonly string[] | null, wide: boolean, unknown: ReadonlySet<ColumnId>): Column[] {
  return columns.filter((column) =>
    chosen === null
      ? (column.shown === "always" || (wide && column.shown === "wide")) && !unknown.has(column.id)
      : chosen.includes(column.id),
  );
}

/** Columns that may be unknown. */
const mayBeUnknown: readonly ColumnId[] = ["harness", "turns", "score", "tokens", "cost", "date"];

/** Columns that would say "unknown" in every row of these groups. */
export function unknownForAll(groups: readonly Pick<RunGroup, "known">[]): ReadonlySet<ColumnId> {
  return new Set(mayBeUnknown.filter((id) => groups.length > 0 && !groups.some((group) => group.known.some((column) => column === id))));
}

/** Whether means of a group are over different numbers of turns, so that they do not compare as they stand. */
export const hasSeveralTaus = (group: Pick<RunGroup, "tau"> | undefined): boolean =>
  group?.tau != null && Math.max(1, group.tau[0]) !== group.tau[1];

/** Whether its runs are of one turn: then they have pass rates. */
export const isOfOneTurn = (group: Pick<RunGroup, "planned_turns" | "scale">): boolean =>
  group.planned_turns?.[1] === 1 && group.scale === 1;

/** Whether runs of one turn are among its runs: only these have a τ of 1 where an episode of one turn is planned. */
const hasRunsOfOneTurn = (group: Pick<RunGroup, "planned_turns" | "tau" | "scale">): boolean =>
  isOfOneTurn(group) || (group.planned_turns?.[0] === 1 && group.tau?.[0] === 1);

/** What the runs of all groups have. Runs out of view count, so that no title and no width changes while a list is scrolled. */
export function measuredIn(groups: readonly Pick<RunGroup, "planned_turns" | "tau" | "scale">[]): Measured {
  if (groups.length > 0 && groups.every(isOfOneTurn)) return "rates";
  return groups.some(hasRunsOfOneTurn) ? "both" : "stamina";
}

/** The axis of a group; null for benchmarks without tests, and before an episode is read: there is nothing to draw on it. */
export function groupScale(group: Pick<RunGroup, "planned_turns" | "scale" | "share_scale" | "tau">): IntervalScale | null {
  if (group.scale <= 0) return null;
  if (isOfOneTurn(group)) return { end: 1, unit: "rates" };
  if ((group.tau?.[1] ?? 0) <= 0) return null;
  return hasSeveralTaus(group) ? { end: group.share_scale ?? 1, unit: "shares" } : { end: group.scale, unit: "turns" };
}

/** Where the scale of a row's interval ends, in turns; of a pass rate, from 0 to 1. */
export function rowScale(
  group: Pick<RunGroup, "tau" | "scale" | "share_scale"> | undefined,
  run: Pick<RunRow, "stamina" | "pass_rate">,
): number {
  const tau = Math.max(1, run.stamina.tau ?? 1);
  if (group === undefined) return tau;
  if (!hasSeveralTaus(group)) return group.scale;
  const share = group.share_scale ?? 1;
  return run.pass_rate === null ? share * tau : share;
}

/** The axis in the head of the column of intervals: where runs are not grouped no line of a group has it. */
export function headScale(
  grouping: RunGrouping,
  groups: readonly Pick<RunGroup, "planned_turns" | "scale" | "share_scale" | "tau">[],
): IntervalScale | null {
  const [only, ...more] = groups;
  return grouping !== "none" || only === undefined || more.length > 0 ? null : groupScale(only);
}

/** px of the column that marks rows. */
export const CHECK = 28;
/** px that names have at least, and that other columns leave for them at most. */
export const LEAST_NAME = 150;
export const MOST_NAME = 560;

/** A column with the width that it has, in px. */
export type FittedColumn = Column & { readonly px: number };

/** What the widths of columns follow. */
export interface ColumnRoom {
  /** px of the table; 0 = not laid out yet. */
  readonly width: number;
  readonly wide: boolean;
  /** px of the widest name that was in view. */
  readonly names: number;
  /** Characters of the longest harness that was in view. */
  readonly harness: number;
  /** Whether the date gives way to names: neither the column nor an order by it was asked for. */
  readonly dateGivesWay: boolean;
}

/** Columns are as wide as they would like only where names are whole then. Where names are cut, each has what it needs. */
export function fitColumns(shown: readonly Column[], room: ColumnRoom): readonly FittedColumn[] {
  const least = (column: Column): number =>
    column.id === "harness" ? Math.min(column.width[0], Math.max(84, 16 + room.harness * 6.4)) : (column.least ?? column.width[0]);
  const sized = (px: (column: Column) => number): FittedColumn[] => shown.map((column) => ({ ...column, px: px(column) }));
  const namesFit = (columns: readonly FittedColumn[]): boolean =>
    room.width - columns.reduce((sum, column) => sum + column.px, CHECK) >= room.names;
  const roomy = sized((column) => column.width[1]);
  if (room.wide && namesFit(roomy)) return roomy;
  const narrow = sized((column) => column.width[0]);
  if (room.width === 0 || namesFit(narrow)) return narrow;
  const tight = sized(least);
  return namesFit(tight) || !room.dateGivesWay ? tight : tight.filter((column) => column.id !== "date");
}

/** About how wide a name of this many characters is with its badges, in px. */
export const nameWidth = (run: Pick<RunRow, "baseline" | "simulated">, name: string, glyph: boolean): number =>
  20 + name.length * 7.6 + (run.baseline !== null || run.simulated ? 76 : 0) + (glyph ? 24 : 0);

/**
 * What names and harnesses of a list ask for. Rows that come into view only add to it, and another list begins anew: no column comes
 * or goes while a list is scrolled.
 */
export function growingRoom(): (
  list: string,
  names: readonly number[],
  harnesses: readonly number[],
) => Pick<ColumnRoom, "names" | "harness"> {
  let current: string | undefined;
  let room = { names: LEAST_NAME, harness: 0 };
  return (list, names, harnesses) => {
    if (current !== list) room = { names: LEAST_NAME, harness: 0 };
    current = list;
    room = { names: Math.min(MOST_NAME, Math.max(room.names, ...names)), harness: Math.max(room.harness, ...harnesses) };
    return room;
  };
}

/** The head of a group: how many runs, over how many turns. */
export function groupInWords(group: Pick<RunGroup, "runs" | "planned_turns" | "tau" | "scale">): string {
  const words = [counted(group.runs, "run")];
  if (group.planned_turns) words.push(rangeOf(group.planned_turns, "turn"));
  // While a source is read there are runs without an episode, and these have no τ.
  if (group.tau && group.tau[1] > 0 && !isOfOneTurn(group)) words.push(`τ = ${range([Math.max(1, group.tau[0]), group.tau[1]])}`);
  return words.join(" · ");
}
