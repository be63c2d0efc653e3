// A turn of the survival curve, in words. Pure.
import type { SurvivalRow } from "../host/bindings/SurvivalRow";

/** Why a share alive has no band: by scenario there is none of one scenario, nor of scenarios that do not differ. */
export const whyNoBand = (survival: number | null): string =>
  survival !== null && survival > 0 && survival < 1 ? "one scenario, or all alike" : "no variation";

/** What is read at the right while a turn is pointed at. */
export function turnInWords(turn: number, row: SurvivalRow | undefined): string[] {
  const title = `Turn ${String(turn)}`;
  if (!row || row.survival === null) return [title, "nobody at risk"];
  const band =
    row.ci_low === null || row.ci_high === null
      ? `band n/a (${whyNoBand(row.survival)})`
      : `band ${row.ci_low.toFixed(2)}–${row.ci_high.toFixed(2)}`;
  return [
    title,
    `alive after: ${row.survival.toFixed(2)}`,
    band,
    `at risk ${String(row.at_risk)}, failed ${String(row.events)}`,
    ...(row.censored > 0 ? [`censored after it ${String(row.censored)}`] : []),
  ];
}
