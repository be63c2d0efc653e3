// The rows of a long list: sorted, filtered and paged by the store. Only pages that were looked at are read; when the
// library changes they are read again in place.
import { untrack } from "svelte";
import { asCallError, call, type CallError } from "../host";
import type { Commands } from "../host/bindings/Commands";
import { appStatus } from "../shell/changes.svelte";

const PAGE = 200;
const SLOW_MS = 150;

/** Commands that answer with one page of rows. */
type Paged = {
  [Name in keyof Commands]: Commands[Name] extends {
    request: { offset: number | null; limit: number | null };
    response: { rows: unknown[] };
  }
    ? Name
    : never;
}[keyof Commands];
export type RowOf<Name extends Paged> = Commands[Name]["response"]["rows"][number];
export type HeadOf<Name extends Paged> = Omit<Commands[Name]["response"], "rows">;

export interface PagedRows<Name extends Paged> {
  /** All of the last answer but its rows: totals, groups, counts; `undefined` before the first. */
  readonly head: HeadOf<Name> | undefined;
  readonly error: CallError | undefined;
  readonly loading: boolean;
  /** Old rows are shown and the new ones are late. */
  readonly stale: boolean;
  at(row: number): RowOf<Name> | undefined;
  /** Position of a row among those that have been read. */
  find(is: (row: RowOf<Name>) => boolean): number | undefined;
  /** Says which rows are in view; missing ones are read. */
  show(from: number, to: number): void;
  reload(): void;
}

/** Call during set-up. `request` is asked without its offset and limit; `undefined` = nothing to ask yet. */
export function pagedRows<Name extends Paged>(name: Name, request: () => Commands[Name]["request"] | undefined): PagedRows<Name> {
  let head = $state.raw<HeadOf<Name> | undefined>();
  let rows = $state.raw<ReadonlyMap<number, RowOf<Name>>>(new Map());
  let error = $state.raw<CallError | undefined>();
  let loading = $state(false);
  let stale = $state(false);
  let again = $state(0);
  let pages: [number, number] = [0, 0];
  /** Pages that are read or being read for the current generation. */
  let requested = new Set<number>();
  let generation = 0;
  let current: Commands[Name]["request"] | undefined;
  /** The library changed while an answer was under way: read once more after it, do not start over. */
  let outdated = false;
  const isOutdated = (): boolean => outdated;

  async function read(page: number, fresh: boolean): Promise<void> {
    if (!current || (requested.has(page) && !fresh)) return;
    requested.add(page);
    const mine = generation;
    const answer = await call(name, { ...current, offset: page * PAGE, limit: PAGE });
    if (mine !== generation) return;
    const { rows: got, ...rest } = answer;
    const next = fresh ? new Map<number, RowOf<Name>>() : new Map(rows);
    got.forEach((row, i) => next.set(page * PAGE + i, row));
    rows = next;
    head = rest;
    error = undefined;
  }

  async function readAll(): Promise<void> {
    generation += 1;
    const mine = generation;
    requested = new Set();
    loading = true;
    outdated = false;
    const timer = setTimeout(() => {
      if (mine === generation) stale = true;
    }, SLOW_MS);
    try {
      const [from, to] = pages;
      await read(from, true);
      for (let page = from + 1; page <= to; page += 1) if (mine === generation) await read(page, false);
    } catch (thrown) {
      if (mine === generation) error = asCallError(thrown);
    } finally {
      clearTimeout(timer);
      if (mine === generation) {
        loading = false;
        stale = false;
        if (isOutdated()) void readAll();
      }
    }
  }

  // As text, so that an address that changes only its chosen row reads nothing.
  const wanted = $derived(JSON.stringify(request() ?? null));
  let lastRequest: string | undefined;
  $effect(() => {
    const next = wanted;
    void appStatus.revision;
    void again;
    untrack(() => {
      const same = lastRequest === next;
      if (!same && lastRequest !== undefined) pages = [0, 0];
      lastRequest = next;
      current = request();
      if (!current) return;
      if (same && loading) outdated = true;
      else void readAll();
    });
  });

  return {
    get head() {
      return head;
    },
    get error() {
      return error;
    },
    get loading() {
      return loading;
    },
    get stale() {
      return stale && head !== undefined;
    },
    at: (row) => rows.get(row),
    find(is) {
      for (const [at, row] of rows) if (is(row)) return at;
      return undefined;
    },
    show(from, to) {
      if (to < from) return;
      pages = [Math.floor(from / PAGE), Math.floor(to / PAGE)];
      if (!head) return;
      for (let page = pages[0]; page <= pages[1]; page += 1) {
        if (!requested.has(page))
          void read(page, false).catch((thrown: unknown) => {
            requested.delete(page);
            error = asCallError(thrown);
          });
      }
    },
    reload() {
      again += 1;
    },
  };
}
