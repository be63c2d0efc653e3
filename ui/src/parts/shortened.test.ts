import { expect, test } from "vitest";
import { breakableParts, shortenedNames, startAndEnd } from "./shortened";

test("a name breaks after the signs that divide its words, and nothing of it is lost", () => {
  expect(breakableParts("theme_v1_notes-cli")).toEqual(["theme_", "v1_", "notes-", "cli"]);
  const names = ["", "_", "__a__b", "vendor/model:x.y", "scenario_4 · Библиотека 𝒳"];
  expect(names.map((name) => breakableParts(name).join(""))).toEqual(names);
});

test("a long name has an end that is never cut, a short one is all end", () => {
  expect(startAndEnd("theme_v1_w1_notes_regression")).toEqual(["theme_v1_w1_note", "s_regression"]);
  expect(startAndEnd("scenario_4")).toEqual(["", "scenario_4"]);
  expect(startAndEnd("𝒳".repeat(13))).toEqual(["𝒳", "𝒳".repeat(12)]);
  // Letters of several signs: an accent, a family, a flag.
  for (const letter of ["e\u0301", "👨‍👩‍👧", "🇫🇷"]) expect(startAndEnd(letter.repeat(13))).toEqual([letter, letter.repeat(12)]);
});

test("a long name loses its middle, a short one nothing", () => {
  expect(shortenedNames(["vendor/model-with-a-long-name-q4", "gpt"], 15)).toEqual(["vendor/…name-q4", "gpt"]);
  expect(shortenedNames(["vendor/model-with-a-long-name-q4"], 15)[0]).toHaveLength(15);
});

test("names that differ in their middle alone are kept whole", () => {
  const names = ["vendor/a-long-name-of-7b-that-goes-on", "vendor/a-long-name-of-8b-that-goes-on"];
  expect(shortenedNames(names, 12)).toEqual(names);
  // A third one is shortened all the same.
  expect(shortenedNames([...names, "other/a-long-name-that-ends-in-q4"], 12)).toEqual([...names, "other…-in-q4"]);
});

test("the same name twice is no reason to keep it whole, and letters outside of the basic plane stay whole", () => {
  expect(shortenedNames(["𝒳𝒳𝒳𝒳𝒳𝒳", "𝒳𝒳𝒳𝒳𝒳𝒳"], 5)).toEqual(["𝒳𝒳…𝒳𝒳", "𝒳𝒳…𝒳𝒳"]);
  expect(shortenedNames(["🇫🇷🇩🇪🇮🇹🇪🇸🇵🇱🇨🇿"], 5)).toEqual(["🇫🇷🇩🇪…🇵🇱🇨🇿"]);
});
