import { expect, test } from "vitest";
import type { Member } from "../host/bindings/Member";
import { parseRoute, hrefOf } from "../shell/routes";
import { compareRoute, membersText, readMembers } from "./members";

const members: Member[] = [
  { by: "run", run: "evocode-published.claude-opus-4.8" },
  { by: "harness", harness: "open code, the 2nd @home", benchmark: "harbor:tasks" },
  { by: "model", model: "", benchmark: "staminabench" },
  { by: "cell", harness: "open×code, @2", model: "", benchmark: "staminabench" },
  { by: "tag", tag: "100 % + ü", benchmark: "x@y" },
];

test("members survive the way through an address", () => {
  expect(readMembers({ members: membersText(members) })).toEqual(members);
  const route = parseRoute(hrefOf(compareRoute(members)));
  expect(route?.page === "compare" && readMembers(route.query)).toEqual(members);
});

test("a member twice is one, and nothing is nothing", () => {
  expect(readMembers({ members: "a,a,,b" })).toEqual([
    { by: "run", run: "a" },
    { by: "run", run: "b" },
  ]);
  expect(readMembers({})).toEqual([]);
});
