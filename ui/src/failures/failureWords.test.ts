import { expect, test } from "vitest";
import {
  CASES,
  attemptsUntilPass,
  caseRoute,
  failedInWords,
  failingInWords,
  madeInWords,
  noFlips,
  originsAbout,
  originsInWords,
  percent,
  readChoice,
  readRows,
  repairedInWords,
  historyInWords,
  intervalInWords,
  noneFailed,
  tables,
  tabs,
  turnsUntilPass,
} from "./failureWords";

test("an address that says nothing shows the first failures by run", () => {
  expect(readChoice({})).toEqual({
    group: "member",
    scope: "first",
    tab: "cases",
    at: "",
    class: undefined,
    byTests: false,
    origin: undefined,
  });
  expect(readChoice({ group: "turn", scope: "first", tab: "flips", at: "3", class: "guard_ignored", origin: "regressed" })).toEqual({
    group: "turn",
    scope: "first",
    tab: "flips",
    at: "3",
    class: "guard_ignored",
    byTests: false,
    origin: "regressed",
  });
  expect([readChoice({ class: "guard_ignored", of: "tests" }).byTests, readChoice({ of: "tests" }).byTests]).toEqual([true, false]);
  expect(readChoice({ group: "x", origin: "y" }).group).toBe("member");
});

test("small shares are not 0 and large ones not 100", () => {
  expect([0, 0.0001, 0.004, 1 / 8, 0.34, 0.996, 0.9999, 1].map(percent)).toEqual([
    "0.0 %",
    "< 0.1 %",
    "0.4 %",
    "12.5 %",
    "34.0 %",
    "99.6 %",
    "> 99.9 %",
    "100.0 %",
  ]);
});

test("a case leads to its attempt and test", () => {
  expect(caseRoute({ run: "r", episode: "e", turn: 3, attempt: 2, test: "a.b" })).toEqual({
    page: "turn",
    run: "r",
    episode: "e",
    turn: 3,
    query: { attempt: "2", test: "a.b" },
  });
  expect(caseRoute({ run: "r", episode: "e", turn: 3, attempt: 2, test: null }).query).toEqual({ attempt: "2" });
});

test("the failing tests of an attempt are never more than ran", () => {
  const attempt = { tests: [["wrong_default", 2]] as [string, number][], not_described: 0, passed: 41, total: 44 };
  // One of the 44 neither passed nor failed.
  expect(failingInWords(attempt)).toBe("2 of 44");
  expect(failingInWords({ ...attempt, not_described: 1 })).toBe("3 of 44");
  expect(failingInWords({ ...attempt, passed: 0, total: 1 })).toBe("2 described");
  expect(failingInWords({ ...attempt, passed: null, total: null })).toBe("2 described");
  expect(failingInWords({ ...attempt, not_described: 1, passed: 0, total: 1 })).toBe("2 described, 1 not described");
  expect(failingInWords({ tests: [], not_described: 0, passed: null, total: null })).toBe("unknown");
});

test("origins are counted in words", () => {
  expect(originsInWords([2, 1, 0, 0])).toBe("2 new, 1 regressed");
});

test("what was tried again and failed again was tried again", () => {
  const repair = {
    failed_first: 2,
    tried_again: 0,
    repaired: 0,
    median_attempts: null,
    at_attempt: [],
    stretches: 0,
    stretches_unknown: 0,
    stretches_repaired: 0,
    repaired_in_same_turn: 0,
    median_turns: null,
  };
  expect(repairedInWords(repair, false).small).toBe("no turn was tried again");
  expect(repairedInWords({ ...repair, tried_again: 2 }, false)).toEqual({ value: "0.0 %", small: "of 2 turns", unknown: false });
  expect(repairedInWords({ ...repair, failed_first: 0 }, false).small).toBe("no turn failed first");
  expect([repair, { ...repair, failed_first: 0 }, { ...repair, tried_again: 2 }].map((sums) => repairedInWords(sums, true).small)).toEqual([
    "no trial was tried again",
    "no trial failed first",
    "of 2 trials",
  ]);
});

