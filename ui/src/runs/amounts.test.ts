import { expect, test } from "vitest";
import {
  approximateDuration,
  approximateDurationRange,
  clock,
  dollarRange,
  secondsSince,
  sinceInWords,
  compactCountRange,
} from "./amounts";

const plain = (text: string): string => text.replaceAll("\u202f", " ");

test("times read as on a stop watch, forecasts only as exactly as they are", () => {
  expect([0, 7.9, 61, 3599.9, 6130, 90_000].map(clock)).toEqual(["0:00", "0:07", "1:01", "59:59", "1:42:10", "25:00:00"]);
  expect([0.2, 40, 95, 3000, 3900, 200_000].map((s) => plain(approximateDuration(s)))).toEqual([
    "1 s",
    "40 s",
    "2 m",
    "50 m",
    "1 h 05 m",
    "2 d 8 h",
  ]);
  expect(plain(approximateDurationRange([9 * 3600, 26 * 3600]))).toBe("9–26 h");
  expect(plain(approximateDurationRange([2400, 3300]))).toBe("40–55 m");
  expect(plain(approximateDurationRange([3000, 7800]))).toBe("50 m–2 h 10 m");
  expect(plain(approximateDurationRange([20, 70]))).toBe("20–70 s");
  expect(plain(approximateDurationRange([3600, 3600]))).toBe("1 h 00 m");
});

test("ranges of money and tokens share a unit", () => {
  expect(dollarRange([43.2, 58.1])).toBe("$43–58");
  expect(dollarRange([0.4, 2.25])).toBe("$0.40–2.25");
  expect(dollarRange([0, 0])).toBe("$0.00");
  expect(plain(compactCountRange([38e6, 95e6]))).toBe("38–95 M");
  expect(plain(compactCountRange([0.6e6, 1.4e6]))).toBe("0.6–1.4 M");
  expect(plain(compactCountRange([1200, 1200]))).toBe("1.2 k");
  expect(plain(compactCountRange([0, 12]))).toBe("0–12");
});

test("how long nothing came is unknown where nothing ever came", () => {
  const now = Date.parse("2026-11-21T20:11:04Z");
  expect(secondsSince("2026-11-21T20:00:00Z", now)).toBe(664);
  expect(secondsSince("2026-11-21T21:00:00Z", now)).toBe(0);
  expect(secondsSince("nonsense", now)).toBeNull();
  expect([null, 4.6, 664].map((s) => plain(sinceInWords(s)))).toEqual(["unknown", "4 s", "11 m"]);
});
