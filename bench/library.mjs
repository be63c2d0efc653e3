// The synthetic library that everything is measured on, made once and kept in .cache/bench.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { execFileSync } from "node:child_process";
import { duration, inRoot, targetDir } from "../scripts/lib/process.mjs";

const GENERATOR = inRoot("crates/ingest/examples/synthesize");

/** Sizes by name, as arguments of the generator. */
export const sizes = {
  full: ["--runs", "42", "--scenarios", "20", "--turns", "100"],
  small: ["--small"],
};

/** What the library depends on: the generator's sources and its arguments. */
function fingerprint(size) {
  const hash = createHash("sha256").update(sizes[size].join(" "));
  for (const name of readdirSync(GENERATOR).sort()) hash.update(`\0${name}\0`).update(readFileSync(path.join(GENERATOR, name)));
  return hash.digest("hex");
}

/**
 * Makes the library unless it lies there already.
 * @param {"full" | "small"} size
 * @returns {{ folder: string, made: Record<string, number> }} where it is and what the generator says is in it
 */
export function library(size) {
  const at = inRoot(".cache/bench", size);
  const [folder, note] = [path.join(at, "library"), path.join(at, "made.json")];
  const wanted = fingerprint(size);
  if (existsSync(note)) {
    const { fingerprint: found, ...made } = JSON.parse(readFileSync(note, "utf8"));
    if (found === wanted) return { folder, made };
  }
  process.stdout.write(`Writing the ${size} library …\n`);
  rmSync(at, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const begun = performance.now();
  const made = JSON.parse(execFileSync(path.join(targetDir(), "release/examples/synthesize"), [...sizes[size], folder], { encoding: "utf8" }));
  writeFileSync(note, JSON.stringify({ fingerprint: wanted, ...made }));
  process.stdout.write(`${made.files} files, ${(made.bytes / 1e9).toFixed(2)} GB in ${duration(performance.now() - begun)}\n`);
  return { folder, made };
}
