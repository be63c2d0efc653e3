import { expect, test } from "vitest";
import { asText } from "./report";

test("the copied report names the folder, every format and the closest match", () => {
  const text = asText("/data/experiments-old", {
    name: "experiments-old",
    files: 418,
    folders: 37,
    depth: 3,
    formats: [
      { format: "Harbor job", looked_for: "result.json with stats.evals", found: "batch_2/result.json but no stats.evals" },
      { format: "StaminaBench output", looked_for: "report.json or scenario_N/", found: "neither" },
    ],
    closest: ["batch_2/result.json looks like a Harbor job from before version 0.5", "batch_2"],
  });
  expect(text).toContain("/data/experiments-old");
  expect(text).toContain("418 files in 37 folders were looked at, 3 levels deep");
  expect(text).toContain("Harbor job           looked for result.json with stats.evals  found batch_2/result.json");
  expect(text).toContain("Closest: batch_2/result.json looks like");
});
