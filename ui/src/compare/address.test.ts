import { expect, test } from "vitest";
import { moved, readAddress, addressWithMembers, requestOf } from "./address";
import { memberText } from "./members";

test("what is out of range or no choice is the default", () => {
  expect(readAddress({ members: "a", ref: "7", tau: "0", mode: "some", other: "3", figure: "x" })).toMatchObject({
    reference: 0,
    tau: null,
    mode: "different",
    other: null,
    figure: "survival",
  });
  expect(requestOf(readAddress({ members: "a,b", ref: "1", tau: "9" }), "all")).toEqual({
    members: [
      { by: "run", run: "a" },
      { by: "run", run: "b" },
    ],
    reference: 1,
    tau: 9,
    pairs: "all",
  });
});

test("the reference stays the same member when others move or go", () => {
  const at = readAddress({ members: "a,b,c", ref: "1" });
  expect(addressWithMembers(at, moved(at.members, 1, 0))).toEqual({ members: "b,a,c", ref: null, other: null });
  expect(addressWithMembers(at, moved(at.members, 0, 2))).toEqual({ members: "b,c,a", ref: null, other: null });
  expect(addressWithMembers(at, moved(at.members, 1, 9))).toMatchObject({ members: "a,c,b", ref: "2" });
  expect(
    addressWithMembers(
      at,
      at.members.filter((m) => memberText(m) !== "b"),
    ),
  ).toMatchObject({ members: "a,c", ref: null });
});
