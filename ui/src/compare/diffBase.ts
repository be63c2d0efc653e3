// Since when the code beside another run's is said to have changed. Pure.

/** Since the end of the turn before (what the turn changed), or since the attempt before. */
export type Since = "turn" | "attempt";

/** Where a turn began: the last attempt before it that left code; `null` = none did. */
export function beginOf(choices: readonly (readonly [number, number])[], turn: number): readonly [number, number] | null {
  return choices.findLast(([t]) => t < turn) ?? null;
}

/** `changes since turn 3, attempt 2` */
export function sinceInWords(against: readonly [number, number] | null, turn: number): string {
  if (against === null) return "nothing before: everything is new";
  const [t, a] = against;
  return t === turn ? `changes since attempt ${String(a)} of this turn` : `changes since turn ${String(t)}, attempt ${String(a)}`;
}
