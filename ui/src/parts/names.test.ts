import { expect, test } from "vitest";
import { runName } from "./names";

test("a run without a model is named by its place in the source", () => {
  expect(runName({ id: "evocode-published.gpt-5.5", model: "GPT-5.5", source_name: "evocode-published" })).toBe("GPT-5.5");
  expect(runName({ id: "sample-harbor.oracle-k2", model: null, source_name: "sample-harbor.zip" })).toBe("oracle-k2");
  expect(runName({ id: "a.b.oracle", model: null, source_name: "(A.B)" })).toBe("oracle");
  expect(runName({ id: "renamed-2", model: null, source_name: "other" })).toBe("renamed-2");
  expect(runName({ id: "jobs", model: null, source_name: "jobs" })).toBe("jobs");
});
