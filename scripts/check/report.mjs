// What stands at the end of a check: everything that failed in one list, and what passed only on a second try.
import { mkdirSync, writeFileSync } from "node:fs";
import { inRoot } from "../lib/process.mjs";
import { fileOf } from "./test-files.mjs";

/** The last lines of a text that say something. */
export const tail = (text, count) =>
  text
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .slice(-count);

/** How many failed tests of a stage may be luck, and are tried once more alone: more than these fail for one reason. */
export const mostByLuck = ({ failed, flaky = [], passed = [] }) => Math.max(20, Math.ceil((failed.length + flaky.length + passed.length) / 20));

/** Writes .cache/test/flaky.json and gives back the lines for the end of the check. */
export function flakyReport(flaky) {
  mkdirSync(inRoot(".cache/test"), { recursive: true });
  writeFileSync(inRoot(".cache/test/flaky.json"), `${JSON.stringify(flaky, null, 2)}\n`);
  if (flaky.length === 0) return "";
  // Of a check in CI nothing is left but what it printed.
  const first = ({ lines }) => (process.env.CI ? lines.slice(-20).map((line) => `      ${line}\n`).join("") : "");
  const names = flaky.map((entry) => `  ${entry.name} (${entry.how})\n${first(entry)}`).join("");
  return `\n${flaky.length} flaky: failed, then passed on another try. Mend the cause; the first try's output is in .cache/test/flaky.json.\n${names}`;
}

/** Tests that passed without the data that they are about: `{ name, data }`. */
export function withoutDataReport(tests) {
  if (tests.length === 0) return "";
  const lines = tests.map(({ name, data }) => `  ${name} (${data})\n`).join("");
  return `\n${tests.length} not run for lack of data, which is looked for in ../shared or where STAMINA_SHARED says:\n${lines}`;
}

/** Tests that passed and did nothing, with the reason that they gave: `{ binary, test, reason }`. */
export function leftOutReport(tests) {
  if (tests.length === 0) return "";
  const files = (reason) => [...new Set(tests.filter((entry) => entry.reason === reason).map(fileOf))].join(", ");
  const lines = [...new Set(tests.map((entry) => entry.reason))].map((reason) => `  ${reason}: ${files(reason)}\n`).join("");
  return `\n${tests.length} passed and did nothing, since they were left out:\n${lines}`;
}

/** Every failure with its name, the last 40 of its lines, and the command that repeats just that. */
export function failureReport(failures) {
  const one = ({ name, lines, repeat }) => `\n✗ ${name}\n${lines.slice(-40).map((line) => `    ${line}\n`).join("")}  again: ${repeat}\n`;
  return `\n${failures.length} failed:\n${failures.map(one).join("")}\n${failures.map(({ name }) => `✗ ${name}\n`).join("")}`;
}

/** The names in the lists at the end of what a check printed. Without `failed` where it ended before that. */
export function namesInReport(text) {
  const list = (head, line) => {
    const begin = [...text.matchAll(head)].at(-1);
    return begin && { count: Number(begin[1]), names: [...text.slice(begin.index + begin[0].length).matchAll(line)].map(([, name]) => name) };
  };
  const flaky = list(/^(\d+) flaky: .*$/gm, /^ {2}(\S.*) \(passed .*\)$/gm);
  // Each failure stands there twice: with its lines, and in the short list that is last.
  const failed = list(/^(\d+) failed:$/gm, /^✗ (.*)$/gm);
  const none = /^All passed in .*$/m.test(text) ? [] : undefined;
  return { failed: failed ? failed.names.slice(-failed.count) : none, flaky: flaky ? flaky.names.slice(0, flaky.count) : [] };
}
