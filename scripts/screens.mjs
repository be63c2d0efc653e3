// `npm run screens`: the pictures of every page in docs/screens. Synthetic sweeps are written for them into .cache; which
// picture is made of what is listed in docs/screens/README.md.
//
//   npm run screens                     all of them
//   npm run screens -- compare live     only the scenes whose names begin so
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { buildUi } from "./build-ui.mjs";
import { lintWhileBuilding } from "./check/clippy.mjs";
import { inRoot, root, runOrStop, targetDir } from "./lib/process.mjs";
import { setup } from "./setup.mjs";

process.chdir(root);
// What `npm test` has compiled is not compiled again.
lintWhileBuilding();
setup({ tests: true });
buildUi();
runOrStop("cargo", ["build", "--workspace", "--locked", "--quiet", "--bins"]);
runOrStop("cargo", ["build", "--workspace", "--locked", "--quiet", "--example", "synthesize"]);

const data = inRoot(".cache/screens/data");
const sweeps = { sweep: ["--runs", "6", "--scenarios", "20", "--turns", "100"], varied: ["--varied"], "varied-26": ["--varied", "--runs", "26"], many: ["--runs", "500", "--scenarios", "3", "--turns", "10"] };
mkdirSync(data, { recursive: true });
for (const [name, size] of Object.entries(sweeps)) {
  const to = path.join(data, name);
  if (existsSync(to)) continue;
  // Renamed when it is whole, so that an interrupted one is written again.
  const partial = `${to}.partial`;
  rmSync(partial, { recursive: true, force: true });
  runOrStop(path.join(targetDir(), "debug/examples/synthesize"), [...size, partial]);
  renameSync(partial, to);
}
runOrStop("npx", ["--no-install", "playwright", "test", "-c", "tests/e2e/screens.config.ts"], { env: { STAMINA_SCREENS_DATA: data, STAMINA_SCREENS: process.argv.slice(2).join(",") } });
