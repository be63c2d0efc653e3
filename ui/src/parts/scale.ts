// Ticks for small linear scales of turns, which begin at 0 and end at a given turn.

/** At most `most` + 1 round ticks from 0 to `end`; the end itself is always one of them. */
export function ticks(end: number, most = 4): number[] {
  if (end <= 0) return [0];
  // A scale below one turn has ticks at hundredths.
  if (end < 1) return ticks(Math.max(1, Math.round(end * 100)), most).map((hundredths) => hundredths / 100);
  const steps = [1, 2, 3, 5, 10, 15, 20, 25, 30, 50, 100, 200, 250, 500, 1000, 2000, 5000];
  // A step that divides the end is worth more than a round one: the last tick is then not crowded.
  const even = steps.find((step) => end % step === 0 && end / step <= most);
  const step = even ?? steps.find((s) => end / s <= most) ?? end;
  const all: number[] = [];
  for (let at = 0; at < end - step / 2; at += step) all.push(at);
  all.push(end);
  return all;
}

/** The axis over intervals. Means over several τ stand on it as shares of τ: turns out of 12 and out of 100 share no axis. */
export interface IntervalScale {
  /** It runs from 0 to this many turns, or to this rate or share. */
  readonly end: number;
  readonly unit: "turns" | "rates" | "shares";
}
