import { expect, test } from "vitest";
import { asText } from "./report";

test("the copied report names the folder, every format and the closest match", () => {
  const text = asText("/data/experiments-old", 'Nothing in "experiments-old" is in a format that Stamina Lab reads', {
    name: "experiments-old",
    files: 418,
    folders: 37,
    depth: 3,
    formats: [
      { format: "Harbor job", looked_for: "result.json with stats.evals", found: "batch_2/result.json but no stats.evals" },
      { format: "StaminaBench output", looked_for: "report.json or scenario_N/", found: "neither" },
    ],
    found: [],
    closest: ["batch_2/result.json looks like a Harbor job from before version 0.5", "batch_2"],
    tables: [],
  });
  expect(text).toContain("/data/experiments-old");
  expect(text).toContain("418 files in 37 folders were looked at, 3 levels deep");
  expect(text).toContain("Harbor job           looked for result.json with stats.evals  found batch_2/result.json");
  expect(text).toContain("Closest: batch_2/result.json looks like");
});

test("what is known and not read is named with its place", () => {
  const text = asText("/data/old", '"old" holds 2 logs of Inspect, which are not read', {
    name: "old",
    files: 3,
    folders: 1,
    depth: 1,
    formats: [],
    closest: null,
    tables: [],
    found: [{ kind: "inspect", name: "2 logs of Inspect", at: "a/one.eval", count: 2, read: false, instead: "Open the job" }],
  });
  expect(text).toContain('"old" holds 2 logs of Inspect, which are not read\n/data/old');
  expect(text).toContain("Found: 2 logs of Inspect, the first at a/one.eval");
});
