// `npm run parity`: holds the generated Flask servers and pytest suites against the native ones, in full: every turn of twenty
// scenarios, and three mutants of each. That takes most of a day; `npm run parity -- --every 10` a tenth of it, and
// `npm run parity -- --scenarios 2 --at 1,25 --mutants 1` minutes.
import path from "node:path";
import { root, runOrStop, targetDir } from "./lib/process.mjs";
import { pythonTools } from "./python-tools.mjs";

process.chdir(root);
const python = pythonTools();
runOrStop("cargo", ["build", "--release", "--workspace", "--locked", "--quiet", "--example", "parity"]);
runOrStop(path.join(targetDir(), "release/examples/parity"), process.argv.slice(2), { env: { STAMINA_PYTHON: python } });
