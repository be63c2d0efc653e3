/** The strip of numbers of a run, as words. Pure, so that every "unknown" and "n/a" is covered by tests. */
import type { EndCount } from "../host/bindings/EndCount";
import type { PassRate } from "../host/bindings/PassRate";
import type { RunGrid } from "../host/bindings/RunGrid";
import type { RunRow } from "../host/bindings/RunRow";
import {
  UNKNOWN,
  costInWords,
  count,
  counted,
  endReasonLabels,
  fixedOrUnknown,
  median,
  tokensPerSecond,
  passRateInWords,
  percent,
  percentInterval,
  plannedOfMissing,
  rangeOf,
  scoreText,
  compactCount,
  tokensTotal,
  whyNoInterval,
} from "../parts/format";
import type { Stat } from "../parts/stat";

/** `failed tests` of one reason; several as `5 endpoint, 3 passed all`; the rest counted. */
export function reasonsInWords(ends: readonly EndCount[], most = 2): string {
  const first = ends[0];
  if (!first) return "";
  if (ends.length === 1) return endReasonLabels[first.reason];
  const shown = ends.slice(0, most).map((e) => `${count(e.count)} ${endReasonLabels[e.reason]}`);
  const rest = ends.slice(most).reduce((sum, e) => sum + e.count, 0);
  return [...shown, ...(rest > 0 ? [`${count(rest)} other`] : [])].join(", ");
}

/** Turns passed and turns planned, over all episodes; episodes without a plan count what is known of them. */
export function turnsPassed(grid: RunGrid): { passed: number; planned: number } {
  let passed = 0;
  let planned = 0;
  for (const row of grid.rows) {
    if (row.invalid !== null) continue;
    planned += row.planned_turns ?? row.cells.length;
    for (const letter of row.cells) if (letter === "p" || letter === "r") passed += 1;
  }
  return { passed, planned };
}

/** The reported figure that stands beside one that is computed here, by its name; a mean reward stands beside the score. */
export function reportedFor(
  reported: readonly (readonly [string, number])[],
  kind: "score" | "case" | "perfect",
): readonly [string, number] | undefined {
  const patterns = {
    score: [/dataset[ ._-]?score/, /(^|\.)score$/, /mean[ ._-]?reward/, /reward/],
    case: [/case[ ._-]?score/],
    perfect: [/perfect/],
  }[kind];
  for (const pattern of patterns) {
    const found = reported.find(([name]) => pattern.test(name.toLowerCase()));
    if (found) return found;
  }
  return undefined;
}

/** A reported figure as its source writes it. */
export function reportedValue(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(5)));
}

/** Figures that Stamina Lab itself reports of its runs, in words. */
const ownFigures: ReadonlyMap<string, string> = new Map([
  ["stamina_lab.tokens_per_second.prompt.median", "Prompt speed, median"],
  ["stamina_lab.tokens_per_second.prompt.p10", "Prompt speed, p10"],
  ["stamina_lab.tokens_per_second.answer.median", "Answer speed, median"],
  ["stamina_lab.tokens_per_second.answer.p10", "Answer speed, p10"],
  ["stamina_lab.attempts_retried_for_endpoint", "Attempts retried for the endpoint"],
  ["stamina_lab.attempts_lost_to_endpoint", "Attempts lost to the endpoint"],
]);

/** A reported figure as the page of a run has it. */
export interface ReportedRow {
  /** The source's name. */
  readonly name: string;
  /** Words where it is a figure of Stamina Lab itself, else the source's name. */
  readonly label: string;
  readonly value: string;
  readonly explain: "run_tokens_per_second" | undefined;
}

export function reportedRows(reported: readonly (readonly [string, number])[]): ReportedRow[] {
  return reported.map(([name, value]) => {
    const isSpeed = name.startsWith("stamina_lab.tokens_per_second.");
    return {
      name,
      label: ownFigures.get(name) ?? name,
      value: isSpeed ? `${tokensPerSecond(value)} tokens/s` : reportedValue(value),
      explain: isSpeed ? "run_tokens_per_second" : undefined,
    };
  });
}

