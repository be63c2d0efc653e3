// The runs that are ticked in the library: they stay ticked when the list is sorted, filtered or scrolled.
import { SvelteMap } from "svelte/reactivity";
import { call } from "../host";
import type { RunRow } from "../host/bindings/RunRow";
import { toRequest, type Filter } from "./filter";

/** So many are read at once. */
const PAGE = 500;

export class TickedRuns {
  readonly #at: (row: number) => RunRow | undefined;
  readonly #runs = new SvelteMap<string, RunRow>();
  readonly #ids = $derived([...this.#runs.keys()]);
  /** The row from which a range is ticked. */
  #anchor: number | undefined;

  /** `at` gives the run of a row, if it has been read. */
  constructor(at: (row: number) => RunRow | undefined) {
    this.#at = at;
  }

  get ids(): readonly string[] {
    return this.#ids;
  }
  get size(): number {
    return this.#runs.size;
  }
  /** A run as it was when it was ticked. */
  get(id: string): RunRow | undefined {
    return this.#runs.get(id);
  }
  clear(): void {
    this.#runs.clear();
  }
  /** Ticks a row, or takes its tick away. */
  tick(row: number, on?: boolean): void {
    const run = this.#at(row);
    if (!run) return;
    if (on ?? !this.#runs.has(run.id)) this.#runs.set(run.id, run);
    else this.#runs.delete(run.id);
  }
  /** A click on a tick: with `extend`, all rows from the last one on. */
  select(row: number, extend: boolean): void {
    if (extend && this.#anchor !== undefined) {
      const [from, to] = this.#anchor < row ? [this.#anchor, row] : [row, this.#anchor];
      for (let at = from; at <= to; at += 1) this.tick(at, true);
    } else {
      this.tick(row);
      this.#anchor = row;
    }
  }
  /** Ticks all `total` runs that pass the filter, and no other. A filter that changes meanwhile counts for the next time. */
  async tickAll(filter: Filter, total: number): Promise<void> {
    this.#runs.clear();
    for (let offset = 0; offset < total; offset += PAGE) {
      const page = await call("list_runs", toRequest(filter, offset, PAGE));
      for (const run of page.rows) this.#runs.set(run.id, run);
    }
  }
}
