// Numbers and times as people read them here: thin units (`2.31 M`, `4 m 02 s`), ISO dates, and "unknown" as a word.
// A thin no-break space stands between number and unit.
import type { EndReason } from "../host/bindings/EndReason";
import type { Median } from "../host/bindings/Median";
import type { PassRate } from "../host/bindings/PassRate";
import type { RateInterval } from "../host/bindings/RateInterval";
import type { Stamina } from "../host/bindings/Stamina";
import type { Tokens } from "../host/bindings/Tokens";

export const UNKNOWN = "unknown";
const THIN = "\u202f";

/** `2,808` */
export function count(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

/** `4`, `not reached`, `unknown` */
export function median(value: Median): string {
  if (value === null) return UNKNOWN;
  return value === "not_reached" ? "not reached" : count(value);
}

/** `1 run`, `13 runs` */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Three significant digits with a unit: `941`, `21.8 k`, `2.31 M`. */
export function compactCount(value: number): string {
  const size = Math.abs(value);
  const units: readonly [number, string][] = [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ];
  for (const [unit, letter] of units) {
    // 999,950 would round to "1000 k".
    if (size >= unit * 0.9995) {
      const part = value / unit;
      const digits = Math.abs(part) >= 99.95 ? 0 : Math.abs(part) >= 9.995 ? 1 : 2;
      return `${decimals(part, digits)}${THIN}${letter}`;
    }
  }
  return Number.isInteger(value) ? String(value) : decimals(value, 1);
}

/** `812 B`, `14.2 kB`: decimal units. */
export function bytes(value: number): string {
  return value < 1000 ? `${String(value)}${THIN}B` : `${compactCount(value)}B`;
}

/** `4 m 02 s`, `1 h 05 m`, `0.4 s` */
export function duration(seconds: number): string {
  if (seconds < 9.95) return `${decimals(seconds, 1)}${THIN}s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${String(whole)}${THIN}s`;
  const pad = (n: number): string => String(n).padStart(2, "0");
  if (whole < 3600) return `${String(Math.floor(whole / 60))}${THIN}m ${pad(whole % 60)}${THIN}s`;
  const minutes = Math.round(seconds / 60);
  return `${String(Math.floor(minutes / 60))}${THIN}h ${pad(minutes % 60)}${THIN}m`;
}

/** `$0.00`, `$0.003`, `$1,204.50`: less than ten cents with two significant digits, or with one where that is less than a cent. */
export function dollars(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.0995)
    return `$${value.toPrecision(1).includes("e") ? value.toExponential(0) : value.toPrecision(Math.abs(value) < 0.0095 ? 1 : 2)}`;
  return value.toLocaleString("en-US", { style: "currency", currency: "USD" });
}

/**
 * What was spent, in words: the simulated model takes no money, whatever is counted. `known` of `total` episodes whose cost is
 * known makes a sum of fewer than all a bound: `≥ $0.50`.
 */
export function costInWords(
  usd: number | null,
  simulated: boolean,
  episodes?: { readonly known: number; readonly total: number },
): { readonly text: string; readonly unknown: boolean } {
  if (simulated) return { text: "no cost", unknown: false };
  if (usd === null) return { text: UNKNOWN, unknown: true };
  return { text: (episodes !== undefined && episodes.known < episodes.total ? "≥ " : "") + dollars(usd), unknown: false };
}

/** How many episodes were planned, if some are missing; those that are withdrawn are not. */
export function plannedOfMissing(run: {
  readonly episodes: number;
  readonly planned_episodes: number | null;
  readonly withdrawn_episodes: number;
}): number | null {
  const planned = run.planned_episodes === null ? 0 : run.planned_episodes - run.withdrawn_episodes;
  return planned > run.episodes ? planned : null;
}

/** `2026-06-17` of an RFC 3339 time. */
export function date(rfc3339: string): string {
  return /^\d{4}-\d\d-\d\d/.exec(rfc3339)?.[0] ?? rfc3339;
}

/** `2026-06-17 14:03:09` in UTC, or in the source's own clock where it gives no offset. */
export function dateTime(rfc3339: string): string {
  // Without an offset it is the clock of the machine that ran it; which one that was is unknown, so it stays as it is.
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/.test(rfc3339)) return rfc3339.slice(0, 19).replace("T", " ");
  const time = new Date(rfc3339);
  return Number.isNaN(time.getTime()) ? rfc3339 : time.toISOString().slice(0, 19).replace("T", " ");
}

