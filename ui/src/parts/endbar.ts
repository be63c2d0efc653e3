// From end reasons to the segments of the small bar: passed all, failed tests, other events, censored.
import type { EndCount } from "../host/bindings/EndCount";
import { endLook, endReasonLabels, type EndLook } from "./format";

export interface Segment {
  readonly look: EndLook;
  readonly count: number;
  readonly x: number;
  readonly width: number;
}

const ORDER: readonly EndLook[] = ["passed", "failed", "error", "censored"];
const GAP = 1.5;

/** Segments side by side over `width` px; each is at least 2 px wide, so that one episode of 500 is still seen. */
export function segments(ends: readonly EndCount[], width: number): Segment[] {
  const counts = ORDER.map((look) => ({
    look,
    count: ends.filter((e) => endLook(e.reason, e.ending === "censored") === look).reduce((sum, e) => sum + e.count, 0),
  })).filter((part) => part.count > 0);
  const total = counts.reduce((sum, part) => sum + part.count, 0);
  const free = width - GAP * Math.max(0, counts.length - 1);
  const wide = counts.map((part) => Math.max(2, (part.count / total) * free));
  // What the small ones were given is taken from the largest.
  const excess = wide.reduce((sum, w) => sum + w, 0) - free;
  const largest = wide.indexOf(Math.max(...wide));
  let x = 0;
  return counts.map((part, i) => {
    const w = (wide[i] ?? 0) - (i === largest ? excess : 0);
    const segment = { ...part, x, width: w };
    x += w + GAP;
    return segment;
  });
}

/** `16 tests failed, 9 passed all (censored)` */
export function endsInWords(ends: readonly EndCount[]): string {
  if (ends.length === 0) return "no episodes";
  return ends
    .map(
      (e) => `${String(e.count)} ${endReasonLabels[e.reason]}${e.ending === "censored" && e.reason !== "passed_all" ? " (censored)" : ""}`,
    )
    .join(", ");
}
