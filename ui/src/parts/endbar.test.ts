import { expect, test } from "vitest";
import { endsInWords, segments } from "./endbar";

test("segments fill the width, in the fixed order, and the smallest is still seen", () => {
  const parts = segments(
    [
      { reason: "tests_failed", ending: "event", count: 498 },
      { reason: "endpoint", ending: "censored", count: 1 },
      { reason: "agent_timeout", ending: "event", count: 1 },
    ],
    96,
  );
  expect(parts.map((p) => p.look)).toEqual(["failed", "error", "censored"]);
  expect(Math.min(...parts.map((p) => p.width))).toBeGreaterThanOrEqual(2);
  const last = parts.at(-1);
  expect((last?.x ?? 0) + (last?.width ?? 0)).toBeCloseTo(96);
});

test("the policy decides what is censored, and passing everything is never called so", () => {
  const ends = [
    { reason: "passed_all", ending: "censored", count: 9 },
    { reason: "verifier_error", ending: "censored", count: 2 },
  ] as const;
  expect(segments(ends, 96).map((p) => p.look)).toEqual(["passed", "censored"]);
  expect(endsInWords(ends)).toBe("9 passed all, 2 verifier error (censored)");
  expect(segments([], 96)).toEqual([]);
});
