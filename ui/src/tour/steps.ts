// The tour of the page of a run: what each part of it says, in plain words. Pure.

export interface TourStep {
  /** The part of the page. */
  readonly at: string;
  readonly title: string;
  readonly text: string;
}

export const tourSteps: readonly TourStep[] = [
  {
    at: '[aria-label="Numbers of this run"]',
    title: "Stamina",
    text: "Stamina is the number of change requests in a row that an agent handles before the first one it does not. Its mean here counts turns up to τ, the most turns that any episode of the run was planned to have. Where the plan is unknown, or the curve is not known that far, τ is the last turn with an episode at risk. The interval says how precisely it is known.",
  },
  {
    at: '[aria-label="Survival"]',
    title: "Survival",
    text: "The curve says which share of the episodes has passed every turn so far. Each step down is a turn at which episodes failed for the first time. The band around it is the 95 % interval.",
  },
  {
    at: '[aria-label="At risk"]',
    title: "At risk",
    text: "The number of episodes at risk at each turn: those that had neither failed nor been censored before it. An episode that a budget, the endpoint or another cause outside its agent ended is censored. It counts up to its last turn, and never as a failure.",
  },
  {
    at: '[aria-label="Episodes by turns"]',
    title: "Episodes",
    text: "A line is an episode, a cell is a turn. Shape, letter and color say the same: passed, passed after a retry, failed. Arrow keys move; Enter opens a turn with its request, failing tests, code, transcript and logs.",
  },
  {
    at: '[aria-label="Episode"]',
    title: "One episode",
    text: "The turn that is chosen in the grid: what was asked for, what came of each attempt, and what it took.",
  },
  {
    at: "body",
    title: "Any number",
    text: "Point at a number and press e: it is explained in one sentence. Its formula and inputs stand below, with lines of Python or R that give the same. Ctrl K finds everything, ? lists the keys.",
  },
];

/** The step after one, or before it; nothing after the last. */
export function stepFrom(at: number, by: 1 | -1): number | undefined {
  const to = Math.max(0, at + by);
  return to < tourSteps.length ? to : undefined;
}
