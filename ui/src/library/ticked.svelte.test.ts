import { beforeEach, expect, test, vi } from "vitest";
import type { ListRuns } from "../host/bindings/ListRuns";
import type { RunRow } from "../host/bindings/RunRow";
import { readFilter } from "./filter";
import { TickedRuns } from "./ticked.svelte";

const { call } = vi.hoisted(() => ({ call: vi.fn<(name: string, request: ListRuns) => Promise<{ rows: RunRow[] }>>() }));
vi.mock("../host", () => ({ call }));

const run = (row: number): RunRow => ({ id: `r${String(row)}` }) as RunRow;
/** Rows 0 to 9 have been read. */
const begin = (): TickedRuns => new TickedRuns((row) => (row < 10 ? run(row) : undefined));

beforeEach(() => {
  call.mockReset();
});

test("a click ticks a row or takes its tick away, and a range goes from the last one", () => {
  const ticked = begin();
  ticked.select(5, false);
  ticked.select(3, true);
  expect([...ticked.ids].sort()).toEqual(["r3", "r4", "r5"]);
  ticked.select(4, false);
  expect([...ticked.ids].sort()).toEqual(["r3", "r5"]);
  ticked.select(6, true);
  expect(ticked.size).toBe(4);
});

test("a row that has not been read cannot be ticked", () => {
  const ticked = begin();
  ticked.tick(12, true);
  expect(ticked.size).toBe(0);
});

test("all runs that pass the filter are ticked, page by page, and no other", async () => {
  const ticked = begin();
  ticked.tick(9, true);
  call.mockImplementation((_name, { offset, limit }) =>
    Promise.resolve({ rows: Array.from({ length: Math.min(limit, 501 - offset) }, (_none, at) => run(1000 + offset + at)) }),
  );
  await ticked.tickAll(readFilter({ q: "k2" }), 501);
  expect(ticked.size).toBe(501);
  expect(ticked.get("r9")).toBeUndefined();
  expect(call.mock.calls.map(([name, request]) => [name, request.offset, request.text])).toEqual([
    ["list_runs", 0, "k2"],
    ["list_runs", 500, "k2"],
  ]);
});
