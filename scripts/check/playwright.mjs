// End-to-end tests under Playwright: what its report says of each test.
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { inRoot, root } from "../lib/process.mjs";
import { tail } from "./report.mjs";

export const PLAYWRIGHT = ["--no-install", "playwright", "test", "-c", "tests/e2e/playwright.config.ts"];
/** Written by the configuration's second reporter. */
export const PLAYWRIGHT_REPORT = inRoot(".cache/test/playwright.json");

/** Pictures and traces of failed tries: Playwright's own folder is emptied by its next run. */
export const FAILED_TRIES = inRoot(".cache/test/e2e-failed-tries");

/**
 * Failed and flaky tests of the last run, `{ name, lines, repeat }`, and those that passed at once, `{ name }`. The lines are those of the
 * first try: what it printed, where its picture and the trace of the next one lie, in `folder`, and last its errors, which no list cuts.
 */
export function playwrightResults(report = read(), folder = FAILED_TRIES) {
  const failed = [];
  const flaky = [];
  const passed = [];
  if (report === null) return { failed, flaky, passed };
  const walk = (suite, titles) => {
    for (const spec of suite.specs ?? []) {
      for (const run of spec.tests) {
        const name = [spec.file, ...titles, spec.title].join(" › ");
        if (run.status === "expected") passed.push({ name });
        if (run.status !== "unexpected" && run.status !== "flaky") continue;
        const first = run.results.find((result) => result.status !== "passed" && result.status !== "skipped");
        const errors = (first?.errors ?? []).map((error) => error.message ?? "").join("\n");
        const lines = [...tail(plain(printed(first)), 200), ...attached(run.results, folder), ...tail(plain(errors), 40)];
        const entry = { name, lines, repeat: `npm test -- e2e -g '${spec.title.replaceAll("'", ".")}'` };
        (run.status === "flaky" ? flaky : failed).push(entry);
      }
    }
    for (const inner of suite.suites ?? []) walk(inner, inner.title === inner.file ? titles : [...titles, inner.title]);
  };
  for (const suite of report.suites ?? []) walk(suite, []);
  for (const error of failed.length === 0 ? (report.errors ?? []) : []) failed.push({ name: "playwright", lines: tail(error.message ?? "", 40), repeat: "npm test -- e2e" });
  return { failed, flaky, passed };
}

/** What a try wrote to its outputs. */
const printed = (result) => [...(result?.stdout ?? []), ...(result?.stderr ?? [])].map(({ text, buffer }) => text ?? Buffer.from(buffer ?? "", "base64").toString()).join("");

const plain = (text) => text.replace(/\u001b\[[0-9;]*m/g, "");

/** A line for each file that the tries of a test left. Each is copied into `folder`; a file that is gone is not named. */
function attached(results, folder) {
  const files = results.flatMap(({ attachments }) => attachments ?? []).filter((file) => file.path && existsSync(file.path));
  return files.map(({ name, path: from }) => {
    const to = path.join(folder, path.basename(path.dirname(from)), path.basename(from));
    try {
      mkdirSync(path.dirname(to), { recursive: true });
      copyFileSync(from, to);
    } catch {
      return `${name}: could not be kept`;
    }
    return `${name}: ${path.relative(root, to)}`;
  });
}

/** `null` where there is no report, or half of one: whoever wrote it was ended. */
function read() {
  try {
    return JSON.parse(readFileSync(PLAYWRIGHT_REPORT, "utf8"));
  } catch {
    return null;
  }
}
