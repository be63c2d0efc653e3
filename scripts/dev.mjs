// `npm run dev`: the UI in a browser, built again at every change, over the command line's own server.
// Arguments go to `stamina`: `npm run dev -- --db other.db`.
import { spawn } from "node:child_process";
import path from "node:path";
import { lintWhileBuilding } from "./check/clippy.mjs";
import { root, runOrStop, targetDir } from "./lib/process.mjs";
import { setup } from "./setup.mjs";

process.chdir(root);
// What `npm test` has compiled is not compiled again.
lintWhileBuilding();
setup();
runOrStop("cargo", ["build", "--workspace", "--locked", "--quiet", "--bin", "stamina"]);
runOrStop("npm", ["run", "build", "--workspace", "ui", "--silent"]);
const children = [
  spawn("npm", ["run", "build", "--workspace", "ui", "--silent", "--", "--watch"], { stdio: "inherit" }),
  spawn(path.join(targetDir(), "debug/stamina"), [...process.argv.slice(2), "serve"], { stdio: "inherit" }),
];
for (const child of children) child.on("exit", () => children.forEach((other) => other.kill()));
