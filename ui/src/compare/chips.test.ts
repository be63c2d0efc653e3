import { expect, test } from "vitest";
import type { ComparedMember } from "../host/bindings/ComparedMember";
import { chipOf } from "./chips";

test("a chip has the names that the workbench gave, and those of its address until then", () => {
  const known = {
    name: "gpt-5-codex-high · terminus-2 (jobs-1)",
    short_name: "jobs-1",
    full_name: "gpt-5-codex-high · terminus-2",
    runs: ["a"],
    simulated: false,
    baseline: null,
  } as unknown as ComparedMember;
  expect(chipOf({ by: "run", run: "a" }, known, false)).toMatchObject({ name: known.name, shortName: "jobs-1", fullName: known.full_name });
  const unknown = chipOf({ by: "run", run: "jobs-1" }, undefined, false);
  expect(unknown.shortName).toBe(unknown.name);
});
