// `npm run harnesses [NAME…]`: every real harness in its image plays one scenario over five turns with the simulated
// model. Says what each came to; ends with 1 if one of them did not pass what an agent without defects passes.
//
//   --turns N      other than 5
//   --at-once N    so many of them play beside each other (default: 1)
//   --keep FOLDER  where the results go (default: .cache/harnesses, made anew)
//   --built        takes the command line as it was built last
//   --bin FILE     takes this one, of a release or an installation
//   --wrong        also plays each way to go wrong (a full context, calls that cannot be read, a killed harness, giving up,
//                  no answer, no change) with each of them, and looks whether its end is reported right, by the harness and in a
//                  run's record
//   --faults       instead plays each of them with an endpoint that misbehaves in each of the ways of docs/harnesses.md, and
//                  prints what each attempt came to, as a table fault × harness, with what it must come to. Takes minutes
//                  for each harness: "npm run harnesses -- --faults mini_swe qwen_code" tries two. Ends with 1 if one of
//                  them is not judged as it must be; a sample of it runs with `npm test`
//   --defects N    share of turns whose first attempt has defects, all mended after feedback (default: 0.4)
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { lintWhileBuilding } from "./check/clippy.mjs";
import { containers } from "./containers.mjs";
import { differences, foundIn, table } from "./lib/fault-table.mjs";
import { IMAGES as HARNESSES } from "./lib/harness-words.mjs";
import { duration, inRoot, root, runOrStop, stop, targetDir } from "./lib/process.mjs";

process.chdir(root);
// What `npm test` has compiled is not compiled again.
lintWhileBuilding();
const args = process.argv.slice(2);
const option = (name, otherwise) => {
  const at = args.indexOf(name);
  return at === -1 ? otherwise : args.splice(at, 2)[1];
};
const turns = Number(option("--turns", "5"));
const atOnce = Number(option("--at-once", "1"));
if (!(Number.isInteger(atOnce) && atOnce > 0)) stop("--at-once takes a number from 1: how many harnesses play beside each other.");
const bin = option("--bin", null);
const defects = option("--defects", "0.4");
const built = args.includes("--built") && args.splice(args.indexOf("--built"), 1).length > 0;
const wrong = args.includes("--wrong") && args.splice(args.indexOf("--wrong"), 1).length > 0;
const faults = args.includes("--faults") && args.splice(args.indexOf("--faults"), 1).length > 0;
const folder = path.resolve(option("--keep", inRoot(".cache/harnesses")));
const chosen = args.length === 0 ? Object.keys(HARNESSES) : args.map((name) => name.toUpperCase().replaceAll("-", "_"));
const unknown = chosen.filter((name) => !(name in HARNESSES));
if (unknown.length > 0) stop(`No harness is called ${unknown.join(", ")}. There are ${Object.keys(HARNESSES).join(", ")}.`);

