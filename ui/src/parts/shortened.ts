// Names that are too long for their place. Ids of scenarios begin alike and have no spaces.

/** So many letters at its end stay of a name whose middle is cut. */
const TAIL = 12;
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** The letters of a name as a reader sees them: an accent or a part of a flag is none. */
const lettersOf = (name: string): readonly string[] => Array.from(segmenter.segment(name), ({ segment }) => segment);

/** A name in the parts between which it may go on in the next line: after the signs that divide its words. */
export const breakableParts = (name: string): readonly string[] => name.match(/[^_./:-]+[_./:-]*|[_./:-]+/gu) ?? [];

/** The start of a name, of which its place may cut something, and the end that stays. A name without letters to cut is all end. */
export function startAndEnd(name: string): readonly [start: string, end: string] {
  const letters = lettersOf(name);
  return letters.length <= TAIL ? ["", name] : [letters.slice(0, -TAIL).join(""), letters.slice(-TAIL).join("")];
}

/**
 * The names, of which each has at most `longest` characters: what is longer loses its middle, as versions and variants stand at
 * the end. Different names that would look alike are kept whole.
 */
export function shortenedNames(names: readonly string[], longest: number): string[] {
  const tail = Math.ceil((longest - 1) / 2);
  const short = (name: string): string => {
    const letters = lettersOf(name);
    return letters.length <= longest ? name : `${letters.slice(0, longest - 1 - tail).join("")}…${letters.slice(-tail).join("")}`;
  };
  const cut = names.map((name) => ({ name, text: short(name) }));
  return cut.map(({ name, text }) => (cut.some((other) => other.name !== name && other.text === text) ? name : text));
}