/** How long ago: `2 d`, `3 w`; `now` under a minute. */
export function ago(rfc3339: string, now: number): string {
  const minutes = (now - new Date(rfc3339).getTime()) / 60_000;
  if (!Number.isFinite(minutes)) return UNKNOWN;
  if (minutes < 1) return "now";
  if (minutes < 60) return `${String(Math.floor(minutes))}${THIN}min`;
  if (minutes < 60 * 24) return `${String(Math.floor(minutes / 60))}${THIN}h`;
  const days = Math.floor(minutes / 60 / 24);
  return days < 14
    ? `${String(days)}${THIN}d`
    : days < 365
      ? `${String(Math.floor(days / 7))}${THIN}w`
      : `${String(Math.floor(days / 365))}${THIN}y`;
}

/**
 * A number with this many decimals. One that is exactly midway between two goes to the even one, as in Rust, R and Python
 * (6.25 is 6.2, 1 of 16 is 0.062), so that pages, exports and the command line agree; `toFixed` takes the larger.
 */
export function decimals(value: number, digits: number): string {
  // A decimal that ends in 5 is a binary fraction only where this is an odd number, and the product below is exact then.
  if (Math.abs((value * 2 ** (digits + 1)) % 2) !== 1) return value.toFixed(digits);
  const below = Math.floor(value * 10 ** digits);
  return ((below % 2 === 0 ? below : below + 1) / 10 ** digits).toFixed(digits);
}

/** Tokens a second: `148`, `21.4`. */
export function tokensPerSecond(speed: number): string {
  return speed >= 100 ? count(Math.round(speed)) : decimals(speed, 1);
}

/** Stamina, scores: `4.32`, `59.7`; `unknown` without a value. */
export function fixedOrUnknown(value: number | null, digits: number): string {
  return value === null ? UNKNOWN : decimals(value, digits);
}

/**
 * A number from 0 to `top`. One that rounds to an end of the range and is not that end says so: `> 99.9`, `< 0.1`. What misses an
 * end by less than a billionth of the range is that end: sums of floating point do. `bounded` of crates/model has the same words.
 */
export function bounded(value: number, top: number, digits: number): string {
  const text = decimals(value, digits);
  const missed = 1e-9 * top;
  const step = 10 ** -digits;
  if (value > missed && text === decimals(0, digits)) return `< ${decimals(step, digits)}`;
  if (value < top - missed && text === decimals(top, digits)) return `> ${decimals(top - step, digits)}`;
  return text;
}

/** A score from 0 to 100; `unknown` without a value. */
export function scoreText(value: number | null, digits = 1): string {
  return value === null ? UNKNOWN : bounded(value, 100, digits);
}

/** `5–15`, `20`, `unknown` */
export function range(ends: readonly [number, number] | null): string {
  if (ends === null) return UNKNOWN;
  return ends[0] === ends[1] ? String(ends[0]) : `${String(ends[0])}–${String(ends[1])}`;
}

/** `1 turn`, `4 turns`, `5–15 turns` */
export function rangeOf(ends: readonly [number, number], noun: string): string {
  return `${range(ends)} ${noun}${ends[0] === 1 && ends[1] === 1 ? "" : "s"}`;
}

/** `2.85–5.79`, or `n/a` where there is none; the upper end alone is `n/a` of a ratio that is unbounded. */
export function interval(stamina: Pick<Stamina, "ci_low" | "ci_high">, digits = 2): string {
  const { ci_low, ci_high } = stamina;
  return ci_low === null ? "n/a" : `${decimals(ci_low, digits)}–${ci_high === null ? "n/a" : decimals(ci_high, digits)}`;
}

/** `p = 0.037`, `p = 0.25`, `p < 0.001`, `p > 0.99`, `n/a`: the words of `p_value` in `crates/figures/src/number.rs`. */
export function pValue(p: number | null): string {
  const text = pNumber(p);
  if (text === "n/a") return text;
  return /^[<>]/.test(text) ? `p ${text}` : `p = ${text}`;
}

/** The same under the head of its column: `0.037`, `< 0.001`. */
export function pNumber(p: number | null): string {
  if (p === null || !(p >= 0 && p <= 1)) return "n/a";
  if (p < 0.001) return "< 0.001";
  if (p > 0.995 && p < 1) return "> 0.99";
  return decimals(p, p >= 0.1 ? 2 : 3);
}

/** `−2.52`, `+0.31`, `0.00`: differences always show their sign. */
export function signed(value: number, digits = 2): string {
  const text = decimals(Math.abs(value), digits);
  if (Number(text) === 0) return text;
  return `${value < 0 ? "\u2212" : "+"}${text}`;
}

