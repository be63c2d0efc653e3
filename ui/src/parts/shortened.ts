// Names that are too long for their place.

/**
 * The names, of which each has at most `longest` characters: what is longer loses its middle, as versions and variants stand at
 * the end. Different names that would look alike are kept whole.
 */
export function shortenedNames(names: readonly string[], longest: number): string[] {
  const tail = Math.ceil((longest - 1) / 2);
  const short = (name: string): string => {
    const letters = Array.from(name);
    return letters.length <= longest ? name : `${letters.slice(0, longest - 1 - tail).join("")}…${letters.slice(-tail).join("")}`;
  };
  return names.map((name) => (names.some((other) => other !== name && short(other) === short(name)) ? name : short(name)));
}
