import { expect, test } from "vitest";
import { lookOfState, stateLabels, stateOfLetter, textClass } from "./look";

test("every letter of a grid row has a look, a label and a color of words", () => {
  for (const letter of "prfenc") {
    const state = stateOfLetter[letter];
    expect(state, letter).toBeDefined();
    if (state === undefined) continue;
    expect(stateLabels[state]).not.toBe("");
    expect(textClass[lookOfState[state]]).not.toBe("");
  }
});
