import { expect, test } from "vitest";
import { bytesOf, captionOf, formats, hasShort, inInches, isPicture, reportParts, shortened, textOf, withoutSpec } from "./formats";

test("base64 gives back bytes and letters beyond Latin", () => {
  expect([...bytesOf("AAH/")]).toEqual([0, 1, 255]);
  expect(textOf(btoa(String.fromCharCode(...new TextEncoder().encode("τ = 9, ≥"))))).toBe("τ = 9, ≥");
  expect(shortened("abcdef", 3)).toBe("abc\n…");
});

test("every kind of export has a format, and no format twice", () => {
  for (const list of Object.values(formats)) {
    expect(list.length).toBeGreaterThan(0);
    expect(new Set(list.map((f) => f.format)).size).toBe(list.length);
  }
});

test("figures and tables are drawn in the same formats", () => {
  const drawn = (list: typeof formats.figure) => list.map((f) => f.format).filter(isPicture);
  expect(drawn(formats.table)).toEqual(drawn(formats.figure));
  expect(drawn(formats.report)).toEqual([]);
});

test("a caption is short where it is wanted and has a short form", () => {
  const figure = { caption: "Kaplan–Meier; a: n = 25; b: n = 25; τ = 9.", short_caption: "Kaplan–Meier. 2 runs, n = 50, τ = 9." };
  expect([captionOf(figure, false), captionOf(figure, true)]).toEqual([figure.caption, figure.short_caption]);
  const report = { caption: "Two runs", short_caption: "" };
  expect([hasShort(report), captionOf(report, true)]).toEqual([false, "Two runs"]);
});

test("sizes are said in inches", () => {
  expect(inInches([3.25, 2.0085])).toBe("3.25 × 2.01 in");
});

test("a spec in comments is one line where a text is looked at", () => {
  const text = [
    "% ",
    "% # Stamina Lab figure spec: begin",
    "% version = 1",
    '% kind = "table"',
    "% # Stamina Lab figure spec: end",
    "\\begin{table}",
  ].join("\n");
  expect(withoutSpec(text)).toBe("% \n% (2 lines: the spec that makes it again)\n\\begin{table}");
  expect(withoutSpec("run,n\na,5")).toBe("run,n\na,5");
});

test("a report is looked at with its figures where they stand", () => {
  const figure = "data:image/svg+xml;base64,PHN2Zy8+";
  const markdown = [
    "# Report of a",
    "",
    "Words.",
    `![survival](${figure})`,
    "",
    "*Survival.*",
    "",
    "not a figure: ![x](https://example.com/x.svg)",
    "",
  ].join("\n");
  expect(reportParts(markdown, 1000)).toEqual([
    { kind: "text", text: "# Report of a\n\nWords." },
    { kind: "figure", name: "survival", address: figure },
    { kind: "text", text: "*Survival.*\n\nnot a figure: ![x](https://example.com/x.svg)" },
  ]);
  expect(reportParts(markdown, 8)).toEqual([{ kind: "text", text: "# Report\n…" }]);
  expect(reportParts("", 8)).toEqual([]);
});