/** `reported 59.1` where the source calls it as we do, else with the source's own name: `mean_reward 0.531`. */
export function reportedInWords(figure: readonly [string, number] | undefined, key: string): string | undefined {
  if (!figure) return undefined;
  const name = figure[0].slice(figure[0].indexOf(".") + 1);
  const same = name.toLowerCase().replaceAll(/[_-]/g, " ").startsWith(key.toLowerCase());
  return `${same ? "reported" : name} ${same ? String(Number(figure[1].toFixed(1))) : reportedValue(figure[1])}`;
}

/** `2 of them with a cause that is not recognized` */
const unrecognizedInWords = (unrecognised: number): string | undefined =>
  unrecognised === 0 ? undefined : `${count(unrecognised)} of them with a cause that is not recognized`;

/** Why an interval is another than Greenwood's. */
const CLUSTERED = "some scenarios have several episodes, which are alike: the interval is by a bootstrap that draws whole scenarios";

const words = (...parts: (string | null | undefined)[]): string | undefined =>
  parts.filter((p): p is string => p !== null && p !== undefined && p !== "").join(", ") || undefined;

/** `2 withdrawn`: shown, and in no number. */
const withdrawn = (row: RunRow): string | null => (row.withdrawn_episodes === 0 ? null : `${count(row.withdrawn_episodes)} withdrawn`);

/** How much room the strip has: under 1200 px, under 1600 px, or more. */
export type StripWidth = "compact" | "narrow" | "wide";

/** The end reasons of these, all of them, for a tip. */
const allReasons = (ends: readonly EndCount[]): string | undefined => reasonsInWords(ends, Infinity) || undefined;

/** `of 26`, if some of the planned episodes are missing. */
function missingInWords(row: RunRow): string | null {
  const planned = plannedOfMissing(row);
  return planned === null ? null : `of ${count(planned)}`;
}

/** A run of one turn: pass rate, pass@k and pass^k in place of stamina, events and turns. */
function rateStats(row: RunRow, rate: PassRate, wide: boolean): Stat[] {
  const ended = (is: (end: EndCount) => boolean): EndCount[] => row.end_reasons.filter(is);
  const events = ended((e) => e.ending === "event");
  const stopped = ended((e) => e.ending === "censored" && e.reason !== "passed_all");
  const most = wide ? 3 : 1;
  const k = rate.pass_at_k.length;
  const missing = words(missingInWords(row), withdrawn(row));
  const list: Stat[] = [
    {
      explain: "episodes",
      key: "Trials",
      value: count(row.episodes),
      small: words(missing, counted(rate.tasks, "task")),
      title: words(row.partial, "scored: passed, or failed for a reason that counts as a failure"),
    },
    {
      explain: "pass_rate",
      key: "Pass rate",
      value: percent(rate.value),
      small: rate.value === null ? "no trial is scored" : `95 % CI ${percentInterval(rate.ci_low, rate.ci_high)}`,
      unknown: rate.value === null,
      title: passRateInWords(rate),
    },
    { explain: "pass_rate", key: "Passed", value: count(rate.passed), small: `of ${count(rate.trials)}`, title: "of the scored trials" },
    {
      explain: "events",
      key: "Failed",
      value: count(row.stamina.events),
      small: events.length > 0 ? reasonsInWords(events, most) : undefined,
      title: words(allReasons(events), unrecognizedInWords(row.unrecognised)),
    },
  ];
  if (rate.unscored > 0)
    list.push({
      explain: "unscored",
      key: "Not scored",
      value: count(rate.unscored),
      small: reasonsInWords(stopped, most),
      title: allReasons(stopped),
    });
  if (k > 1) {
    const at = (key: string, values: readonly number[], intervals: PassRate["pass_at_k_ci"], about: string): Stat => {
      const ends = intervals[k - 1] ?? null;
      return {
        explain: key === "pass@" ? "pass_at_k" : "pass_hat_k",
        key: `${key}${String(k)}`,
        value: percent(values[k - 1] ?? null),
        small: wide ? `95 % CI ${percentInterval(ends?.[0] ?? null, ends?.[1] ?? null)}` : undefined,
        title: `${about}; 95 % CI ${percentInterval(ends?.[0] ?? null, ends?.[1] ?? null)} by tasks`,
      };
    };
    list.push(
      at("pass@", rate.pass_at_k, rate.pass_at_k_ci, `the probability that at least one of ${count(k)} trials of a task passes`),
      at("pass^", rate.pass_hat_k, rate.pass_hat_k_ci, `the probability that all of ${count(k)} trials of a task pass`),
    );
  }
  return list;
}

