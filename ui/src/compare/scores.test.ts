import { expect, test } from "vitest";
import type { Stamina } from "../host/bindings/Stamina";
import { type ScoreLine, chosenK, missingInWords, mostK, mtAt } from "./scores";

const stamina: Stamina = { mean: 1, ci_low: null, ci_high: null, clustered: false, tau: 2, n: 2, events: 1, censored: 1, median: 1 };
const line = (name: string, mt_at_k: number[] | null, missing: string[] = []): ScoreLine => ({
  key: name,
  name,
  simulated: false,
  stamina,
  scores:
    mt_at_k === null
      ? null
      : {
          runs: 1,
          dataset_score: 50,
          case_score: null,
          perfect: 1,
          rounds: { mt_at_k, round_by_round: false, alone: false, sr: null, sr_at_k: [], gap: null, comp: null, missing },
        },
});

test("k is the paper's, as far as there are so many attempts, or the one that is asked for", () => {
  const lines = [line("a", [10, 20]), line("b", [10, 20, 30, 40, 50]), line("c", null)];
  expect([mostK(lines), mostK([line("a", [])]), mostK([])]).toEqual([5, 0, 0]);
  expect([
    chosenK(undefined, 5),
    chosenK(undefined, 2),
    chosenK("5", 5),
    chosenK("9", 5),
    chosenK("x", 5),
    chosenK("0", 5),
    chosenK(undefined, 0),
  ]).toEqual([4, 2, 5, 5, 4, 1, 1]);
  expect(lines.map((one) => mtAt(one, 4))).toEqual([null, 40, null]);
});

test("why a number is missing is said once, and of whom where it is not of all", () => {
  const all = "SR is unknown.";
  expect(missingInWords([line("a", [1], [all]), line("b", [1], [all])])).toEqual([all]);
  expect(missingInWords([line("a", [], ["MT@k is refused.", all]), line("b", [1], [all]), line("c", null)])).toEqual([
    "a: MT@k is refused.",
    all,
    "c: these scores do not apply, since turns are not graded by themselves or a task has one turn.",
  ]);
  expect(missingInWords([line("c", null)])).toEqual([]);
});
