// Programs that the tests need, which are built once for a user, not once for a clone.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

/** What is kept between clones lies here. */
export const kept = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache"), "stamina-lab");

/** Where `cargo install --root` puts the tests' programs. */
export const toolRoot = path.join(kept, "tools");

/**
 * Where a program that the tests need lies, or `null`.
 * @param {string} name
 * @returns {string | null}
 */
export function findTool(name) {
  const home = process.env.CARGO_HOME ?? path.join(homedir(), ".cargo");
  return [path.join(toolRoot, "bin", name), path.join(home, "bin", name)].find((at) => existsSync(at)) ?? null;
}
