// Time, money and tokens of a live run and of an estimate, in words. Pure.
import { UNKNOWN, count } from "../parts/format";

const THIN = "\u202f";

/** `1:42:10`, `0:07`: as a stop watch shows it, so that it ticks in place. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const pad = (n: number): string => String(n).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  return hours > 0 ? `${String(hours)}:${pad(minutes)}:${pad(whole % 60)}` : `${String(minutes)}:${pad(whole % 60)}`;
}

/** A forecast is not exact to the second: `40 s`, `50 m`, `1 h 05 m`, `2 d 3 h`. */
export function approximateDuration(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (seconds < 90) return `${String(Math.max(1, Math.round(seconds)))}${THIN}s`;
  if (minutes < 60) return `${String(minutes)}${THIN}m`;
  if (minutes < 48 * 60) return `${String(Math.floor(minutes / 60))}${THIN}h ${String(minutes % 60).padStart(2, "0")}${THIN}m`;
  const hours = Math.round(minutes / 60);
  return `${String(Math.floor(hours / 24))}${THIN}d ${String(hours % 24)}${THIN}h`;
}

/** `9–26 h`, `40–55 m`, `50 m–2 h 10 m`: both ends in one unit where they read well in it. */
export function approximateDurationRange([low, high]: readonly [number, number]): string {
  const a = approximateDuration(low);
  const b = approximateDuration(high);
  if (a === b) return a;
  const hours = (s: number): string => String(Math.round(s / 3600));
  if (low >= 3 * 3600 && high >= 3 * 3600 && high < 96 * 3600 && hours(low) !== hours(high)) return `${hours(low)}–${hours(high)}${THIN}h`;
  const minutes = (s: number): string => String(Math.round(s / 60));
  if (low >= 90 && high < 3600 && minutes(low) !== minutes(high)) return `${minutes(low)}–${minutes(high)}${THIN}m`;
  if (high < 90) return `${String(Math.max(1, Math.round(low)))}–${String(Math.round(high))}${THIN}s`;
  return `${a}–${b}`;
}

/** `$43–58`; cents only below ten dollars. */
export function dollarRange([low, high]: readonly [number, number]): string {
  const end = (value: number): string => (high >= 10 ? count(Math.round(value)) : value.toFixed(2));
  return end(low) === end(high) ? `$${end(low)}` : `$${end(low)}–${end(high)}`;
}

/** `38–95 M`, `0.6–1.4 M`: two significant digits, both ends in the unit of the larger. */
export function compactCountRange([low, high]: readonly [number, number]): string {
  const units: readonly (readonly [number, string])[] = [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ];
  const [unit, letter] = units.find(([size]) => high >= size * 0.95) ?? [1, ""];
  const end = (value: number): string => {
    const part = Number((value / unit).toPrecision(2));
    return part >= 1000 ? count(part) : String(part);
  };
  const both = end(low) === end(high) ? end(low) : `${end(low)}–${end(high)}`;
  return letter === "" ? both : `${both}${THIN}${letter}`;
}

/** Seconds from a time until now; `null` where it is not known. */
export function secondsSince(rfc3339: string | null, now: number): number | null {
  if (rfc3339 === null) return null;
  const time = new Date(rfc3339).getTime();
  return Number.isNaN(time) ? null : Math.max(0, (now - time) / 1000);
}

/** `4 s`, `11 m`: how long nothing came. */
export function sinceInWords(seconds: number | null): string {
  return seconds === null
    ? UNKNOWN
    : seconds < 60
      ? `${String(Math.floor(seconds))}${THIN}s`
      : seconds < 3600
        ? `${String(Math.floor(seconds / 60))}${THIN}m`
        : approximateDuration(seconds);
}
