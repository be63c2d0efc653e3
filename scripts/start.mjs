// `npm start`: makes sure of what is needed, builds what changed, opens the app. Arguments go to the app:
// `npm start -- path/to/results`. The first start opens the sample in data/.
import { spawn } from "node:child_process";
import os from "node:os";
import path from "node:path";
import { buildUi } from "./build-ui.mjs";
import { root, runOrStop, stop, targetDir } from "./lib/process.mjs";
import { setup } from "./setup.mjs";

// npm changes into the root; paths are meant from where it was called.
const from = process.env.INIT_CWD ?? process.cwd();
process.chdir(root);
setup();
buildUi();
// A profile that is quicker to build (Cargo.toml), and the window alone.
const build = ["build", "--profile", "start", "--workspace", "--locked"];
runOrStop("cargo", [...build, "--bin", "stamina-lab"]);

const exe = process.platform === "win32" ? ".exe" : "";
const app = path.join(targetDir(), "start", `stamina-lab${exe}`);
const args = process.argv.slice(2);
if (process.platform === "linux" && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) {
  stop(
    `The app is built, but there is no screen to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set).\n` +
      "Without a screen, look at results in a browser: cargo run --release --workspace --bin stamina -- serve",
  );
}
const window = spawn(app, args, { cwd: from, stdio: "inherit" });
window.on("error", (error) => stop(`${app} could not be started: ${error.message}`));
// Runs without containers need it, the window does not: it is built behind the open window.
const commandLine = spawn("cargo", [...build, "--quiet", "--bin", "stamina"], { stdio: "ignore" });
commandLine.on("error", () => {});
commandLine.on("spawn", () => os.setPriority(commandLine.pid, os.constants.priority.PRIORITY_LOW));
window.on("exit", (code) => {
  commandLine.kill();
  process.exit(code ?? 1);
});
