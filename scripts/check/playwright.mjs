// End-to-end tests under Playwright: what its report says of each test.
import { readFileSync } from "node:fs";
import { inRoot } from "../lib/process.mjs";
import { tail } from "./report.mjs";

export const PLAYWRIGHT = ["--no-install", "playwright", "test", "-c", "tests/e2e/playwright.config.ts"];
/** Written by the configuration's second reporter. */
export const PLAYWRIGHT_REPORT = inRoot(".cache/test/playwright.json");

/** Failed and flaky tests of the last run, `{ name, lines, repeat }`, and those that passed at once, `{ name }`. */
export function playwrightResults() {
  const failed = [];
  const flaky = [];
  const passed = [];
  const report = read();
  if (report === null) return { failed, flaky, passed };
  const walk = (suite, titles) => {
    for (const spec of suite.specs ?? []) {
      for (const run of spec.tests) {
        const name = [spec.file, ...titles, spec.title].join(" › ");
        if (run.status === "expected") passed.push({ name });
        if (run.status !== "unexpected" && run.status !== "flaky") continue;
        const first = run.results.find((result) => result.status !== "passed" && result.status !== "skipped");
        const lines = tail((first?.errors ?? []).map((error) => error.message ?? "").join("\n").replace(/\u001b\[[0-9;]*m/g, ""), 40);
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

/** `null` where there is no report, or half of one: whoever wrote it was ended. */
function read() {
  try {
    return JSON.parse(readFileSync(PLAYWRIGHT_REPORT, "utf8"));
  } catch {
    return null;
  }
}
