import { describe, expect, it } from "vitest";
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import type { TestResult } from "../host/bindings/TestResult";
import { belongs, counts, group, offBy, splitId } from "./failing";

const test = (id: string, name: string | null, kind: string | null = "core"): TestResult => ({
  id, outcome: "failed", group: name, kind, intent: null, expected: null, actual: null, message: null,
});

describe("failing tests", () => {
  it("are grouped by requirement in order, those without one last", () => {
    const groups = group([test("a", null), test("b", "r2"), test("c", "r1"), test("d", "r2", "boundary")]);
    expect(groups.map((g) => [g.name, g.kind, g.tests.map((t) => t.id)])).toEqual([
      ["r2", null, ["b", "d"]], ["r1", "core", ["c"]], [null, "core", ["a"]],
    ]);
  });

  it("are new or regressed by what the turn before said", () => {
    const before = new Set(["old"]);
    const regressed = new Set(["back"]);
    expect(["old", "back", "fresh"].map((id) => belongs(id, "new", regressed, before))).toEqual([false, false, true]);
    expect(["old", "back", "fresh"].map((id) => belongs(id, "regressed", regressed, before))).toEqual([false, true, false]);
    expect(belongs("fresh", "new", regressed, null)).toBe(false);
    const attempt = { failing: ["old", "back", "fresh"].map((id) => test(id, null)), failing_not_described: 4, regressed: ["back"] };
    expect(counts(attempt as unknown as AttemptDetail, before)).toEqual({ all: 7, new: 1, regressed: 1 });
    expect(counts(attempt as unknown as AttemptDetail, null).new).toBeNull();
  });

  it("say how far off a number is", () => {
    expect(offBy("0.71167", "0.4867")).toBe("0.22497");
    expect(offBy("5", "4")).toBe("1");
    expect(offBy("100", "0")).toBe("100");
    expect(offBy("5", "(empty)")).toBeNull();
    expect(offBy("5", "5.0")).toBeNull();
    expect(offBy(null, "1")).toBeNull();
  });

  it("have a name apart from their file", () => {
    expect(splitId("tests/test_a.py::TestX::test_b[k::v]")).toEqual({ path: "tests/test_a.py::TestX::", name: "test_b[k::v]" });
    expect(splitId("c003")).toEqual({ path: "", name: "c003" });
  });
});
