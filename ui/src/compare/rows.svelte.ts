// The turns on which members disagree, read page by page as they come into view.
import { untrack } from "svelte";
import { asCallError, call, type CallError } from "../host";
import type { DisagreementPage } from "../host/bindings/DisagreementPage";
import type { DisagreementRequest } from "../host/bindings/DisagreementRequest";
import type { DisagreementRow } from "../host/bindings/DisagreementRow";
import { live } from "../shell/changes.svelte";

const PAGE = 200;
const SLOW_MS = 150;

export interface DisagreementRows {
  /** Totals of the last answer; `undefined` before the first. */
  readonly head: Omit<DisagreementPage, "rows"> | undefined;
  readonly error: CallError | undefined;
  /** Old rows are shown and the new ones are late. */
  readonly stale: boolean;
  at(row: number): DisagreementRow | undefined;
  /** Says which rows are in view; missing ones are read. */
  show(from: number, to: number): void;
  reload(): void;
}

/** Call during set-up. */
export function disagreementRows(request: () => DisagreementRequest | undefined): DisagreementRows {
  let head = $state.raw<Omit<DisagreementPage, "rows"> | undefined>();
  let rows = $state.raw<ReadonlyMap<number, DisagreementRow>>(new Map());
  let error = $state.raw<CallError | undefined>();
  let stale = $state(false);
  let again = $state(0);
  let view: [number, number] = [0, 0];
  let asked = new Set<number>();
  let generation = 0;
  let current: DisagreementRequest | undefined;

  async function read(page: number, fresh: boolean): Promise<void> {
    if (!current || (asked.has(page) && !fresh)) return;
    asked.add(page);
    const mine = generation;
    const answer = await call("list_disagreements", { ...current, offset: page * PAGE, limit: PAGE });
    if (mine !== generation) return;
    const { rows: got, ...rest } = answer;
    const next = fresh ? new Map<number, DisagreementRow>() : new Map(rows);
    got.forEach((row, i) => next.set(page * PAGE + i, row));
    rows = next;
    head = rest;
    error = undefined;
  }
  async function readAll(): Promise<void> {
    generation += 1;
    const mine = generation;
    asked = new Set();
    const timer = setTimeout(() => {
      if (mine === generation) stale = true;
    }, SLOW_MS);
    try {
      for (let page = view[0]; page <= view[1]; page += 1) if (mine === generation) await read(page, page === view[0]);
    } catch (thrown) {
      if (mine === generation) error = asCallError(thrown);
    } finally {
      clearTimeout(timer);
      if (mine === generation) stale = false;
    }
  }

  const wanted = $derived(JSON.stringify(request() ?? null));
  let seen: string | undefined;
  $effect(() => {
    const next = wanted;
    void live.revision;
    void again;
    untrack(() => {
      if (seen !== next && seen !== undefined) view = [0, 0];
      seen = next;
      current = request();
      if (current) void readAll();
    });
  });

  return {
    get head() {
      return head;
    },
    get error() {
      return error;
    },
    get stale() {
      return stale && head !== undefined;
    },
    at: (row) => rows.get(row),
    show(from, to) {
      if (to < from) return;
      view = [Math.floor(from / PAGE), Math.floor(to / PAGE)];
      if (!head) return;
      for (let page = view[0]; page <= view[1]; page += 1) {
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
