// The list of turns that two sides were opened from, and where they stand in it. Opened by hand, the two runs are what is compared.
import type { Comparison } from "../host/bindings/Comparison";
import type { DisagreementMode } from "../host/bindings/DisagreementMode";
import type { Member } from "../host/bindings/Member";
import type { SeriesStyle } from "../host/bindings/SeriesStyle";
import { resource } from "../shell/resource.svelte";
import type { Query, Route } from "../shell/routes";
import { readAddress } from "./address";
import { pairOf, sideBySide } from "./comparedCells";
import { readMembers } from "./members";
import { keptQuery, pairFromText, type Place } from "./sides";

/** So many are looked through for a turn whose row is not known. */
const FIRST = 1000;

export interface TurnList {
  /** Who is compared; none where both sides are of one run. */
  readonly members: readonly Member[];
  readonly mode: DisagreementMode;
  /** Which turns are listed, in words: `disagreements`. */
  readonly noun: string;
  readonly total: number | undefined;
  /** Where this turn stands in the list. */
  readonly position: number | null;
  /** Where the address says that it stands. */
  readonly row: number | null;
  readonly styles: readonly [SeriesStyle | undefined, SeriesStyle | undefined];
  /** The short name of a side's run as the comparison has it: what tells it from the others. */
  name(side: 0 | 1): string | undefined;
  /** The next turn of the list, or the one before. */
  next(by: 1 | -1): Route | null;
}

interface TurnListInput {
  readonly query: Query;
  readonly left: Place | undefined;
  readonly right: Place | undefined;
  readonly turn: number;
  readonly scenario: string | undefined;
}

/** Call during set-up. */
export function turnList(input: () => TurnListInput): TurnList {
  const query = $derived(input().query);
  const address = $derived(readAddress({ ...query, mode: query["mode"] ?? "" }));
  const members = $derived.by((): Member[] => {
    const given = readMembers(query);
    const { left, right } = input();
    if (given.length > 1 || !left || !right) return given;
    return left.run === right.run
      ? []
      : [
          { by: "run", run: left.run },
          { by: "run", run: right.run },
        ];
  });
  const fromList = $derived(readMembers(query).length > 1);
  const compared = resource("compare_runs", () =>
    members.length > 1 ? { members, reference: fromList ? address.reference : 0, tau: null, pairs: "reference" as const } : undefined,
  );
  const pair = $derived.by((): readonly [number, number] | null => {
    if (!fromList) return members.length > 1 ? [0, 1] : null;
    return pairFromText(query["pair"], members.length);
  });
  const memberOf = (data: Comparison | undefined, side: 0 | 1): Comparison["members"][number] | undefined =>
    data && pair ? data.members[pair[side]] : undefined;
  const row = $derived(/^\d{1,6}$/.test(query["row"] ?? "") ? Number(query["row"]) : null);
  /** The first row that is read. */
  const offset = $derived(row === null ? 0 : Math.max(0, row - 1));
  const nearby = resource("list_disagreements", () =>
    members.length > 1
      ? {
          members,
          reference: fromList ? address.reference : 0,
          mode: address.mode,
          sort: fromList ? address.sort : ("scenario" as const),
          text: address.text,
          offset,
          limit: row === null ? FIRST : 3,
        }
      : undefined,
  );
  const position = $derived.by((): number | null => {
    const page = nearby.data;
    if (!page) return null;
    const { turn, scenario } = input();
    const found = page.rows.findIndex((r) => r.turn === turn && r.scenario === scenario);
    return found < 0 ? null : found + offset;
  });

  return {
    get members() {
      return members;
    },
    get mode() {
      return address.mode;
    },
    get noun() {
      return address.mode === "different" ? "disagreements" : address.mode === "all" ? "turns" : address.mode;
    },
    get total() {
      return members.length > 1 ? nearby.data?.total : undefined;
    },
    get position() {
      return position;
    },
    get row() {
      return row;
    },
    get styles() {
      return [memberOf(compared.data, 0)?.swatch, memberOf(compared.data, 1)?.swatch] as const;
    },
    name: (side) => memberOf(compared.data, side)?.short_name,
    next(by) {
      const page = nearby.data;
      if (!page || page.total === 0) return null;
      const from = position ?? row;
      const to = from === null ? (by === 1 ? 0 : -1) : from + by;
      const next = page.rows[to - offset];
      if (to < 0 || to >= page.total || !next) return null;
      const both = pair && next.cells[pair[0]] && next.cells[pair[1]] ? pair : pairOf(next, fromList ? address.reference : 0, null);
      const route = both ? sideBySide(next, both, { ...keptQuery(query), ...(fromList ? { row: String(to) } : {}) }) : null;
      if (route?.page !== "side-by-side" || fromList) return route;
      return { ...route, query: Object.fromEntries(Object.entries(route.query).filter(([name]) => name !== "pair")) };
    },
  };
}
