import { expect, test } from "vitest";
import type { Comparability } from "../host/bindings/Comparability";
import type { ComparedMember } from "../host/bindings/ComparedMember";
import type { RunRow } from "../host/bindings/RunRow";
import {
  foldsHarmless,
  fullInWords,
  knownOver,
  manyInWords,
  measured,
  measureName,
  perSurvivedTurn,
  resultInWords,
  sumOfCost,
} from "./compareWords";

const member = (simulated: boolean, cost: number | null, no_turn_survived = false): ComparedMember =>
  ({
    simulated,
    spent: { cost_per_episode: cost, cost_per_survived_turn: no_turn_survived ? null : cost, no_turn_survived },
  }) as unknown as ComparedMember;

test("a simulated model has no cost, whatever is counted", () => {
  const members = [member(true, null), member(true, 0.5), member(false, null), member(false, 0.5)];
  expect(members.map((m) => measured(m, "cost", false))).toEqual(["no cost", "no cost", "unknown", "$0.50"]);
  expect(members.map((m) => perSurvivedTurn(m, false))).toEqual(["no cost", "no cost", "unknown", "$0.50"]);
  const none = [member(true, 0.5, true), member(false, 0.5, true)];
  expect(none.map((m) => perSurvivedTurn(m, false))).toEqual(["no cost", "no turn survived"]);
  expect(none.map((m) => perSurvivedTurn(m, true))).toEqual(["no cost", "no trial passed"]);
});

test("what runs of one turn used is counted by trial", () => {
  expect([measureName("cost", true), measureName("cost", false)]).toEqual(["Cost per trial", "Cost per episode"]);
  expect(measureName("cost_per_survived_turn", true)).toBe("Cost per passed trial");
  expect(measureName("score", true)).toBe("Score");
  const spent = { cost_usd: 1, cost_known: 1, turns_played: 3 } as unknown as ComparedMember["spent"];
  const over = { turns: 2, episodes: 2 };
  expect(knownOver(spent, 7, over, true)).toBe("known for 2 of 3 trials");
  expect(knownOver(spent, 7, over, false)).toBe("known for 2 of 3 turns, in 2 episodes");
  const one = { simulated: false, spent, stamina: { n: 3 } } as unknown as ComparedMember;
  expect([sumOfCost(one, true).partial, sumOfCost(one, false).partial]).toEqual(["known for 1 of 3 trials", "known for 1 of 3 episodes"]);
});

test("that many are compared says what becomes of their curves, and nothing of colors and markers: these differ", () => {
  expect(manyInWords(13)).toBe("13 members are compared; with more than 8, each survival curve has a panel of its own");
  expect(manyInWords(13)).not.toMatch(/color|marker/);
});

test("where no member can be added the picker says how many must go", () => {
  expect(fullInWords(8)).toBe("8 members are compared. Members can be added up to 8: remove one to add another.");
  expect(fullInWords(13)).toBe("13 members are compared. Members can be added up to 8: remove some to add another.");
});

test("a run of one turn is chosen by its pass rate, any other by its stamina", () => {
  const run = (pass_rate: object | null): RunRow => ({ pass_rate, stamina: { n: 20, mean: 0.4737, tau: 1 } }) as unknown as RunRow;
  expect(resultInWords(run(null))).toBe("n = 20 · stamina 0.47");
  expect(resultInWords(run({ value: 9 / 19, trials: 19 }))).toBe("n = 19 · pass rate 47.4\u202f%");
  expect(resultInWords(run({ value: null, trials: 0 }))).toBe("n = 0 · pass rate unknown");
});

test("settings without effect are folded below others, not below nothing", () => {
  const settings = (...words: Comparability[]): { readonly comparability: Comparability }[] =>
    words.map((comparability) => ({ comparability }));
  expect(foldsHarmless(settings("no_effect", "no_effect"), 1)).toBe(false);
  expect(foldsHarmless(settings("not_comparable", "no_effect", "no_effect"), 1)).toBe(true);
  expect(foldsHarmless(settings("not_comparable", "no_effect", "no_effect"), 4)).toBe(false);
  expect(foldsHarmless(settings("not_comparable", "cannot_be_ruled_out", "no_effect"), 1)).toBe(false);
});
