// Numbers of a comparison in words. Pure.
import type { ExplainKey } from "../explain/keys";
import type { Comparison } from "../host/bindings/Comparison";
import type { ComparedMember } from "../host/bindings/ComparedMember";
import type { ChiSquare } from "../host/bindings/ChiSquare";
import type { DisagreementMode } from "../host/bindings/DisagreementMode";
import type { DisagreementSort } from "../host/bindings/DisagreementSort";
import type { KnownCounts } from "../host/bindings/KnownCounts";
import type { Measure } from "../host/bindings/Measure";
import type { Member } from "../host/bindings/Member";
import type { RunRow } from "../host/bindings/RunRow";
import type { SettingDifference } from "../host/bindings/SettingDifference";
import type { Spent } from "../host/bindings/Spent";
import {
  costInWords,
  counted,
  decimals,
  duration,
  fixedOrUnknown,
  percent,
  pValue,
  scoreText,
  compactCount,
  UNKNOWN,
} from "../parts/format";
import { MAX_COMPARED } from "./address";

export const modeNames: Readonly<Record<DisagreementMode, string>> = {
  all: "All",
  different: "Different",
  failures: "Failures",
  errors: "Errors",
};
export const sortNames: Readonly<Record<DisagreementSort, string>> = {
  reference_fails: "Reference fails first",
  spread: "Largest spread first",
  scenario: "By scenario",
};
const measureNames: Readonly<Record<Measure, string>> = {
  stamina: "Mean stamina",
  pass_rate: "Pass rate",
  score: "Score",
  tokens: "Tokens per turn",
  cost: "Cost per episode",
  time: "Agent time per turn",
  steps: "Steps per turn",
  steps_survived: "Steps survived",
  tool_calls: "Tool calls per turn",
  cost_per_survived_turn: "Cost per survived turn",
};
/** Of runs of one turn, where a turn and an episode are a trial. */
const measureNamesByTrial: Partial<Readonly<Record<Measure, string>>> = {
  tokens: "Tokens per trial",
  cost: "Cost per trial",
  time: "Agent time per trial",
  steps: "Steps per trial",
  tool_calls: "Tool calls per trial",
  cost_per_survived_turn: "Cost per passed trial",
};

/** The explanation of each measure. */
export const explainedMeasures: Readonly<Record<Measure, ExplainKey>> = {
  stamina: "mean_stamina",
  pass_rate: "pass_rate",
  score: "score",
  cost: "cost_per_episode",
  cost_per_survived_turn: "cost_per_survived_turn",
  steps_survived: "steps_survived",
  tokens: "rate_per_turn",
  time: "rate_per_turn",
  steps: "rate_per_turn",
  tool_calls: "rate_per_turn",
};

/** What a measure is called; `rates`: of runs of one turn. */
export const measureName = (measure: Measure, rates: boolean): string =>
  (rates ? measureNamesByTrial[measure] : undefined) ?? measureNames[measure];

/** `n = 20 · stamina 3.20`; of one turn `n = 20 · pass rate 45.0 %`. */
export function resultInWords(run: Pick<RunRow, "pass_rate" | "stamina">): string {
  const { pass_rate, stamina } = run;
  if (pass_rate !== null) return `n = ${String(pass_rate.trials)} · pass rate ${percent(pass_rate.value)}`;
  return `n = ${String(stamina.n)} · stamina ${fixedOrUnknown(stamina.mean, 2)}`;
}

/** `all runs of opencode` */
export function memberInWords(member: Member): string {
  switch (member.by) {
    case "run":
      return member.run;
    case "harness":
      return `all runs of ${member.harness === "" ? "unknown harness" : member.harness}`;
    case "model":
      return `all runs of ${member.model === "" ? "unknown model" : member.model}`;
    case "cell":
      return `all runs of ${member.model === "" ? "unknown model" : member.model} with ${member.harness === "" ? "unknown harness" : member.harness}`;
    case "tag":
      return `all runs tagged ${member.tag}`;
  }
}

/** `χ² = 12.31, df = 3, p = 0.006`; where there is no test, why: `n/a: no episode failed`. */
export function chiSquare(test: ChiSquare | null, reason: string | null): string {
  return test === null
    ? reason === null
      ? "n/a: it is not defined"
      : `n/a: ${reason}`
    : `χ² = ${decimals(test.chi2, 2)}, df = ${String(test.df)}, ${pValue(test.p)}`;
}

/** What color and dash stand for on this page. */
export function channels(members: readonly ComparedMember[]): string {
  if (members.length < 2) return "";
  const same = (property: (m: ComparedMember) => string | null): string | null | undefined => {
    const first = members[0];
    return first !== undefined && members.every((m) => property(m) === property(first)) ? property(first) : undefined;
  };
  const harness = same((m) => m.harness);
  const model = same((m) => m.model);
  if (harness !== undefined && model === undefined) return `Color and dash: model.${harness === null ? "" : ` All runs use ${harness}.`}`;
  if (model !== undefined && harness === undefined) return `Color and dash: harness.${model === null ? "" : ` All runs use ${model}.`}`;
  return harness === undefined ? "Color: model. Dash and marker: harness." : "";
}

/** Of so many members that their survival curves are not in one plot. */
export const manyInWords = (members: number): string =>
  `${counted(members, "member")} are compared; with more than ${String(MAX_COMPARED)}, each survival curve has a panel of its own`;

