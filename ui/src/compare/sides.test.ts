import { expect, test } from "vitest";
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import type { TurnDetail } from "../host/bindings/TurnDetail";
import { attemptFromText, keptQuery, listQuery, pairFromText, paneFromText, placeFromText } from "./sides";

test("a side is an episode of a run; half of one is none", () => {
  expect(placeFromText("a.b%2Fc/scenario%201")).toEqual({ run: "a.b/c", episode: "scenario 1" });
  expect(placeFromText("100%/x")).toEqual({ run: "100%", episode: "x" });
  for (const text of [undefined, "", "a", "a/", "/b"]) expect(placeFromText(text), text).toBeUndefined();
});

test("two different members are a pair", () => {
  expect(pairFromText("0.2", 3)).toEqual([0, 2]);
  for (const text of [undefined, "", "1", "1.1", "0.3", "0.5x", "a.b"]) expect(pairFromText(text, 3), text).toBeNull();
});

test("the last attempt is shown unless another is asked for", () => {
  const detail = { attempts: [{ number: 1 }, { number: 2 }] } as unknown as TurnDetail;
  expect([undefined, "1", "7"].map((requested) => attemptFromText(detail, requested)?.number)).toEqual([2, 1, 2]);
  expect(attemptFromText(undefined, "1")).toBeUndefined();
});

test("code is shown first, a transcript where no side has code", () => {
  const attempt = (has_code: boolean, has_transcript: boolean): AttemptDetail => ({ has_code, has_transcript }) as AttemptDetail;
  expect(paneFromText("transcript", undefined, undefined)).toBe("transcript");
  expect(paneFromText(undefined, undefined, undefined)).toBe("code");
  expect(paneFromText(undefined, attempt(false, true), undefined)).toBe("transcript");
  expect(paneFromText(undefined, attempt(false, false), attempt(false, true))).toBe("transcript");
  expect(paneFromText(undefined, attempt(false, true), attempt(true, true))).toBe("code");
  expect(paneFromText("code", attempt(false, true), undefined)).toBe("code");
});

test("what belongs to one turn goes with it", () => {
  const query = { left: "a/b", turn: "3", test: "t1", la: "2", row: "4", steps: "tools", members: "a,b", mode: "errors" };
  expect(keptQuery(query)).toEqual({ steps: "tools", members: "a,b", mode: "errors" });
  expect(listQuery(query)).toEqual({ row: "4", mode: "errors" });
});
