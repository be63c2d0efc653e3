// A turn of the survival curve, in words. Pure.
import type { SurvivalRow } from "../host/bindings/SurvivalRow";

/** What a scenario and an episode are called. A run of one turn has tasks and trials. */
export interface Nouns {
  readonly scenario: "scenario" | "task";
  readonly episode: "episode" | "trial";
}
export const nounsOf = (oneTurn: boolean): Nouns =>
  oneTurn ? { scenario: "task", episode: "trial" } : { scenario: "scenario", episode: "episode" };

/** Why a share alive has no band: by scenario there is none of one scenario, nor of scenarios that do not differ. */
export const whyNoBand = (survival: number | null, { scenario } = nounsOf(false)): string =>
  survival !== null && survival > 0 && survival < 1 ? `one ${scenario}, or all alike` : "no variation";

/** What is read at the right while a turn is pointed at. */
export function turnInWords(turn: number, row: SurvivalRow | undefined, nouns = nounsOf(false)): string[] {
  const title = `Turn ${String(turn)}`;
  if (!row || row.survival === null) return [title, "nobody at risk"];
  const band =
    row.ci_low === null || row.ci_high === null
      ? `band n/a (${whyNoBand(row.survival, nouns)})`
      : `band ${row.ci_low.toFixed(2)}–${row.ci_high.toFixed(2)}`;
  return [
    title,
    `alive after: ${row.survival.toFixed(2)}`,
    band,
    `at risk ${String(row.at_risk)}, failed ${String(row.events)}`,
    ...(row.censored > 0 ? [`censored after it ${String(row.censored)}`] : []),
  ];
}
