// Tests in JavaScript: unit tests of the UI under vitest, and those of the scripts under `node --test`.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { inRoot, root } from "../lib/process.mjs";
import { tail } from "./report.mjs";

/** Written by vitest's second reporter. */
export const VITEST_REPORT = inRoot(".cache/test/vitest.json");
/** The arguments of vitest with which it writes that report. */
export const VITEST_REPORTERS = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${VITEST_REPORT}`];

/** Every test file of the scripts. */
export const scriptTests = () =>
  readdirSync(inRoot("scripts"), { recursive: true })
    .filter((file) => file.endsWith(".test.mjs"))
    .map((file) => `scripts/${file.replaceAll("\\", "/")}`)
    .sort();

/** What a shell takes as one word. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
/** The pattern that means just this text. */
export const literally = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * Failed tests of the last run of vitest and those that passed on another try, `{ name, title, file, lines, repeat }`, and those that
 * passed at once, `{ name }`. What a try failed with stays in the report where a later one passed; vitest prints nothing of it.
 */
export function vitestResults(report = read()) {
  const failed = [];
  const flaky = [];
  const passed = [];
  for (const { name: absolute, status, message, assertionResults } of report?.testResults ?? []) {
    const file = path.relative(root, absolute).replaceAll("\\", "/");
    const inUi = file.replace(/^ui\//, "");
    for (const { fullName, status: outcome, failureMessages } of assertionResults) {
      const name = `${file} › ${fullName}`;
      const errors = failureMessages ?? [];
      if (outcome === "passed" && errors.length === 0) passed.push({ name });
      if (outcome !== "failed" && !(outcome === "passed" && errors.length > 0)) continue;
      const lines = tail(plain(outcome === "passed" ? errors[0] : errors.join("\n")), 40);
      (outcome === "passed" ? flaky : failed).push({ name, title: fullName, file: inUi, lines, repeat: `npm run test -w ui -- ${inUi} -t ${quoted(literally(fullName))}` });
    }
    // A file that cannot be read has no tests.
    if (status === "failed" && assertionResults.length === 0) failed.push({ name: file, title: "", file: inUi, lines: tail(plain(message ?? ""), 40), repeat: `npm run test -w ui -- ${inUi}` });
  }
  return { failed, flaky, passed };
}

/** Failed tests in what `node --test` printed as TAP: `{ name, lines, repeat }`. */
export function nodeTestResults(text) {
  const found = [...text.matchAll(/^( *)not ok \d+ - (.*?)(?: # .*)?\n((?:\1 {2}.*\n)*)/gm)].map(([, , name, details]) => ({ name: name.replace(/\\([#\\])/g, "$1"), details }));
  const isFile = ({ name }) => name.endsWith(".test.mjs");
  // A file fails because of its tests, or by itself.
  const tests = found.filter((entry) => !isFile(entry));
  const failed = (tests.length > 0 ? tests : found).map((entry) => {
    const chosen = isFile(entry) ? entry.name : `--test-name-pattern ${quoted(literally(entry.name))} ${scriptTests().join(" ")}`;
    return { name: entry.name, lines: tail(entry.details, 40), repeat: `node --test ${chosen}` };
  });
  return { failed, flaky: [] };
}

const plain = (text) => text.replace(/\u001b\[[0-9;]*m/g, "");

/** `null` where there is no report, or half of one: whoever wrote it was ended. */
function read() {
  try {
    return JSON.parse(readFileSync(VITEST_REPORT, "utf8"));
  } catch {
    return null;
  }
}
