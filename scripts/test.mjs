// `npm test`: set-up, then every check in order. A failed stage does not stop those that do not need it; at the end stands
// one list of everything that failed, each with the command that repeats it.
//
//   node scripts/test.mjs                 everything
//   node scripts/test.mjs ui rust         only the stages of these groups: ui, rust, e2e, containers, package
//   node scripts/test.mjs rust -E 'test(name)'    only those Rust tests: what begins with a dash goes to the test runner of
//                                         the group (rust, containers: cargo-nextest; e2e: Playwright)
//   node scripts/test.mjs --changed       lints and quick Rust tests of the crates that differ from `main`, and of those that need them
//                                         (scripts/check/changed.mjs says which, and names at the end what it left out);
//                                         `--changed HEAD`: from that commit
//
// Stages run in lanes beside each other: ui, rust (with the end-to-end tests), containers, which mostly waits, and the package.
//
// A failed test is tried twice more where it failed, and once more at the end, with nothing beside it. Only what fails there,
// too, fails the check; what passed on another try is listed as flaky.
//
// The tests in containers run where an engine answers; in CI one is installed (scripts/containers.mjs).
// Each stage writes to .cache/test/<stage>.log. What each stage is for: docs/testing.md.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { buildUi } from "./build-ui.mjs";
import { changedCrates } from "./check/changed.mjs";
import { lintWhileBuilding } from "./check/clippy.mjs";
import { compareCounts, neverRun } from "./check/counts.mjs";
import { featuresOfTests } from "./check/features.mjs";
import { filterOf, nextestArgs, nextestResults } from "./check/nextest.mjs";
import { FAILED_TRIES, PLAYWRIGHT, PLAYWRIGHT_REPORT, playwrightResults } from "./check/playwright.mjs";
import { failureReport, flakyReport, leftOutReport, mostByLuck, tail, withoutDataReport } from "./check/report.mjs";
import { VITEST_REPORT, VITEST_REPORTERS, literally, nodeTestResults, scriptTests, vitestResults } from "./check/script-tests.mjs";
import { keepTimes } from "./check/times.mjs";
import { containers } from "./containers.mjs";
import { useKeptTarget } from "./lib/kept-target.mjs";
import { duration, inRoot, output, root, runLogged, stop, targetDir } from "./lib/process.mjs";
import { findTool } from "./lib/tools.mjs";

process.chdir(root);
const started = Date.now();
const ci = Boolean(process.env.CI);

const dash = process.argv.slice(2).findIndex((argument) => argument.startsWith("-"));
const given = dash === -1 ? [] : process.argv.slice(2 + dash);
const changed = given[0] === "--changed" ? changedCrates(given[1]) : null;
const groups = changed ? ["rust"] : dash === -1 ? process.argv.slice(2) : process.argv.slice(2, 2 + dash);
if (given.length > 0 && !changed && groups.length !== 1) stop(`Of which group? For example: npm test -- rust ${given.join(" ")}`);
/** What was given for the runner of the tests; then only its stages run. */
const chosen = changed ? changed.filter : given;
const only = changed !== null || given.length > 0;

const UI = ["--workspace", "ui", "--silent"];
// One set of packages in every cargo call, so that shared dependencies have the same features and compile once.
const ALL = ["--workspace", "--locked", "--quiet"];
// One harness in Python and one from npm; `npm run harnesses` plays all of them.
const IMAGES = ["base", "mini-swe-agent", "qwen-code"];
const HARNESSES = { STAMINA_HARNESSES: "mock,mini_swe,qwen_code" };

const BUILD = "build (cargo build)";
const WORDS = "words (scripts/check/words.json)";
const RUST_TESTS = { ci: "rust tests (cargo nextest)", containers: "real containers (cargo nextest)" };
const stamina = () => path.join(targetDir(), "debug/stamina");

