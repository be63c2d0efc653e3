// `npm run bench`: measures what design budgets promise, on a synthetic library, and says which are kept.
//
//   npm run bench                          everything, at 42 runs × 20 scenarios × 100 turns
//   npm run bench -- --small               the same on a small library, to try the bench itself
//   npm run bench -- --only ingest,pages   some of: ingest, python, tables, pages, comparisons, start, generation, suites,
//                                          runner, harbor, locobench
//
// The table goes to standard output, all numbers to .cache/bench/result.json. A budget that is missed is said and does
// not make the command fail: another machine has other numbers.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { comparisons } from "../bench/comparisons.mjs";
import { harborSteps } from "../bench/harbor_steps.mjs";
import { ingest, python } from "../bench/ingest.mjs";
import { library } from "../bench/library.mjs";
import { locobench } from "../bench/locobench.mjs";
import { pages } from "../bench/pages.mjs";
import { rows, table } from "../bench/report.mjs";
import { runner } from "../bench/runner.mjs";
import { generation, suites } from "../bench/scenarios.mjs";
import { start } from "../bench/start.mjs";
import { tables } from "../bench/tables.mjs";
import { buildUi } from "./build-ui.mjs";
import { inRoot, output, root, runOrStop, stop } from "./lib/process.mjs";

const PARTS = ["ingest", "python", "tables", "pages", "comparisons", "start", "generation", "suites", "runner", "harbor", "locobench"];
const LIBRARY = ["ingest", "python", "pages", "comparisons", "start"];

process.chdir(root);
const { size, only } = options(process.argv.slice(2));
const wants = (part) => only.includes(part);
const step = (text) => process.stdout.write(`▸ ${text}\n`);

step("building");
if (wants("start") || wants("pages")) buildUi();
const needsLibrary = LIBRARY.some(wants);
// One call for all.
const programs = ["--bin", "stamina", ...(wants("start") ? ["--bin", "stamina-lab"] : []), ...(needsLibrary ? ["--example", "synthesize"] : [])];
runOrStop("cargo", ["build", "--release", "--workspace", "--locked", "--quiet", ...programs]);

const { folder, made } = needsLibrary ? library(size) : {};
const db = inRoot(".cache/bench", size, "library.sqlite");
const result = {
  date: new Date().toISOString().slice(0, 10),
  commit: output("git", ["rev-parse", "--short", "HEAD"]),
  size,
  machine: { cores: os.availableParallelism(), model: os.cpus()[0]?.model ?? "unknown", memory_bytes: os.totalmem() },
  library: made,
};
const busy = os.loadavg()[0];
if (busy > 1) process.stdout.write(`  Others use this machine (load ${busy.toFixed(1)}): times will be too long.\n`);

if (wants("ingest") || (needsLibrary && !existsSync(db))) {
  step("reading the library: twice from nothing, five times unchanged, five times with one episode changed");
  result.ingest = await ingest(folder, made, db);
}
if (wants("python")) {
  step("the Python importer on the same folder, twice");
  result.python = await python(folder, made, path.join(path.dirname(db), "python.sqlite"));
}
if (wants("tables")) {
  step("a tidy table of 5 million rows, twice, and with pandas and sqlite3");
  result.tables = await tables(size);
}
if (wants("pages")) {
  step("the data of every page");
  result.pages = await pages(db);
}
if (wants("comparisons")) {
  step("comparisons of eight runs, and their failed attempts classified for the first time");
  result.comparisons = await comparisons(db);
}
if (wants("start")) {
  step("starting the desktop app");
  result.start = start(db);
}
if (wants("generation") || wants("suites")) {
  step("generating scenarios: twice in full, once into a zip, and with fewer turns");
  result.generation = await generation(size);
}
if (wants("suites")) {
  step("suites, natively and with pytest, against the same server");
  result.suites = await suites(result.generation.pack, result.generation.turns);
}
if (wants("runner")) {
  step("the runner, with an agent that answers at once: 1,000 turns without containers, one episode in containers, twenty side by side");
  result.runner = await runner(size);
}

if (wants("harbor")) {
  step("steps of Harbor tasks, with the reference solution and with nobody, here and with Harbor");
  result.harbor = await harborSteps(size);
}
if (wants("locobench")) {
  step("reading sessions of LoCoBench-Agent");
  result.locobench = await locobench(size);
}

mkdirSync(inRoot(".cache/bench"), { recursive: true });
writeFileSync(inRoot(".cache/bench/result.json"), `${JSON.stringify(result, null, 2)}\n`);
process.stdout.write(`\n${table(rows(result))}\n`);

function options(given) {
  const chosen = { size: "full", only: PARTS };
  while (given.length > 0) {
    const option = given.shift();
    if (option === "--small") chosen.size = "small";
    else if (option === "--only") chosen.only = (given.shift() ?? "").split(",");
    else stop(`"${option}" is not understood: --small, --only ${PARTS.join(",")}`);
  }
  const unknown = chosen.only.filter((part) => !PARTS.includes(part));
  if (unknown.length > 0) stop(`There is no part "${unknown.join(", ")}": ${PARTS.join(", ")}`);
  return chosen;
}
