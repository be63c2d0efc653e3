// How long each Rust test took the last times: `.cache/test/times.json`.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inRoot } from "../lib/process.mjs";

const file = () => process.env.STAMINA_TEST_TIMES ?? inRoot(".cache/test/times.json");

/** The last two times of each test, by the id of its binary and its name: `{ binary: { test: [last, before] } }`. */
function read() {
  try {
    return existsSync(file()) ? JSON.parse(readFileSync(file(), "utf8")) : {};
  } catch {
    // Half written by a program that was killed: nothing is known.
    return {};
  }
}

/** Seconds by binary and test: the shorter of the last two times, since what else runs makes a test slower and never quicker. */
export function knownTimes() {
  const shorter = (tests) => Object.fromEntries(Object.entries(tests).map(([test, times]) => [test, Math.min(...times)]));
  return Object.fromEntries(Object.entries(read()).map(([binary, tests]) => [binary, shorter(tests)]));
}

/** Keeps the times of tests that passed: `{ binary, test, seconds }`. */
export function keepTimes(passed) {
  if (passed.length === 0) return;
  const known = read();
  for (const { binary, test, seconds } of passed) {
    known[binary] ??= {};
    known[binary][test] = [seconds, ...(known[binary][test] ?? []).slice(0, 1)];
  }
  mkdirSync(path.dirname(file()), { recursive: true });
  writeFileSync(file(), `${JSON.stringify(known, null, 1)}\n`);
}
