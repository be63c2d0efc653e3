// Reads what docs/metrics.md says of each number. Pure; used when the UI is built.

/** Where the inputs of a number are looked at. */
export type Inputs = "episodes" | "attempts" | "runs" | "pairs" | "matrix" | "live" | "sessions" | "prices" | "report" | "validation";

/** One number, as docs/metrics.md explains it. */
export interface Explanation {
  readonly key: string;
  readonly name: string;
  /** In plain words. */
  readonly words: string;
  readonly formula: string;
  readonly inputs: Inputs;
  /** What writes the inputs as a table. */
  readonly command: string;
  /** What the number does not say. */
  readonly not: string;
  readonly language: "python" | "r";
  /** At most three lines that give the same. */
  readonly code: string;
}

const ENTRY =
  /^#### `(?<key>[a-z0-9_]+)` (?<name>.+)\nIn words: (?<words>.+)\n\nFormula: `(?<formula>.+)`\n\nInputs: (?<inputs>episodes|attempts|runs|pairs|matrix|live|sessions|prices|report|validation), `(?<command>.+)`\n\nDoes not say: (?<not>.+)\n\n```(?<language>python|r)\n(?<code>[^`]+)\n```\n*$/u;

/** The entries of "Explain this number"; what is not of their form is an error, so that nothing is left out in silence. */
export function parse(text: string): Explanation[] {
  const section = /^## Explain this number\n(.*?)(?=^## )/msu.exec(text)?.[1];
  if (section === undefined) throw new Error("docs/metrics.md has no section “Explain this number”.");
  const entries = section.split(/^(?=#### )/mu).slice(1);
  return entries.map((entry) => {
    const found = ENTRY.exec(entry)?.groups;
    if (!found)
      throw new Error(`docs/metrics.md: this entry of “Explain this number” does not have the five parts in their order:\n${entry}`);
    return found as unknown as Explanation;
  });
}
