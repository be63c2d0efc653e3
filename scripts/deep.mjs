// `npm run test:deep`: what `npm test` has no time for. No check depends on it; it is run in the background before a larger piece of
// work is called done, and its last result stands in docs/testing.md.
//
// Random seeds, twenty times the cases of each property, 400 kills, every mutant of a pack, generated servers and suites of
// Python held against the native ones at every turn, all nine harnesses. Nothing is tried twice: a flaky test is a failed one.
//
//   npm run test:deep                    everything: hours
//   npm run test:deep -- rust mutants    some of: rust, containers, e2e, mutants, parity, harnesses
//   npm run test:deep -- --seed N        with the seed that a failure named
//   npm run test:deep -- --record        writes the results into docs/testing.md, too
//
// Each part writes to .cache/deep/<part>.log.
import { randomInt } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buildUi } from "./build-ui.mjs";
import { lintWhileBuilding } from "./check/clippy.mjs";
import { nextestArgs, nextestResults } from "./check/nextest.mjs";
import { PLAYWRIGHT, PLAYWRIGHT_REPORT, playwrightResults } from "./check/playwright.mjs";
import { failureReport, tail } from "./check/report.mjs";
import { containers } from "./containers.mjs";
import { IMAGES } from "./lib/harness-words.mjs";
import { duration, inRoot, output, root, runLogged, runOrStop, stop, targetDir } from "./lib/process.mjs";
import { setup } from "./setup.mjs";

/** proptest's own number is 256; slow properties use a fraction of it. */
const CASES = 20 * 256;
const KILLS = 400;
const HARNESSES = Object.keys(IMAGES).map((word) => word.toLowerCase());
/** A program of these tests would remove what tests in containers leave. */
const NO_ENGINE = { DOCKER_HOST: "unix:///nowhere/stamina-check.sock" };
/** A release build is not linted, as in the other scripts: what they have compiled is not compiled again. */
const PLAIN = { RUSTC_WORKSPACE_WRAPPER: "" };
const PACK = inRoot(".cache/deep/pack");

process.chdir(root);
// What `npm test` has compiled is not compiled again.
lintWhileBuilding();
const args = process.argv.slice(2);
const record = args.includes("--record") && args.splice(args.indexOf("--record"), 1).length > 0;
const at = args.indexOf("--seed");
const seed = at === -1 ? String(randomInt(2 ** 31)) : args.splice(at, 2)[1];
const released = () => path.join(targetDir(), "release/stamina");
const rustTests = (profile) => ({ commands: [["cargo", () => nextestArgs(profile, ["--retries", "0"])]], results: () => nextestResults(profile) });

/** Each part: commands in order, what one line of its log says of the result, and where its failures are listed one by one. */
const PARTS = {
  rust: { ...rustTests("ci"), env: { ...NO_ENGINE, PROPTEST_CASES: String(CASES), PROPTEST_RNG_SEED: seed, STAMINA_KILLS: String(KILLS), STAMINA_SEED: seed, STAMINA_EVERY_WAY: "1" }, result: /^\s*Summary \[[^\]]*\] (.*)/m },
  containers: { ...rustTests("containers"), engine: true, env: { STAMINA_HARNESSES: ["mock", ...HARNESSES].join(","), STAMINA_EVERY_WAY: "1" }, result: /^\s*Summary \[[^\]]*\] (.*)/m },
  e2e: {
    commands: [["npx", () => [...PLAYWRIGHT, "--retries", "0"]]],
    before: () => rmSync(PLAYWRIGHT_REPORT, { force: true }),
    results: playwrightResults,
    env: NO_ENGINE,
    result: /^\s+(\d+ passed)/m,
  },
  mutants: {
    release: true,
    before: () => rmSync(PACK, { recursive: true, force: true }),
    commands: [
      [released, () => ["generate", "--force", "--out", PACK, "--values", ...["n_scenarios=1", "n_turns=100", `base_seed=${seed}`].map((pair) => `restful_server_gen_iterative.${pair}`)]],
      [released, () => ["validate", PACK, "--mutants", "1000000"]],
    ],
    result: /^(\d+ of \d+ mutants noticed)/m,
  },
  parity: { env: PLAIN, commands: [["node", () => ["scripts/parity.mjs", "--scenarios", "1", "--every", "1", "--mutants", "1", "--seed", seed]]], result: /^(\d+ servers, \d+ cases: \d+ wrong)/m },
  harnesses: { engine: true, commands: [["node", () => ["scripts/harnesses.mjs", "--built", ...HARNESSES]]], result: /^(\d+ of \d+ harnesses .*)/m },
};

const chosen = args.length === 0 ? Object.keys(PARTS) : args;
const unknown = chosen.filter((name) => !(name in PARTS));
if (unknown.length > 0) stop(`There is no part ${unknown.join(", ")}: ${Object.keys(PARTS).join(", ")}.`);

setup({ tests: true });
buildUi();
runOrStop("cargo", ["build", "--workspace", "--locked", "--quiet", "--bins", "--tests"]);
if (chosen.some((name) => PARTS[name].release)) runOrStop("cargo", ["build", "--release", "--workspace", "--locked", "--quiet", "--bin", "stamina"], { env: PLAIN });
const engine = chosen.some((name) => PARTS[name].engine) && (await containers({ ci: Boolean(process.env.CI) }));
const commit = output("git", ["describe", "--always", "--dirty", "--exclude=*"]);
const date = new Date().toISOString().slice(0, 10);
process.stdout.write(`Seed ${seed}\n`);

const failures = [];
for (const name of chosen) {
  const part = PARTS[name];
  const begun = Date.now();
  const end = (outcome) => {
    const row = `| ${name} | ${outcome} | ${duration(Date.now() - begun)} | ${date}, \`${commit}\`, seed ${seed} |`;
    process.stdout.write(`${row}\n`);
    if (record) recorded(name, row);
  };
  if (part.engine && !engine) {
    process.stdout.write(`${name} is left out: no container engine answers.\n`);
    continue;
  }
  part.before?.();
  let code = 0;
  let text = "";
  for (const [program, commandArgs] of part.commands) {
    if (code !== 0) break;
    const log = inRoot(".cache/deep", `${name}.log`);
    const run = await runLogged(typeof program === "string" ? program : program(), commandArgs(), { log, env: { FORCE_COLOR: "0", NO_COLOR: "1", ...part.env } });
    code = run.code;
    text = run.text;
  }
  const failed = code === 0 ? [] : (part.results?.().failed ?? []);
  if (code !== 0 && failed.length === 0) failed.push({ name, lines: tail(text, 40), repeat: `npm run test:deep -- ${name} --seed ${seed}` });
  failures.push(...failed);
  const result = part.result.exec(text)?.[1] ?? `ended with ${code}`;
  end(code === 0 ? result : `**failed**: ${result}`);
}
if (failures.length > 0) process.stdout.write(failureReport(failures));
process.exit(failures.length > 0 ? 1 : 0);

/** Puts a row into the table of docs/testing.md, in place of the last one of that part. */
function recorded(name, row) {
  const file = inRoot("docs/testing.md");
  writeFileSync(file, readFileSync(file, "utf8").replace(new RegExp(`^\\| ${name} \\|.*\\| .*seed.*\\|$`, "m"), () => row));
}
