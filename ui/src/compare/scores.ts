// Scores of turns that are graded by themselves, as lines of a table. Pure.
import type { Stamina } from "../host/bindings/Stamina";
import type { TurnScores } from "../host/bindings/TurnScores";

export interface ScoreLine {
  readonly key: string;
  readonly name: string;
  readonly simulated: boolean;
  readonly stamina: Stamina;
  /** `null` = they do not apply. */
  readonly scores: TurnScores | null;
}

/** The k of the paper. */
const PAPER_K = 4;

/** The greatest k for which any line has MT@k; 0 = none has. */
export const mostK = (lines: readonly ScoreLine[]): number => Math.max(0, ...lines.map((line) => line.scores?.rounds.mt_at_k.length ?? 0));

/** The k that was asked for, as far as there is one; else the paper's, or the greatest below it. */
export function chosenK(requested: string | undefined, most: number): number {
  const k = requested !== undefined && /^\d{1,3}$/.test(requested) ? Number(requested) : PAPER_K;
  return Math.min(Math.max(1, k), Math.max(1, most));
}

/** MT@k of a line; `null` = refused or not for so many attempts. */
export const mtAt = (line: ScoreLine, k: number): number | null => line.scores?.rounds.mt_at_k[k - 1] ?? null;

/** Why what is missing is missing: each sentence once, with whom it is about where it is not about all. */
export function missingInWords(lines: readonly ScoreLine[]): string[] {
  const scored = lines.filter((line) => line.scores !== null);
  const sentences = [...new Set(scored.flatMap((line) => line.scores?.rounds.missing ?? []))];
  const reasons = sentences.map((sentence) => {
    const about = scored.filter((line) => line.scores?.rounds.missing.includes(sentence));
    return about.length === scored.length ? sentence : `${about.map((line) => line.name).join(", ")}: ${sentence}`;
  });
  const others = lines.filter((line) => line.scores === null);
  if (others.length > 0 && scored.length > 0)
    reasons.push(
      `${others.map((line) => line.name).join(", ")}: these scores do not apply, since turns are not graded by themselves or a task has one turn.`,
    );
  return reasons;
}
