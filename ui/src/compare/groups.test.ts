import { expect, test } from "vitest";
import { cellsOf, tagsOf } from "./groups";

test("runs of a harness with a model are one group, and an unknown one is one of its own", () => {
  const rows = [
    { harness: "opencode", model: "glm" },
    { harness: null, model: "glm" },
    { harness: "opencode", model: "glm" },
  ];
  expect(cellsOf(rows, "b")).toEqual([
    { cell: { by: "cell", harness: "", model: "glm", benchmark: "b" }, runs: 1 },
    { cell: { by: "cell", harness: "opencode", model: "glm", benchmark: "b" }, runs: 2 },
  ]);
});

test("only tags of these runs are groups", () => {
  expect(tagsOf([{ tags: ["b", "a"] }, { tags: ["a"] }, { tags: [] }])).toEqual([["a", 2], ["b", 1]]);
});
