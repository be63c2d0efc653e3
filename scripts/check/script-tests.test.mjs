// What the check reads off the reports of vitest and of `node --test`.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { inRoot } from "../lib/process.mjs";
import { literally, nodeTestResults, scriptTests, vitestResults } from "./script-tests.mjs";

test("failed tests of the UI are named, each with the command that repeats it", () => {
  const assertion = (fullName, status, failureMessages = []) => ({ ancestorTitles: [], title: fullName, fullName, status, failureMessages });
  const report = {
    testResults: [
      { name: inRoot("ui/src/turn/ansi.test.ts"), status: "failed", message: "", assertionResults: [assertion("ansi keeps (a) style", "failed", ["\u001b[31mexpected 1\u001b[39m\n  at x"]), assertion("ansi drops", "passed"), assertion("ansi later", "skipped")] },
      { name: inRoot("ui/src/broken.test.ts"), status: "failed", message: "no such module", assertionResults: [] },
      { name: inRoot("ui/src/good.test.ts"), status: "passed", message: "", assertionResults: [assertion("good", "passed")] },
    ],
  };
  const { failed, passed } = vitestResults(report);
  assert.deepEqual(
    failed.map(({ name, lines, repeat }) => [name, lines, repeat]),
    [
      ["ui/src/turn/ansi.test.ts › ansi keeps (a) style", ["expected 1", "  at x"], "npm run test -w ui -- src/turn/ansi.test.ts -t 'ansi keeps \\(a\\) style'"],
      ["ui/src/broken.test.ts", ["no such module"], "npm run test -w ui -- src/broken.test.ts"],
    ],
  );
  assert.deepEqual(passed.map(({ name }) => name), ["ui/src/turn/ansi.test.ts › ansi drops", "ui/src/good.test.ts › good"]);
  assert.deepEqual(vitestResults(null), { failed: [], flaky: [], passed: [] });
});

test("a test of the UI that passes on another try is flaky, with what its first try failed with", () => {
  const assertionResults = [
    { fullName: "ansi waits", status: "passed", failureMessages: ["\u001b[31mfirst\u001b[39m\n  at x", "second"] },
    { fullName: "ansi keeps", status: "passed", failureMessages: [] },
  ];
  const { failed, flaky, passed } = vitestResults({ testResults: [{ name: inRoot("ui/src/turn/ansi.test.ts"), status: "passed", message: "", assertionResults }] });
  assert.deepEqual(failed, []);
  assert.deepEqual(flaky.map(({ name, lines }) => [name, lines]), [["ui/src/turn/ansi.test.ts › ansi waits", ["first", "  at x"]]]);
  assert.deepEqual(passed, [{ name: "ui/src/turn/ansi.test.ts › ansi keeps" }]);
});

test("failed tests of the scripts are named", () => {
  const tap = ["TAP version 13", "# Subtest: a", "ok 1 - a", "  ---", "  duration_ms: 1", "  ...", "# Subtest: it's \\#2", "not ok 2 - it's \\#2", "  ---", "  duration_ms: 2", "  error: 'no'", "  ...", "1..2", "# fail 1", ""].join("\n");
  const { failed } = nodeTestResults(tap);
  assert.deepEqual(failed.map(({ name }) => name), ["it's #2"]);
  assert.deepEqual(failed[0].lines, ["  ---", "  duration_ms: 2", "  error: 'no'", "  ..."]);
  assert.ok(failed[0].repeat.startsWith("node --test --test-name-pattern 'it'\\''s #2' scripts/"), failed[0].repeat);
  const broken = nodeTestResults("not ok 1 - scripts/check/a.test.mjs\n  ---\n  error: 'SyntaxError'\n  ...\n");
  assert.deepEqual(broken.failed.map(({ repeat }) => repeat), ["node --test scripts/check/a.test.mjs"]);
  assert.deepEqual(nodeTestResults("ok 1 - a\n").failed, []);
});

test("every test file of the scripts is run", () => {
  const files = [".", "check", "lib"].flatMap((folder) => readdirSync(inRoot("scripts", folder)).filter((file) => file.endsWith(".test.mjs")).map((file) => path.posix.join("scripts", folder, file)));
  assert.ok(files.includes("scripts/kept-target.test.mjs"));
  assert.deepEqual(scriptTests(), files.sort());
});

test("a pattern means its text", () => assert.ok(new RegExp(`^${literally("a (b) [c] $d.")}$`).test("a (b) [c] $d.")));
