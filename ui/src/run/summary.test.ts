import { describe, expect, it } from "vitest";
import type { RunGrid } from "../host/bindings/RunGrid";
import type { RunRow } from "../host/bindings/RunRow";
import { turnInWords } from "./turnWords";
import { reasonsInWords, reportedFor, reportedRows, stats, totalsInWords, turnsPassed, valueInWords } from "./summary";

const row: RunRow = {
  tested: true,
  rounds: null,
  id: "x",
  source: 1,
  source_name: "s",
  source_label: "s",
  format: "harbor",
  benchmark: { key: "b", name: "B" },
  group: 0,
  harness: "terminus-2",
  harness_version: null,
  runner: ["Harbor", "0.24.0"],
  model: null,
  provider: null,
  baseline: null,
  simulated: false,
  episodes: 25,
  planned_episodes: 26,
  scored_episodes: 25,
  planned_turns: [5, 15],
  attempt_limit: null,
  stamina: { mean: 4.318, ci_low: 2.849, ci_high: 5.791, clustered: false, tau: 9, n: 25, events: 16, censored: 9, median: 4 },
  pass_rate: null,
  score: 53.2,
  dataset_score: null,
  case_score: null,
  perfect: 9,
  reported: [
    ["harbor.mean.case_ratio", 0.2],
    ["harbor.mean.reward", 0.531],
  ],
  end_reasons: [
    { reason: "tests_failed", ending: "event", count: 16 },
    { reason: "passed_all", ending: "censored", count: 6 },
    { reason: "endpoint", ending: "censored", count: 2 },
    // words: ok, the name of an end reason
    { reason: "cancelled", ending: "censored", count: 1 },
  ],
  unrecognised: 0,
  tokens: { input: null, cached: null, output: null },
  tokens_known: 0,
  cost_usd: null,
  cost_known: 0,
  started_at: null,
  warnings: 0,
  severities: { notes: 0, repairs: 0, warnings: 0 },
  partial: "25 of 26 tasks",
  doubts: ["25 of 26 tasks"],
  tags: [],
  note: "",
  invalid: null,
  withdrawn_episodes: 0,
};
const find = (r: RunRow, key: string, wide = false) => stats(r, undefined, wide ? "wide" : "narrow").find((s) => s.key.startsWith(key));

