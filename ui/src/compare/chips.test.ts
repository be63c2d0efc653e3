import { expect, test } from "vitest";
import { chipOf, shownNames } from "./chips";

test("chips of long names show what differs", () => {
  const chip = (run: string, name: string) => ({ ...chipOf({ by: "run", run }, undefined, false), name });
  const long = "gpt-5-codex-high · terminus-2-with-a-long-name";
  const shown = (names: readonly string[]): string[] => [...shownNames(names.map((name, i) => chip(String(i), name))).values()];
  expect(shown([`${long} (jobs-1)`, `${long} (jobs-2)`])).toEqual(["… (jobs-1)", "… (jobs-2)"]);
  expect(shown(["oracle", "nop"])).toEqual(["oracle", "nop"]);
  expect(shown([`${long} (jobs-1)`])).toEqual([`${long} (jobs-1)`]);
});
