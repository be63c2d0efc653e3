// The tail of a log that grows: what is kept of it, and whether it follows. Pure.
import type { LiveLog } from "../host/bindings/LiveLog";
import type { LogLine } from "../host/bindings/LogLine";

/** Lines that are kept; what is older lies in the run's folder. */
export const MAX_LINES = 2000;

export interface Tail {
  /** Number of the first line that is kept, so that lines keep their keys while older ones go. */
  readonly first: number;
  readonly lines: readonly LogLine[];
  /** Where to go on asking. */
  readonly next: string | null;
  /** Turn and attempt that it is of. */
  readonly place: readonly [number, number] | null;
  /** Something before the first line is left out. */
  readonly cut: boolean;
}

export const emptyTail: Tail = { first: 0, lines: [], next: null, place: null, cut: false };

/** The tail with what came since. A log of a new attempt takes the place of the old one. */
export function appendLog(tail: Tail, chunk: LiveLog): Tail {
  const fresh = chunk.fresh || tail.next === null;
  const before = fresh ? [] : tail.lines;
  const all = [...before, ...chunk.lines];
  const dropped = Math.max(0, all.length - MAX_LINES);
  return {
    first: (fresh ? tail.first + tail.lines.length : tail.first) + dropped,
    lines: dropped > 0 ? all.slice(dropped) : all,
    next: chunk.next,
    place: chunk.attempt ?? (fresh ? null : tail.place),
    cut: fresh ? chunk.cut || dropped > 0 : tail.cut || dropped > 0,
  };
}

/** `08:42:19` of an RFC 3339 time, on the reader's clock; eight blanks where it is not known. */
export function timeOfDay(at: string | null): string {
  const time = at === null ? undefined : new Date(at);
  if (time === undefined || Number.isNaN(time.getTime())) return " ".repeat(8);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((n) => String(n).padStart(2, "0")).join(":");
}

/** Whether a view is at its end, give or take part of a line. */
export const atEnd = (top: number, height: number, all: number): boolean => all - top - height < 12;
