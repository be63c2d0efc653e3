import { expect, test } from "vitest";
import { type Piece, marked, markedLine, markedName, soughtWords, weightIn } from "./words";

const on = (pieces: readonly Piece[]): string[] => pieces.filter((piece) => piece.on).map((piece) => piece.text);

test("a text is marked without losing a letter", () => {
  expect(marked("Claude-Opus-4.8", "opus 4")).toEqual([
    { text: "Claude-", on: false },
    { text: "Opus-4", on: true },
    { text: ".8", on: false },
  ]);
  for (const text of ["", "İstanbul", "aaa", "<b>x</b>", "a b a"])
    for (const pieces of [marked(text, "a b"), markedName(text, "a b")]) expect(pieces.map((p) => p.text).join("")).toBe(text);
});

test("quotation marks make a phrase and are not marked", () => {
  expect(on(marked("no such note", '"no such" note'))).toEqual(["no such note"]);
  expect(on(marked("a note: no such", '"no such" note'))).toEqual(["note", "no", "such"]);
});

test("words are found by their beginning, as the index finds them", () => {
  expect(on(marked("Provided ids, identity, an ID", "id"))).toEqual(["id", "id", "ID"]);
  expect(on(marked("e\u0301tat, tat", "tat"))).toEqual(["tat"]);
  // Names are found by any letters.
  expect(on(markedName("provided gpt-4o", "id 4O"))).toEqual(["id", "4o"]);
});

test("punctuation does not count, and where it stands so it goes first", () => {
  expect(on(marked("the ski rental fee", "ski-rental"))).toEqual(["ski rental"]);
  expect(on(marked("users.py, api/users", "/users"))).toEqual(["/users"]);
  expect(on(marked("users.py", "/users"))).toEqual(["users"]);
  expect(on(marked("the ski\n  rental fee", "ski rental"))).toEqual(["ski\n  rental"]);
  expect(on(marked("a (b) [c] \\d", "[c] \\d"))).toEqual(["[c] \\d"]);
  expect(on(marked("New run…", "…"))).toEqual(["…"]);
});

test("letters alone are not marked beside longer words", () => {
  expect(on(marked("a rental is a sale of skis", "fee of a rental"))).toEqual(["rental", "of"]);
  expect(on(marked("a b c", "c a"))).toEqual(["a", "c"]);
});

test("what is pasted may be long", () => {
  const many = Array.from({ length: 5000 }, (_, i) => `word${String(i)}`).join(" ");
  expect(soughtWords(many)?.words).toHaveLength(20);
  expect(on(marked("word19 word20", many))).toEqual(["word19", "word2"]);
  expect(on(marked("x".repeat(50), "x".repeat(100_000)))).toEqual([]);
  expect(soughtWords(' " ')).toBeNull();
});

test("a phrase weighs more than all words, and these more than some", () => {
  const weight = (text: string): number => weightIn(text, soughtWords("/ski rental") ?? { phrases: [], words: [] });
  const texts = ["a /ski rental", "ski-rentals", "rental of a ski", "skis", "asks"];
  expect(texts.map(weight)).toEqual([4, 3, 2, 1, 0]);
});

// A line of 45 letters ended before what was found.
test("a line begins shortly before its first mark", () => {
  const line = (text: string): string =>
    markedLine(text, "unknown subcommand")
      .map((piece) => piece.text)
      .join("");
  expect(line("… on stdout with exit code 1. Same for the top level: an unknown subcommand exits with 2.")).toBe(
    "… top level: an unknown subcommand exits with 2.",
  );
  for (const text of ["an unknown subcommand", "Unknown subcommand", "nothing of it at all is in this line", ""])
    expect(line(text)).toBe(text);
  expect(line(`${"👩‍🔬".repeat(20)} unknown subcommand`)).toBe("… unknown subcommand");
});
