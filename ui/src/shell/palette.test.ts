import { expect, test } from "vitest";
import type { TextHit } from "../host/bindings/TextHit";
import {
  type SearchState,
  areTextsSearched,
  fits,
  groupOrder,
  inScope,
  noLineInWords,
  placeOf,
  rank,
  readInput,
  routeOf,
  routeOfText,
} from "./palette";
import { hrefOf } from "./routes";

const hit = {
  kind: "failure",
  title: "c003",
  detail: "expected 0.75",
  run: "evocode.opus",
  episode: "sec-audit",
  turn: 8,
  attempt: 3,
  test: "t1/comp sev",
  simulated: false,
};

test("the first letter says where to look", () => {
  expect(readInput(" > them dark ")).toEqual({ scope: "commands", words: "them dark" });
  expect(readInput("@opus")).toEqual({ scope: "runs", words: "opus" });
  expect(readInput("stamina://run/a")).toEqual({ scope: "link", words: "stamina://run/a" });
  expect(readInput("opus 4.8")).toEqual({ scope: "all", words: "opus 4.8" });
  expect(fits("Theme: dark", "dark them")).toBe(true);
});

test("the group of the best hit in a text comes first, after the names", () => {
  expect(groupOrder(["In failing tests", "In requests", "Runs", "In failing tests"])).toEqual([
    "Runs",
    "Episodes and turns",
    "In failing tests",
    "In requests",
  ]);
});

test("a hit leads to its place, and scopes keep others out", () => {
  expect(hrefOf(routeOf(hit, "comp"))).toBe("#/run/evocode.opus/sec-audit/8?attempt=3&test=t1%2Fcomp+sev");
  expect(hrefOf(routeOf({ ...hit, turn: null, attempt: null, test: null }, "audit"))).toBe("#/run/evocode.opus?episode=sec-audit");
  expect(inScope(hit, "runs")).toBe(false);
  expect(inScope(hit, "text")).toBe(true);
  expect(inScope({ ...hit, kind: "episode" }, "text")).toBe(false);
});

test("a hit in a request leads to its turn, with the words marked", () => {
  const request = { ...hit, kind: "request", attempt: null, test: null };
  expect(hrefOf(routeOf(request, '"ski rental" fee'))).toBe("#/run/evocode.opus/sec-audit/8?mark=ski+rental+fee");
});

test("nothing is said to be missing before everything was searched", () => {
  const done: SearchState = { failed: "", isPending: false, areTextsPending: false, hasMoreTexts: false, isIndexed: true };
  const line = (input: string, state: Partial<SearchState> = {}): string => noLineInWords(readInput(input), { ...done, ...state });
  expect(line("zebra", { areTextsPending: true })).toBe("Searching transcripts and logs…");
  expect(line("zebra", { isPending: true, areTextsPending: true })).toBe("Searching transcripts and logs…");
  expect(line("@zebra", { isPending: true })).toBe("");
  expect(line("zebra")).toBe("Nothing found.");
  expect(line("zebra", { hasMoreTexts: true })).toBe("Not every text could be searched in time.");
  expect(line("zebra", { failed: "The library is locked." })).toBe("The library is locked.");
  expect(line("ze")).toBe("Nothing found. Transcripts and logs are searched from 3 letters on.");
  expect(["/z", "#z", ">zebra", "@"].map((input) => line(input))).toEqual([
    "Nothing found. Transcripts and logs are searched from 3 letters on.",
    "Nothing found.",
    "Nothing found.",
    "Type what to look for.",
  ]);
  expect(line("stamina://nowhere")).toBe("This link names no page.");
  expect(["zebra", "/zebra", "@zebra", ">zebra", "ze"].map((input) => areTextsSearched(readInput(input)))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("a place in a transcript or log leads to its step or line, with the words marked", () => {
  const log: TextHit = {
    kind: "log",
    run: "a",
    episode: "e",
    scenario: "s",
    title: "s",
    turn: 3,
    attempt: 2,
    test: null,
    step: null,
    log: "e/server.log",
    line: 40,
    place: "Server log, line 40",
    snippet: "no such table",
    simulated: false,
  };
  expect(hrefOf(routeOfText(log, "no table"))).toBe("#/run/a/e/3?mark=no+table&attempt=2&pane=logs&log=e%2Fserver.log&line=40");
  expect(hrefOf(routeOfText(log, '"no table" '))).toBe(hrefOf(routeOfText(log, "no table")));
  expect(placeOf(log)).toBe("turn 3, attempt 2 · Server log, line 40");
  const step: TextHit = { ...log, kind: "transcript", log: null, line: null, step: 12, place: "transcript, step 12" };
  expect(hrefOf(routeOfText(step, "table"))).toBe("#/run/a/e/3?mark=table&attempt=2&pane=transcript&step=12");
  expect(hrefOf(routeOfText({ ...log, turn: null, attempt: null }, "x"))).toBe("#/run/a/e/1?mark=x&pane=logs&log=e%2Fserver.log&line=40");
  expect(placeOf({ ...log, turn: null, attempt: null })).toBe("Server log, line 40");
});

test("a command that begins with what is typed comes first", () => {
  const labels = ["Compare selected runs", "Load this run into the form", "Live runs", "Run page", "New run…", "Prune"];
  expect([...labels].sort((a, b) => rank(a, "run") - rank(b, "run"))).toEqual([
    "Run page",
    "Compare selected runs",
    "Load this run into the form",
    "Live runs",
    "New run…",
    "Prune",
  ]);
});
