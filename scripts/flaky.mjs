// `npm run flaky -- NAME`: the Rust tests whose name contains NAME, 30 times beside two processes that keep the machine busy.
// What fails once in a while fails here soon. `--count N` for another number of times.
import { spawn } from "node:child_process";
import { lintWhileBuilding } from "./check/clippy.mjs";
import { atEnd, root, runOrStop, stop } from "./lib/process.mjs";

process.chdir(root);
const args = process.argv.slice(2);
const at = args.indexOf("--count");
const count = at === -1 ? "30" : args.splice(at, 2)[1];
if (args.length !== 1) stop("Which test? npm run flaky -- NAME");

// What `npm test` has compiled is not compiled again.
lintWhileBuilding();
const busy = [1, 2].map(() => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
atEnd(() => busy.forEach((child) => child.kill("SIGKILL")));
runOrStop("cargo", ["nextest", "run", "--workspace", "--locked", "--ignore-default-filter", "--run-ignored", "all", "--stress-count", count, "-E", `test(${args[0]})`], {
  hint: "It failed at least once; what it printed stands above.",
});
process.stdout.write(`It passed ${count} times.\n`);
