// `npm test -- --changed`: what differs from `main`, as a filter of cargo-nextest.
import path from "node:path";
import { output, root } from "../lib/process.mjs";

/** `{ crates, filter }`: the workspace's crates with a changed file, and the arguments that mean their tests and those of all that need them. */
export function changedCrates() {
  const base = output("git", ["merge-base", "HEAD", "main"]) ?? "HEAD";
  const files = [...lines(output("git", ["diff", "--name-only", base])), ...lines(output("git", ["ls-files", "--others", "--exclude-standard"]))];
  const { packages } = JSON.parse(output("cargo", ["metadata", "--locked", "--no-deps", "--format-version", "1"]));
  const folders = packages.map(({ name, manifest_path }) => [name, path.relative(root, path.dirname(manifest_path))]);
  // What belongs to no crate but is compiled by all.
  const shared = files.some((file) => ["Cargo.toml", "Cargo.lock", "clippy.toml"].includes(file) || file.startsWith(".cargo/"));
  const crates = folders.filter(([, folder]) => shared || files.some((file) => file.startsWith(`${folder}/`))).map(([name]) => name);
  return { crates, filter: ["--no-tests", "pass", "-E", crates.length === 0 ? "none()" : crates.map((name) => `rdeps(=${name})`).join(" + ")] };
}

const lines = (text) => (text ?? "").split("\n").filter((line) => line !== "");
