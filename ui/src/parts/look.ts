// How states look: one word a shape and color, the same in the grid, in lists and in legends.
import type { TurnState } from "../host/bindings/TurnState";
import type { Verdict } from "../host/bindings/Verdict";

export type Look =
  | "passed"
  | "retry"
  | "failed"
  | "error"
  | "censored"
  | "not-reached"
  /** Passed or failed after the first failure: no longer counts. */
  | "after-passed"
  | "after-failed"
  /** Watched, running. */
  | "live"
  /** Not watched, not there. */
  | "off"
  /** The edge line of the grid. */
  | "edge";

export const lookOfState: Readonly<Record<TurnState, Look>> = {
  passed: "passed",
  passed_after_retries: "retry",
  failed: "failed",
  error: "error",
  not_reached: "not-reached",
  censored: "censored",
  not_tested: "off",
};

export const stateLabels: Readonly<Record<TurnState, string>> = {
  passed: "passed",
  passed_after_retries: "passed after retries",
  failed: "failed",
  error: "error",
  not_reached: "not reached",
  censored: "censored",
  not_tested: "not tested",
};

/** The letters of `GridRow.cells`. */
export const stateOfLetter: Readonly<Record<string, TurnState>> = {
  p: "passed",
  r: "passed_after_retries",
  f: "failed",
  e: "error",
  n: "not_reached",
  c: "censored",
  t: "not_tested",
};

export const lookOfVerdict: Readonly<Record<Verdict, Look>> = {
  passed: "passed",
  failed: "failed",
  error: "error",
  unfinished: "censored",
  not_tested: "off",
};

/** The class that colors words of a state: `<span class="st {textClass[look]}">`. */
export const textClass: Readonly<Record<Look, string>> = {
  passed: "passed",
  retry: "retry",
  failed: "failed",
  error: "error",
  censored: "censored",
  "not-reached": "nr",
  "after-passed": "nr",
  "after-failed": "nr",
  live: "run",
  off: "nr",
  edge: "",
};
