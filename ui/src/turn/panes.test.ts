import { expect, test } from "vitest";
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import { absentInWords, paneFromText, panesOf } from "./panes";

const attempt = (has_code: boolean, has_transcript: boolean): AttemptDetail => ({ has_code, has_transcript }) as AttemptDetail;

test("the first pane with something to show is shown, unless the address asks for another", () => {
  expect(paneFromText(undefined, panesOf(attempt(true, true), 2))).toBe("code");
  expect(paneFromText(undefined, panesOf(attempt(false, true), 2))).toBe("transcript");
  expect(paneFromText(undefined, panesOf(attempt(false, false), 2))).toBe("logs");
  expect(paneFromText(undefined, panesOf(undefined, 0))).toBe("code");
  expect(paneFromText("logs", panesOf(attempt(true, true), 0))).toBe("logs");
  expect(paneFromText("other", panesOf(attempt(false, true), 0))).toBe("transcript");
});

test("what a source does not keep of an attempt is named", () => {
  expect(absentInWords(panesOf(attempt(true, true), 1))).toBe("");
  expect(absentInWords(panesOf(attempt(true, false), 0))).toBe("This source keeps no transcript and no logs of this attempt.");
  expect(absentInWords([])).toBe("This source keeps no code snapshot and no transcript and no logs of this attempt.");
});
