import { expect, test } from "vitest";
import type { ComparedMember } from "../host/bindings/ComparedMember";
import { manyInWords, measured, perSurvivedTurn } from "./words";

const member = (simulated: boolean, cost: number | null, no_turn_survived = false): ComparedMember =>
  ({ simulated, spent: { cost_per_episode: cost, cost_per_survived_turn: no_turn_survived ? null : cost, no_turn_survived } }) as unknown as ComparedMember;

test("a simulated model has no cost, whatever is counted", () => {
  const members = [member(true, null), member(true, 0.5), member(false, null), member(false, 0.5)];
  expect(members.map((m) => measured(m, "cost"))).toEqual(["no cost", "no cost", "unknown", "$0.50"]);
  expect(members.map(perSurvivedTurn)).toEqual(["no cost", "no cost", "unknown", "$0.50"]);
  expect([member(true, 0.5, true), member(false, 0.5, true)].map(perSurvivedTurn)).toEqual(["no cost", "no turn survived"]);
});

test("that many are compared does not say that their colors and markers are alike: they are not", () => {
  expect(manyInWords(13)).toBe("13 members are compared; figures are easiest to read with up to 8");
  expect(manyInWords(13)).not.toMatch(/color|marker/);
});
