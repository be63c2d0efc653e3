import { describe, expect, it } from "vitest";
import { quitSentences } from "./quit";

describe("quitSentences", () => {
  it("says how much is in flight and what becomes of it", () => {
    expect(quitSentences({ runs: 1, attempts: 3 })).toEqual([
      "This window runs 1 live run, and it stops with it. 3 attempts in flight are dropped and retried after a resume; finished turns are kept.",
      "Resume it under Runs, or with stamina resume.",
    ]);
    expect(quitSentences({ runs: 2, attempts: 1 })[0]).toBe(
      "This window runs 2 live runs, and they stop with it. 1 attempt in flight is dropped and retried after a resume; finished turns are kept.",
    );
    expect(quitSentences({ runs: 1, attempts: 0 })[0]).toContain("No attempt is in flight; finished turns are kept.");
  });
});
