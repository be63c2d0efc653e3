import { expect, test } from "vitest";
import { caseRoute, originsInWords, percent, readChoice, tables, tabs } from "./words";

test("an address that says nothing shows every failed attempt by run", () => {
  expect(readChoice({})).toEqual({ group: "member", scope: "attempts", tab: "cases", at: "", class: undefined, byTests: false, origin: undefined });
  expect(readChoice({ group: "turn", scope: "first", tab: "flips", at: "3", class: "guard_ignored", origin: "regression" })).toEqual({ group: "turn", scope: "first", tab: "flips", at: "3", class: "guard_ignored", byTests: false, origin: "regression" });
  expect([readChoice({ class: "guard_ignored", of: "tests" }).byTests, readChoice({ of: "tests" }).byTests]).toEqual([true, false]);
  expect(readChoice({ group: "x", origin: "y" }).group).toBe("member");
});

test("small shares are not 0 and large ones not 100", () => {
  expect([0, 0.0001, 0.004, 0.34, 0.996, 0.9999, 1].map(percent)).toEqual(["0 %", "< 0.1 %", "0.4 %", "34 %", "99.6 %", "> 99.9 %", "100 %"]);
});

test("a case leads to its attempt and test", () => {
  expect(caseRoute({ run: "r", episode: "e", turn: 3, attempt: 2, test: "a.b" })).toEqual({ page: "turn", run: "r", episode: "e", turn: 3, query: { attempt: "2", test: "a.b" } });
  expect(caseRoute({ run: "r", episode: "e", turn: 3, attempt: 2, test: null }).query).toEqual({ attempt: "2" });
});

test("origins are counted in words", () => {
  expect(originsInWords([2, 1, 0, 0])).toBe("2 new, 1 regression");
});

test("every tab can be taken away as what it shows", () => {
  const of = { members: [], group: "member", scope: "attempts" } as const;
  const cases = { of, group: "", class: "guard_ignored", by_tests: true, origin: null, offset: 0, limit: 0 };
  const kinds = tabs.map((tab) => tables(tab, { ...of, members: [] }, { ...cases, of: { ...of, members: [] } }).map((one) => one.table?.kind));
  expect(kinds).toEqual([["cases"], ["repairs", "origins"], ["flips"], ["rules"]]);
});
