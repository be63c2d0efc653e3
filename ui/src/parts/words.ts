// Where the words of a search stand in a text. As for the index, words are letters and digits, and the last letters of one may be missing.

/** Marks count as letters: `é` may be written as two characters. */
const LETTER = String.raw`\p{L}\p{M}\p{N}`;
const BETWEEN = new RegExp(`[^${LETTER}]+`, "u");
/** What precedes the beginning of a word. Not a lookbehind: the web views of older systems have none. */
const WORD_START = `(^|[^${LETTER}])`;
/** Somebody may paste a file into the field. */
const MOST_WORDS = 20;
const MOST_CHARACTERS = 1000;

export interface SoughtWords {
  /** What was typed as it stands, then its words one after the other whatever stands between them: the best first. */
  readonly phrases: readonly RegExp[];
  /** In lower case. */
  readonly words: readonly string[];
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
const atStart = (text: string): RegExp => new RegExp(WORD_START + text, "giu");

/** The words of a query without the quotation marks of its phrases. */
export const unquoted = (words: string): string => words.replaceAll('"', " ").replace(/\s+/g, " ").trim();

/** How to find the words of a query; `null` = there are none. */
export function soughtWords(query: string): SoughtWords | null {
  const typed = unquoted(query.slice(0, MOST_CHARACTERS));
  if (typed === "") return null;
  const literal = typed
    .split(" ")
    .map(escaped)
    .join(String.raw`\s+`);
  const all = typed.split(BETWEEN).filter((word) => word !== "");
  // Letters alone are everywhere: `a`, the `s` of `it's`.
  const long = all.filter((word) => !/^\p{L}\p{M}*$/u.test(word));
  const words = [...new Set((long.length > 0 ? long : all).map((word) => word.toLowerCase()))].slice(0, MOST_WORDS);
  return {
    phrases: [
      BETWEEN.test(typed.charAt(0)) ? new RegExp(`()${literal}`, "giu") : atStart(literal),
      ...(all.length > 0 ? [atStart(all.slice(0, MOST_WORDS).join(BETWEEN.source))] : []),
    ],
    words,
  };
}

/** How well a text has the words: as they were typed, else one after the other, else the most of them; 0 = none. */
export function weightIn(text: string, sought: SoughtWords): number {
  const has = (pattern: RegExp): boolean => text.search(pattern) >= 0;
  const phrase = sought.phrases.findIndex(has);
  return phrase >= 0 ? sought.words.length + sought.phrases.length - phrase : sought.words.filter((word) => has(atStart(word))).length;
}

export interface Piece {
  text: string;
  on: boolean;
}

/** The first group of the pattern is what precedes a mark. */
function piecesOf(text: string, pattern: RegExp): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    const [whole, before = ""] = match;
    const start = match.index + before.length;
    if (start > end) pieces.push({ text: text.slice(end, start), on: false });
    end = match.index + whole.length;
    pieces.push({ text: text.slice(start, end), on: true });
  }
  if (end < text.length || pieces.length === 0) pieces.push({ text: text.slice(end), on: false });
  return pieces;
}

/** One of several words after `before`; where one begins another, the longer one. */
function anyOf(before: string, words: readonly string[]): RegExp {
  const longestFirst = [...words].sort((a, b) => b.length - a.length);
  return new RegExp(`${before}(?:${longestFirst.join("|")})`, "giu");
}

/** A text in pieces; marked ones are what was typed, or where that does not stand in the text, the words of it. */
export function marked(text: string, query: string): Piece[] {
  const sought = query === "" ? null : soughtWords(query);
  if (!sought) return [{ text, on: false }];
  const phrase = sought.phrases.find((pattern) => text.search(pattern) >= 0);
  if (phrase) return piecesOf(text, phrase);
  return sought.words.length === 0 ? [{ text, on: false }] : piecesOf(text, anyOf(WORD_START, sought.words));
}

/** The pieces of a name or label, which is found by letters anywhere in it, also within its words. */
export function markedName(name: string, query: string): Piece[] {
  const typed = unquoted(query.slice(0, MOST_CHARACTERS));
  return typed === "" ? [{ text: name, on: false }] : piecesOf(name, anyOf("()", typed.split(" ").slice(0, MOST_WORDS).map(escaped)));
}

/** So many letters stand before the first mark of a text that is cut off at its end. */
const BEFORE_MARK = 16;

/** A text in pieces that begins shortly before its first mark: in one line what was found would be cut off. */
export function markedLine(text: string, query: string): Piece[] {
  const [first, ...others] = marked(text, query);
  if (!first || first.on || others.length === 0 || first.text.length <= BEFORE_MARK) return first ? [first, ...others] : [];
  const end = [...first.text].slice(-BEFORE_MARK).join("");
  // From the beginning of a word, if one begins there.
  return [{ text: `… ${end.slice(end.indexOf(" ") + 1)}`, on: false }, ...others];
}