test("of one turn and of one stretch there is no median", () => {
  expect(attemptsUntilPass({ failed_first: 1, median_attempts: 1 })).toBe("It passed after 1 more attempt.");
  expect(attemptsUntilPass({ failed_first: 1, median_attempts: "not_reached" })).toBe("");
  expect(attemptsUntilPass({ failed_first: 3, median_attempts: 1 })).toBe("Median attempts until it passed: 1.");
  const turns = (stretches: number, median_turns: number | "not_reached" | null): string =>
    turnsUntilPass({ stretches, stretches_unknown: 2, median_turns });
  expect([turns(3, 2), turns(3, 0), turns(3, "not_reached")]).toEqual(["It ended after 2 turns.", "", ""]);
  expect(turns(5, "not_reached")).toBe("Median turns from the first failure to the pass, over all 3: not reached.");
});

test("that no test flips is said only where a pass can be seen", () => {
  expect(noFlips({ stretches: 3, stretches_repaired: 0 })).toBe("No test changed its outcome more than once.");
  expect(noFlips({ stretches: 3, stretches_repaired: null })).toContain("unknown: passed tests are not described");
  expect(noFlips({ stretches: 3, stretches_repaired: null })).toContain("Where tests ran once, none changed.");
  expect(noFlips({ stretches: 0, stretches_repaired: 0 })).toContain("unknown: no failing test is described");
});

test("that no end counts as a failure does not say that nothing failed", () => {
  expect(noneFailed("first", false)).toBe(
    "No turn ended in a failure that the policy counts. What ended from outside is under Final attempts.",
  );
  expect(noneFailed("first", true)).toContain("No trial ended in a failure");
  expect([noneFailed("turns", false), noneFailed("turns", true)]).toEqual([
    "Every turn was passed in the end.",
    "Every trial was passed in the end.",
  ]);
});

test("an interval that is missing says why", () => {
  expect(intervalInWords(null, false)).toBe("n/a: all failed attempts are of one scenario");
  expect(intervalInWords(null, true)).toBe("n/a: all failed attempts are of one task");
  expect([intervalInWords("wilson", true), intervalInWords("clustered", true)]).toEqual([
    "Wilson’s interval",
    "Wilson’s interval, clustered by task: several failed attempts are of one",
  ]);
});

test("what failed of runs of one turn is a trial", () => {
  expect([failedInWords("first", false), madeInWords("first", 3, false)]).toEqual(["First failures", "of 3 turns at risk"]);
  expect([failedInWords("first", true), madeInWords("first", 3, true)]).toEqual(["Failed", "of 3 scored trials"]);
  expect([failedInWords("turns", true), madeInWords("turns", 1, true)]).toEqual(["Ended in a failed attempt", "of 1 trial begun"]);
  expect([failedInWords("attempts", true), madeInWords("attempts", 3, true)]).toEqual(["Failed attempts", "of 3 attempts"]);
});

test("a failing test says where it passed before", () => {
  expect(historyInWords({ history: "new", passed_in_turn: null, since_turn: null })).toBe("new");
  expect(historyInWords({ history: "regressed", passed_in_turn: 2, since_turn: null })).toBe("regressed, passed in turn 2");
  expect(historyInWords({ history: "still_failing", passed_in_turn: 1, since_turn: 3 })).toBe(
    "still failing since turn 3, passed in turn 1",
  );
});

test("where only last attempts are counted it is said why few tests are new or regressed", () => {
  expect(originsAbout("attempts", { tried_again: 3 })).toBeNull();
  expect(originsAbout("first", { tried_again: 0 })).toBeNull();
  for (const scope of ["first", "turns"] as const)
    expect(originsAbout(scope, { tried_again: 3 })).toMatch(/last attempt of a turn.*few are new or regressed.*Every attempt/);
});

test("every tab can be taken away as what it shows", () => {
  const request = { members: [], benchmark: null, group: "member", scope: "attempts" } as const;
  const cases = {
    failures: request,
    group: "",
    class: "guard_ignored",
    by_tests: true,
    origin: null,
    episode: null,
    turn: null,
    most_tests: 0,
    offset: 0,
    limit: 0,
  };
  const kinds = tabs.map((tab) =>
    tables(tab, { ...request, members: [] }, { ...cases, failures: { ...request, members: [] } }).map((one) => one.table?.kind),
  );
  expect(kinds).toEqual([["cases"], ["repairs", "repair_times", "origins"], ["flips"], ["rules"]]);
});

test("the address says how many cases are listed, and nonsense in it lists the first", () => {
  expect([readRows({}), readRows({ rows: "400" }), readRows({ rows: "7" })]).toEqual([CASES, 400, CASES]);
  for (const rows of ["", "-400", "4e9", "NaN", "99999999", " 400", "1.5"]) expect(readRows({ rows }), rows).toBe(CASES);
});