/** Episodes, how they ended, mean stamina and median. */
function staminaStats(row: RunRow, room: StripWidth): Stat[] {
  const wide = room === "wide";
  const s = row.stamina;
  const turns = row.planned_turns === null ? "turns unknown" : rangeOf(row.planned_turns, "turn");
  const missing = missingInWords(row);
  const ended = (ending: EndCount["ending"]): EndCount[] => row.end_reasons.filter((e) => e.ending === ending);
  const most = wide ? 3 : 1;
  return [
    {
      explain: "episodes",
      key: "Episodes",
      value: count(row.episodes),
      small: words(missing, withdrawn(row), room === "compact" ? null : turns),
      title: words(row.partial, turns),
    },
    {
      explain: "events",
      key: "Events",
      value: count(s.events),
      small: s.events > 0 && room !== "compact" ? reasonsInWords(ended("event"), most) : undefined,
      title: words(allReasons(ended("event")), unrecognizedInWords(row.unrecognised)),
    },
    {
      explain: "censored",
      key: "Censored",
      value: count(s.censored),
      small: s.censored > 0 ? reasonsInWords(ended("censored"), most) : undefined,
      title: allReasons(ended("censored")),
    },
    {
      explain: "mean_stamina",
      key: s.mean === null ? "Mean stamina" : `Mean stamina, τ = ${String(s.tau)}`,
      value: fixedOrUnknown(s.mean, 2),
      small:
        s.n === 0
          ? "no episodes"
          : s.mean === null
            ? "nobody at risk"
            : s.ci_low === null || s.ci_high === null
              ? `95 % CI n/a (${whyNoInterval(s.n)})`
              : `95 % CI ${s.ci_low.toFixed(2)}–${s.ci_high.toFixed(2)}${s.clustered && room !== "compact" ? ", by scenario" : ""}`,
      unknown: s.mean === null,
      title: s.clustered ? CLUSTERED : undefined,
    },
    { explain: "median_stamina", key: "Median", value: median(s.median), unknown: typeof s.median !== "number" },
  ];
}

