// Why a number of a comparison is "n/a": the text of its tooltip. `undefined` = the number is there. Pure.
import type { ComparedMember } from "../host/bindings/ComparedMember";
import type { ComparedPair } from "../host/bindings/ComparedPair";
import type { PairedComparison } from "../host/bindings/PairedComparison";
import type { PassRate } from "../host/bindings/PassRate";
import type { Stamina } from "../host/bindings/Stamina";
import { counted, whyNoInterval } from "../parts/format";
import { notPaired } from "./pairs";

/** A member, as far as the reasons need it. */
type TestedMember = Pick<ComparedMember, "name" | "stamina" | "pass_rate">;

/** Two members with their tests. */
export interface TestedPair {
  pair: ComparedPair;
  a: TestedMember;
  b: TestedMember;
  /** Whether they are compared by their pass rates. */
  rates: boolean;
}

/** More episodes of a pair are not permuted. */
const MOST_PERMUTED = 40;

const meanOf = (member: TestedMember, rates: boolean): number | null => (rates ? (member.pass_rate?.value ?? null) : member.stamina.mean);

/** The members without a mean, and why they have none. */
function unknownMeans({ a, b, rates }: TestedPair): string | undefined {
  const names = [a, b].filter((member) => meanOf(member, rates) === null).map((member) => member.name);
  if (names.length === 0) return undefined;
  return `${names.join(" and ")}: ${rates ? "no trial is scored" : "nobody was at risk"}`;
}

/** Why an interval of a difference, a ratio or a bootstrap is not there. */
const noVariation = (rates: boolean): string => `No interval: one ${rates ? "task" : "scenario"}, or nothing varies`;

/** Of the difference of two means, or of its interval. */
export function whyNoDifference(tested: TestedPair): string | undefined {
  const difference = tested.rates ? tested.pair.pass_rate_difference : tested.pair.difference;
  if (difference === null) return unknownMeans(tested) ?? "It is not defined for these two";
  return difference.ci_low === null ? noVariation(tested.rates) : undefined;
}

/** Of its interval by a bootstrap. */
export function whyNoBootstrap(tested: TestedPair): string | undefined {
  return tested.pair.difference_bootstrap === null ? (unknownMeans(tested) ?? noVariation(tested.rates)) : undefined;
}

/** Of the ratio of two means, or of an end of its interval. */
export function whyNoRatio(tested: TestedPair): string | undefined {
  const { pair, b, rates } = tested;
  if (pair.ratio === null)
    return (
      unknownMeans(tested) ?? (meanOf(b, rates) === 0 ? `${b.name}: its mean is 0, and nothing is divided by it` : "It is not defined")
    );
  if (pair.ratio.ci_low === null) return noVariation(rates);
  return pair.ratio.ci_high === null ? "The interval has no upper end: the ratio is unbounded" : undefined;
}

/** Of the log-rank test, and of its p. */
export function whyNoLogrank(tested: TestedPair): string | undefined {
  const { pair, a, b, rates } = tested;
  if (pair.logrank !== null) return undefined;
  const unknown = unknownMeans(tested);
  if (unknown !== undefined) return unknown;
  if (a.stamina.events + b.stamina.events === 0) return rates ? "No trial failed" : "No episode failed";
  if (pair.clustered) return `Too few ${rates ? "tasks" : "scenarios"} for a test that is clustered by them`;
  return rates
    ? "Every trial that is scored failed"
    : "No turn tells them apart: wherever an episode failed, the other had nobody at risk, or all failed";
}

/** Of the log-rank test by permutation. */
export function whyNoPermutation(tested: TestedPair): string | undefined {
  const { pair, a, b, rates } = tested;
  if (pair.logrank_permutation !== null) return undefined;
  const noun = rates ? "trial" : "episode";
  if (pair.clustered) return `Several ${noun}s of a ${rates ? "task" : "scenario"} are alike, and cannot be exchanged`;
  if (a.stamina.n + b.stamina.n > MOST_PERMUTED) return `More than ${counted(MOST_PERMUTED, noun)}: χ² is near enough`;
  return whyNoLogrank(tested) ?? "It is not defined for these two";
}

/** Of the log-rank test that is stratified by scenario. */
export function whyNoStratified(tested: TestedPair): string | undefined {
  const { pair, a, b, rates } = tested;
  if (pair.logrank_stratified !== null) return undefined;
  const noun = rates ? "task" : "scenario";
  if (pair.paired === null) return notPaired(pair, a.name, b.name, rates);
  if (pair.paired.n === 1) return `Only one ${noun} was played by both`;
  return `Within no shared ${noun} does a failure tell them apart`;
}

/** Of the interval and the tests of paired differences. */
export function whyNoPairedTest(paired: Pick<PairedComparison, "n">, rates: boolean): string {
  return paired.n === 1 ? `One shared ${rates ? "task" : "scenario"}: nothing varies` : "All differences are alike: nothing varies";
}

/** The same of a pair: of its t test, or of another one with this p. */
export function whyNoPaired({ pair, a, b, rates }: TestedPair, p: number | null | undefined): string | undefined {
  if (pair.paired === null) return notPaired(pair, a.name, b.name, rates);
  return p == null ? whyNoPairedTest(pair.paired, rates) : undefined;
}

/** Of the interval of a mean stamina. */
export function whyNoMeanInterval(stamina: Pick<Stamina, "mean" | "ci_low" | "n">): string | undefined {
  if (stamina.ci_low !== null) return undefined;
  return `No interval: ${stamina.mean === null ? "nobody was at risk" : whyNoInterval(stamina.n)}`;
}

/** Of its interval by a bootstrap. */
export function whyNoMeanBootstrap({
  stamina,
  stamina_bootstrap,
}: Pick<ComparedMember, "stamina" | "stamina_bootstrap">): string | undefined {
  if (stamina_bootstrap !== null) return undefined;
  return `No interval: ${stamina.mean === null ? "nobody was at risk" : "one scenario, or nothing varies"}`;
}

/** Of the interval of a pass rate. */
export function whyNoRateInterval(rate: Pick<PassRate, "value" | "ci_low"> | null): string | undefined {
  if (rate === null) return "No interval: it plays more than one turn";
  if (rate.ci_low !== null) return undefined;
  return `No interval: ${rate.value === null ? "no trial is scored" : "the trials are of one task"}`;
}

/** How trials that are not scored count in the score, which stands beside a pass rate over the others. */
export function unscoredInScore({
  pass_rate,
  score,
  grades_turns,
}: Pick<ComparedMember, "pass_rate" | "score" | "grades_turns">): string | undefined {
  if (pass_rate === null || pass_rate.unscored === 0 || score === null) return undefined;
  const one = pass_rate.unscored === 1;
  const manner = grades_turns ? "as not passed in the score" : `in the score with the tests that ${one ? "it" : "they"} passed`;
  return `${counted(pass_rate.unscored, "trial")} ${one ? "is" : "are"} not scored: ${one ? "it is" : "they are"} not in the pass rate, and ${one ? "counts" : "count"} ${manner}`;
}
