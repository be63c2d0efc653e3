// The target folder that lives longer than a clone holds what others wrote, and nothing of the project's crates.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { forget } from "./lib/kept-target.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "stamina-kept-"));
after(() => rmSync(folder, { recursive: true }));

test("what was compiled of the project's crates goes with what cargo remembers of it", () => {
  const debug = path.join(folder, "debug");
  const ours = "0123456789abcdef";
  const others = "fedcba9876543210";
  const lay = (...names) => names.forEach((name) => {
    mkdirSync(path.dirname(path.join(debug, name)), { recursive: true });
    writeFileSync(path.join(debug, name), "");
  });
  lay(`.fingerprint/store-${ours}/lib-store`, `.fingerprint/serde-${others}/lib-serde`, `.fingerprint/store-of-others-${others}/lib`);
  lay(`deps/libstore-${ours}.rlib`, `deps/a_test-${ours}`, `deps/a_test-${ours}.a_test.22-cgu.0.rcgu.o`, `deps/libserde-${others}.rlib`, "deps/no-hash.d");
  lay(`examples/speed-${ours}`, `build/store-${ours}/output`, `build/serde-${others}/output`);
  forget(folder, ["store", "ingest"]);
  const left = (name) => readdirSync(path.join(debug, name)).sort();
  assert.deepEqual(left(".fingerprint"), [`serde-${others}`, `store-of-others-${others}`]);
  assert.deepEqual(left("deps"), [`libserde-${others}.rlib`, "no-hash.d"]);
  assert.deepEqual(left("examples"), []);
  assert.deepEqual(left("build"), [`serde-${others}`]);
});

test("a folder in which nothing was compiled yet is left as it is", () => forget(path.join(folder, "new"), ["store"]));
