// What the palette does with what is typed. Pure: the prefix says where to look, the words are marked in the lines.
import type { SearchHit } from "../host/bindings/SearchHit";
import type { TextHit } from "../host/bindings/TextHit";
import { parseRoute, type Route } from "./routes";

export type Scope = "all" | "commands" | "runs" | "turns" | "text" | "link";

/** `>` commands, `@` runs, `#` turns, `/` text, `stamina://…` a link. */
export function readInput(input: string): { scope: Scope; words: string } {
  const text = input.trim();
  if (text.startsWith("stamina://")) return { scope: "link", words: text };
  const scopes: Readonly<Record<string, Scope>> = { ">": "commands", "@": "runs", "#": "turns", "/": "text" };
  const scope = scopes[text.charAt(0)];
  return scope === undefined ? { scope: "all", words: text } : { scope, words: text.slice(1).trim() };
}

/** Whether every word occurs. */
export function fits(label: string, words: string): boolean {
  const low = label.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word));
}

/** How well a command fits what is typed: it begins so, one of its words begins so, or it only has the letters. Lower is better. */
export function rank(label: string, words: string): number {
  const [low, typed] = [label.toLowerCase(), words.toLowerCase().trim()];
  if (low.startsWith(typed)) return 0;
  return low.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(typed)) ? 1 : 2;
}

/** The words of a query without the quotation marks of its phrases. */
const unquoted = (words: string): string => words.replaceAll('"', " ").replace(/\s+/g, " ").trim();

/** The text in pieces; marked ones are the words that were typed. */
export function marked(text: string, words: string): { text: string; on: boolean }[] {
  const wanted = unquoted(words)
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const low = text.toLowerCase();
  // Lower case may be longer than the text (İ); then places do not match and nothing is marked.
  if (wanted.length === 0 || low.length !== text.length) return [{ text, on: false }];
  const on = new Array<boolean>(text.length).fill(false);
  for (const word of wanted) for (let at = low.indexOf(word); at >= 0; at = low.indexOf(word, at + 1)) on.fill(true, at, at + word.length);
  const pieces: { text: string; on: boolean }[] = [];
  for (let i = 0; i < text.length; i += 1) {
    const last = pieces.at(-1);
    if (last && last.on === on[i]) last.text += text.charAt(i);
    else pieces.push({ text: text.charAt(i), on: on[i] ?? false });
  }
  return pieces;
}

/** Where a hit leads. */
export function routeOf(hit: SearchHit): Route {
  if (hit.episode === null) return { page: "run", run: hit.run, query: {} };
  if (hit.turn === null) return { page: "run", run: hit.run, query: { episode: hit.episode } };
  const query: Record<string, string> = {};
  if (hit.attempt !== null) query["attempt"] = String(hit.attempt);
  if (hit.test !== null) query["test"] = hit.test;
  return { page: "turn", run: hit.run, episode: hit.episode, turn: hit.turn, query };
}

/** Where a place in a transcript or log leads: the turn with that pane open at the step or line, and the words marked. */
export function routeOfText(hit: TextHit, words: string): Route {
  const query: Record<string, string> = { mark: unquoted(words) };
  if (hit.attempt !== null) query["attempt"] = String(hit.attempt);
  if (hit.step !== null) Object.assign(query, { pane: "transcript", step: String(hit.step) });
  if (hit.log !== null) Object.assign(query, { pane: "logs", log: hit.log });
  if (hit.line !== null) query["line"] = String(hit.line);
  // Logs of a whole episode stand beside each of its turns.
  return { page: "turn", run: hit.run, episode: hit.episode, turn: hit.turn ?? 1, query };
}

/** `turn 3, attempt 2 · Server log, line 40`; without attempts for logs of a turn, without turns for those of an episode. */
export function placeOf(hit: TextHit): string {
  const turn = hit.turn === null ? [] : [`turn ${String(hit.turn)}${hit.attempt === null ? "" : `, attempt ${String(hit.attempt)}`}`];
  return [...turn, hit.place].join(" · ");
}

/** The group of the palette in which a hit stands. */
export function groupOf(hit: SearchHit): "Runs" | "Episodes and turns" | "In requests" | "In failing tests" {
  switch (hit.kind) {
    case "run":
      return "Runs";
    case "request":
      return "In requests";
    case "failure":
      return "In failing tests";
    default:
      return "Episodes and turns";
  }
}

/** The groups in their order: names first, then that of the best hit in a text. */
export function groupOrder(groups: readonly string[]): string[] {
  return [...new Set(["Runs", "Episodes and turns", ...groups])];
}

export function inScope(hit: SearchHit, scope: Scope): boolean {
  if (scope === "runs") return hit.kind === "run";
  if (scope === "turns") return hit.kind !== "run";
  return scope !== "commands" && scope !== "link" && (scope !== "text" || hit.kind === "request" || hit.kind === "failure");
}

export const linkTarget = (words: string): Route | undefined => parseRoute(words);