describe("strip of numbers", () => {
  it("says why episodes ended", () => {
    expect(find(row, "Events")).toMatchObject({ value: "16", small: "tests failed" });
    expect(find({ ...row, unrecognised: 2 }, "Events")?.title).toBe("tests failed, 2 of them with a cause that is not recognized");
    // words: ok, the name of an end reason
    expect(find(row, "Censored", true)).toMatchObject({ value: "9", small: "6 passed all, 2 endpoint, 1 cancelled" });
    // words: ok, the name of an end reason
    expect(find(row, "Censored")).toMatchObject({ small: "6 passed all, 3 other", title: "6 passed all, 2 endpoint, 1 cancelled" });
    expect(find(row, "Episodes")).toMatchObject({ value: "25", small: "of 26, 5–15 turns" });
    expect(reasonsInWords([])).toBe("");
  });
  it("never shows a mean without its interval and horizon", () => {
    expect(find(row, "Mean stamina, τ = 9")).toMatchObject({ value: "4.32", small: "95 % CI 2.85–5.79" });
    const same = { ...row, stamina: { ...row.stamina, ci_low: null, ci_high: null, median: "not_reached" as const } };
    expect(find({ ...row, stamina: { ...row.stamina, clustered: true } }, "Mean")).toMatchObject({
      small: "95 % CI 2.85–5.79, by scenario",
    });
    expect(find({ ...row, episodes: 23, withdrawn_episodes: 2 }, "Episodes")).toMatchObject({ small: "of 24, 2 withdrawn, 5–15 turns" });
    expect(find({ ...row, episodes: 24, withdrawn_episodes: 2 }, "Episodes")).toMatchObject({ small: "2 withdrawn, 5–15 turns" });
    expect(find(same, "Mean")?.small).toBe("95 % CI n/a (one scenario, or all alike)");
    expect(find(same, "Median")).toMatchObject({ value: "not reached", unknown: true });
    expect(find({ ...row, stamina: { ...row.stamina, mean: null } }, "Mean")).toMatchObject({ value: "unknown", small: "nobody at risk" });
    expect(find({ ...row, stamina: { ...row.stamina, mean: null, n: 0 } }, "Mean")).toMatchObject({
      value: "unknown",
      small: "no episodes",
    });
  });
  it("shows unknown as a word and a partial sum as partial", () => {
    expect(find(row, "Tokens")).toMatchObject({ value: "unknown", unknown: true });
    expect(find(row, "Cost")).toMatchObject({ value: "unknown", unknown: true });
    expect(find({ ...row, cost_usd: 0.5, cost_known: 20 }, "Cost")).toMatchObject({ value: "≥ $0.50", small: "known for 20 of 25" });
    expect(find({ ...row, cost_usd: 0, cost_known: 25 }, "Cost")).toMatchObject({ value: "$0.00", unknown: false });
  });
  it("has words, a unit and an explanation for what Stamina Lab itself reports", () => {
    expect(
      reportedRows([
        ["stamina_lab.tokens_per_second.answer.median", 21.44],
        ["stamina_lab.tokens_per_second.prompt.p10", 962.25],
        ["stamina_lab.attempts_lost_to_endpoint", 2],
        ["harbor.mean.reward", 0.531],
      ]),
    ).toEqual([
      {
        name: "stamina_lab.tokens_per_second.answer.median",
        label: "Answer speed, median",
        value: "21.4 tokens/s",
        explain: "run_tokens_per_second",
      },
      {
        name: "stamina_lab.tokens_per_second.prompt.p10",
        label: "Prompt speed, p10",
        value: "962 tokens/s",
        explain: "run_tokens_per_second",
      },
      { name: "stamina_lab.attempts_lost_to_endpoint", label: "Attempts lost to the endpoint", value: "2", explain: undefined },
      { name: "harbor.mean.reward", label: "harbor.mean.reward", value: "0.531", explain: undefined },
    ]);
  });

  it("puts the reported figure beside ours, with its name", () => {
    expect(find(row, "Score")).toMatchObject({ value: "53.2", small: "mean.reward 0.531" });
    expect(find(row, "Score", true)).toMatchObject({ small: "25 of 26 tasks, mean.reward 0.531" });
    expect(find({ ...row, score: null }, "Score")).toMatchObject({ value: "unknown", small: "mean.reward 0.531" });
    const evocode: RunRow = {
      ...row,
      score: 59.68,
      dataset_score: 59.68,
      case_score: 96.6,
      reported: [
        ["evocode.dataset_score", 59.118],
        ["evocode.perfect_tasks", 9],
      ],
    };
    expect(stats(evocode, undefined, "wide").map((s) => s.key)).not.toContain("Score");
    expect(find(evocode, "Dataset", true)).toMatchObject({ value: "59.7", small: "25 of 26 tasks, reported 59.1" });
    expect(find(evocode, "Dataset")).toMatchObject({ small: "reported 59.1" });
    expect(find(evocode, "Case")).toMatchObject({ value: "96.6", small: undefined });
    expect(find(evocode, "Perfect tasks", true)).toMatchObject({ value: "9", small: "reported 9" });
    expect(reportedFor([["case_score", 1]], "score")).toBeUndefined();
    expect(reportedFor(row.reported, "case")).toBeUndefined();
    expect(find({ ...row, dataset_score: 50 }, "Dataset")).toMatchObject({ value: "50.0", small: "mean.reward 0.531" });
    const refused = {
      mt_at_k: [],
      round_by_round: false,
      alone: false,
      sr: null,
      sr_at_k: [],
      gap: null,
      comp: null,
      missing: ["MT@k and Comp are refused: turns were tried again."],
    };
    expect(find({ ...row, rounds: { ...refused, mt_at_k: [10, 20, 30, 40, 50], comp: 25 } }, "MT", true)).toMatchObject({
      key: "MT@4",
      value: "40.0",
    });
    expect(find({ ...row, rounds: { ...refused, mt_at_k: [10], comp: 25 } }, "Comp", true)).toMatchObject({ value: "25.0" });
    const alone = { ...refused, alone: true, sr: 66.7, sr_at_k: [66.7, 100], gap: -9.4 };
    expect(find({ ...row, rounds: alone }, "SR", true)).toMatchObject({ key: "SR", value: "66.7", small: "SR@2 100.0" });
    expect(find({ ...row, rounds: alone }, "Gap", true)).toMatchObject({ value: "-9.4", unknown: false });
    expect(find({ ...row, rounds: { ...alone, gap: null } }, "Gap", true)).toMatchObject({ unknown: true, title: refused.missing[0] });
    expect(find({ ...row, rounds: alone }, "MT", true)).toBeUndefined();
    const nobody = { ...row, stamina: { ...row.stamina, mean: null }, rounds: refused };
    expect(find(nobody, "MT", true)).toMatchObject({ value: "unknown", unknown: true });
    expect(find({ ...row, rounds: refused }, "MT", true)).toMatchObject({
      key: "MT@1",
      value: "refused",
      unknown: true,
      title: refused.missing[0],
    });
    expect(find({ ...row, rounds: refused }, "MT")).toBeUndefined();
    expect(find(row, "Runner")).toMatchObject({ value: "Harbor", small: "0.24.0" });
  });
  it("shows a run of one turn by its pass rate, and as any other where that is asked for", () => {
    const one: RunRow = {
      ...row,
      episodes: 10,
      planned_turns: [1, 1],
      stamina: { mean: 5 / 9, ci_low: 0.3, ci_high: 0.8, clustered: false, tau: 1, n: 10, events: 4, censored: 6, median: 1 },
      pass_rate: {
        value: 5 / 9,
        ci_low: 0.0424,
        ci_high: 0.9724,
        interval: "clustered",
        tasks: 3,
        trials: 9,
        passed: 5,
        unscored: 1,
        pass_at_k: [5 / 9, 2 / 3, 2 / 3],
        pass_hat_k: [5 / 9, 4 / 9, 1 / 3],
        pass_at_k_ci: [null, null, [0.1, 0.9]],
        pass_hat_k_ci: [null, null, [0.2, 0.8]],
      },
      end_reasons: [
        { reason: "passed_all", ending: "censored", count: 5 },
        { reason: "tests_failed", ending: "event", count: 4 },
        { reason: "endpoint", ending: "censored", count: 1 },
      ],
    };
    expect(find(one, "Pass rate")).toMatchObject({ value: "55.6\u202f%", small: "95 % CI 4.2–97.2\u202f%" });
    expect(find(one, "Pass rate")?.title).toContain("clustered by task");
    expect(find(one, "Passed")).toMatchObject({ value: "5", small: "of 9" });
    expect(find(one, "Failed")).toMatchObject({ value: "4", small: "tests failed" });
    expect(find(one, "Not scored")).toMatchObject({ value: "1", small: "endpoint" });
    expect(find(one, "pass@3")?.value).toBe("66.7\u202f%");
    // "One of 3" is also read as exactly one.
    expect(find(one, "pass@3")?.title).toContain("at least one of 3 trials");
    expect(find(one, "pass^3")?.value).toBe("33.3\u202f%");
    const keys = stats(one, undefined, "wide").map((s) => s.key);
    expect(
      keys.filter(
        (key) =>
          ["Episodes", "Events", "Censored", "Median", "Perfect tasks", "Turns passed"].includes(key) || key.startsWith("Mean stamina"),
      ),
    ).toEqual([]);
    expect(stats(one, undefined, "wide", true).map((s) => s.key)).toContain("Mean stamina, τ = 1");
    const nothing: RunRow = {
      ...one,
      pass_rate: {
        value: null,
        ci_low: null,
        ci_high: null,
        interval: null,
        tasks: 0,
        trials: 0,
        passed: 0,
        unscored: 2,
        pass_at_k: [],
        pass_hat_k: [],
        pass_at_k_ci: [],
        pass_hat_k_ci: [],
      },
    };
    expect(find(nothing, "Pass rate")).toMatchObject({ value: "unknown", small: "no trial is scored", unknown: true });
  });
  it("counts turns", () => {
    const grid = {
      turns: 3,
      total: 2,
      rows: [
        { cells: "prf", planned_turns: 3, invalid: null },
        { cells: "pn", planned_turns: null, invalid: null },
        { cells: "pp", planned_turns: 2, invalid: "network down" },
      ],
    } as unknown as RunGrid;
    expect(turnsPassed(grid)).toEqual({ passed: 3, planned: 5 });
  });
});

