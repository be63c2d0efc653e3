import { expect, test } from "vitest";
import {
  ago,
  bounded,
  bytes,
  costInWords,
  counted,
  date,
  dateTime,
  decimals,
  dollars,
  duration,
  endLook,
  fixedOrUnknown,
  horizonInWords,
  interval,
  median,
  pNumber,
  pValue,
  passRateInWords,
  percent,
  percentInterval,
  plannedOfMissing,
  points,
  range,
  rangeOf,
  scoreText,
  signed,
  signedInterval,
  staminaInWords,
  compactCount,
  tokensTotal,
} from "./format";

/** It was 0, over which no mean is. */
test("a horizon is unknown where nobody was at risk", () => {
  expect([null, 1, 12].map(horizonInWords)).toEqual(["unknown", "1", "12"]);
});

const plain = (text: string): string => text.replaceAll("\u202f", " ");

test("thin units keep three digits and never say 1000 k", () => {
  expect([0, 941, 1000, 21_800, 999_400, 999_950, 2_310_000, 4_100_000, 1.5e10, 3e12].map((n) => plain(compactCount(n)))).toEqual([
    "0",
    "941",
    "1.00 k",
    "21.8 k",
    "999 k",
    "1.00 M",
    "2.31 M",
    "4.10 M",
    "15.0 G",
    "3.00 T",
  ]);
  expect([0, 812, 14_200].map((n) => plain(bytes(n)))).toEqual(["0 B", "812 B", "14.2 kB"]);
});

test("durations carry over", () => {
  expect([0, 0.44, 9.96, 59.4, 59.6, 242, 3599.6, 3600, 37_000].map((n) => plain(duration(n)))).toEqual([
    "0.0 s",
    "0.4 s",
    "10 s",
    "59 s",
    "1 m 00 s",
    "4 m 02 s",
    "1 h 00 m",
    "1 h 00 m",
    "10 h 17 m",
  ]);
});

test("small costs do not become nothing", () => {
  expect([0, 0.003, 0.05, 0.0999, 1.5, 1204.5].map(dollars)).toEqual(["$0.00", "$0.003", "$0.050", "$0.10", "$1.50", "$1,204.50"]);
  expect(dollars(0.0000004)).toBe("$4e-7");
  // The test of the command line has the same amounts.
  expect([0.00000096, 0.00096, 0.0094, 0.0096, 0.00996, 0.01, 0.0994].map(dollars)).toEqual([
    "$0.000001",
    "$0.001",
    "$0.009",
    "$0.0096",
    "$0.010",
    "$0.010",
    "$0.099",
  ]);
});

test("what is withdrawn is not missing", () => {
  expect(plannedOfMissing({ episodes: 20, planned_episodes: 24, withdrawn_episodes: 4 })).toBe(null);
  expect(plannedOfMissing({ episodes: 20, planned_episodes: 26, withdrawn_episodes: 4 })).toBe(22);
  expect(plannedOfMissing({ episodes: 20, planned_episodes: null, withdrawn_episodes: 0 })).toBe(null);
});

test("the simulated model takes no money, and an unknown cost is no zero", () => {
  expect(costInWords(null, true)).toEqual({ text: "no cost", unknown: false });
  expect(costInWords(0.2, true)).toEqual({ text: "no cost", unknown: false });
  expect(costInWords(null, false)).toEqual({ text: "unknown", unknown: true });
  expect(costInWords(1.5, false)).toEqual({ text: "$1.50", unknown: false });
  expect(costInWords(1.5, false, { known: 2, total: 3 })).toEqual({ text: "≥ $1.50", unknown: false });
  expect(costInWords(1.5, false, { known: 3, total: 3 }).text).toBe("$1.50");
});

test("unknown is a word, and no variation is not an interval", () => {
  const s = { mean: 4.318, ci_low: 2.851, ci_high: 5.79, clustered: false, tau: 9, n: 25, events: 16, censored: 9, median: 4 };
  expect(fixedOrUnknown(null, 1)).toBe("unknown");
  expect(range(null)).toBe("unknown");
  expect([range([5, 15]), range([20, 20])]).toEqual(["5–15", "20"]);
  expect(interval(s)).toBe("2.85–5.79");
  expect(interval({ ci_low: null, ci_high: null })).toBe("n/a");
  expect(interval({ ci_low: 2.333, ci_high: null })).toBe("2.33–n/a");
  expect(staminaInWords(s)).toBe("mean stamina 4.32 (τ = 9), 95 % CI 2.85–5.79, n = 25, 16 events, 9 censored");
  expect(staminaInWords({ ...s, ci_low: null, ci_high: null, events: 1 })).toContain(
    "95 % CI n/a (one scenario, or all alike), n = 25, 1 event,",
  );
  expect(staminaInWords({ ...s, ci_low: null, ci_high: null, n: 1 })).toContain("95 % CI n/a (one episode), n = 1,");
  expect(tokensTotal({ input: null, cached: null, output: null })).toBeNull();
  expect(tokensTotal({ input: 5, cached: 5, output: null })).toBe(5);
});

test("times", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  expect(
    ["2026-11-21T11:59:40Z", "2026-11-21T11:20:00Z", "2026-11-19T11:00:00Z", "2026-11-01T00:00:00Z", "never"].map((t) =>
      plain(ago(t, now)),
    ),
  ).toEqual(["now", "40 min", "2 d", "2 w", "unknown"]);
  expect(date("2026-06-17T09:30:00.123Z")).toBe("2026-06-17");
  expect(dateTime("2026-06-17T09:30:00+02:00")).toBe("2026-06-17 07:30:00");
  expect(dateTime("2026-11-21T07:27:49.201438")).toBe("2026-11-21 07:27:49");
  expect(counted(1, "run")).toBe("1 run");
  expect(counted(2808, "turn")).toBe("2,808 turns");
});

