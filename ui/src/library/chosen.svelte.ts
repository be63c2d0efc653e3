// The chosen run of the library: the address knows it by its id, so its row may change under it.
import { untrack } from "svelte";
import type { RunRow } from "../host/bindings/RunRow";
import type { PagedRows } from "../parts/paged.svelte";
import { router, withQuery, type Query } from "../shell/router.svelte";

export interface ChosenRunRow {
  /** Its row, as far as it is known. */
  readonly row: number | undefined;
  /** The run, if its row has been read. */
  readonly run: RunRow | undefined;
  /** The row from which a move begins. */
  startOfMove(by: 1 | -1): number;
  choose(row: number): void;
  /** Goes to the page of a run; false = its row has not been read. */
  open(row: number): boolean;
}

/** Call during set-up. */
export function chosenRunRow(rows: PagedRows<"list_runs">, list: () => { readonly query: Query; readonly total: number }): ChosenRunRow {
  let lastActive: number | undefined = $state();
  /** A row that was chosen before it had been read; its run goes into the address as soon as it is known. */
  let awaited: number | undefined = $state();
  const activeId = $derived(list().query["run"]);
  const active = $derived.by(() => {
    if (awaited !== undefined) return awaited;
    if (activeId === undefined) return undefined;
    // Scrolled far away, its row may have been dropped; it is still where it was.
    return (
      rows.find((run) => run.id === activeId) ??
      (lastActive !== undefined && lastActive < list().total && rows.at(lastActive) === undefined ? lastActive : undefined)
    );
  });
  const run = $derived(active === undefined ? undefined : rows.at(active));
  const write = (id: string): void => {
    router.replace(withQuery({ page: "library", query: list().query }, { run: id }));
  };
  $effect(() => {
    const read = awaited === undefined ? undefined : rows.at(awaited);
    if (!read) return;
    awaited = undefined;
    untrack(() => {
      write(read.id);
    });
  });

  return {
    get row() {
      return active;
    },
    get run() {
      return run;
    },
    startOfMove(by) {
      const { total } = list();
      // Where the chosen run is gone, it continues at its place: the next row stands there now.
      const placeOfGone = lastActive === undefined ? undefined : Math.min(lastActive, total);
      return active ?? (by === 1 ? (placeOfGone ?? 0) - 1 : (placeOfGone ?? total));
    },
    choose(row) {
      const read = rows.at(row);
      lastActive = row;
      awaited = read ? undefined : row;
      if (read) write(read.id);
    },
    open(row) {
      const read = rows.at(row);
      if (!read) return false;
      if (activeId !== read.id) write(read.id);
      router.go({ page: "run", run: read.id, query: {} });
      return true;
    },
  };
}
