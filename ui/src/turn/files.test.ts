import { expect, test } from "vitest";
import { namesOf, nothingChanged } from "./files";

test("files are called by their last part, and in full where two share it", () => {
  const named = namesOf(["a/x.py", "b/x.py", "c/y.py"]);
  expect(["a/x.py", "b/x.py", "c/y.py"].map(named)).toEqual(["a/x.py", "b/x.py", "y.py"]);
});

test("an attempt that changed nothing says since when", () => {
  expect(nothingChanged({ turn: 3 }, [3, 2])).toBe("Nothing changed since attempt 2.");
  expect(nothingChanged({ turn: 3 }, [2, 1])).toBe("Nothing changed since turn 2, attempt 1.");
  expect(nothingChanged({ turn: 1 }, null)).toBe("Nothing changed.");
});
