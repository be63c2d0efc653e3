// What the page of two turns side by side keeps in its address, and how it names both sides. Pure.
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import type { TurnDetail } from "../host/bindings/TurnDetail";
import { episodeName } from "../parts/episode";
import { harnessInWords, runName } from "../parts/names";
import { shortenedNames } from "../parts/shortened";
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

/** One of the two sides, as far as it is read. */
export interface TurnSide {
  readonly place: Place | undefined;
  readonly detail: TurnDetail | undefined;
  readonly attempt: AttemptDetail | undefined;
  /** The short name of its run in the comparison. */
  readonly compared: string | undefined;
}

export type TwoSides = readonly [left: TurnSide, right: TurnSide];
type TwoNames = readonly [left: string, right: string];

/** So many letters of a name stand in the head of a side. */
const LETTERS = 40;
/** So many of a run that stands beside its scenario. */
const LETTERS_OF_RUN = 28;
/** So many of a scenario that stands beside its run. */
const LETTERS_BESIDE_RUN = 20;

const namedBy = ([left, right]: TwoSides, nameOf: (side: TurnSide) => string): TwoNames => [nameOf(left), nameOf(right)];
const areDifferent = ([left, right]: TwoNames): boolean => left !== right;
function shortened(names: TwoNames, longest = LETTERS): TwoNames {
  const [left = names[0], right = names[1]] = shortenedNames(names, longest);
  return [left, right];
}

const isOneRun = ([left, right]: TwoSides): boolean => left.place?.run === right.place?.run;
const isOneEpisode = (sides: TwoSides): boolean => isOneRun(sides) && sides[0].place?.episode === sides[1].place?.episode;

/** The runs as the comparison names them; without it by their models, or else by their harnesses or ids. */
function runNames(sides: TwoSides): TwoNames {
  const runOf = ({ place }: TurnSide): string => place?.run ?? "";
  const levels = [
    (side: TurnSide) => side.compared ?? (side.detail ? runName(side.detail.run) : runOf(side)),
    (side: TurnSide) => (side.detail ? `${runName(side.detail.run)} · ${harnessInWords(side.detail.run)}` : runOf(side)),
    runOf,
  ].map((nameOf) => namedBy(sides, nameOf));
  return levels.find(areDifferent) ?? levels[0] ?? ["", ""];
}

/** The scenarios, where both are read and are not the same. */
function scenarioNames([left, right]: TwoSides): TwoNames | null {
  const [a, b] = [left.detail?.episode.row, right.detail?.episode.row];
  if (a === undefined || b === undefined || a.scenario === b.scenario) return null;
  const named: TwoNames = [episodeName({ ...a, repeat: 1 }), episodeName({ ...b, repeat: 1 })];
  return areDifferent(named) ? named : [a.scenario, b.scenario];
}

/** The name of each side: what tells it from the other one. That is the run, the scenario, its repeat, or the attempt. */
export function namesOfSides(sides: TwoSides): TwoNames {
  const runs = runNames(sides);
  if (isOneEpisode(sides)) {
    const attempts = namedBy(sides, ({ attempt }) => (attempt ? `attempt ${String(attempt.number)}` : "no attempt"));
    return areDifferent(attempts) ? attempts : runs;
  }
  const scenarios = scenarioNames(sides);
  if (!isOneRun(sides)) {
    if (!scenarios) return runs;
    // Each is shortened by itself: the end of a run may be all that tells it from the other one.
    const [short, besides] = [shortened(runs, LETTERS_OF_RUN), shortened(scenarios, LETTERS_BESIDE_RUN)];
    return [`${short[0]} · ${besides[0]}`, `${short[1]} · ${besides[1]}`];
  }
  const [a, b] = [sides[0].detail?.episode.row, sides[1].detail?.episode.row];
  const repeats: TwoNames | null = a && b && a.repeat !== b.repeat ? [`repeat ${String(a.repeat)}`, `repeat ${String(b.repeat)}`] : null;
  if (!scenarios) return repeats ?? shortened(namedBy(sides, ({ place }) => place?.episode ?? ""));
  const [left, right] = shortened(scenarios);
  return repeats ? [`${left}, ${repeats[0]}`, `${right}, ${repeats[1]}`] : [left, right];
}

/** What both sides have in common, as the title of the page: the run, the scenario; `""` where that is nothing. */
export function sharedName(sides: TwoSides): string {
  const [left, right] = sides;
  const [a, b] = [left.detail?.episode.row, right.detail?.episode.row];
  const run = isOneRun(sides) && left.detail ? runName(left.detail.run) : "";
  const isOneScenario = a === undefined || b === undefined ? isOneEpisode(sides) || !isOneRun(sides) : a.scenario === b.scenario;
  const named = a ? episodeName(isOneEpisode(sides) ? a : { ...a, repeat: 1 }) : (left.place?.episode ?? "");
  return [run, isOneScenario ? named : ""].filter((word) => word !== "").join(" · ");
}

/** The parts of an address with these names. */
const partsOfQuery = (query: Query, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(query).filter(([name]) => names.includes(name)));

/** What a reader set for the page stays from turn to turn; what belongs to one turn goes. */
export const keptQuery = (query: Query): Record<string, string> =>
  partsOfQuery(query, ["pane", "since", "steps", "tests", "members", "ref", "mode", "sort", "q"]);

/** How the comparison's list was shown. */
export const listQuery = (query: Query): Record<string, string> => partsOfQuery(query, ["ref", "mode", "sort", "q", "row"]);