/** `[−4.20, −0.84]`; `n/a` where nothing varies. */
export function signedInterval(low: number | null, high: number | null, digits = 2): string {
  const end = (value: number): string =>
    value < 0 && Number(decimals(value, digits)) !== 0 ? `\u2212${decimals(Math.abs(value), digits)}` : decimals(Math.abs(value), digits);
  return low === null ? "n/a" : `[${end(low)}, ${high === null ? "n/a" : end(high)}]`;
}

/** The horizon of means, in turns; `null` = nobody was at risk. */
export const horizonInWords = (tau: number | null): string => (tau === null ? UNKNOWN : String(tau));

/** Why a mean over so many episodes has no interval. Whether they are of one scenario is not known here. */
export const whyNoInterval = (n: number): string => (n > 1 ? "one scenario, or all alike" : "one episode");

/** `mean stamina 4.1 (τ = 9), 95 % CI 2.8–5.4, n = 20, 12 events` */
export function staminaInWords(s: Stamina): string {
  if (s.mean === null) return `mean stamina unknown, ${s.n === 0 ? "no episodes" : "nobody at risk"}`;
  const ci = s.ci_low === null ? `95 % CI n/a (${whyNoInterval(s.n)})` : `95 % CI ${interval(s)}${s.clustered ? " by scenario" : ""}`;
  return `mean stamina ${decimals(s.mean, 2)} (τ = ${String(s.tau)}), ${ci}, n = ${String(s.n)}, ${counted(s.events, "event")}, ${String(s.censored)} censored`;
}

/** `45.0 %`, `unknown`: a share in percent. */
export function percent(share: number | null, digits = 1): string {
  return share === null ? UNKNOWN : `${bounded(share * 100, 100, digits)}${THIN}%`;
}

/** `30.1–61.0 %`; `n/a` where the interval is not defined. */
export function percentInterval(low: number | null, high: number | null): string {
  return low === null || high === null ? "n/a" : `${decimals(low * 100, 1)}–${decimals(high * 100, 1)}${THIN}%`;
}

/** How the interval of a pass rate is made: `clustered by task` where tasks have several trials. */
export const rateIntervals: Readonly<Record<RateInterval, string>> = { wilson: "Wilson", clustered: "clustered by task" };

/** `pass rate 45.0 %, 95 % CI 30.1–61.0 % (Wilson), 9 of 20 scored trials of 20 tasks passed, 1 trial not scored` */
export function passRateInWords(rate: PassRate): string {
  if (rate.value === null) return rate.unscored === 0 ? "pass rate unknown, no trials" : "pass rate unknown, no trial is scored";
  const ci = `95 % CI ${percentInterval(rate.ci_low, rate.ci_high)}${rate.interval === null ? "" : ` (${rateIntervals[rate.interval]})`}`;
  const unscored = rate.unscored === 0 ? "" : `, ${counted(rate.unscored, "trial")} not scored`;
  return `pass rate ${percent(rate.value)}, ${ci}, ${count(rate.passed)} of ${counted(rate.trials, "scored trial")} of ${counted(rate.tasks, "task")} passed${unscored}`;
}

/** `+8.3`, in percentage points: the difference of two shares. */
export const points = (difference: number): string => signed(difference * 100, 1);

/** All tokens of a run; `null` where neither part is known. */
export function tokensTotal(tokens: Tokens): number | null {
  return tokens.input === null && tokens.output === null ? null : (tokens.input ?? 0) + (tokens.output ?? 0);
}

/** What a person reads for an end reason; the words of `crates/model`. */
export const endReasonLabels: Readonly<Record<EndReason, string>> = {
  passed_all: "passed all",
  tests_failed: "tests failed",
  build_failed: "build failed",
  server_failed: "server failed",
  agent_timeout: "agent timeout",
  attempt_budget: "attempt budget",
  agent_error: "agent error",
  context_overflow: "context overflow",
  tool_call_format: "tool-call format",
  loop_detected: "loop detected",
  killed_itself: "killed itself",
  gave_up: "gave up",
  no_change: "no change",
  verifier_timeout: "verifier timeout",
  verifier_error: "verifier error",
  no_verdict: "no verdict",
  endpoint: "endpoint",
  budget: "budget",
  environment: "environment",
  cancelled: "cancelled", // words: ok, the name of an end reason
  unfinished: "unfinished",
};

/** The look of an end reason: which status color and glyph it takes. */
export type EndLook = "passed" | "failed" | "error" | "censored";

export function endLook(reason: EndReason, censored: boolean): EndLook {
  if (reason === "passed_all") return "passed";
  if (censored) return "censored";
  return reason === "tests_failed" ? "failed" : "error";
}
