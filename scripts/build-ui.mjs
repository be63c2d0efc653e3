// Builds the UI into ui/dist, unless nothing that goes into it has changed since.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { inRoot, runOrStop } from "./lib/process.mjs";

const STAMP = inRoot(".cache/ui-built-from");

/** A number for everything that the build reads: sources, settings and the versions of packages. */
function fingerprint() {
  const hash = createHash("sha256");
  const add = (file) => hash.update(file).update("\0").update(readFileSync(file)).update("\0");
  const walk = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name === "node_modules" || entry.name === "dist") continue;
      const at = path.join(folder, entry.name);
      if (entry.isDirectory()) walk(at);
      else if (entry.isFile()) add(at);
    }
  };
  walk(inRoot("ui"));
  add(inRoot("docs/metrics.md"));
  add(inRoot("package-lock.json"));
  return hash.digest("hex");
}

/** Builds if needed; says whether it did. */
export function buildUi() {
  const wanted = fingerprint();
  if (existsSync(inRoot("ui/dist/index.html")) && existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted) return false;
  runOrStop("npm", ["run", "build", "--workspace", "ui", "--silent", "--", "--logLevel", "warn"]);
  mkdirSync(path.dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, wanted);
  return true;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.stdout.write(buildUi() ? "The UI is built.\n" : "The UI is up to date.\n");
}
