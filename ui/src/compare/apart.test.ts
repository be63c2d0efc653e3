import { expect, test } from "vitest";
import { apart } from "./apart";

test("names show what differs where they begin alike", () => {
  expect(apart(["model-a · agent-a (jobs-1)", "model-a · agent-a (jobs-2)"])).toEqual(["… (jobs-1)", "… (jobs-2)"]);
  expect(apart(["claude-opus-4.8 · opencode", "claude-opus-4.8 · mini-swe"])).toEqual(["… opencode", "… mini-swe"]);
  // What is only begun alike stays whole.
  expect(apart(["claude-opus-4.8 · opencode", "claude-opus-4.7 · opencode"])).toEqual(["claude-opus-4.8 · opencode", "claude-opus-4.7 · opencode"]);
  expect(apart(["model-a · agent-a, 2 runs", "model-a · agent-a, 2 runs (x)"])).toEqual(["… runs", "… runs (x)"]);
});

test("short names, one name and the same names stay as they are", () => {
  expect(apart(["glm 5", "glm 6"])).toEqual(["glm 5", "glm 6"]);
  expect(apart(["model-a · agent-a (jobs-1)"])).toEqual(["model-a · agent-a (jobs-1)"]);
  expect(apart([])).toEqual([]);
});
