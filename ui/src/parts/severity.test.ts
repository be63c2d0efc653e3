import { expect, test } from "vitest";
import { countsInWords } from "./severity";

test("warnings, repairs and notes are distinguished", () => {
  expect(countsInWords({ notes: 704, repairs: 0, warnings: 4 })).toBe("4 warnings, 704 notes");
  expect(countsInWords({ notes: 1, repairs: 1, warnings: 1 })).toBe("1 warning, 1 repair, 1 note");
  expect(countsInWords({ notes: 0, repairs: 0, warnings: 0 })).toBe("no warnings");
});