describe("words", () => {
  it("of a turn", () => {
    const r = { turn: 5, at_risk: 13, events: 4, censored: 0, survival: 0.36, ci_low: 0.18, ci_high: 0.54 };
    expect(turnInWords(5, r)).toEqual(["Turn 5", "alive after: 0.36", "band 0.18–0.54", "at risk 13, failed 4"]);
    expect(turnInWords(6, { ...r, ci_low: null, ci_high: null, censored: 2 })).toContain("band n/a (one scenario, or all alike)");
    expect(turnInWords(6, { ...r, survival: 1, ci_low: null, ci_high: null })).toContain("band n/a (no variation)");
    expect(turnInWords(12, { ...r, at_risk: 0, survival: null })).toEqual(["Turn 12", "nobody at risk"]);
  });
  it("of totals and values", () => {
    expect(totalsInWords([])).toBeUndefined();
    expect(totalsInWords([["a", 8, 3]])).toBe("1 task is known by its totals only: a");
    expect(
      totalsInWords([
        ["a", 1, 1],
        ["b", 1, 1],
        ["c", 1, 1],
        ["d", 1, 1],
      ]),
    ).toBe("4 tasks are known by their totals only: a, b, c and 1 more");
    expect([null, "x", 3, { a: 1 }].map(valueInWords)).toEqual(["unknown", "x", "3", '{"a":1}']);
  });
});