if (!(await containers({ ci: Boolean(process.env.CI) }))) stop("No container engine answers. Start Docker or Podman and try again.");
if (!built && !bin) runOrStop("cargo", ["build", "--workspace", "--locked", "--quiet", "--bin", "stamina"]);
const stamina = bin ? path.resolve(bin) : path.join(targetDir(), "debug/stamina");
runOrStop(stamina, ["images", "build", ...chosen.map((name) => HARNESSES[name])]);
if (faults) {
  playFaults();
  process.exit(0);
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
let failed = 0;
let endsWrong = false;
process.stdout.write("| harness | turns passed | attempts | tokens in / out, gateway | tokens in / out, harness | other ends |\n|---|---|---|---|---|---|\n");
const waiting = [...chosen];
const player = async () => {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await play(name);
};
await Promise.all(Array.from({ length: atOnce }, player));
if (wrong) endsWrong = !passes("of the ways to go wrong", ["docker_clis::each_way_to_go_wrong", "docker_ends::each_way_in_which_a_real_harness_ends_is_recorded"]);
if (failed > 0) stop(`${String(failed)} of ${String(chosen.length)} harnesses did not pass all turns. Their results are in ${folder}.`);
process.stdout.write(`${String(chosen.length)} of ${String(chosen.length)} harnesses passed all ${String(turns)} turns.\n`);
if (endsWrong) stop("Some of the ways to go wrong were not told right.");

/** Plays the scenario with one harness, and prints its row. */
async function play(name) {
  const begun = Date.now();
  const results = path.join(folder, name.toLowerCase());
  const values = [
    `agent=${name}`,
    `output_dir=${results}`,
    "use_docker=true",
    "endpoint.mode=oracle",
    "restful_server_gen_iterative.n_scenarios=1",
    `restful_server_gen_iterative.n_turns=${String(turns)}`,
    "restful_server_gen_iterative.base_seed=0",
    `oracle.defect_rate=${defects}`,
    "oracle.seed=1",
    "limits.attempt_minutes=60",
  ];
  const run = await ran(["--json", "run", "--values", ...values]);
  const events = run.stdout.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  const attempts = events.filter((event) => event.event === "attempt");
  const passed = attempts.filter((event) => event.verdict === "passed").length;
  const well = run.ok && passed === turns;
  if (!well) failed += 1;
  const otherEnds = attempts.filter((event) => event.end_reason && event.end_reason !== "tests_failed");
  const row = [
    `${HARNESSES[name]} ${well ? version(results) : ""}`,
    `${String(passed)} of ${String(turns)}`,
    String(attempts.length),
    ...(well ? tokens(results) : ["unknown", "unknown"]),
    otherEnds.map((event) => `turn ${String(event.turn)}: ${event.end_reason}`).join(", ") || "none",
  ];
  process.stdout.write(`| ${row.join(" | ")} | ${duration(Date.now() - begun)}\n${run.ok ? "" : run.stderr}`);
}

/** Runs the command line: whether it ended well, and what it printed. */
function ran(words) {
  return new Promise((resolve) => {
    execFile(stamina, words, { encoding: "utf8", maxBuffer: 1 << 28 }, (error, stdout, stderr) => resolve({ ok: error === null, stdout, stderr }));
  });
}

/** Whether these tests pass with the chosen harnesses. Their output is shown. */
function passes(label, tests) {
  const { status, signal } = cargoTest(tests, chosen, "inherit");
  if (status !== 0) process.stderr.write(`cargo test ${label} ended with ${String(status ?? signal)}.\n`);
  return status === 0;
}

/** Runs the tests whose names begin so with some of the harnesses. */
function cargoTest(tests, harnesses, stdout) {
  const env = { ...process.env, STAMINA_EVERY_WAY: "1", STAMINA_HARNESSES: harnesses.map((name) => name.toLowerCase()).join(",") };
  return spawnSync("cargo", ["test", "--workspace", "--locked", "--quiet", "--test", "harness_integration", "--test", "runner_integration", "--", "--ignored", "--nocapture", "--test-threads", "1", ...tests], { stdio: ["ignore", stdout, "inherit"], env, encoding: "utf8", maxBuffer: 1 << 28 });
}

/** Plays every fault of an endpoint with each of the chosen harnesses, and prints the table of what they came to. */
function playFaults() {
  const found = [];
  for (const name of chosen) {
    const begun = Date.now();
    const { status, stdout } = cargoTest([`docker_faults::each_fault_of_an_endpoint_is_judged_alike_${name.toLowerCase()}`], [name], "pipe");
    const cells = foundIn(stdout ?? "");
    const well = cells.filter((cell) => cell.found === cell.must).length;
    process.stderr.write(`${HARNESSES[name]}: ${String(well)} of ${String(cells.length)} as they must be (${duration(Date.now() - begun)})\n`);
    // A test that did not finish has reported nothing, or not all.
    if (cells.length === 0 || (status !== 0 && well === cells.length)) stop(`cargo test of ${HARNESSES[name]} ended with ${String(status)}:\n${stdout ?? ""}`);
    found.push(...cells);
  }
  const columns = chosen.map((name) => ({ key: name.toLowerCase(), title: HARNESSES[name] }));
  process.stdout.write(table(found, columns));
  const differ = differences(found, columns);
  if (differ.length > 0) stop(`Not judged as they must be:\n${differ.join("\n")}`);
  process.stdout.write(`\nAll ${String(found.length)} attempts were judged as they must be.\n`);
}

/** The version that the run's own report names. */
function version(results) {
  return JSON.parse(readFileSync(path.join(results, "report.json"), "utf8")).run.harness_version;
}

/** Tokens of all attempts, as the gateway and as the harness counted them; unknown where an attempt has none. */
function tokens(results) {
  const { turns: played } = JSON.parse(readFileSync(path.join(results, "scenario_0/trajectory.json"), "utf8"));
  const attempts = played.flatMap((turn) => turn.attempts);
  return ["tokens", "harness_tokens"].map((key) => {
    const sum = (part) => attempts.reduce((total, attempt) => (Number.isFinite(attempt[key]?.[part]) ? total + attempt[key][part] : NaN), 0);
    return ["input", "output"].map((part) => (Number.isNaN(sum(part)) ? "unknown" : sum(part).toLocaleString("en-US"))).join(" / ");
  });
}
