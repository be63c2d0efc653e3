// What failed today and is not tried again before tomorrow. Only for what everything works without.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inRoot } from "./process.mjs";

/** A file for each thing that failed, with the day. */
const FOLDER = inRoot(".cache/failed-today");

const day = (now) => now.toISOString().slice(0, 10);

/** Whether something failed today. */
export function hasFailedToday(name, { folder = FOLDER, now = new Date() } = {}) {
  try {
    return readFileSync(path.join(folder, name), "utf8") === day(now);
  } catch {
    return false;
  }
}

/** Remembers that something failed today. Where that cannot be written, it is tried again the next time. */
export function rememberFailure(name, { folder = FOLDER, now = new Date() } = {}) {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, name), day(now));
  } catch (error) {
    process.stderr.write(`${path.join(folder, name)} could not be written: ${error.message}\n`);
  }
}

/** Forgets that something failed. */
export function forgetFailure(name, { folder = FOLDER } = {}) {
  rmSync(path.join(folder, name), { force: true });
}
