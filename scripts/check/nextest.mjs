// Rust tests under cargo-nextest: what its report (JUnit's XML) says of each test, and running chosen ones again.
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { inRoot } from "../lib/process.mjs";
import { tail } from "./report.mjs";

/** What differs between the profiles of .config/nextest.toml: the containers' tests are ignored ones. */
export const PROFILES = {
  ci: { group: "rust", flags: [] },
  containers: { group: "containers", flags: ["--run-ignored", "only"] },
};

/** nextest keeps its reports in the workspace, wherever cargo's target folder is. */
const reports = () => process.env.STAMINA_NEXTEST_REPORTS ?? inRoot("target/nextest");
const reportOf = (profile) => path.join(reports(), profile, "junit.xml");

/** The arguments of one run. Its report is that of this run or missing. */
export function nextestArgs(profile, more = []) {
  rmSync(reportOf(profile), { force: true });
  return ["nextest", "run", "--workspace", "--locked", "--profile", profile, ...PROFILES[profile].flags, ...more];
}

/** The filter that means just these tests. */
export const filterOf = (tests) => tests.map(({ binary, test }) => `(binary_id(=${binary}) & test(=${test}))`).join(" | ");

/**
 * Failed and flaky tests of the last run: `{ binary, test, name, lines, repeat }`, those that passed at once: `{ binary, test, name, seconds }`,
 * what those lacked that passed without their data: `{ name, data }`, and why others did nothing: `{ binary, test, reason }`.
 */
export function nextestResults(profile) {
  const file = reportOf(profile);
  const failed = [];
  const flaky = [];
  const passed = [];
  const withoutData = [];
  const leftOut = [];
  if (!existsSync(file)) return { failed, flaky, passed, withoutData, leftOut };
  for (const [, head, body = ""] of readFileSync(file, "utf8").matchAll(/<testcase\b([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs)) {
    const binary = attribute(head, "classname");
    const test = attribute(head, "name");
    const repeat = `npm test -- ${PROFILES[profile].group} -E '${filterOf([{ binary, test }])}'`;
    const entry = { binary, test, name: `${binary} ${test}`, lines: tail(text(firstTry(body)), LINES), repeat };
    if (/<(?:failure|error)\b/.test(body)) failed.push(entry);
    else if (/<flaky(?:Failure|Error)\b/.test(body)) flaky.push(entry);
    else {
      passed.push({ binary, test, name: entry.name, seconds: Number(attribute(head, "time")) });
      for (const [, data] of text(body).matchAll(WITHOUT_DATA)) withoutData.push({ name: entry.name, data: data.trim() });
      for (const [, reason] of text(body).matchAll(LEFT_OUT)) leftOut.push({ binary, test, reason: reason.trim() });
    }
  }
  return { failed, flaky, passed, withoutData, leftOut };
}

/** What crates/test-folders prints where data lies on another machine. The report has it of the tests that .config/nextest.toml names for it. */
const WITHOUT_DATA = /not run for lack of data: (.+)/g;
/** What tests in containers print that pass and do nothing, as where their harness is not chosen. */
const LEFT_OUT = /\bleft out: (.+)/g;
/** What a report keeps of one try. The end of a check prints the last lines of it. */
const LINES = 400;
/** Later tries of a test that failed stand as `rerunFailure` beside its first; those of one that passed in the end one after the other. */
function firstTry(body) {
  const flaky = /<(flaky(?:Failure|Error))\b.*?<\/\1>/s.exec(body);
  return flaky ? flaky[0] : body.replace(/<(rerun(?:Failure|Error))\b(?:[^>]*\/>|.*?<\/\1>)/gs, "");
}
const attribute = (head, name) => plain(new RegExp(`\\b${name}="([^"]*)"`).exec(head)?.[1] ?? "");
/** The text between the tags. */
const text = (xml) => plain(xml.replace(/<!\[CDATA\[(.*?)\]\]>/gs, (_, raw) => raw.replaceAll("&", "&amp;").replaceAll("<", "&lt;")).replace(/<[^>]*>/g, "\n"));
const ENTITIES = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
const plain = (xml) => xml.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(lt|gt|quot|apos|amp));/gi, (_, decimal, hex, name) => (name ? ENTITIES[name] : String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16))));
