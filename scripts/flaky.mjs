// `npm run flaky -- NAME`: the Rust tests whose name contains NAME, 30 times beside two processes that keep the machine busy.
// What fails once in a while fails here soon. `--count N` for another number of times.
//
//   npm run flaky -- NAME          Rust tests; containers included
//   npm run flaky -- e2e NAME      end-to-end tests whose title contains NAME, or those of a file: exports.spec.ts
//   npm run flaky -- ui NAME       unit tests of the UI whose name contains NAME
//   npm run flaky -- --whole N [GROUP…]    the whole check, or these groups of it, N times (3), with a line for each: minutes, failed, flaky by name
import { spawn } from "node:child_process";
import { copyFileSync, createWriteStream, existsSync, mkdirSync, rmSync } from "node:fs";
import { buildUi } from "./build-ui.mjs";
import { lintWhileBuilding } from "./check/clippy.mjs";
import { PLAYWRIGHT } from "./check/playwright.mjs";
import { namesInReport } from "./check/report.mjs";
import { VITEST_REPORT, VITEST_REPORTERS, literally, vitestResults } from "./check/script-tests.mjs";
import { atEnd, inRoot, root, runOrStop, stop } from "./lib/process.mjs";

process.chdir(root);
const args = process.argv.slice(2);
// Busy until this program ends, however that is.
const BUSY = `for (let n = 0; ; n += 1) if (n % 1e6 === 0 && process.ppid !== ${process.pid}) break;`;
if (args[0] === "--whole") {
  const counted = /^[1-9]\d*$/.test(args[1] ?? "");
  process.exit(await wholeChecks(counted ? Number(args[1]) : 3, args.slice(counted ? 2 : 1)));
}
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
keepBusy();
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

function keepBusy() {
  const busy = [1, 2].map(() => spawn(process.execPath, ["-e", BUSY], { stdio: "ignore" }));
  atEnd(() => busy.forEach((child) => child.kill("SIGKILL")));
}

/** The check so many times; gives back 1 where one of them failed. What each printed, and its flaky.json, stay in .cache/flaky. */
async function wholeChecks(times, groups) {
  const folder = inRoot(".cache/flaky");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  keepBusy();
  const running = new Set();
  atEnd(() => running.forEach(endGroup));
  const lines = [];
  for (let n = 1; n <= times; n += 1) {
    const begun = Date.now();
    rmSync(inRoot(".cache/test/flaky.json"), { force: true });
    const { code, text } = await wholeCheck(groups, `${folder}/run-${n}.log`, running);
    if (existsSync(inRoot(".cache/test/flaky.json"))) copyFileSync(inRoot(".cache/test/flaky.json"), `${folder}/run-${n}.json`);
    const { failed, flaky } = namesInReport(text);
    const count = failed ? `${failed.length} failed` : `ended with ${code} before it said what failed`;
    const names = [...(failed ?? []).map((name) => `  failed: ${name}\n`), ...flaky.map((name) => `  flaky: ${name}\n`)];
    lines.push(`run ${n} of ${times}: ${((Date.now() - begun) / 60_000).toFixed(1)} minutes, ${count}, ${flaky.length} flaky\n${names.join("")}`);
    process.stdout.write(`\n${lines.at(-1)}\n`);
    if (code !== 0) process.exitCode = 1;
  }
  process.stdout.write(`\nBeside two processes that keep the machine busy:\n${lines.join("")}What each run printed is in .cache/flaky.\n`);
  return process.exitCode ?? 0;
}

/** One check, with what it prints passed through. While it runs its process is in `running`. */
function wholeCheck(groups, log, running) {
  const file = createWriteStream(log);
  const child = spawn(process.execPath, ["scripts/test.mjs", ...groups], { stdio: ["ignore", "pipe", "inherit"], detached: true });
  running.add(child.pid);
  let text = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk) => {
    text += chunk;
    file.write(chunk);
    process.stdout.write(chunk);
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      running.delete(child.pid);
      file.end(() => resolve({ code: code ?? 1, text }));
    });
  });
}

function endGroup(pid) {
  try {
    process.kill(-pid, "SIGTERM");
  } catch {
    // It has ended by itself.
  }
}
