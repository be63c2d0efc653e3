import { describe, expect, it } from "vitest";
import type { Step } from "../host/bindings/Step";
import type { ToolCall } from "../host/bindings/ToolCall";
import { lineCount, oneLine, passes, rowsOf } from "./steps";

const call = (name: string): ToolCall => ({
  name,
  summary: "ls",
  arguments: "{}",
  result: "a\nb",
  result_cut: 0,
  is_error: null,
  seconds: 0.1,
});
const step = (over: Partial<Step>): Step => ({
  index: 1,
  kind: "agent",
  text: "",
  text_cut: 0,
  reasoning: null,
  tool_calls: [],
  tokens: { input: 1, cached: null, output: 2 },
  cost_usd: null,
  at: null,
  ...over,
});
const transcript = (steps: Step[]) => ({ steps, format: null, agent: null, steps_cut: 0 });

describe("rows of a transcript", () => {
  it("stand for reasoning, words and calls apart, tokens once", () => {
    const rows = rowsOf(
      transcript([
        step({ reasoning: "hm", text: "ok", tool_calls: [call("bash"), call("")] }),
        step({ index: 2, kind: "user", text: "q", tokens: null }),
      ]),
    );
    expect(rows.map((r) => [r.key, r.kind, r.label])).toEqual([
      ["1.0", "reasoning", "reasoning"],
      ["1.1", "message", "message"],
      ["1.2", "tool", "bash"],
      ["1.3", "tool", "tool"],
      ["2.0", "request", "request"],
    ]);
    expect(rows.filter((r) => r.tokens !== null)).toHaveLength(1);
    expect(rows.filter((r) => passes(r, "tools", []))).toHaveLength(2);
    expect(rows.filter((r) => passes(r, "messages", []))).toHaveLength(2);
  });
  it("are picked out by the files that were changed", () => {
    const edit = { ...call("edit"), arguments: '{"path":"src/server.py"}' };
    const rows = rowsOf(transcript([step({ text: "server.py", tool_calls: [edit, call("bash")] })]));
    expect(rows.filter((r) => passes(r, "touched", ["server.py"])).map((r) => r.label)).toEqual(["edit"]);
    expect(rows.filter((r) => passes(r, "touched", []))).toEqual([]);
  });
  it("never lose a step that says nothing", () => {
    expect(rowsOf(transcript([step({})]))).toHaveLength(1);
    expect(rowsOf(transcript([step({ tool_calls: [call("x")] })]))).toHaveLength(1);
  });
  it("have a first line", () => {
    expect(oneLine("\n\n  hello \nworld")).toBe("hello");
    expect(oneLine("")).toBe("");
    expect(["", "a", "a\n", "a\nb"].map(lineCount)).toEqual([0, 1, 1, 2]);
  });
});
