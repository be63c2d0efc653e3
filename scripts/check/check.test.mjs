// What the check reads off the reports of its runners, and what it prints of that.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { runWithTries } from "../lib/process.mjs";
import { filterOf, nextestArgs, nextestResults } from "./nextest.mjs";
import { failureReport, tail } from "./report.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "stamina-check-"));
before(() => (process.env.STAMINA_NEXTEST_REPORTS = path.join(folder, "nextest")));
after(() => rmSync(folder, { recursive: true }));

const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="3" failures="1">
  <testsuite name="gateway::gateway" tests="3">
    <testcase name="lives::all_are_heard" classname="gateway::gateway" time="0.1"/>
    <testcase name="lives::some_are_late" classname="gateway::gateway" time="0.1">
      <flakyFailure timestamp="x" time="0.2" message="thread panicked" type="test failure with exit code 101">left: 1 &lt; 2
        <system-err>first &amp; only</system-err>
      </flakyFailure>
    </testcase>
    <testcase name="lives::one_is_lost" classname="gateway::gateway" time="0.1">
      <failure message="m" type="test failure with exit code 101"><![CDATA[assertion failed: a < b]]></failure>
      <rerunFailure timestamp="x" type="t">again</rerunFailure>
    </testcase>
  </testsuite>
</testsuites>`;

test("failed and flaky tests are read off nextest's report", () => {
  mkdirSync(path.join(folder, "nextest/ci"), { recursive: true });
  writeFileSync(path.join(folder, "nextest/ci/junit.xml"), REPORT);
  const { failed, flaky } = nextestResults("ci");
  assert.deepEqual(failed.map(({ name }) => name), ["gateway::gateway lives::one_is_lost"]);
  assert.ok(failed[0].lines.includes("assertion failed: a < b"), failed[0].lines.join("\n"));
  assert.equal(failed[0].repeat, "npm test -- rust -E '(binary_id(=gateway::gateway) & test(=lives::one_is_lost))'");
  assert.deepEqual(flaky.map(({ name }) => name), ["gateway::gateway lives::some_are_late"]);
  assert.ok(flaky[0].lines.some((line) => line.includes("first & only")));
  assert.equal(filterOf([...failed, ...flaky]).split(" | ").length, 2);
  // A run that ends without a report says nothing of an earlier one.
  nextestArgs("ci");
  assert.deepEqual(nextestResults("ci"), { failed: [], flaky: [] });
});

test("every failure is listed with its lines and how to repeat it", () => {
  const text = failureReport([{ name: "a", lines: tail("\n1\n\n2\n3\n", 2), repeat: "npm test -- rust" }]);
  assert.match(text, /1 failed:\n\n✗ a\n {4}2\n {4}3\n {2}again: npm test -- rust\n/);
});

test("what is tried once and fails is not tried again", () => {
  const file = path.join(folder, "tries");
  assert.equal(runWithTries("sh", ["-c", `echo x >> "${file}"; exit 1`]), false);
  assert.equal(readFileSync(file, "utf8"), "x\n");
  assert.equal(runWithTries("true", []), true);
});
