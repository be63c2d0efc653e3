import { expect, test } from "vitest";
import type { LiveLog } from "../host/bindings/LiveLog";
import { MAX_LINES, atEnd, emptyTail, appendLog, timeOfDay } from "./log";
import { budgetChanges } from "./resume";

const came = (n: number, change: Partial<LiveLog> = {}): LiveLog => ({
  lines: Array.from({ length: n }, (_, i) => ({ time: null, kind: "agent", text: String(i), facts: [] })),
  next: "x",
  fresh: false,
  attempt: [1, 1],
  cut: false,
  ...change,
});

test("a tail grows, forgets what is old, and keeps the number of every line", () => {
  const one = appendLog(emptyTail, came(3, { fresh: true, cut: true }));
  expect([one.first, one.lines.length, one.cut, one.next]).toEqual([0, 3, true, "x"]);
  const two = appendLog(one, came(MAX_LINES, { attempt: null }));
  expect([two.first, two.lines.length, two.cut, two.place]).toEqual([3, MAX_LINES, true, [1, 1]]);
  expect(two.lines[0]?.text).toBe("0");
});

test("a log of a new attempt takes the place of the old one under new numbers", () => {
  const one = appendLog(appendLog(emptyTail, came(5)), came(2));
  const two = appendLog(one, came(4, { fresh: true, attempt: [2, 1] }));
  expect([two.first, two.lines.length, two.cut, two.place]).toEqual([7, 4, false, [2, 1]]);
});

test("the end is the end, give or take part of a line", () => {
  expect([atEnd(900, 100, 1000), atEnd(890, 100, 1000), atEnd(800, 100, 1000)]).toEqual([true, true, false]);
  expect(timeOfDay(null)).toBe("        ");
  expect(timeOfDay("nonsense").trim()).toBe("");
  expect(timeOfDay("2026-11-21T08:42:19.5Z")).toMatch(/^\d\d:\d\d:19$/);
});

test("a resume raises budgets and changes nothing that was not typed", () => {
  const now = { tokens: null, usd: 60, seconds: 3600 };
  expect(budgetChanges("run", now, { usd: "", tokens: "", minutes: "" })).toEqual({ changes: [], problems: new Map() });
  expect(budgetChanges("run", now, { usd: "80.5", tokens: "1,000,000", minutes: "90" }).changes).toEqual([
    "limits.run.usd=80.5",
    "limits.run.tokens=1000000",
    "limits.run.minutes=90",
  ]);
  expect(budgetChanges("episode", now, { usd: "", tokens: "", minutes: "120" }).changes).toEqual(["limits.episode.minutes=120"]);
  expect([...budgetChanges("attempt", now, { usd: "20", tokens: "1.5", minutes: "x" }).problems]).toEqual([
    ["usd", "is less than before"],
    ["tokens", "must be a whole number"],
    ["minutes", "must be a number above 0"],
  ]);
});
