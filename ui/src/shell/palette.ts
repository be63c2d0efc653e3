// What the palette does with what is typed. Pure: the prefix says where to look.
import type { SearchHit } from "../host/bindings/SearchHit";
import type { TextHit } from "../host/bindings/TextHit";
import { unquoted } from "../parts/words";
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

/** Shorter words are in most transcripts. */
const FEWEST_LETTERS = 3;

/** Whether transcripts and logs are searched for what is typed. */
export const areTextsSearched = ({ scope, words }: ReturnType<typeof readInput>): boolean =>
  words.length >= FEWEST_LETTERS && (scope === "all" || scope === "text");

/** How far a search is. */
export interface SearchState {
  /** Why something could not be searched; empty = nothing failed. */
  readonly failed: string;
  /** Runs, episodes, requests and failing tests are still searched. */
  readonly isPending: boolean;
  /** Transcripts and logs are still searched. */
  readonly areTextsPending: boolean;
  /** There may be more places in transcripts and logs than were looked at. */
  readonly hasMoreTexts: boolean;
  /** The text of every source is searchable. */
  readonly isIndexed: boolean;
}

export const SEARCHING_TEXTS = "Searching transcripts and logs…";

/** What stands where no line is found. */
export function noLineInWords(input: ReturnType<typeof readInput>, state: SearchState): string {
  if (input.scope === "link") return "This link names no page.";
  if (state.failed !== "") return state.failed;
  if (input.scope === "commands") return "Nothing found.";
  if (input.words === "") return "Type what to look for.";
  if (state.areTextsPending) return SEARCHING_TEXTS;
  if (state.isPending) return "";
  // Names of runs are there at once.
  if (!state.isIndexed && input.scope !== "runs") return "Nothing found so far: text is still being indexed.";
  if (state.hasMoreTexts) return "Not every text could be searched in time.";
  const isTooShort = (input.scope === "all" || input.scope === "text") && !areTextsSearched(input);
  return isTooShort ? `Nothing found. Transcripts and logs are searched from ${String(FEWEST_LETTERS)} letters on.` : "Nothing found.";
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

/** Where a hit leads; in a request the words are marked. */
export function routeOf(hit: SearchHit, words: string): Route {
  if (hit.episode === null) return { page: "run", run: hit.run, query: {} };
  if (hit.turn === null) return { page: "run", run: hit.run, query: { episode: hit.episode } };
  const query: Record<string, string> = {};
  if (hit.attempt !== null) query["attempt"] = String(hit.attempt);
  if (hit.test !== null) query["test"] = hit.test;
  if (hit.kind === "request") query["mark"] = unquoted(words);
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
