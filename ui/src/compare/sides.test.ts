import { expect, test } from "vitest";
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import type { TurnDetail } from "../host/bindings/TurnDetail";
import {
  attemptFromText,
  keptQuery,
  listQuery,
  namesOfSides,
  pairFromText,
  paneFromText,
  placeFromText,
  sharedName,
  type TurnSide,
} from "./sides";

interface SideFacts {
  readonly run?: string;
  readonly harness?: string;
  readonly compared?: string;
  readonly scenario?: string;
  readonly title?: string;
  readonly repeat?: number;
  readonly attempt?: number;
  readonly read?: boolean;
}

/** A side of a run of `oracle`; its episode has its scenario and its repeat in its id. */
function sideOf(facts: SideFacts): TurnSide {
  const { run = "jobs.a", harness = "codex", compared, scenario = "s1", title, repeat = 1, attempt, read = true } = facts;
  const episode = `${scenario}.${String(repeat)}`;
  const row = { episode, scenario, title: title ?? null, repeat };
  const runRow = { id: run, model: "oracle", source_name: "jobs", baseline: null, harness, harness_version: null };
  return {
    place: { run, episode },
    detail: read ? ({ run: runRow, episode: { row } } as unknown as TurnDetail) : undefined,
    attempt: attempt === undefined ? undefined : ({ number: attempt } as AttemptDetail),
    compared,
  };
}
const named = (left: SideFacts, right: SideFacts): readonly string[] => namesOfSides([sideOf(left), sideOf(right)]);
const titled = (left: SideFacts, right: SideFacts): string => sharedName([sideOf(left), sideOf(right)]);

test("a side is an episode of a run; half of one is none", () => {
  expect(placeFromText("a.b%2Fc/scenario%201")).toEqual({ run: "a.b/c", episode: "scenario 1" });
  expect(placeFromText("100%/x")).toEqual({ run: "100%", episode: "x" });
  for (const text of [undefined, "", "a", "a/", "/b"]) expect(placeFromText(text), text).toBeUndefined();
});

test("two different members are a pair", () => {
  expect(pairFromText("0.2", 3)).toEqual([0, 2]);
  for (const text of [undefined, "", "1", "1.1", "0.3", "0.5x", "a.b"]) expect(pairFromText(text, 3), text).toBeNull();
});

test("the last attempt is shown unless another is asked for", () => {
  const detail = { attempts: [{ number: 1 }, { number: 2 }] } as unknown as TurnDetail;
  expect([undefined, "1", "7"].map((requested) => attemptFromText(detail, requested)?.number)).toEqual([2, 1, 2]);
  expect(attemptFromText(undefined, "1")).toBeUndefined();
});

test("code is shown first, a transcript where no side has code", () => {
  const attempt = (has_code: boolean, has_transcript: boolean): AttemptDetail => ({ has_code, has_transcript }) as AttemptDetail;
  expect(paneFromText("transcript", undefined, undefined)).toBe("transcript");
  expect(paneFromText(undefined, undefined, undefined)).toBe("code");
  expect(paneFromText(undefined, attempt(false, true), undefined)).toBe("transcript");
  expect(paneFromText(undefined, attempt(false, false), attempt(false, true))).toBe("transcript");
  expect(paneFromText(undefined, attempt(false, true), attempt(true, true))).toBe("code");
  expect(paneFromText("code", attempt(false, true), undefined)).toBe("code");
});

test("two runs are named as the comparison names them", () => {
  const [left, right] = [
    { run: "jobs.a", compared: "opencode" },
    { run: "jobs.b", compared: "mini-swe" },
  ];
  expect(named(left, right)).toEqual(["opencode", "mini-swe"]);
  expect(titled({ ...left, title: "Library" }, { ...right, title: "Library" })).toBe("s1 · Library");
  // Without a comparison both models are the same.
  expect(named({ run: "jobs.a" }, { run: "jobs.b", harness: "kimi" })).toEqual(["oracle · codex", "oracle · kimi"]);
  expect(named({ run: "jobs.a" }, { run: "jobs.b" })).toEqual(["jobs.a", "jobs.b"]);
  // Repeats of two runs have nothing to do with each other.
  expect(named({ ...left, repeat: 2 }, right)).toEqual(["opencode", "mini-swe"]);
});

test("two runs that play different scenarios are named with these, and the title names neither", () => {
  const [left, right] = [
    { run: "jobs.a", compared: "weak", scenario: "theme_v1_w1_notes_cli" },
    { run: "jobs.b", compared: "strong", scenario: "theme_v1_w1_notes_regression" },
  ];
  expect(named(left, right)).toEqual(["weak · theme_v1_…_notes_cli", "strong · theme_v1_…regression"]);
  expect(titled(left, right)).toBe("");
  // The harness, all in which the runs differ, is not lost.
  expect(named({ ...left, compared: "claude-opus-4.8 · codex" }, { ...right, compared: "claude-opus-4.8 · opencode" })).toEqual([
    "claude-opus-4.8 · codex · theme_v1_…_notes_cli",
    "claude-opus-4.8 · opencode · theme_v1_…regression",
  ]);
});

test("two episodes of one run are named by scenario and repeat: both were named by their run", () => {
  expect(named({ scenario: "theme_v1_w1_notes_cli" }, { scenario: "theme_v1_w1_notes_regression" })).toEqual([
    "theme_v1_w1_notes_cli",
    "theme_v1_w1_notes_regression",
  ]);
  expect(titled({ scenario: "s1" }, { scenario: "s2" })).toBe("oracle");
  expect(named({ repeat: 1 }, { repeat: 2 })).toEqual(["repeat 1", "repeat 2"]);
  expect(titled({ repeat: 1 }, { repeat: 2 })).toBe("oracle · s1");
  expect(named({ scenario: "s1", repeat: 1 }, { scenario: "s2", repeat: 3 })).toEqual(["s1, repeat 1", "s2, repeat 3"]);
  // Titles of generated scenarios repeat.
  const [first, second] = ["theme_v1_w1_notes_cli", "theme_v1_w1_notes_app"].map((scenario) => ({ scenario, title: "Notes" }));
  expect(named(first ?? {}, second ?? {})).toEqual(["theme_v1_w1_notes_cli", "theme_v1_w1_notes_app"]);
  // A side that is not read has its id.
  expect(named({ scenario: "s1" }, { scenario: "s2", read: false })).toEqual(["s1.1", "s2.1"]);
});

test("two attempts of one turn are named by their numbers", () => {
  expect(named({ attempt: 1 }, { attempt: 3 })).toEqual(["attempt 1", "attempt 3"]);
  expect(named({ attempt: 2 }, { attempt: 2 })).toEqual(["oracle", "oracle"]);
  expect(titled({ repeat: 2 }, { repeat: 2 })).toBe("oracle · s1, repeat 2");
});

test("what belongs to one turn goes with it", () => {
  const query = { left: "a/b", turn: "3", test: "t1", la: "2", row: "4", steps: "tools", members: "a,b", mode: "errors" };
  expect(keptQuery(query)).toEqual({ steps: "tools", members: "a,b", mode: "errors" });
  expect(listQuery(query)).toEqual({ row: "4", mode: "errors" });
});
