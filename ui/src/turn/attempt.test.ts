import { expect, test } from "vitest";
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import { attemptTime, graderPlacesInWords, leftOutInWords, leftOutOf, processesLeftInWords, repeatsOf, tokensInInWords } from "./attempt";

const attempt = (extra: Record<string, unknown>): AttemptDetail =>
  ({
    number: 1,
    timing: { started_at: null, finished_at: null, agent_seconds: 60, test_seconds: null },
    end_reason: null,
    exception: null,
    passed: 3,
    extra,
  }) as unknown as AttemptDetail;

test("an attempt that was repeated says so", () => {
  expect(attemptTime(attempt({ repeats: 2 }), null, 1)).toMatch(/ · retried 2 times$/);
  expect(attemptTime(attempt({ repeats: 1 }), null, 1)).toMatch(/ · retried 1 time$/);
  expect(attemptTime(attempt({ repeats: 0 }), null, 1)).not.toContain("retried");
  // What somebody else's source calls so is not taken for it.
  expect([repeatsOf({}), repeatsOf({ repeats: "3" }), repeatsOf({ repeats: -1 }), repeatsOf({ repeats: 1.5 })]).toEqual([0, 0, 0, 0]);
});

test("input tokens that nobody counted are unknown, said once", () => {
  expect(tokensInInWords({ input: null, cached: null })).toBe("unknown");
  expect(tokensInInWords({ input: 4200, cached: null })).toBe("4,200, of that cached unknown");
  expect(tokensInInWords({ input: 4200, cached: 0 })).toBe("4,200, of that cached 0");
});

test("what of a workspace was not kept is named, and unknown where the source does not say", () => {
  expect(leftOutInWords({ left_out: ["big/", "link"], left_out_more: 1200 })).toBe("big/, link and 1,200 more");
  expect([leftOutInWords({ left_out: ["link"] }), leftOutInWords({ left_out: [] }), leftOutInWords({})]).toEqual(["link", "", ""]);
  expect(leftOutOf({ left_out: [] })).toEqual({ names: [], more: 0 });
  // What somebody else's source calls so is not taken for it.
  expect([leftOutOf({}), leftOutOf({ left_out: 3 }), leftOutOf({ left_out: [1] }), leftOutOf({ left_out: [], left_out_more: -1 })]).toEqual(
    [null, null, null, null],
  );
});

test("an attempt at a task says which places of the verifier its tool calls name", () => {
  expect(graderPlacesInWords(["tests", "reward_file"], true)).toBe("/tests, a reward file");
  expect(graderPlacesInWords([], true)).toBe("none");
  expect(graderPlacesInWords(null, true)).toBe("unknown");
  expect(graderPlacesInWords(null, false)).toBeNull();
});

test("an attempt at a task says what came of processes that its agent left", () => {
  const words = (left: unknown, rewards?: unknown): string | null =>
    processesLeftInWords({ processes_left: left, rewards_with_processes: rewards }, true);
  expect(words("same_verdict")).toMatch(/ confirmed the verdict$/);
  expect(words("other_verdict")).toMatch(/ came to other results, which count$/);
  expect(words("other_verdict", { reward: 1, format: 0.5, odd: "x" })).toMatch(/which count; with them: reward 1, format 0.5$/);
  expect(words("unconfirmed")).toMatch(/ the verdict may be theirs: /);
  // What somebody else's source calls so is not taken for it.
  expect([words(undefined), words(3), words("else"), processesLeftInWords({ processes_left: "unconfirmed" }, false)]).toEqual([
    null,
    null,
    null,
    null,
  ]);
});
