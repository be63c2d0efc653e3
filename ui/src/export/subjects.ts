// What the pages of one run have to export. Pure.
import type { CompareRequest } from "../host/bindings/CompareRequest";
import type { GridSort } from "../host/bindings/GridSort";
import type { Exportable } from "./open.svelte";

const only = (run: string): CompareRequest => ({ members: [{ by: "run", run }], reference: 0, tau: null, pairs: "reference" });

/** Its curve, turn by turn, and the report of it. */
export function survivalOf(run: string, title = "Survival"): Exportable {
  const request = only(run);
  return { title, figure: { kind: "survival", request, bands: "auto" }, table: { kind: "survival", request }, report: request };
}

/** At which turns its episodes failed first. */
export function firstFailuresOf(run: string): Exportable {
  const request = only(run);
  return {
    title: "First failures",
    figure: { kind: "first_failures", request },
    table: { kind: "survival", request },
    report: request,
  };
}

/** Its tasks, where it plays one turn: what each came to and took. */
export function tasksOf(run: string): Exportable {
  const request = { members: only(run).members, only: [], mode: "all" as const, text: "" };
  return { title: "Tasks", table: { kind: "tasks", request }, report: only(run) };
}

/** Scores of its turns. */
export function scoresOf(run: string): Exportable {
  const request = only(run);
  return { title: "Scores of turns", table: { kind: "scores", request }, report: request };
}

/** Its episodes, one a row. */
export function episodesOf(run: string, sort: GridSort, title = "Episodes"): Exportable {
  return { title, table: { kind: "episodes", members: only(run).members, sort }, report: only(run) };
}

/** The grid: its turns, one a row. */
export function turnsOf(run: string, sort: GridSort): Exportable {
  return { title: "Episode grid", table: { kind: "turns", members: only(run).members, sort }, report: only(run) };
}

/** Comprehension against efficiency, of a run without tests. */
export function planeOf(run: string): Exportable {
  return { title: "Comprehension × efficiency", figure: { kind: "plane", runs: [run] } };
}
