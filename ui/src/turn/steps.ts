/**
 * A transcript as rows: what is reasoned, said and called in a step stands on lines of its own, so that each can be
 * folded and filtered.
 */
import type { Step } from "../host/bindings/Step";
import type { Tokens } from "../host/bindings/Tokens";
import type { ToolCall } from "../host/bindings/ToolCall";
import type { Transcript } from "../host/bindings/Transcript";

export type RowKind = "system" | "request" | "reasoning" | "message" | "tool" | "output";

export interface StepRow {
  /** Unique in the transcript and stable. */
  readonly key: string;
  readonly step: number;
  readonly kind: RowKind;
  /** The word at the left: the tool's name for calls. */
  readonly label: string;
  readonly text: string;
  readonly cut: number;
  readonly call: ToolCall | null;
  /** On the first row of a model call. */
  readonly tokens: Tokens | null;
  readonly cost: number | null;
  readonly at: string | null;
}

const kinds = { system: "system", user: "request", agent: "message", tool: "output" } as const;

export function rowsOf(transcript: Transcript): StepRow[] {
  return transcript.steps.flatMap(rowsOfStep);
}

function rowsOfStep(step: Step): StepRow[] {
  const rows: StepRow[] = [];
  const add = (kind: RowKind, label: string, text: string, cut: number, call: ToolCall | null): void => {
    const first = rows.length === 0;
    rows.push({
      key: `${String(step.index)}.${String(rows.length)}`,
      step: step.index,
      kind,
      label,
      text,
      cut,
      call,
      tokens: first ? step.tokens : null,
      cost: first ? step.cost_usd : null,
      at: first ? step.at : null,
    });
  };
  if (step.reasoning) add("reasoning", "reasoning", step.reasoning, 0, null);
  const kind = kinds[step.kind];
  if (step.text !== "" || (rows.length === 0 && step.tool_calls.length === 0)) add(kind, kind, step.text, step.text_cut, null);
  for (const call of step.tool_calls) add("tool", call.name === "" ? "tool" : call.name, call.summary, 0, call);
  return rows;
}

const stepFilters = ["all", "messages", "tools", "reasoning", "touched"] as const;
export type StepFilter = (typeof stepFilters)[number];

/** The steps that an address asks for. */
export const stepFilterFromText = (text: string | undefined): StepFilter => stepFilters.find((s) => s === text) ?? "all";

/** Whether a row belongs to a choice; `touched` are the names of files that the attempt changed. */
export function passes(row: StepRow, filter: StepFilter, touched: readonly string[]): boolean {
  switch (filter) {
    case "all":
      return true;
    case "messages":
      return row.kind === "message" || row.kind === "request" || row.kind === "system";
    case "tools":
      return row.kind === "tool" || row.kind === "output";
    case "reasoning":
      return row.kind === "reasoning";
    case "touched":
      return row.call !== null && touched.some((name) => row.call?.arguments.includes(name) === true || row.text.includes(name));
  }
}

/** The first line with words, for the folded row. */
export function oneLine(text: string): string {
  for (const line of text.split("\n", 50)) if (line.trim() !== "") return line.trim();
  return "";
}

export const lineCount = (text: string): number => (text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0));
