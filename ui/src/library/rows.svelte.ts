// The rows of the library: sorted, filtered, grouped and paged by the store. Only pages that were looked at are read;
// when the library changes they are read again in place.
import { untrack } from "svelte";
import { asCallError, call, type CallError } from "../host";
import type { ListRuns } from "../host/bindings/ListRuns";
import type { RunPage } from "../host/bindings/RunPage";
import type { RunRow } from "../host/bindings/RunRow";
import { live } from "../shell/changes.svelte";

const PAGE = 200;
const SLOW_MS = 150;

export interface RunRows {
  /** Groups, facets and totals; `undefined` before the first answer. */
  readonly head: Omit<RunPage, "rows"> | undefined;
  readonly error: CallError | undefined;
  readonly loading: boolean;
  /** Old rows are shown and the new ones are late. */
  readonly stale: boolean;
  at(row: number): RunRow | undefined;
  /** Position of a run among the rows that have been read. */
  find(id: string): number | undefined;
  /** Says which rows are in view; missing ones are read. */
  show(from: number, to: number): void;
  reload(): void;
}

/** Call during set-up. */
export function runRows(request: () => ListRuns): RunRows {
  let head = $state.raw<Omit<RunPage, "rows"> | undefined>();
  let rows = $state.raw<ReadonlyMap<number, RunRow>>(new Map());
  let error = $state.raw<CallError | undefined>();
  let loading = $state(false);
  let stale = $state(false);
  let again = $state(0);
  let pages: [number, number] = [0, 0];
  /** Pages that are read or being read for the current generation. */
  let asked = new Set<number>();
  let generation = 0;
  let current: ListRuns | undefined;
  /** The library changed while an answer was under way: read once more after it, do not start over. */
  let outdated = false;
  const isOutdated = (): boolean => outdated;

  async function read(page: number, fresh: boolean): Promise<void> {
    if (!current || (asked.has(page) && !fresh)) return;
    asked.add(page);
    const mine = generation;
    const answer = await call("list_runs", { ...current, offset: page * PAGE, limit: PAGE });
    if (mine !== generation) return;
    const { rows: got, ...rest } = answer;
    const next = fresh ? new Map<number, RunRow>() : new Map(rows);
    got.forEach((row, i) => next.set(page * PAGE + i, row));
    rows = next;
    head = rest;
    error = undefined;
  }

  async function readAll(): Promise<void> {
    generation += 1;
    const mine = generation;
    asked = new Set();
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
  const wanted = $derived(JSON.stringify(request()));
  let seen: string | undefined;
  $effect(() => {
    const next = wanted;
    void live.revision;
    void again;
    untrack(() => {
      const same = seen === next;
      if (!same && seen !== undefined) pages = [0, 0];
      seen = next;
      current = request();
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
    find(id) {
      for (const [at, row] of rows) if (row.id === id) return at;
      return undefined;
    },
    show(from, to) {
      if (to < from) return;
      pages = [Math.floor(from / PAGE), Math.floor(to / PAGE)];
      if (!head) return;
      for (let page = pages[0]; page <= pages[1]; page += 1) {
        if (!asked.has(page)) void read(page, false).catch((thrown: unknown) => {
          asked.delete(page);
          error = asCallError(thrown);
        });
      }
    },
    reload() {
      again += 1;
    },
  };
}
