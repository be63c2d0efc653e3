// The number of tests in each binary, held against scripts/check/tests.json, so that none vanishes unseen.
//
//   node scripts/check/counts.mjs    writes the list anew (`npm run tests:count`)
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { inRoot, output } from "../lib/process.mjs";
import { lintWhileBuilding } from "./clippy.mjs";

const LIST = inRoot("scripts/check/tests.json");

/** Tests by the id of their binary, those in containers included; `null` without cargo-nextest. */
function counts() {
  const text = output("cargo", ["nextest", "list", "--workspace", "--locked", "--run-ignored", "all", "--ignore-default-filter", "--message-format", "json"]);
  if (text === null) return null;
  const suites = Object.values(JSON.parse(text)["rust-suites"]);
  return Object.fromEntries(suites.map((suite) => [suite["binary-id"], Object.keys(suite.testcases).length]).filter(([, count]) => count > 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What has fewer tests than it had, or nothing. */
export function compareCounts() {
  const now = counts();
  if (now === null) return null;
  const before = existsSync(LIST) ? JSON.parse(readFileSync(LIST, "utf8")) : {};
  const fewer = Object.entries(before).filter(([binary, count]) => (now[binary] ?? 0) < count);
  if (fewer.length === 0) return null;
  const lines = fewer.map(([binary, count]) => `${binary}: ${String(count)} before, ${String(now[binary] ?? 0)} now`);
  return `There are fewer tests than scripts/check/tests.json says:\n${lines.join("\n")}\nIf that is meant, write it anew with \`npm run tests:count\`.`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  // What `npm test` has compiled is not compiled again.
  lintWhileBuilding();
  const now = counts();
  if (now === null) throw new Error("cargo nextest list failed.");
  writeFileSync(LIST, `${JSON.stringify(now, null, 2)}\n`);
  process.stdout.write(`${String(Object.values(now).reduce((sum, count) => sum + count, 0))} tests in ${String(Object.keys(now).length)} binaries.\n`);
}
