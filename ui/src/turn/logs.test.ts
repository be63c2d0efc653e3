import { describe, expect, it } from "vitest";
import { findTest, splitLines } from "./logs";

const pytest = [
  "tests/test_a.py::test_cancel PASSED",
  "tests/test_a.py::test_cancel_twice FAILED",
  "=== FAILURES ===",
  "\u001b[31m____________ test_cancel_twice ____________\u001b[0m",
  "E   assert 409 == 200",
  "____ TestX.test_b[v] ____",
  "FAILED tests/test_a.py::test_cancel_twice - assert",
];

describe("finding a test in a log", () => {
  it("goes to the section of its failure", () => {
    expect(findTest(pytest, "tests/test_a.py::test_cancel_twice")).toBe(3);
    expect(findTest(pytest, "tests/test_a.py::TestX::test_b[v]")).toBe(5);
  });
  it("does not take a longer name for it", () => {
    expect(findTest(pytest, "tests/test_a.py::test_cancel")).toBe(0);
    expect(findTest(["c0031 fail", "x c003 ok", "case_id=c003 status=fail"], "c003")).toBe(2);
  });
  it("says when it is not there", () => {
    expect(findTest(pytest, "test_other")).toBe(-1);
    expect(findTest([], "x")).toBe(-1);
    expect(findTest(["a"], "")).toBe(-1);
  });
});

describe("lines", () => {
  it("end with line feeds of either kind", () => {
    expect(splitLines("a\r\nb\n\nc")).toEqual(["a", "b", "", "c"]);
    expect(splitLines("a\n")).toEqual(["a"]);
    expect(splitLines("")).toEqual([]);
  });
});
