// The table of `npm run harnesses -- --faults`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { differences, foundIn, table } from "./lib/fault-table.mjs";

const line = (fault, harness, found, must = "endpoint") => JSON.stringify({ fault, found, harness, must });
const COLUMNS = [
  { key: "mini_swe", title: "mini-swe-agent" },
  { key: "qwen_code", title: "qwen-code" },
];

test("a table has a row for each fault and marks what differs", () => {
  const out = [
    `running 1 test`,
    `test each_fault ... ${line("cut", "mini_swe", "endpoint")}`,
    line("413 later", "mini_swe", "context_overflow", "context_overflow"),
    "a harness wrote {this}",
    line("cut", "qwen_code", "agent_error"),
  ].join("\n");
  const cells = foundIn(out);
  assert.equal(cells.length, 3);
  assert.equal(
    table(cells, COLUMNS),
    "| fault | must be | mini-swe-agent | qwen-code |\n| --- | --- | --- | --- |\n| cut | endpoint | endpoint | **agent_error** |\n| 413 later | context_overflow | context_overflow | **unknown** |\n",
  );
  assert.deepEqual(differences(cells, COLUMNS), ["qwen-code, cut: agent_error, must be endpoint", "qwen-code, 413 later: unknown, must be context_overflow"]);
});

test("where all are as they must be, nothing differs", () => {
  const cells = foundIn(COLUMNS.map(({ key }) => line("cut", key, "endpoint")).join("\n"));
  assert.deepEqual(differences(cells, COLUMNS), []);
  assert.ok(!table(cells, COLUMNS).includes("**"));
});

test("what a harness wrote stays in its cell", () => {
  const cells = foundIn(line("cut", "mini_swe", "task panicked | with\nwords"));
  assert.equal(table(cells, COLUMNS.slice(0, 1)).split("\n").length, 4);
  assert.ok(table(cells, COLUMNS.slice(0, 1)).includes("**task panicked \\| with words**"));
});
