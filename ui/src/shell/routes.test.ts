import { expect, test } from "vitest";
import { hrefOf, linkOf, parseRoute, withQuery, type Route } from "./routes";

const routes: Route[] = [
  { page: "library", query: {} },
  { page: "library", query: { source: "3", q: "a&b=c?#/ü" } },
  { page: "compare", query: { members: "run:a.b,harness:open code@x" } },
  { page: "side-by-side", query: { left: "a.b/scenario_1", right: "c.d/scenario_1", turn: "8" } },
  { page: "matrix", query: { benchmark: "staminabench" } },
  { page: "failures", query: { class: "guard_ignored" } },
  { page: "start", query: {} },
  { page: "open-failed", query: { path: "/data/100% real/ü #1" } },
  { page: "run", run: "evocode-published.claude-opus-4.8", query: { episode: "x-r2", turn: "5" } },
  { page: "turn", run: "a.b", episode: "scenario_1", turn: 8, query: { attempt: "3", test: "tests/a.py::t[x/y]" } },
  { page: "runs", view: "new", query: {} },
  { page: "runs", view: "live", query: {} },
  { page: "runs", view: "live", at: "a1b2c3d4", query: { episode: "scenario_3", log: "server" } },
  { page: "runs", view: "finished", query: {} },
  { page: "report", source: 12, query: { run: "a.b" } },
  { page: "policy", query: {} },
];

test("every page survives the way through address and link", () => {
  for (const route of routes) {
    expect(parseRoute(hrefOf(route))).toEqual(route);
    expect(parseRoute(linkOf(route))).toEqual(route);
  }
});

test("links are those that people are shown", () => {
  expect(linkOf({ page: "turn", run: "evocode.opus", episode: "sec", turn: 8, query: { attempt: "3", test: "c003" } })).toBe("stamina://run/evocode.opus/sec/8?attempt=3&test=c003");
  expect(parseRoute("stamina://run/a/b/turn/8?attempt=3")).toEqual({ page: "turn", run: "a", episode: "b", turn: 8, query: { attempt: "3" } });
  expect(parseRoute("#/run/a/b")).toEqual({ page: "run", run: "a", query: { episode: "b" } });
  expect(parseRoute("stamina://runs")).toEqual({ page: "runs", view: "new", query: {} });
  expect(parseRoute("")).toEqual({ page: "library", query: {} });
});

test("what names no page is refused, not guessed", () => {
  for (const text of ["#/nowhere", "stamina://run", "#/run/a/b/0", "#/run/a/b/-1", "#/run/a/b/x", "#/report/x", "#/library/x", "#/runs/old", "#/runs/new/x", "#/runs/live/a/b"]) expect(parseRoute(text), text).toBeUndefined();
  expect(parseRoute("#/run/%E0%A4%A")).toEqual({ page: "run", run: "%E0%A4%A", query: {} });
});

test("taking a name away leaves the others", () => {
  const route = { page: "run", run: "a", query: { episode: "e", turn: "2" } } as const;
  expect(withQuery(route, { turn: null, x: "1" }).query).toEqual({ episode: "e", x: "1" });
  expect(route.query).toEqual({ episode: "e", turn: "2" });
});
