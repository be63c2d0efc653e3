import assert from "node:assert/strict";
import { test } from "node:test";
import { verdict } from "./lib/advisories.mjs";

test("where the database cannot be had that is said, and no advisory is taken for none", () => {
  const offline = verdict({ status: 1, text: "[ERROR] failed to fetch advisory database https://example.test/advisory-db" });
  assert.deepEqual([offline.isUnsafe, offline.sentence.includes("could not be fetched")], [false, true]);
  assert.match(verdict(null).sentence, /cargo-deny is not here/);
  assert.match(verdict({ status: null, text: "" }).sentence, /took too long/);
  assert.equal(verdict({ status: 0, text: "advisories ok" }).sentence, "No advisory is about a dependency.");
  const unsafe = verdict({ status: 1, text: "error[vulnerability]: a crate\nadvisories FAILED" });
  assert.deepEqual([unsafe.isUnsafe, unsafe.sentence.includes("error[vulnerability]")], [true, true]);
});