/** `asSurvival`: a run of one turn is shown as any other, because the reader asked for it. */
export function stats(row: RunRow, grid: RunGrid | undefined, room: StripWidth, asSurvival = false): Stat[] {
  const wide = room === "wide";
  const rate = asSurvival ? null : row.pass_rate;
  const list = rate === null ? staminaStats(row, room) : rateStats(row, rate, wide);
  const scored = (key: string, value: number, kind: "case" | "perfect" | "score", digits: number, partial: string | null): void => {
    const figure = reportedFor(row.reported, kind);
    const reported = reportedInWords(figure, key);
    list.push({
      explain: kind === "case" ? "case_score" : kind === "perfect" ? "perfect" : key === "Score" ? "score" : "dataset_score",
      key,
      value: kind === "perfect" ? value.toFixed(digits) : scoreText(value, digits),
      // On narrow windows the reported figure matters more than how much of the whole it is about.
      small: wide
        ? words(partial, reported)
        : kind !== "score" && figure && figure[1].toFixed(digits) === value.toFixed(digits)
          ? undefined
          : (reported ?? partial ?? undefined),
      title: words(
        "recomputed by Stamina Lab",
        partial,
        figure ? `the source reports ${figure[0]} ${reportedValue(figure[1])}` : "the source reports none",
      ),
    });
  };
  if (row.dataset_score === null) {
    if (row.score === null)
      list.push({
        explain: "score",
        key: "Score",
        value: UNKNOWN,
        small: reportedInWords(reportedFor(row.reported, "score"), "Score"),
        unknown: true,
      });
    else scored("Score", row.score, "score", 1, row.partial);
  } else {
    scored("Dataset score", row.dataset_score, "score", 1, row.partial);
  }
  if (row.case_score !== null) scored("Case score", row.case_score, "case", 1, null);
  if (row.dataset_score !== null && row.perfect !== null && rate === null) scored("Perfect tasks", row.perfect, "perfect", 0, null);
  const rounds = row.rounds;
  if (wide && rounds?.alone) {
    const reason = rounds.missing.join(" ");
    const last = rounds.sr_at_k.length;
    list.push({
      explain: "sr",
      key: "SR",
      value: scoreText(rounds.sr),
      small: last > 1 ? `SR@${String(last)} ${scoreText(rounds.sr_at_k[last - 1] ?? null)}` : undefined,
      unknown: rounds.sr === null,
      title: rounds.sr === null ? reason : "rounds that pass when each is played by itself, mean within a task, then over tasks",
    });
    list.push({
      explain: "gap",
      key: "Gap",
      value: fixedOrUnknown(rounds.gap, 1),
      unknown: rounds.gap === null,
      title: rounds.gap === null ? reason : "SR − MT@4, in points, with MT@4 of runs of the same harness and model",
    });
  } else if (wide && rounds !== null && rate === null) {
    const k = Math.min(4, Math.max(1, rounds.mt_at_k.length));
    const mt = rounds.mt_at_k[k - 1] ?? null;
    const reason = rounds.missing.join(" ");
    list.push({
      explain: "mt_at_k",
      key: `MT@${String(k)}`,
      // Where nobody was at risk nothing is refused: all scores are unknown.
      value: mt === null ? (rounds.round_by_round || row.stamina.mean === null ? UNKNOWN : "refused") : scoreText(mt),
      unknown: mt === null,
      title: mt === null ? reason : `${rounds.round_by_round ? "round by round" : "over independent attempts"}; Scores has every k`,
    });
    list.push({
      explain: "comp",
      key: "Comp",
      value: scoreText(rounds.comp),
      unknown: rounds.comp === null,
      title: rounds.comp === null ? reason : "tasks with an attempt that passed the last round",
    });
  }
  const total = tokensTotal(row.tokens);
  const part = (name: string, value: number | null): string => `${name} ${value === null ? UNKNOWN : compactCount(value)}`;
  const parts = total === null ? undefined : words(part("in", row.tokens.input), part("out", row.tokens.output));
  const knownTokens =
    total !== null && row.tokens_known < row.episodes ? `known for ${count(row.tokens_known)} of ${count(row.episodes)}` : undefined;
  list.push({
    explain: "tokens",
    key: "Tokens",
    value: total === null ? UNKNOWN : compactCount(total),
    small: knownTokens ?? (wide ? parts : undefined),
    unknown: total === null,
    title: total === null ? undefined : words(parts, part("of the input cached", row.tokens.cached)),
  });
  const cost = costInWords(row.cost_usd, row.simulated, { known: row.cost_known, total: row.episodes });
  list.push({
    explain: "cost",
    key: "Cost",
    value: cost.text,
    small:
      !row.simulated && row.cost_usd !== null && row.cost_known < row.episodes
        ? `known for ${count(row.cost_known)} of ${count(row.episodes)}`
        : undefined,
    unknown: cost.unknown,
  });
  if (row.runner !== null)
    list.push({
      key: "Runner",
      value: row.runner[0],
      small: row.runner[1] ?? UNKNOWN,
      title: row.runner[1] === null ? "its version is unknown" : undefined,
    });
  if (wide && grid !== undefined && rate === null) {
    const t = turnsPassed(grid);
    list.push({ explain: "turns_passed", key: "Turns passed", value: count(t.passed), small: `of ${count(t.planned)}` });
  }
  if (wide)
    list.push({
      explain: "attempt_limit",
      key: "Attempts per turn",
      value: row.attempt_limit === null ? UNKNOWN : `at most ${count(row.attempt_limit)}`,
      unknown: row.attempt_limit === null,
    });
  return list;
}

/** `1 task is known by its totals only: name` */
export function totalsInWords(totals: readonly (readonly [string, number | null, number | null])[]): string | undefined {
  if (totals.length === 0) return undefined;
  const names = totals.slice(0, 3).map(([name]) => name);
  const rest = totals.length - names.length;
  const whole = totals.length === 1 ? "1 task is known by its totals only" : `${count(totals.length)} tasks are known by their totals only`;
  return `${whole}: ${names.join(", ")}${rest > 0 ? ` and ${count(rest)} more` : ""}`;
}

/** A setting's or unknown field's value on one line. */
export function valueInWords(value: unknown): string {
  if (value === null || value === undefined) return UNKNOWN;
  if (typeof value === "string") return value;
  return JSON.stringify(value);
}
