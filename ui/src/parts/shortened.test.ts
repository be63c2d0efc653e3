import { expect, test } from "vitest";
import { shortenedNames } from "./shortened";

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
});
