// What the page of two turns side by side keeps in its address. Pure.
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import type { TurnDetail } from "../host/bindings/TurnDetail";
import type { Query } from "../shell/routes";

/** An episode of a run. */
export interface Place {
  readonly run: string;
  readonly episode: string;
}

/** `run/episode`, each encoded as a part of an address. */
export function placeFromText(text: string | undefined): Place | undefined {
  const [run, episode] = (text ?? "").split("/").map((word) => {
    try {
      return decodeURIComponent(word);
    } catch {
      return word;
    }
  });
  return run !== undefined && run !== "" && episode !== undefined && episode !== "" ? { run, episode } : undefined;
}

/** The attempt that the address asks for, or else the last. */
export const attemptFromText = (detail: TurnDetail | undefined, requested: string | undefined): AttemptDetail | undefined =>
  detail?.attempts.find((a) => a.number === Number(requested)) ?? detail?.attempts.at(-1);

/** `0.2`: two different members of so many that are compared. */
export function pairFromText(text: string | undefined, members: number): readonly [number, number] | null {
  const [a, b] = (text ?? "").split(".").map(Number);
  return a !== undefined && b !== undefined && Number.isInteger(a) && Number.isInteger(b) && a !== b && a < members && b < members
    ? [a, b]
    : null;
}

/** The pane of a narrow window: code, unless there is only a transcript. */
export function paneFromText(
  requested: string | undefined,
  left: AttemptDetail | undefined,
  right: AttemptDetail | undefined,
): "code" | "transcript" {
  if (requested === "transcript") return "transcript";
  const onlyTranscript =
    requested === undefined &&
    left?.has_code === false &&
    right?.has_code !== true &&
    (left.has_transcript || right?.has_transcript === true);
  return onlyTranscript ? "transcript" : "code";
}

/** The parts of an address with these names. */
const partsOfQuery = (query: Query, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(query).filter(([name]) => names.includes(name)));

/** What a reader set for the page stays from turn to turn; what belongs to one turn goes. */
export const keptQuery = (query: Query): Record<string, string> =>
  partsOfQuery(query, ["pane", "since", "steps", "tests", "members", "ref", "mode", "sort", "q"]);

/** How the comparison's list was shown. */
export const listQuery = (query: Query): Record<string, string> => partsOfQuery(query, ["ref", "mode", "sort", "q", "row"]);
