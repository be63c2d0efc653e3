import { expect, it } from "vitest";
import type { ComparedPair } from "../host/bindings/ComparedPair";
import {
  type TestedPair,
  unscoredInScore,
  whyNoBootstrap,
  whyNoDifference,
  whyNoLogrank,
  whyNoMeanBootstrap,
  whyNoMeanInterval,
  whyNoPaired,
  whyNoPermutation,
  whyNoRateInterval,
  whyNoRatio,
  whyNoStratified,
} from "./missing";

const none = {
  in_both: 0,
  clustered: false,
  difference: null,
  pass_rate_difference: null,
  difference_bootstrap: null,
  ratio: null,
  logrank: null,
  logrank_permutation: null,
  logrank_stratified: null,
  p_holm: null,
  paired: null,
};
const member = (name: string, mean: number | null, events = 1, n = 5): TestedPair["a"] =>
  ({ name, stamina: { mean, events, n }, pass_rate: null }) as unknown as TestedPair["a"];
const missing = (pair: Partial<ComparedPair>, a = member("A", 1), b = member("B", 2), rates = false): TestedPair => ({
  pair: { ...none, ...pair } as unknown as ComparedPair,
  a,
  b,
  rates,
});

/** Every cell of the table of pairs that says "n/a" says why. */
const reasons = (tested: TestedPair): (string | undefined)[] => [
  whyNoDifference(tested),
  whyNoBootstrap(tested),
  whyNoRatio(tested),
  whyNoLogrank(tested),
  whyNoPermutation(tested),
  whyNoStratified(tested),
  whyNoPaired(tested, tested.pair.paired?.p),
];

it("says why a number is n/a, for every test of a pair", () => {
  for (const rates of [false, true])
    for (const tested of [missing({}, undefined, undefined, rates), missing({}, member("A", null), member("B", null), rates)])
      expect(reasons(tested).filter((reason) => reason === undefined || reason === "")).toEqual([]);
});

it("says nothing where the number is there", () => {
  const estimate = { value: 1, ci_low: 0, ci_high: 2, p: 0.1 };
  const known = {
    difference: estimate,
    difference_bootstrap: [0, 2],
    ratio: estimate,
    logrank: { chi2: 1, df: 1, p: 0.3 },
    logrank_permutation: { p: 0.3 },
    logrank_stratified: { chi2: 1, df: 1, p: 0.3 },
    paired: { n: 3, p: 0.2 },
  } as unknown as Partial<ComparedPair>;
  expect(reasons(missing(known)).filter((reason) => reason !== undefined)).toEqual([]);
});

it("names the cause", () => {
  expect(whyNoDifference(missing({}, member("A", null)))).toBe("A: nobody was at risk");
  expect(whyNoRatio(missing({}, member("A", 1), member("B", 0)))).toBe("B: its mean is 0, and nothing is divided by it");
  expect(whyNoRatio(missing({ ratio: { value: 2, ci_low: 1, ci_high: null, p: null } }))).toContain("unbounded");
  expect(whyNoLogrank(missing({}, member("A", 1, 0), member("B", 2, 0)))).toBe("No episode failed");
  expect(whyNoPermutation(missing({}, member("A", 1, 1, 30), member("B", 2, 1, 30)))).toBe("More than 40 episodes: χ² is near enough");
  expect(whyNoPermutation(missing({ clustered: true }))).toContain("cannot be exchanged");
  const paired = (n: number): Partial<ComparedPair> => ({ paired: { n, p: null } }) as unknown as Partial<ComparedPair>;
  expect(whyNoPaired(missing(paired(1)), null)).toBe("One shared scenario: nothing varies");
  expect(whyNoPaired(missing(paired(4)), null)).toBe("All differences are alike: nothing varies");
  expect(whyNoStratified(missing(paired(1)))).toBe("Only one scenario was played by both");
});

it("says why a mean or a pass rate has no interval", () => {
  const stamina = { mean: 2, ci_low: null, n: 1 };
  expect([whyNoMeanInterval(stamina), whyNoMeanInterval({ ...stamina, mean: null }), whyNoMeanInterval({ ...stamina, ci_low: 1 })]).toEqual(
    ["No interval: one episode", "No interval: nobody was at risk", undefined],
  );
  expect(whyNoMeanBootstrap({ stamina, stamina_bootstrap: null } as unknown as Parameters<typeof whyNoMeanBootstrap>[0])).toBe(
    "No interval: one scenario, or nothing varies",
  );
  expect([whyNoRateInterval({ value: null, ci_low: null }), whyNoRateInterval({ value: 0.5, ci_low: 0.1 })]).toEqual([
    "No interval: no trial is scored",
    undefined,
  ]);
});

it("says how trials that are not scored count in the score", () => {
  const sentence = (unscored: number, grades_turns = true): string | undefined =>
    unscoredInScore({ pass_rate: { unscored }, score: 50, grades_turns } as unknown as Parameters<typeof unscoredInScore>[0]);
  expect([sentence(0), sentence(1), sentence(2)]).toEqual([
    undefined,
    "1 trial is not scored: it is not in the pass rate, and counts as not passed in the score",
    "2 trials are not scored: they are not in the pass rate, and count as not passed in the score",
  ]);
  // A score of tests has those that the trial passed.
  expect([sentence(1, false), sentence(2, false)]).toEqual([
    "1 trial is not scored: it is not in the pass rate, and counts in the score with the tests that it passed",
    "2 trials are not scored: they are not in the pass rate, and count in the score with the tests that they passed",
  ]);
});
