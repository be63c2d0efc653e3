import { expect, test } from "vitest";
import { hrefOf, linkOf, listBefore, nearestLink, parseRoute, withQuery, type Route } from "./routes";

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
  expect(linkOf({ page: "turn", run: "evocode.opus", episode: "sec", turn: 8, query: { attempt: "3", test: "c003" } })).toBe(
    "stamina://run/evocode.opus/sec/8?attempt=3&test=c003",
  );
  expect(parseRoute("stamina://run/a/b/turn/8?attempt=3")).toEqual({
    page: "turn",
    run: "a",
    episode: "b",
    turn: 8,
    query: { attempt: "3" },
  });
  expect(parseRoute("#/run/a/b")).toEqual({ page: "run", run: "a", query: { episode: "b" } });
  expect(parseRoute("stamina://runs")).toEqual({ page: "runs", view: "new", query: {} });
  expect(parseRoute("")).toEqual({ page: "library", query: {} });
});

test("what names no page is refused, not guessed", () => {
  for (const text of [
    "#/nowhere",
    "stamina://run",
    "#/run/a/b/0",
    "#/run/a/b/-1",
    "#/run/a/b/x",
    "#/report/x",
    "#/library/x",
    "#/runs/old",
    "#/runs/new/x",
    "#/runs/live/a/b",
  ])
    expect(parseRoute(text), text).toBeUndefined();
  expect(parseRoute("#/run/%E0%A4%A")).toEqual({ page: "run", run: "%E0%A4%A", query: {} });
});

test("taking a name away leaves the others", () => {
  const route = { page: "run", run: "a", query: { episode: "e", turn: "2" } } as const;
  expect(withQuery(route, { turn: null, x: "1" }).query).toEqual({ episode: "e", x: "1" });
  expect(route.query).toEqual({ episode: "e", turn: "2" });
});

test("Esc leads back to the list from which a run or a turn was opened", () => {
  const failures: Route = { page: "failures", query: { class: "crashed" } };
  const library: Route = { page: "library", query: { q: "glm" } };
  const run: Route = { page: "run", run: "a.b", query: {} };
  const turn = (number: number): Route => ({ page: "turn", run: "a.b", episode: "scenario_1", turn: number, query: {} });
  expect(listBefore(turn(3), [failures, library])).toBe(failures);
  // Walking on over turns, and up to the run by its link, changes nothing of where one came from.
  expect(listBefore(turn(4), [turn(3), failures])).toBe(failures);
  expect(listBefore(run, [turn(4), turn(3), failures])).toBe(failures);
  // Who came down from the run or the library goes up to these.
  expect(listBefore(turn(3), [run, failures])).toBeUndefined();
  expect(listBefore(run, [turn(3), run, library, failures])).toBeUndefined();
  expect(listBefore(run, [{ page: "runs", view: "new", query: {} }])).toBeUndefined();
  expect(listBefore(run, [{ page: "runs", view: "finished", query: {} }])).toMatchObject({ page: "runs", view: "finished" });
  expect(listBefore(failures, [library])).toBeUndefined();
  expect(listBefore(turn(3), [])).toBeUndefined();
});

test("Esc leads from a comparison back to the matrix, and from the details of a run to the finished ones", () => {
  const library: Route = { page: "library", query: {} };
  const matrix: Route = { page: "matrix", query: { cells: "3" } };
  const compare: Route = { page: "compare", query: { members: "run:a.b" } };
  const sides: Route = { page: "side-by-side", query: { turn: "3" } };
  expect(listBefore(compare, [matrix, library])).toBe(matrix);
  expect(listBefore(compare, [sides, compare, matrix])).toBe(matrix);
  expect(listBefore(compare, [{ page: "run", run: "a.b", query: {} }, compare, matrix])).toBe(matrix);
  expect(listBefore(compare, [library, matrix])).toBeUndefined();
  const finished: Route = { page: "runs", view: "finished", query: { folder: "/a" } };
  const details: Route = { page: "runs", view: "live", at: "/a", query: {} };
  expect(listBefore(details, [finished, library])).toBe(finished);
  expect(listBefore(details, [{ page: "run", run: "a.b", query: {} }, details, finished])).toBe(finished);
  expect(listBefore(details, [{ page: "runs", view: "new", query: {} }, finished])).toBeUndefined();
  expect(listBefore({ page: "runs", view: "live", query: {} }, [finished])).toBeUndefined();
  expect(listBefore(finished, [library])).toBeUndefined();
});

test("the focus lands on the link that leads nearest to the page that was left", () => {
  const left: Route = { page: "turn", run: "a.b", episode: "scenario_1", turn: 8, query: { test: "c001" } };
  const links = [
    "#/library",
    "#/run/a.c/scenario_1/8",
    "#/run/a.b",
    "#/run/a.b/scenario_1/3",
    "#/run/a.b/scenario_1/8?test=c002",
    "#/run/a.b/scenario_1/8?test=c001",
    "https://example.org",
  ];
  expect(nearestLink(links, left)).toBe(5);
  expect(nearestLink(links.slice(0, 5), left)).toBe(4);
  expect(nearestLink(links.slice(0, 4), left)).toBe(3);
  expect(nearestLink(links.slice(0, 3), left)).toBe(2);
  expect(nearestLink(links.slice(0, 2), left)).toBe(-1);
  expect(nearestLink(["#/run/a.b"], { page: "failures", query: {} })).toBe(-1);
  // Of the attempts of one turn the one that was open, whatever test was looked at.
  const attempts = [
    "#/run/a.b/scenario_1/8?attempt=1&test=c001",
    "#/run/a.b/scenario_1/8?attempt=2&test=c001",
    "#/run/a.b/scenario_1/8?attempt=3",
  ];
  expect(nearestLink(attempts, { page: "turn", run: "a.b", episode: "scenario_1", turn: 8, query: { attempt: "2" } })).toBe(1);
  const compares = ["#/compare?members=run%3Aa.b", "#/compare?members=run%3Aa.c"];
  expect(nearestLink(compares, { page: "compare", query: { members: "run:a.c" } })).toBe(1);
  expect(nearestLink(["#/matrix"], { page: "compare", query: {} })).toBe(-1);
});
