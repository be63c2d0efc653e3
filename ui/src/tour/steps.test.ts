import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { stepFrom, tourSteps } from "./steps";

const source = (file: string): string => readFileSync(path.resolve(import.meta.dirname, "..", file), "utf8");

test("each step of the tour points at a part of the page of a run", () => {
  const page = ["run/RunPage.svelte", "run/RunStrip.svelte", "run/SurvivalAndGrid.svelte", "run/EpisodeGrid.svelte", "run/Inspector.svelte"]
    .map(source)
    .join("\n")
    .replaceAll('label="Numbers', 'aria-label="Numbers');
  for (const step of tourSteps) {
    const named = /^\[(aria-label="[^"]+")\]$/.exec(step.at)?.[1];
    expect(named === undefined ? step.at : page.includes(named), step.at).toBe(named === undefined ? "body" : true);
    expect(step.text, step.title).toMatch(/\.$/);
  }
});

test("the tour says of τ what docs/metrics.md says", () => {
  const text = tourSteps.find((step) => step.title === "Stamina")?.text ?? "";
  const documented = readFileSync(path.resolve(import.meta.dirname, "../../../docs/metrics.md"), "utf8");
  expect(documented).toContain("- the most turns planned in any of its episodes");
  expect(documented).toContain("the last turn with someone at risk.");
  expect(text).toContain("the most turns that any episode of the run was planned to have");
  expect(text).toContain("the last turn with an episode at risk");
});

test("the tour ends after its last step and does not begin before its first", () => {
  expect(stepFrom(0, -1)).toBe(0);
  expect(stepFrom(0, 1)).toBe(1);
  expect(stepFrom(tourSteps.length - 1, 1)).toBeUndefined();
});
