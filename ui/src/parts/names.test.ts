import { expect, test } from "vitest";
import { runName } from "./names";

const row = { harness: null, baseline: null };

test("a run is named by its model", () => {
  expect(
    runName({ ...row, id: "evocode-published.gpt-5.5", model: "GPT-5.5", source_name: "evocode-published", harness: "terminus-2" }),
  ).toBe("GPT-5.5");
});

test("a baseline, or a run without a model, is named by its place in the source", () => {
  expect(
    runName({
      id: "sample-harbor.oracle-k2-oracle",
      model: "oracle",
      source_name: "sample-harbor.zip",
      baseline: "oracle",
      harness: "oracle",
    }),
  ).toBe("oracle-k2");
  expect(runName({ ...row, id: "a.b.oracle", model: null, source_name: "(A.B)", harness: "oracle" })).toBe("oracle");
  expect(runName({ ...row, id: "b.nop-k1.nop", model: null, source_name: "b.ZIP" })).toBe("nop-k1.nop");
  expect(runName({ ...row, id: "c.zip.nop-k1.nop", model: null, source_name: "c.zip" })).toBe("nop-k1.nop");
  expect(runName({ ...row, id: "renamed-2", model: null, source_name: "other" })).toBe("renamed-2");
  expect(runName({ ...row, id: "jobs", model: null, source_name: "jobs" })).toBe("jobs");
});