test("passing everything looks passed although it is censored", () => {
  expect(endLook("passed_all", true)).toBe("passed");
  expect(endLook("tests_failed", false)).toBe("failed");
  expect(endLook("tests_failed", true)).toBe("censored");
  expect(endLook("agent_timeout", false)).toBe("error");
});

test("only what is all or nothing reads so", () => {
  // The same numbers as in the tests of crates/model/src/bounded.rs. 301 of 303 tests of one of 20 turns: 100 / 20 · (19 + 301/303).
  const almost = 5 * (19 + 301 / 303);
  expect([bounded(almost, 100, 1), bounded(almost, 100, 0), bounded(almost, 100, 2)]).toEqual(["> 99.9", "> 99", "99.97"]);
  expect([0, 0.04, 0.06, 50, 99.94, 100].map((value) => scoreText(value))).toEqual(["0.0", "< 0.1", "0.1", "50.0", "99.9", "100.0"]);
  expect([0.0004, 0.9996, 1].map((share) => bounded(share, 1, 3))).toEqual(["< 0.001", "> 0.999", "1.000"]);
  expect([bounded(100 - 1e-12, 100, 1), bounded(1e-12, 100, 1), scoreText(null)]).toEqual(["100.0", "0.0", "unknown"]);
  expect([percent(0.9998), percent(1), percent(0.0001), percent(0)].map(plain)).toEqual(["> 99.9 %", "100.0 %", "< 0.1 %", "0.0 %"]);
});

test("a number midway between two goes to the even one, as on the command line", () => {
  // Rust's {:.1} and {:.2}, and Python's, of the same numbers. 0.15 is a little less than midway, 2.675 too; 1.005 and 0.35 also.
  const one = [6.25, 6.75, 0.25, 0.75, -6.25, -0.75, 0.15, 0.35, 0.05, 2.5, 0, 99.95];
  expect(one.map((value) => decimals(value, 1))).toEqual([
    "6.2",
    "6.8",
    "0.2",
    "0.8",
    "-6.2",
    "-0.8",
    "0.1",
    "0.3",
    "0.1",
    "2.5",
    "0.0",
    "100.0",
  ]);
  expect([0.125, 0.375, 2.675, 1.005, 1e15].map((value) => decimals(value, 2))).toEqual([
    "0.12",
    "0.38",
    "2.67",
    "1.00",
    "1000000000000000.00",
  ]);
  expect([0.5, 1.5, 2.5, 3.4999].map((value) => decimals(value, 0))).toEqual(["0", "2", "2", "3"]);
  expect(percent(1 / 16)).toBe("6.2\u202f%");
});

test("p-values, differences and their intervals", () => {
  // The same numbers as in the tests of crates/figures/src/number.rs.
  const ps = [0.000_04, 0.0321, 0.5, 0.999, 1, null, 0.000_999, 0.001, 0.0999, 0.1, 0.9951, 0.0625, 0.125, 0.375, 1.5, NaN];
  expect(ps.map(pValue)).toEqual([
    "p < 0.001",
    "p = 0.032",
    "p = 0.50",
    "p > 0.99",
    "p = 1.00",
    "n/a",
    "p < 0.001",
    "p = 0.001",
    "p = 0.100",
    "p = 0.10",
    "p > 0.99",
    "p = 0.062",
    "p = 0.12",
    "p = 0.38",
    "n/a",
    "n/a",
  ]);
  expect([0.0321, 0.0009, 0.9996, null].map(pNumber)).toEqual(["0.032", "< 0.001", "> 0.99", "n/a"]);
  expect([signed(-2.521), signed(0.306), signed(-0.001), signed(0), signed(3, 0)]).toEqual(["\u22122.52", "+0.31", "0.00", "0.00", "+3"]);
  expect([signedInterval(-4.2, -0.84), signedInterval(-0.001, 1), signedInterval(null, null)]).toEqual([
    "[\u22124.20, \u22120.84]",
    "[0.00, 1.00]",
    "n/a",
  ]);
});

test("a median that is not reached is not one that is unknown", () => {
  expect([0, 4, "not_reached" as const, null].map((value) => median(value))).toEqual(["0", "4", "not reached", "unknown"]);
  expect([rangeOf([1, 1], "turn"), rangeOf([4, 4], "turn"), rangeOf([5, 15], "turn")]).toEqual(["1 turn", "4 turns", "5–15 turns"]);
});

test("pass rates are in percent, and differences of them in points", () => {
  const rate = {
    value: 0.45,
    ci_low: 0.301,
    ci_high: 0.61,
    interval: "wilson" as const,
    tasks: 20,
    trials: 20,
    passed: 9,
    unscored: 1,
    pass_at_k: [0.45],
    pass_hat_k: [0.45],
    pass_at_k_ci: [null],
    pass_hat_k_ci: [null],
  };
  expect(plain(passRateInWords(rate))).toBe(
    "pass rate 45.0 %, 95 % CI 30.1–61.0 % (Wilson), 9 of 20 scored trials of 20 tasks passed, 1 trial not scored",
  );
  expect(passRateInWords({ ...rate, value: null })).toBe("pass rate unknown, no trial is scored");
  expect([percent(null), plain(percent(1)), percentInterval(null, 1), points(0.083), points(-0.5)]).toEqual([
    "unknown",
    "100.0 %",
    "n/a",
    "+8.3",
    "−50.0",
  ]);
});
