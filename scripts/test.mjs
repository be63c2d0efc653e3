// `npm test`: set-up, then every check in order, stopping at the first that fails.
//
//   node scripts/test.mjs                 everything
//   node scripts/test.mjs ui rust         only the stages of these groups: ui, rust, e2e, containers
//
// The tests in containers run where an engine answers; in CI one is installed (scripts/containers.mjs).
//
// Each stage writes to .cache/test/<stage>.log; what it printed is shown when it fails. At the end stand the
// runners' own summary lines, as they printed them.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { buildUi } from "./build-ui.mjs";
import { containers } from "./containers.mjs";
import { duration, inRoot, output, root, runLogged, stop, targetDir } from "./lib/process.mjs";
import { findCargoDeny, setup } from "./setup.mjs";

process.chdir(root);
const groups = process.argv.slice(2);
const started = Date.now();
const summaries = [];

const UI = ["--workspace", "ui", "--silent"];
// One set of packages in every cargo call, so that shared dependencies have the same features and compile once.
const ALL = ["--workspace", "--locked", "--quiet"];

const IMAGES = ["base", "mini-swe-agent", "qwen-code"];

const stages = [
  { group: "ui", name: "types (svelte-check)", run: ["npm", ["run", "check", ...UI]], summary: /^svelte-check found.*/gm },
  { group: "ui", name: "lint (eslint)", run: ["npm", ["run", "lint", ...UI]] },
  { group: "ui", name: "ui tests (vitest)", run: ["npm", ["run", "test", ...UI]], summary: /^\s*(?:Test Files|Tests) .*/gm },
  { group: "ui containers", name: "scripts (node --test)", run: ["node", ["--test", "scripts/containers.test.mjs"]], summary: /^(?:#|ℹ) (?:tests|pass|fail) .*/gm },
  { group: "ui e2e", name: "types of the end-to-end tests (tsc)", run: ["npx", ["--no-install", "tsc", "-p", "tests/e2e"]] },
  { group: "ui rust e2e", name: "ui build (vite)", call: () => void buildUi() },
  { group: "rust", name: "format (cargo fmt)", run: ["cargo", ["fmt", "--all", "--check"]] },
  { group: "rust", name: "lint (clippy)", run: ["cargo", ["clippy", ...ALL, "--all-targets", "--", "-D", "warnings"]] },
  // Advisories are left out: their database is a git repository, which a test does not fetch (docs/security.md).
  { group: "rust", name: "dependencies (cargo deny)", run: [() => findCargoDeny(), ["--locked", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"]], summary: /^.*(?:bans|licenses|sources) ok.*/gm },
  { group: "rust", name: "rust tests (cargo test)", run: ["cargo", ["test", ...ALL]], summary: /^test result: (?!ok\. 0 passed; 0 failed; 0 ignored).*/gm, around: unchangedBindings },
  { group: "rust", name: "no GUI library in the command line", call: noGuiInTheCommandLine },
  { group: "rust e2e", name: "desktop and command line (cargo build)", run: ["cargo", ["build", ...ALL]] },
  { group: "e2e", name: "end to end in a browser and in the app's own window (playwright)", run: ["npx", ["--no-install", "playwright", "test", "-c", "tests/e2e/playwright.config.ts"]], summary: /^\s+\d+ (?:passed|skipped|flaky).*/gm },
  // One harness in Python and one from npm; `npm run harnesses` plays all of them.
  { group: "containers", name: "container images (stamina images build)", engine: true, run: [path.join(targetDir, "debug/stamina"), ["images", "build", ...IMAGES]] },
  { group: "containers", name: "real boxes (cargo test)", engine: true, env: { STAMINA_HARNESSES: "mock,mini_swe,qwen_code" }, run: ["cargo", ["test", ...ALL, "--test", "docker_*", "--", "--ignored", "--test-threads", "2"]], summary: /^test result: .*/gm },
  { group: "containers", name: "episodes of real harnesses (stamina run)", engine: true, run: ["node", ["scripts/harnesses.mjs", "--built", "--turns", "3", "mini_swe", "qwen_code"]], summary: /^\| \S.* \d+ of \d+ .*/gm },
];

const begun = Date.now();
setup({ tests: true });
process.stdout.write(`▸ set-up … ok (${duration(Date.now() - begun)})\n`);
// Made while the rest is checked: the base image takes a minute of waiting.
const engine = groups.length === 0 || groups.includes("containers") ? containers({ ci: Boolean(process.env.CI) }).catch((error) => error) : Promise.resolve(false);

for (const stage of stages) {
  if (groups.length > 0 && !stage.group.split(" ").some((group) => groups.includes(group))) continue;
  await perform(stage);
}
process.stdout.write(`\nAll passed in ${duration(Date.now() - started)}.\n\n`);
for (const [name, lines] of summaries) {
  process.stdout.write(`${name}\n${lines.map((line) => `  ${line.trim()}\n`).join("")}`);
}

async function perform(stage) {
  const begun = Date.now();
  process.stdout.write(`▸ ${stage.name} … `);
  if (stage.engine) {
    const there = await engine;
    if (there instanceof Error) stop(there.message);
    if (!there) return void process.stdout.write("left out: no container engine answers\n");
  }
  const log = inRoot(".cache/test", `${stage.name.replace(/\W+/g, "-")}.log`);
  const after = stage.around?.();
  let failure = null;
  if (stage.call) failure = await stage.call();
  else {
    // Where a program lies is known after the set-up.
    const program = typeof stage.run[0] === "function" ? stage.run[0]() : stage.run[0];
    const { code, text } = await runLogged(program, stage.run[1], { log, env: { FORCE_COLOR: "0", NO_COLOR: "1", ...stage.env } });
    if (code !== 0) failure = `${text}\n"${program} ${stage.run[1].join(" ")}" ended with ${code}.`;
    else if (stage.summary) summaries.push([stage.name, text.match(stage.summary) ?? []]);
  }
  failure ??= after?.() ?? null;
  process.stdout.write(`${failure ? "failed" : "ok"} (${duration(Date.now() - begun)})\n`);
  if (failure) stop(`${failure}\n\nStage "${stage.name}" failed after ${duration(Date.now() - started)} in all.`);
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

function noGuiInTheCommandLine() {
  const tree = output("cargo", ["tree", "--locked", "-p", "stamina", "-e", "normal", "--prefix", "none"]);
  if (tree === null) return "cargo tree failed.";
  const gui = tree.split("\n").map((line) => line.split(" ")[0]).filter((name) => /^(tauri|wry|tao|gtk|gdk|webkit2gtk|soup3)(-|$)/.test(name));
  return gui.length === 0 ? null : `The command line pulls in GUI libraries: ${[...new Set(gui)].join(", ")}`;
}