const CONTAINERS = { images: "container images (stamina images build)", harnesses: "episodes of real harnesses (stamina run)" };
const PACKAGE = "package in a clean Debian (dpkg)";
const CONTAINER_STAGES = [CONTAINERS.images, RUST_TESTS.containers, CONTAINERS.harnesses];
// Containers that come and go change the networks of this machine, and a browser ends every request at that: beside them it has a network
// of its own, or comes after them.
const ownNetwork = ci && spawnSync("unshare", ["--net", "ip", "link", "set", "lo", "up"], { stdio: "ignore" }).status === 0;
// The runs of these tests need no container engine, and would sweep away what the tests of the other lane leave in it.
const NO_ENGINE = { DOCKER_HOST: "unix:///nowhere/stamina-check.sock" };

/** Lane by lane, in order. A stage `needs` others to have passed, and those that it comes `after` to have ended; `filtered` ones run when tests are named. */
const stages = [
  { lane: "rust", group: "ui rust e2e containers package", name: "ui build (vite)", call: () => void buildUi(), filtered: changed === null || !existsSync(inRoot("ui/dist/index.html")) },
  { lane: "rust", group: "rust", name: "format (cargo fmt)", run: () => ["cargo", ["fmt", ...(changed?.crates.flatMap((name) => ["-p", name]) ?? ["--all"]), "--check"]], filtered: changed !== null },
  { lane: "rust", group: "rust ui", name: WORDS, run: () => ["node", ["scripts/check/words.mjs"]], filtered: changed !== null },
  // Advisories are left out: their database is a git repository, which a test does not fetch (docs/security.md).
  { lane: "rust", group: "rust", name: "dependencies (cargo deny)", run: () => [findTool("cargo-deny") ?? "cargo-deny", ["--locked", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"]], summary: /^.*(?:bans|licenses|sources) ok.*/gm },
  { lane: "rust", group: "rust", name: "no GUI library in the command line", call: noGuiInTheCommandLine },
  { lane: "rust", group: "rust", name: "features that only tests bring", call: sameFeatures },
  // All targets in one call: what the tests' dependencies add to features is compiled once.
  { lane: "rust", group: "rust e2e containers package", name: BUILD, needs: ["ui build (vite)"], run: () => ["cargo", changed ? ["test", "--no-run", ...ALL, ...changed.targets] : ["build", ...ALL, "--all-targets"]], filtered: true },
  { lane: "rust", group: "rust", name: "lint (clippy)", needs: [BUILD], call: lintsOfTheBuild, filtered: changed !== null },
  { lane: "rust", group: "rust", name: "number of tests", needs: [BUILD], call: () => (nextest ? compareCounts() : null) },
  // One of them writes ui/src/host/bindings, which the stages of the UI read.
  rustTests("ci", { lane: "rust", group: "rust", env: NO_ENGINE, after: ["types (svelte-check)", "lint (eslint)", "ui tests (vitest)"], around: unchangedBindings }),
  {
    lane: "rust",
    group: "e2e",
    name: "end to end in a browser and in the app's own window (playwright)",
    needs: [BUILD],
    after: ownNetwork ? [] : CONTAINER_STAGES,
    env: NO_ENGINE,
    filtered: true,
    run: () => alone(["npx", [...PLAYWRIGHT, ...chosen]]),
    before: () => [PLAYWRIGHT_REPORT, FAILED_TRIES].forEach((place) => rmSync(place, { recursive: true, force: true })),
    results: () => playwrightResults(),
    calm: () => alone(["npx", [...PLAYWRIGHT, "--last-failed", "--workers", "1", "--retries", "0"]]),
    summary: /^\s+\d+ (?:passed|skipped|flaky).*/gm,
  },

  { lane: "ui", group: "ui", name: "types (svelte-check)", run: () => ["npm", ["run", "check", ...UI]], summary: /^svelte-check found.*/gm },
  { lane: "ui", group: "ui", name: "lint (eslint)", run: () => ["npm", ["run", "lint", ...UI]] },
  { lane: "ui", group: "ui", name: "layout (prettier)", run: () => ["npm", ["run", "format:check", ...UI]] },
  { lane: "ui", group: "ui", name: "ui tests (vitest)", run: () => ["npm", ["run", "test", ...UI, "--", ...VITEST_REPORTERS]], before: () => rmSync(VITEST_REPORT, { force: true }), results: () => vitestResults(), calm: uiTestsAlone, summary: /^\s*(?:Test Files|Tests) .*/gm },
  { lane: "ui", group: "ui containers", name: "scripts (node --test)", run: () => ["node", ["--test", "--test-reporter=tap", ...scriptTests()]], results: nodeTestResults, summary: /^(?:#|ℹ) (?:tests|pass|fail) .*/gm },
  { lane: "ui", group: "ui e2e", name: "types of the end-to-end tests (tsc)", run: () => ["npx", ["--no-install", "tsc", "-p", "tests/e2e"]] },

  { lane: "containers", group: "containers", name: CONTAINERS.images, engine: true, needs: [BUILD], call: buildImages, filtered: true },
  rustTests("containers", { lane: "containers", group: "containers", engine: true, env: HARNESSES, needs: [CONTAINERS.images] }),
  { lane: "containers", group: "containers", name: CONTAINERS.harnesses, engine: true, needs: [CONTAINERS.images], run: () => ["node", ["scripts/harnesses.mjs", "--built", "--at-once", "2", "--turns", "3", "mini_swe", "qwen_code"]], summary: /^\| \S.* \d+ of \d+ .*/gm },

  // It needs root and, the first time, a mirror of Debian: in CI, and where it is asked for. The engine brings debootstrap.
  ...(ci || groups.includes("package") ? [{ lane: "package", group: "package", name: PACKAGE, engine: true, needs: [BUILD], run: () => ["node", ["scripts/package.mjs", "--check-debug"]], summary: /^.* installs and starts in .*/gm }] : []),
];

/** What became of each stage, by its name. */
const outcomes = new Map();
const summaries = [];
const failures = [];
const flaky = [];
/** What passed without the data that it is about. */
const withoutData = [];
/** What passed and did nothing. */
const leftOut = [];
/** What may pass when nothing runs beside it. */
const again = [];
/** The Rust tests that ran: `{ binary, test }`. */
const ran = [];

const begun = Date.now();
if (ci) useKeptTarget();
preferRealPython();
Object.assign(process.env, { PROPTEST_RNG_SEED: process.env.PROPTEST_RNG_SEED ?? "1", ...(ci ? { CARGO_INCREMENTAL: "0" } : {}) });
// Whoever has built a crate before has what that needs.
const isSetUp = changed !== null && existsSync(path.join(targetDir(), "debug/deps")) && existsSync(inRoot("ui/dist/index.html"));
if (!isSetUp) await setUp();
const driver = lintWhileBuilding();
process.stdout.write(`▸ set-up … ${isSetUp ? "left out" : "ok"} (${duration(Date.now() - begun)})\n`);
const nextest = output("cargo", ["nextest", "--version"]) !== null || findTool("cargo-nextest") !== null;
const WITHOUT_NEXTEST = "cargo-nextest is not there: the Rust tests run under cargo test, and nothing is tried twice or counted.\n";
if (!nextest) process.stdout.write(WITHOUT_NEXTEST);
process.env.PATH = `${path.dirname(findTool("cargo-nextest") ?? "/")}:${process.env.PATH}`;
process.stdout.write(changed ? `What differs from ${given[1] ?? "main"}: ${changed.crates.join(", ") || "no crate"}\n` : "");
const nothingToBuild = changed !== null && changed.targets.length === 0;
const wanted = (stage) => (groups.length === 0 || stage.group.split(" ").some((group) => groups.includes(group))) && (!only || stage.filtered) && !(nothingToBuild && stage.name !== WORDS);
// Made while the rest is checked: the base image takes a minute of waiting.
const wantsEngine = stages.some((stage) => stage.engine && wanted(stage));
const engine = wantsEngine ? containers({ ci }).catch((error) => error) : Promise.resolve(false);
watchTheTime();

/** Resolves when the stage of that name has ended. */
const ends = new Map();
for (const stage of stages.filter(wanted)) {
  const before = stages.slice(0, stages.indexOf(stage)).filter(({ lane }) => lane === stage.lane).map(({ name }) => name);
  const first = [...before, ...(stage.needs ?? []), ...(stage.after ?? [])];
  // Begun in the next turn of the loop, when all are known.
  ends.set(stage.name, Promise.resolve().then(() => Promise.all(first.map((name) => ends.get(name)))).then(() => perform(stage)).catch((error) => broken(stage, error)));
}
await Promise.all(ends.values());
for (const stage of again) await performCalmly(stage).catch((error) => broken(stage, error));
everyTestRan();

process.stdout.write("\n");
for (const [name, lines] of summaries) process.stdout.write(`${name}\n${lines.map((line) => `  ${line.trim()}\n`).join("")}`);
if (changed) process.stdout.write(`Left to the whole check (npm test):\n${changed.leftOut.map((line) => `  ${line}\n`).join("")}`);
process.stdout.write(flakyReport(flaky));
process.stdout.write(withoutDataReport(withoutData));
process.stdout.write(leftOutReport(leftOut));
if (!nextest) process.stdout.write(`\n${WITHOUT_NEXTEST}`);
for (const [name, outcome] of outcomes) if (outcome.startsWith("left out")) process.stdout.write(`\n${name}: ${outcome}\n`);
if (failures.length > 0) process.stdout.write(failureReport(failures));
process.stdout.write(failures.length > 0 ? `\nFailed after ${duration(Date.now() - started)}.\n` : `\nAll passed in ${duration(Date.now() - started)}.\n`);
process.exit(failures.length > 0 ? 1 : 0);

/** A stage of Rust tests. Without nextest the same tests run under `cargo test`. */
function rustTests(profile, more) {
  const plain = profile === "ci" ? ["test", ...ALL, "--no-fail-fast"] : ["test", ...ALL, "--no-fail-fast", "--test", "*_integration", "--", "docker_", "--ignored", "--test-threads", "2"];
  return {
    name: RUST_TESTS[profile],
    needs: [BUILD],
    filtered: true,
    run: () => ["cargo", nextest ? nextestArgs(profile, chosen) : plain],
    results: () => (nextest ? nextestResults(profile) : { failed: [], flaky: [] }),
    calm: (failed) => ["cargo", nextestArgs(profile, [...(changed?.targets ?? []), "--retries", "0", "--test-threads", "1", "-E", filterOf(failed)])],
    summary: /^\s*Summary .*|^test result: (?!ok\. 0 passed; 0 failed; 0 ignored).*/gm,
    ...more,
  };
}

/** What is missing is installed. Where that fails nothing can run, and the list at the end has this alone. */
async function setUp() {
  const args = ["scripts/setup.mjs", "--test"];
  const { code, text } = await runLogged(process.execPath, args, { log: logOf("set-up"), echo: true });
  if (code === 0) return;
  process.stdout.write(`▸ set-up … failed (${duration(Date.now() - begun)})\n`);
  process.stdout.write(failureReport([{ name: "set-up: nothing was checked", lines: tail(text, 40), repeat: `node ${args.join(" ")}` }]));
  process.stdout.write(`\nFailed after ${duration(Date.now() - started)}.\n`);
  process.exit(1);
}

/** A stage whose own program fails, as with a full disk: the others go on. */
function broken(stage, error) {
  outcomes.set(stage.name, "failed");
  failures.push({ name: stage.name, lines: tail(String(error.stack ?? error), 30), repeat: `npm test -- ${stage.group.split(" ")[0]}` });
  process.stdout.write(`▸ ${stage.name} … failed: ${error.message}\n`);
}

/** A test that no stage ran fails the check, where all of its stages ended. */
function everyTestRan() {
  const profiles = Object.keys(RUST_TESTS).filter((profile) => outcomes.get(RUST_TESTS[profile]) && !outcomes.get(RUST_TESTS[profile]).startsWith("left out"));
  if (only || !nextest || profiles.length === 0) return;
  const missing = neverRun(profiles, ran);
  if (missing.length > 0) failures.push({ name: "tests that no stage ran", lines: missing, repeat: "npm test -- rust containers" });
}

/** Unit tests of the UI once more, one file after the other. */
function uiTestsAlone(failed) {
  rmSync(VITEST_REPORT, { force: true });
  const titles = failed.some(({ title }) => title === "") ? [] : ["-t", failed.map(({ title }) => literally(title)).join("|")];
  return ["npm", ["run", "test", ...UI, "--", ...VITEST_REPORTERS, "--retry=0", "--no-file-parallelism", ...new Set(failed.map(({ file }) => file)), ...titles]];
}

async function perform(stage) {
  const begun = Date.now();
  const recordOutcome = (outcome) => {
    outcomes.set(stage.name, outcome);
    process.stdout.write(`▸ ${stage.name} … ${outcome} (${duration(Date.now() - begun)})\n`);
  };
  const missing = (stage.needs ?? []).filter((name) => outcomes.has(name) && outcomes.get(name) !== "ok");
  if (missing.length > 0) return recordOutcome(`left out: it needs ${missing.join(", ")}`);
  if (stage.engine) {
    const engineState = await engine;
    if (!engineState) return recordOutcome("left out: no container engine answers");
    if (engineState instanceof Error) {
      failures.push({ name: stage.name, lines: tail(engineState.message, 30), repeat: `npm test -- ${stage.group}` });
      return recordOutcome("failed");
    }
  }
  const after = stage.around?.();
  stage.before?.();
  const { code, text, command } = stage.call ? await called(stage) : await logged(stage, stage.run());
  if (stage.summary) summaries.push([stage.name, text.match(stage.summary) ?? []]);
  const results = stage.results?.(text) ?? { failed: [], flaky: [] };
  ran.push(...[results.passed ?? [], results.flaky, results.failed].flat());
  flaky.push(...results.flaky.map((entry) => ({ ...entry, how: "passed on a second or third try there" })));
  withoutData.push(...(results.withoutData ?? []));
  leftOut.push(...(results.leftOut ?? []));
  keepTimes((results.passed ?? []).filter(({ seconds }) => seconds !== undefined));
  const changes = after?.() ?? null;
  if (changes) failures.push({ name: stage.name, lines: [changes], repeat: `npm test -- ${stage.group}` });
  if (code === 0) return recordOutcome(changes ? "failed" : "ok");
  // So many at once are no luck.
  if (stage.calm && results.failed.length > 0 && results.failed.length <= mostByLuck(results)) again.push({ ...stage, failed: results.failed });
  else if (results.failed.length > 0) failures.push(...results.failed);
  else failures.push({ name: stage.name, lines: tail(text, 60), repeat: command });
  recordOutcome(results.failed.length > 0 ? `${results.failed.length} failed` : "failed");
}

/** Once more, alone: what passes now is flaky. */
async function performCalmly(stage) {
  const begun = Date.now();
  const { code } = await logged({ ...stage, name: `${stage.name} alone` }, stage.calm(stage.failed));
  const results = stage.results();
  // A test that was not run, where the runner was ended in the middle, has not passed.
  const proven = new Set((results.passed ?? []).map(({ name }) => name));
  const still = new Set(results.failed.map(({ name }) => name));
  const passed = ({ name }) => (code === 0 || proven.has(name)) && !still.has(name);
  flaky.push(...stage.failed.filter(passed).map((entry) => ({ ...entry, how: "passed when nothing ran beside it" })));
  const failed = stage.failed.filter((entry) => !passed(entry));
  failures.push(...failed);
  process.stdout.write(`▸ once more, alone: ${stage.name} … ${failed.length === 0 ? "ok" : `${failed.length} failed`} (${duration(Date.now() - begun)})\n`);
}

function lintsOfTheBuild() {
  if (driver === null) return "Clippy is not there. Run: rustup component add clippy";
  const found = readFileSync(logOf(BUILD), "utf8");
  return /^(?:warning|error)\b/m.test(found) ? found : null;
}

function logOf(name) {
  return inRoot(".cache/test", `${name.replace(/\W+/g, "-")}.log`);
}

async function logged(stage, [program, args]) {
  const log = logOf(stage.name);
  const { code, text } = await runLogged(program, args, { log, env: { FORCE_COLOR: "0", NO_COLOR: "1", ...stage.env } });
  return { code, text, command: [...Object.entries(stage.env ?? {}).map(([name, value]) => `${name}=${value}`), path.basename(program), ...args].join(" ") };
}

/** A stage that is a function gives back what is wrong, or nothing. */
async function called(stage) {
  let wrong;
  try {
    wrong = (await stage.call()) ?? null;
  } catch (error) {
    wrong = error.message;
  }
  return { code: wrong === null ? 0 : 1, text: wrong ?? "", command: `npm test -- ${stage.group.split(" ")[0]}` };
}

/** The images that the tests need. Where they could not be made but are there, the tests continue with those. */
async function buildImages() {
  const log = inRoot(".cache/test/container-images.log");
  const listed = () => JSON.parse(output(stamina(), ["--json", "images", "list"]) ?? '{"images":[]}').images;
  for (let tries = 0; tries < 3; tries += 1) {
    if (tries > 0) await pause(tries === 1 ? 5_000 : 20_000);
    const missing = IMAGES.filter((name) => !listed().some((image) => image.name === name && image.current));
    if (missing.length === 0) return null;
    const { code } = await runLogged(stamina(), ["images", "build", ...missing], { log: tries === 0 ? log : log.replace(/\.log$/, `-${tries + 1}.log`) });
    if (code === 0) return null;
  }
  if (IMAGES.every((name) => listed().some((image) => image.name === name && image.built))) {
    process.stdout.write("The images could not be made anew; those that are there are taken.\n");
    return null;
  }
  return readFileSync(log, "utf8");
}

/** A command in a network of its own, if that can be had. */
function alone([program, args]) {
  return ownNetwork ? ["unshare", ["--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", program, ...args]] : [program, args];
}

/** Where `python3` is a script that looks for the right one (pyenv), each start costs a tenth of a second; tests start hundreds. */
function preferRealPython() {
  const real = output("python3", ["-c", "import sys; print(sys.executable)"]);
  if (real) process.env.PATH = `${path.dirname(real)}:${process.env.PATH}`;
}

/** CI ends this program after 90 minutes without a word; so it says before what it knows. */
function watchTheTime() {
  if (!ci) return;
  const running = () => stages.filter((stage) => wanted(stage) && !outcomes.has(stage.name)).map(({ name }) => name).join(", ") || "the tests that failed, once more";
  setTimeout(() => process.stdout.write(`An hour has passed. Not ended yet: ${running()}\n`), 60 * 60_000).unref();
  setTimeout(() => {
    failures.push({ name: running(), lines: ["It was still running after 84 minutes."], repeat: "npm test" });
    process.stdout.write(`${flakyReport(flaky)}${failureReport([...failures, ...again.flatMap(({ failed }) => failed)])}`);
    process.exit(1);
  }, 84 * 60_000).unref();
}

/** The types in ui/src/host/bindings are written by the tests: they must be the ones that lay there before. */
function unchangedBindings() {
  const folder = inRoot("ui/src/host/bindings");
  const look = () =>
    existsSync(folder)
      ? new Map(readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => [entry.name, readFileSync(`${entry.parentPath ?? entry.path}/${entry.name}`, "utf8")]))
      : new Map();
  const before = look();
  return () => {
    const changed = [...look()].filter(([name, text]) => before.get(name) !== text).map(([name]) => name);
    return changed.length === 0 ? null : `ui/src/host/bindings was not up to date with the commands: ${changed.join(", ")}. Commit what the tests wrote.`;
  };
}

/** A feature that only a dependency of tests brings makes whoever builds a program alone compile that crate, and all that need it, anew. */
function sameFeatures() {
  const tree = (edges) => output("cargo", ["tree", "--workspace", "--locked", "-e", edges, "--prefix", "none", "-f", "{p} [{f}]"]);
  const [programs, tests] = [tree("normal,build"), tree("normal,build,dev")];
  if (programs === null || tests === null) return "cargo tree failed.";
  const found = featuresOfTests(programs, tests);
  return found.length === 0 ? null : `Name these features where the crate is a dependency of the project, so that nothing compiles twice:\n${found.join("\n")}`;
}

function noGuiInTheCommandLine() {
  const tree = output("cargo", ["tree", "--locked", "-p", "stamina", "-e", "normal", "--prefix", "none"]);
  if (tree === null) return "cargo tree failed.";
  const gui = tree.split("\n").map((line) => line.split(" ")[0]).filter((name) => /^(tauri|wry|tao|gtk|gdk|webkit2gtk|soup3)(-|$)/.test(name));
  return gui.length === 0 ? null : `The command line pulls in GUI libraries: ${[...new Set(gui)].join(", ")}`;
}
