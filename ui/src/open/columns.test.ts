import { expect, test } from "vitest";
import { columnChoices } from "./columns";

test("a name that a header has twice is one choice, and a column without a name is none", () => {
  expect(columnChoices(["experiment", "", "ok", "try", "ok", " ", ""])).toEqual(["experiment", "ok", "try"]);
  expect(columnChoices([])).toEqual([]);
});
