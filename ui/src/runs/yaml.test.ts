import { expect, test } from "vitest";
import { yamlLines } from "./yaml";

const yaml = `# a comment
agent: OPENCODE
batch_size: 5                   # default 1
opencode:
  model_id: zai.glm-5
restful_server_gen_iterative:
  enable_feedback: true
tags:
- a
  - b: 1
note: "x # y" # after
`;

test("nothing of the text is lost", () => {
  expect(
    yamlLines(yaml)
      .map((line) => line.map((piece) => piece.text).join(""))
      .join("\n"),
  ).toBe(yaml.trimEnd());
  expect(yamlLines("")).toEqual([[{ text: "", hue: "string" }]]);
});

test("keys, values and remarks have their colors", () => {
  const hues = yamlLines(yaml).map((line) => line.map((piece) => piece.hue).join(" "));
  expect(hues).toEqual([
    "comment",
    "key string",
    "key number comment",
    "key",
    "key string",
    "key",
    "key word",
    "key",
    "string",
    "key number",
    "key string comment",
  ]);
});