/** Why no member can be added: an address may name more than a page adds. */
export const fullInWords = (members: number): string =>
  `${counted(members, "member")} are compared. Members can be added up to ${String(MAX_COMPARED)}: remove ${members > MAX_COMPARED ? "some" : "one"} to add another.`;

export const compactCountOrUnknown = (value: number | null): string => (value === null ? UNKNOWN : compactCount(value));
export const secondsOrUnknown = (value: number | null): string => (value === null ? UNKNOWN : duration(value));

/** Dollars for each turn that counts; where not a turn was survived no sum of money bought one. `rates`: of runs of one turn, for each trial that passed. */
export function perSurvivedTurn(m: Pick<ComparedMember, "simulated" | "spent">, rates: boolean): string {
  if (!m.simulated && m.spent.no_turn_survived) return rates ? "no trial passed" : "no turn survived";
  return costInWords(m.spent.cost_per_survived_turn, m.simulated).text;
}

/** Of how many turns a rate is known, where not of all that were played. */
export function knownOver(spent: Spent, rate: number | null, over: KnownCounts, rates: boolean): string | null {
  if (rate === null || over.turns >= spent.turns_played) return null;
  const known = `known for ${String(over.turns)} of ${counted(spent.turns_played, rates ? "trial" : "turn")}`;
  return rates ? known : `${known}, in ${counted(over.episodes, "episode")}`;
}

/** The sum of a member's cost, and of how many episodes it is where not of all. */
export function sumOfCost(m: ComparedMember, rates: boolean): { text: string; unknown: boolean; partial: string | null } {
  const { cost_usd, cost_known } = m.spent;
  return {
    ...costInWords(cost_usd, m.simulated, { known: cost_known, total: m.stamina.n }),
    partial:
      !m.simulated && cost_usd !== null && cost_known < m.stamina.n
        ? `known for ${String(cost_known)} of ${counted(m.stamina.n, rates ? "trial" : "episode")}`
        : null,
  };
}

/** The value of a measure as the bars have it. */
export function measured(m: ComparedMember, measure: Measure, rates: boolean): string {
  switch (measure) {
    case "stamina":
      return m.stamina.mean === null ? UNKNOWN : decimals(m.stamina.mean, 2);
    case "pass_rate":
      return percent(m.pass_rate?.value ?? null);
    case "score":
      return scoreText(m.score);
    case "tokens":
      return compactCountOrUnknown(m.spent.tokens_per_turn);
    case "cost":
      return costInWords(m.spent.cost_per_episode, m.simulated).text;
    case "time":
      return secondsOrUnknown(m.spent.seconds_per_turn);
    case "steps":
      return m.spent.steps_per_turn === null ? UNKNOWN : decimals(m.spent.steps_per_turn, 1);
    case "steps_survived":
      return m.spent.steps_survived === null ? UNKNOWN : decimals(m.spent.steps_survived, 1);
    case "tool_calls":
      return m.spent.tool_calls_per_turn === null ? UNKNOWN : decimals(m.spent.tool_calls_per_turn, 1);
    case "cost_per_survived_turn":
      return perSurvivedTurn(m, rates);
  }
}

/** `4 runs · EvoCode-Bench, published` */
export function comparisonSummary(c: Comparison): string {
  const runs = c.members.reduce((sum, m) => sum + m.runs.length, 0);
  const names = [...new Set(c.members.map((m) => m.benchmark[1]))];
  const groups = runs === c.members.length ? counted(runs, "run") : `${counted(c.members.length, "group")} of ${counted(runs, "run")}`;
  return `${groups} · ${names.length === 1 ? (names[0] ?? "") : `${String(names.length)} benchmarks`}`;
}

/** Whether two known values differ; else the setting may still be the same for all. */
export const differs = (d: Pick<SettingDifference, "values">): boolean => new Set(d.values.filter((value) => value !== null)).size > 1;

/** The mark of a setting that differs; `""` = no effect on stamina. */
export function markInWords(d: Pick<SettingDifference, "values" | "comparability">): string {
  if (d.comparability === "no_effect") return "";
  return d.comparability === "not_comparable" ? "not comparable" : differs(d) ? "effect unknown" : "may differ (unknown)";
}

/**
 * Whether the settings without effect are folded: several of them, among more rows than there is `room` for. Some other setting stays
 * above them, so that they are further ones.
 */
export function foldsHarmless(differences: readonly Pick<SettingDifference, "comparability">[], room: number): boolean {
  const harmless = differences.filter((d) => d.comparability === "no_effect").length;
  return differences.length > room && harmless > 1 && harmless < differences.length;
}

/** How many settings make what, for the status bar. */
export function comparabilityInWords(c: Comparison): string {
  const never = c.differences.filter((d) => d.comparability === "not_comparable").length;
  const open = c.differences.filter((d) => d.comparability === "cannot_be_ruled_out");
  const known = open.filter(differs).length;
  if (never > 0) return `${counted(never, "setting")} ${never === 1 ? "makes" : "make"} runs not comparable`;
  if (known > 0) return `${counted(known, "setting")} ${known === 1 ? "differs" : "differ"}, effect unknown`;
  if (open.length > 0) return `${counted(open.length, "setting")} may differ (unknown)`;
  return c.members.length < 2 ? "" : "no setting that matters differs";
}
