// Which panes tell of what the agent did, and what the source has of it. Pure.
import type { AttemptDetail } from "../host/bindings/AttemptDetail";

export const panes = ["code", "transcript", "logs"] as const;
export type Pane = (typeof panes)[number];

export const paneNames: Readonly<Record<Pane, string>> = { code: "Code", transcript: "Transcript", logs: "Logs" };

/** The panes that have something to show. */
export function panesOf(attempt: AttemptDetail | undefined, logs: number): readonly Pane[] {
  return [
    ...(attempt?.has_code === true ? (["code"] as const) : []),
    ...(attempt?.has_transcript === true ? (["transcript"] as const) : []),
    ...(logs > 0 ? (["logs"] as const) : []),
  ];
}

/** The pane of a narrow window: the one that the address asks for, or the first with something to show. */
export const paneFromText = (requested: string | undefined, present: readonly Pane[]): Pane =>
  panes.find((p) => p === requested) ?? present[0] ?? "code";

/** What the source has not of an attempt; empty if it has all. */
export function absentInWords(present: readonly Pane[]): string {
  const words = [
    present.includes("code") ? "" : "no code snapshot",
    present.includes("transcript") ? "" : "no transcript",
    present.includes("logs") ? "" : "no logs",
  ].filter((w) => w !== "");
  return words.length === 0 ? "" : `This source keeps ${words.join(" and ")} of this attempt.`;
}
