// `npm start`: makes sure of what is needed, builds what changed, opens the app. Arguments go to the app:
// `npm start -- path/to/results`. The first start opens the sample in data/.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { buildUi } from "./build-ui.mjs";
import { root, runOrStop, stop, targetDir } from "./lib/process.mjs";
import { setup } from "./setup.mjs";

// npm changes into the root; paths are meant from where it was called.
const from = process.env.INIT_CWD ?? process.cwd();
process.chdir(root);
setup();
buildUi();
runOrStop("cargo", ["build", "--release", "--workspace", "--locked", "--bin", "stamina", "--bin", "stamina-lab"]);

const exe = process.platform === "win32" ? ".exe" : "";
const app = path.join(targetDir(), "release", `stamina-lab${exe}`);
const args = process.argv.slice(2);
if (process.platform === "linux" && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) {
  stop(
    `Everything is built, but there is no screen to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set).\n` +
      `Without a screen, look at results in a browser: ${path.join(targetDir(), "release", "stamina")} serve`,
  );
}
const result = spawnSync(app, args, { cwd: from, stdio: "inherit" });
if (result.error) stop(`${app} could not be started: ${result.error.message}`);
process.exit(result.status ?? 1);
