// A target folder that lives longer than a clone, so that a check compiles other people's code once and not in every clone.
//
// Cargo knows a crate from a registry by its checksum, but its own crates by the times of files, and would take what another
// clone compiled for what this one holds. So what it remembers of our own crates goes before each check: they are always
// compiled from the clone.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { atEnd, inRoot, output } from "./process.mjs";
import { kept } from "./tools.mjs";

const NEWEST = 2;

/** Takes the kept folder for this program and those that it starts, unless another check is using it. */
export function useKeptTarget() {
  if (process.env.CARGO_TARGET_DIR) return;
  const folders = path.join(kept, "targets");
  const profiles = readFileSync(inRoot("Cargo.toml"), "utf8").split(/^(?=\[)/m).filter((section) => section.startsWith("[profile."));
  const key = createHash("sha256").update([output("rustc", ["-vV"]), readFileSync(inRoot("Cargo.lock"), "utf8"), ...profiles].join("\0"));
  const folder = path.join(folders, key.digest("hex").slice(0, 16));
  mkdirSync(folder, { recursive: true });
  if (!lock(path.join(folder, "in-use-by"))) return;
  utimesSync(folder, new Date(), new Date());
  for (const old of byAge(folders).slice(NEWEST)) if (!inUse(path.join(old, "in-use-by"))) rmSync(old, { recursive: true, force: true });
  forgetOwnCrates(folder);
  process.env.CARGO_TARGET_DIR = folder;
}

function inUse(file) {
  try {
    process.kill(Number(readFileSync(file, "utf8")), 0);
    return true;
  } catch {
    return false;
  }
}

function lock(file) {
  if (inUse(file)) return false;
  writeFileSync(file, String(process.pid));
  atEnd(() => rmSync(file, { force: true }));
  return true;
}

const byAge = (folders) =>
  readdirSync(folders)
    .map((name) => path.join(folders, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);

function forgetOwnCrates(folder) {
  const { packages } = JSON.parse(output("cargo", ["metadata", "--locked", "--no-deps", "--format-version", "1"]));
  const own = packages.map(({ name }) => name);
  const remembered = path.join(folder, "debug/.fingerprint");
  if (!existsSync(remembered)) return;
  for (const entry of readdirSync(remembered)) {
    if (own.includes(entry.replace(/-[0-9a-f]{16}$/, ""))) rmSync(path.join(remembered, entry), { recursive: true, force: true });
  }
}
