import { expect, it } from "vitest";
import { answersOf, comparedWith, integerProblem, isZip, partsOf, partsOfAll, plain, rate, readPlace } from "./scenarioWords";

it("knows a zip in capital letters", () => {
  expect(["/packs/a.zip", "/packs/A.ZIP", "/packs/zip", "/packs/a.zip/b"].map(isZip)).toEqual([true, true, false, false]);
});

it("reads a place from the address, whatever stands there", () => {
  expect(readPlace({})).toEqual({ source: undefined, folder: "", scenario: 0, turn: 1, tab: "schema" });
  expect(readPlace({ source: "3", at: "packs/a", scenario: "2", turn: "17", tab: "suite" })).toEqual({
    source: 3,
    folder: "packs/a",
    scenario: 2,
    turn: 17,
    tab: "suite",
  });
  expect(readPlace({ source: "x", scenario: "-1", turn: "0", tab: "nothing" })).toEqual({
    source: undefined,
    folder: "",
    scenario: 0,
    turn: 1,
    tab: "schema",
  });
});

it("compares with the turn before unless another one is named", () => {
  expect(comparedWith({}, 5, 9)).toBe(4);
  expect(comparedWith({}, 1, 9)).toBe(1);
  expect(comparedWith({ with: "9" }, 5, 9)).toBe(9);
  expect(comparedWith({ with: "10" }, 5, 9)).toBe(4);
});

it("never rounds a rate up to all", () => {
  expect(rate(9999, 10000)).toBe("99.9\u202f%");
  expect(rate(10, 10)).toBe("100\u202f%");
  expect(rate(0, 0)).toBe("n/a");
  expect(plain("delete_rule")).toBe("delete rule");
});

it("takes whole numbers within their limits and says which", () => {
  for (const good of [0, 1, 20]) expect(integerProblem(good, 0, 20)).toBeUndefined();
  for (const bad of [null, undefined, Number.NaN, Infinity, -1, 1.5, 21])
    expect(integerProblem(bad, 0, 20)).toBe("must be an integer from 0 to 20");
  expect(integerProblem(2 ** 53, 0, Number.MAX_SAFE_INTEGER)).toBe("must be an integer from 0 to 9,007,199,254,740,991");
});

it("says where the parts of a sampled pack come from, and nothing where it is unknown", () => {
  expect(answersOf({ taken: 1, refused: 2, filled: 0 })).toBe("1 answer taken, 2 refused, 0 filled from the seed");
  expect(answersOf({ taken: 1200, refused: 0, filled: 3 })).toBe("1,200 answers taken, 0 refused, 3 filled from the seed");
  expect(partsOf({ sampled: 4, fallback: 1 })).toBe("4 from the model, 1 from the seed");
  for (const unknown of [undefined, { sampled: null, fallback: null }, { sampled: 3, fallback: null }])
    expect(partsOf(unknown)).toBeUndefined();
  expect(
    partsOfAll([
      { sampled: 4, fallback: 1 },
      { sampled: 0, fallback: 5 },
    ]),
  ).toBe("4 from the model, 6 from the seed");
  expect(
    partsOfAll([
      { sampled: 4, fallback: 1 },
      { sampled: null, fallback: null },
    ]),
  ).toBeUndefined();
  expect(partsOfAll([])).toBeUndefined();
});
