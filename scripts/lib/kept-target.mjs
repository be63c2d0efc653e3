// A target folder that lives longer than a clone, so that a check compiles other people's code once and not in every clone.
//
// Cargo knows a crate from a registry by its checksum, version, features and profile, so one folder serves every lock file; its own
// crates it knows by the times of files, and would take what another clone compiled for what this one holds. So what it
// remembers of the project's crates goes before each check: they are always compiled from the clone.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { atEnd, output } from "./process.mjs";
import { kept } from "./tools.mjs";

/** Beyond this, crates that no lock file names any more are most of it, and the folder begins anew. */
const MOST_BYTES = 12e9;

/** Takes the kept folder of this compiler for this program and those that it starts, unless another check is using it. */
export function useKeptTarget() {
  if (process.env.CARGO_TARGET_DIR) return;
  const folders = path.join(kept, "targets");
  const folder = path.join(folders, createHash("sha256").update(output("rustc", ["-vV"])).digest("hex").slice(0, 16));
  mkdirSync(folder, { recursive: true });
  if (!lock(path.join(folder, "in-use-by"))) return;
  for (const name of readdirSync(folders)) {
    const other = path.join(folders, name);
    if (other !== folder && user(path.join(other, "in-use-by")) === null) rmSync(other, { recursive: true, force: true });
  }
  if (bytes(folder) > MOST_BYTES) rmSync(path.join(folder, "debug"), { recursive: true, force: true });
  forget(folder, ownCrates());
  process.env.CARGO_TARGET_DIR = folder;
}

/** 0 where it cannot be asked. */
const bytes = (folder) => 1024 * Number.parseInt(output("du", ["-sk", folder]) ?? "0", 10);

/** The check that uses a folder, or nothing. A file without a number, or of a number that another program has by now, is left over. */
function user(file) {
  const pid = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  if (!(pid > 1)) return null;
  const command = `/proc/${pid}/cmdline`;
  try {
    process.kill(pid, 0);
    return !existsSync("/proc/self") || readFileSync(command, "utf8").includes("scripts/") ? pid : null;
  } catch {
    return null;
  }
}

function lock(file) {
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx" });
      atEnd(() => rmSync(file, { force: true }));
      return true;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const pid = user(file);
    if (pid !== null) {
      process.stdout.write(`The kept folder of compiled crates is in use by process ${pid}: this check compiles from nothing.\n`);
      return false;
    }
    rmSync(file, { force: true });
  }
  return false;
}

const ownCrates = () => JSON.parse(output("cargo", ["metadata", "--locked", "--no-deps", "--format-version", "1"])).packages.map(({ name }) => name);

/** Removes what cargo remembers of these crates, and what it compiled of them: each clone has programs of its own, and a few checks would fill the folder. */
export function forget(folder, own) {
  const remembered = path.join(folder, "debug/.fingerprint");
  if (!existsSync(remembered)) return;
  const hash = /-([0-9a-f]{16})(?:\.|$)/;
  const forgotten = new Set();
  for (const entry of readdirSync(remembered)) {
    if (!own.includes(entry.replace(hash, ""))) continue;
    forgotten.add(hash.exec(entry)?.[1]);
    rmSync(path.join(remembered, entry), { recursive: true, force: true });
  }
  for (const place of ["deps", "examples", "build"].map((name) => path.join(folder, "debug", name)).filter((one) => existsSync(one))) {
    for (const entry of readdirSync(place)) {
      if (forgotten.has(hash.exec(entry)?.[1])) rmSync(path.join(place, entry), { recursive: true, force: true });
    }
  }
}
