// The number of tests in each file of `tests/` and in each crate, held against scripts/check/tests.json, and their names, held
// against what ran: so none vanishes unseen.
//
//   node scripts/check/counts.mjs    writes the list anew (`npm run tests:count`)
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { inRoot, output } from "../lib/process.mjs";
import { lintWhileBuilding } from "./clippy.mjs";
import { fileOf } from "./test-files.mjs";

const LIST = inRoot("scripts/check/tests.json");

/** Test files whose ignored tests run in containers; other ignored ones run only where somebody names them. */
const IN_CONTAINERS = /^docker_/;

let known = null;

/** The same as `list`, made once: every binary is started twice for it. */
function listed() {
  known ??= list();
  return known;
}

/** Every Rust test, those in containers included: `{ binary, test, ignored }`; `null` where they cannot be listed. */
function list() {
  const text = output("cargo", ["nextest", "list", "--workspace", "--locked", "--run-ignored", "all", "--ignore-default-filter", "--message-format", "json"]);
  if (text === null) return null;
  const suites = Object.values(JSON.parse(text)["rust-suites"]);
  return suites.flatMap((suite) => Object.entries(suite.testcases).map(([test, { ignored }]) => ({ binary: suite["binary-id"], test, ignored })));
}

/** The number of tests by their file. */
export function counts(tests) {
  const byFile = {};
  for (const file of tests.map(fileOf)) byFile[file] = (byFile[file] ?? 0) + 1;
  return Object.fromEntries(Object.entries(byFile).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What two lists of numbers differ in, or nothing. */
export function difference(before, now) {
  const files = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  const lines = files.filter((file) => before[file] !== now[file]).map((file) => `${file}: ${before[file] ?? 0} listed, ${now[file] ?? 0} there`);
  return lines.length === 0 ? null : `The tests are not those of scripts/check/tests.json:\n${lines.join("\n")}\nIf that is meant, write it anew with \`npm run tests:count\`.`;
}

/** What is wrong with the numbers of tests, or nothing. */
export function compareCounts() {
  const tests = listed();
  if (tests === null) return "`cargo nextest list` failed, so the tests are not counted.";
  return difference(existsSync(LIST) ? JSON.parse(readFileSync(LIST, "utf8")) : {}, counts(tests));
}

/** The names of tests that no stage ran, of those that the given stages are there for: `ci`, `containers`. */
export function neverRun(profiles, ran, tests = listed()) {
  if (tests === null) return ["`cargo nextest list` failed, so it is not known which tests ran."];
  const names = new Set(ran.map(({ binary, test }) => `${binary} ${test}`));
  const containers = (test) => test.ignored && IN_CONTAINERS.test(fileOf(test).split("::")[1] ?? "");
  const due = tests.filter((test) => (profiles.includes("ci") && !test.ignored) || (profiles.includes("containers") && containers(test)));
  return due.map(({ binary, test }) => `${binary} ${test}`).filter((name) => !names.has(name));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  // What `npm test` has compiled is not compiled again.
  lintWhileBuilding();
  const tests = listed();
  if (tests === null) throw new Error("cargo nextest list failed.");
  const now = counts(tests);
  writeFileSync(LIST, `${JSON.stringify(now, null, 2)}\n`);
  process.stdout.write(`${String(Object.values(now).reduce((sum, count) => sum + count, 0))} tests in ${String(Object.keys(now).length)} files.\n`);
}
