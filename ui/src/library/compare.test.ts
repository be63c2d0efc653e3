import { expect, test } from "vitest";
import { comparability } from "./compare";

const run = (key: string, limit: number | null, tau: number): Parameters<typeof comparability>[0][number] => ({
  benchmark: { key, name: key },
  attempt_limit: limit,
  planned_turns: [5, 15],
  episodes: 25,
  stamina: { mean: 1, ci_low: null, ci_high: null, tau, n: 25, events: 1, censored: 24, median: null },
});

test("what differs is named; other benchmarks are never comparable", () => {
  expect(comparability([run("a", 3, 9)])).toBe("");
  expect(comparability([run("a", 3, 9), run("a", 3, 9)])).toBe("Same benchmark and plan");
  expect(comparability([run("a", 3, 9), run("a", null, 9)])).toBe("Same benchmark; attempt limit differs");
  expect(comparability([run("a", 3, 9), run("a", 1, 8)])).toBe("Same benchmark; attempt limit and τ differ");
  expect(comparability([run("a", 3, 9), run("b", 3, 9)])).toContain("not comparable");
});
