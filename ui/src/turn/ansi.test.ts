import { describe, expect, it } from "vitest";
import { PLAIN, parseLine, withoutAnsi } from "./ansi";

const ESC = "\u001b";

describe("ansi", () => {
  it("turns colors into pieces", () => {
    expect(parseLine(`a${ESC}[31mred${ESC}[1m bold${ESC}[0m end`).pieces).toEqual([
      { text: "a" },
      { text: "red", hue: "red" },
      { text: " bold", hue: "red", bold: true },
      { text: " end" },
    ]);
    expect(parseLine(`${ESC}[1;32mok${ESC}[m.`).pieces).toEqual([{ text: "ok", hue: "green", bold: true }, { text: "." }]);
    expect(parseLine(`${ESC}[38;5;196mx${ESC}[38;2;10;200;20my${ESC}[39mz`).pieces.map((p) => p.hue)).toEqual(["red", "green", undefined]);
    expect(parseLine(`${ESC}[38;5;244mgrey`).pieces[0]?.hue).toBeUndefined();
  });

  it("keeps the style over lines", () => {
    const { end } = parseLine(`${ESC}[33mwarn`);
    expect(parseLine("still", end).pieces).toEqual([{ text: "still", hue: "yellow" }]);
    expect(parseLine(`${ESC}[0m`, end).end).toEqual(PLAIN);
  });

  it("drops what is not a color", () => {
    expect(withoutAnsi(`${ESC}[2K${ESC}[1Gdone ${ESC}]0;title\u0007now`)).toBe("done now");
    expect(withoutAnsi("\\x1b[2Kspelled out stays")).toBe("\\x1b[2Kspelled out stays");
  });

  it("leaves text that only looks like a code, and never loses text", () => {
    expect(withoutAnsi("array[31m] and [0m")).toBe("array[31m] and [0m");
    expect(
      parseLine(`${ESC}[31`)
        .pieces.map((p) => p.text)
        .join(""),
    ).toBe(`${ESC}[31`);
    expect(parseLine("").pieces).toEqual([]);
  });

  it("is linear on hostile input", () => {
    const quickest = (count: number): number => {
      const long = `${ESC}]`.repeat(count);
      const times = Array.from({ length: 5 }, () => {
        const started = performance.now();
        parseLine(long);
        return performance.now() - started;
      });
      return Math.min(...times);
    };
    // Sixteen times as much, on any machine: work that grows with its square takes 256 times as long.
    expect(quickest(160_000)).toBeLessThan(Math.max(quickest(10_000), 0.1) * 100);
  });
});
