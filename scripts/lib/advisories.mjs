// Whether a dependency is known to be unsafe, as far as that can be asked here.
import { spawnSync } from "node:child_process";
import { root } from "./process.mjs";
import { findTool } from "./tools.mjs";

/**
 * What an answer of `cargo deny check advisories` means. `null` = it was never asked.
 * @param {{ status: number | null, text: string } | null} answer
 * @returns {{ isUnsafe: boolean, sentence: string }}
 */
export function verdict(answer) {
  const unknown = (reason) => ({ isUnsafe: false, sentence: `Advisories about dependencies were not looked at: ${reason}.` });
  if (answer === null) return unknown("cargo-deny is not here. `npm test` installs it");
  if (/failed to fetch advisory database/.test(answer.text)) return unknown("their database could not be fetched");
  if (answer.status === 0) return { isUnsafe: false, sentence: "No advisory is about a dependency." };
  if (answer.status === null) return unknown("cargo-deny was ended, because it took too long");
  return { isUnsafe: true, sentence: `${answer.text.trim()}\nAn advisory is about a dependency. Take another version of it, or say in deny.toml why it does no harm here.` };
}

/** Asks, for two minutes at most. */
export function advisories() {
  const program = findTool("cargo-deny");
  if (program === null) return verdict(null);
  const answer = spawnSync(program, ["--locked", "check", "--hide-inclusion-graph", "advisories"], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 120_000 });
  return verdict({ status: answer.status, text: `${answer.stdout}${answer.stderr}` });
}
