// `npm run flaky -- NAME`: the Rust tests whose name contains NAME, 30 times beside two processes that keep the machine busy.
// What fails once in a while fails here soon. `--count N` for another number of times.
//
//   npm run flaky -- NAME          Rust tests; containers included
//   npm run flaky -- e2e NAME      end-to-end tests whose title contains NAME, or those of a file: exports.spec.ts
//   npm run flaky -- ui NAME       unit tests of the UI whose name contains NAME
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { buildUi } from "./build-ui.mjs";
import { lintWhileBuilding } from "./check/clippy.mjs";
import { PLAYWRIGHT } from "./check/playwright.mjs";
import { VITEST_REPORT, VITEST_REPORTERS, literally, vitestResults } from "./check/script-tests.mjs";
import { atEnd, root, runOrStop, stop } from "./lib/process.mjs";

process.chdir(root);
const args = process.argv.slice(2);
const at = args.indexOf("--count");
const count = at === -1 ? "30" : args.splice(at, 2)[1];
const kind = args.length > 1 && ["e2e", "ui"].includes(args[0]) ? args.shift() : "rust";
if (args.length !== 1 || !(Number(count) > 0)) stop("Which test? npm run flaky -- NAME, or: npm run flaky -- e2e NAME, npm run flaky -- ui NAME");
const [name] = args;
const hint = "It failed at least once; what it printed stands above.";

// What `npm test` has compiled is not compiled again.
lintWhileBuilding();
if (kind === "e2e") {
  buildUi();
  runOrStop("cargo", ["build", "--workspace", "--locked", "--quiet", "--all-targets"]);
}
const busy = [1, 2].map(() => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
atEnd(() => busy.forEach((child) => child.kill("SIGKILL")));
if (kind === "e2e") {
  const chosen = name.endsWith(".spec.ts") ? [literally(name)] : ["-g", literally(name)];
  runOrStop("npx", [...PLAYWRIGHT, "--repeat-each", count, "--retries", "0", ...chosen], { env: { DOCKER_HOST: "unix:///nowhere/stamina-check.sock" }, hint });
} else if (kind === "ui") {
  for (let n = 0; n < Number(count); n += 1) {
    rmSync(VITEST_REPORT, { force: true });
    runOrStop("npm", ["run", "test", "--workspace", "ui", "--silent", "--", ...VITEST_REPORTERS, "--retry=0", "-t", literally(name)], { hint });
    // Where none is of that name vitest leaves all of them out.
    if (vitestResults().passed.length === 0) stop(`There is no test of the UI whose name contains "${name}".`);
  }
} else {
  runOrStop("cargo", ["nextest", "run", "--workspace", "--locked", "--ignore-default-filter", "--run-ignored", "all", "--stress-count", count, "-E", `test(${name})`], { hint });
}
process.stdout.write(`It passed ${count} times.\n`);
