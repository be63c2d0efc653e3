import { expect, test } from "vitest";
import type { FormSettings } from "../host/bindings/FormSettings";
import { defaultNotes, keysOf, yamlLines } from "./yaml";

const yaml = `# a comment
agent: OPENCODE
batch_size: 5
opencode:
  model_id: zai.glm-5
restful_server_gen_iterative:
  n_turns: 40
  enable_feedback: true
tags:
- a
- b
note: "x # y" # after
`;

test("every line knows its dotted key", () => {
  expect(keysOf(yaml)).toEqual([null, "agent", "batch_size", "opencode", "opencode.model_id", "restful_server_gen_iterative", "restful_server_gen_iterative.n_turns", "restful_server_gen_iterative.enable_feedback", "tags", null, null, "note", null]);
});

test("nothing of the text is lost, and defaults stand behind what differs", () => {
  const text = (lines: readonly (readonly { text: string }[])[]): string => lines.map((line) => line.map((piece) => piece.text).join("")).join("\n");
  expect(text(yamlLines(yaml, new Map()))).toBe(yaml.trimEnd());
  const noted = yamlLines(yaml, new Map([["restful_server_gen_iterative.n_turns", "default 3"], ["batch_size", "default 1"]]));
  expect(text(noted).split("\n")[2]).toMatch(/^batch_size: 5 {2,}# default 1$/);
  expect(text(noted).split("\n")[6]).toMatch(/^ {2}n_turns: 40 {2,}# default 3$/);
  expect(noted[2]?.map((piece) => piece.hue)).toEqual(["key", "number", "comment"]);
  expect(noted[7]?.map((piece) => piece.hue)).toEqual(["key", "word"]);
});

test("a default is named by its key, the model's by the harness", () => {
  const field = (name: string, key: string) => ({ field: name, key, section: "loop", label: "", unit: "", takes: "" });
  const notes = defaultNotes([field("n_turns", "i.n_turns"), field("model", "AGENT.model_id"), field("run_usd", "limits.run.usd")], new Set(["n_turns", "model", "run_usd"]), { n_turns: 3, model: "m", run_usd: null } as unknown as FormSettings, "opencode");
  expect([...notes]).toEqual([["i.n_turns", "default 3"], ["opencode.model_id", "default m"]]);
});
