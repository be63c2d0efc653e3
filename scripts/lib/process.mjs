// Starting other programs: with output passed through, captured, or kept in a log that is shown only on failure.
import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

/** A path inside the repository. */
export const inRoot = (...parts) => path.join(root, ...parts);

/** Where cargo puts what it builds. */
export const targetDir = () => (process.env.CARGO_TARGET_DIR ? path.resolve(process.env.CARGO_TARGET_DIR) : inRoot("target"));

/** `4 m 02 s`, `8.1 s`. */
export function duration(ms) {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, "0")} s`;
}

/** Says what went wrong and ends the program with a failure. */
export function stop(message) {
  process.stderr.write(`\n${message}\n`);
  process.exit(1);
}

/** Does something when this program ends: by itself, by a failure, or by Ctrl C. */
export function atEnd(act) {
  process.once("exit", act);
  for (const [signal, number] of [["SIGINT", 2], ["SIGTERM", 15], ["SIGHUP", 1]]) {
    if (process.listenerCount(signal) === 0) process.once(signal, () => process.exit(128 + number));
  }
}

/** What a program prints, or `null` when it is not there or fails. */
export function output(command, args) {
  const result = spawnSync(command, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 256 * 2 ** 20 });
  return result.status === 0 ? result.stdout.trim() : null;
}

/** Whether a program can be found. */
export function found(command) {
  const probe = process.platform === "win32" ? ["where", [command]] : ["sh", ["-c", `command -v "${command}"`]];
  return spawnSync(probe[0], probe[1], { stdio: "ignore" }).status === 0;
}

/** Seconds between one try and the next of what needs the network. */
const PAUSES = [5, 20, 60];

/** What is tried again is ended when it takes longer than this: a download that hangs never ends by itself. */
const TRY_MS = 20 * 60_000;

/** Runs a program with its output passed through, again after a pause where it fails; says whether it succeeded. */
export function runWithTries(command, args, { env = {}, cwd = root, stdio = ["ignore", "inherit", "inherit"], tries = 1 } = {}) {
  for (let n = 1; ; n += 1) {
    const { status } = spawnSync(command, args, { cwd, env: { ...process.env, ...env }, stdio, timeout: tries > 1 ? TRY_MS : undefined });
    if (status === 0) return true;
    if (n >= tries) return false;
    const seconds = PAUSES[Math.min(n, PAUSES.length) - 1];
    process.stderr.write(`"${command} ${args.join(" ")}" failed; it is tried again in ${seconds} s.\n`);
    sleep(seconds);
  }
}

function sleep(seconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, seconds * 1000);
}

/** Runs a program with its output passed through, `tries` times; ends this program when it fails. */
export function runOrStop(command, args, { hint = "", ...options } = {}) {
  if (!runWithTries(command, args, options)) stop(`"${command} ${args.join(" ")}" failed.${hint && `\n${hint}`}`);
}

/**
 * Runs a program with its output in `log`; resolves to its exit code and that output.
 * With `echo` the output is passed through as well.
 */
export function runLogged(command, args, { log, env = {}, cwd = root, echo = false }) {
  mkdirSync(path.dirname(log), { recursive: true });
  const file = createWriteStream(log);
  return new Promise((resolve, reject) => {
    file.on("error", reject);
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    const keepChunk = (chunk, to) => {
      file.write(chunk);
      if (echo) to.write(chunk);
    };
    child.stdout.on("data", (chunk) => keepChunk(chunk, process.stdout));
    child.stderr.on("data", (chunk) => keepChunk(chunk, process.stderr));
    child.on("error", (error) => keepChunk(`${command} could not be started: ${error.message}\n`, process.stderr));
    child.on("close", (code) => {
      file.end(() => resolve({ code: code ?? 1, text: readFileSync(log, "utf8") }));
    });
  });
}
