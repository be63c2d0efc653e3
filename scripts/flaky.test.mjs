// `npm run flaky -- --whole`: a check that stands in for the whole one, and what is said of each run.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { inRoot } from "./lib/process.mjs";

/** A repository with the scripts, in which `check` is the text of scripts/test.mjs; gives back what starts two checks there. */
function repository(t, check) {
  const folder = mkdtempSync(path.join(tmpdir(), "stamina-flaky-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(inRoot("scripts"), path.join(folder, "scripts"), { recursive: true });
  writeFileSync(path.join(folder, "scripts/test.mjs"), check);
  mkdirSync(path.join(folder, ".cache/test"), { recursive: true });
  return { folder, start: () => spawn(process.execPath, [path.join(folder, "scripts/flaky.mjs"), "--whole", "2", "ui"], { stdio: ["ignore", "pipe", "inherit"] }) };
}

const ended = (child) => new Promise((resolve) => child.on("exit", (code) => resolve(code)));

/** Programs that a program started and that still run. */
const children = (pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
const runs = (pid) => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

async function until(holds) {
  for (let tries = 0; tries < 600 && !holds(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(holds(), String(holds));
}

test("each whole check is named with its minutes, what failed, and what was flaky", async (t) => {
  const { folder, start } = repository(
    t,
    `import { existsSync, writeFileSync } from "node:fs";
const second = existsSync("was-here");
writeFileSync("was-here", process.argv.slice(2).join(" "));
writeFileSync(".cache/test/flaky.json", "[]");
process.stdout.write(second ? "\\n1 failed:\\n\\n✗ b\\n  again: x\\n\\n✗ b\\n\\nFailed after 1 s.\\n" : "\\n1 flaky: failed.\\n  a (passed on a second try)\\n\\nAll passed in 1 s.\\n");
process.exit(second ? 1 : 0);`,
  );
  const child = start();
  let text = "";
  child.stdout.on("data", (chunk) => (text += chunk));
  assert.equal(await ended(child), 1);
  assert.match(text, /busy:\nrun 1 of 2: \d+\.\d minutes, 0 failed, 1 flaky\n {2}flaky: a\nrun 2 of 2: \d+\.\d minutes, 1 failed, 0 flaky\n {2}failed: b\n/);
  assert.equal(readFileSync(path.join(folder, "was-here"), "utf8"), "ui");
  for (const name of ["run-1.log", "run-1.json", "run-2.log"]) assert.ok(existsSync(path.join(folder, ".cache/flaky", name)), name);
});

test("the busy processes and the check end with it", { skip: process.platform !== "linux" && "it looks into /proc" }, async (t) => {
  const { start } = repository(t, "setInterval(() => {}, 1000);");
  for (const signal of ["SIGINT", "SIGKILL"]) {
    const child = start();
    await until(() => children(child.pid).length === 3);
    const all = children(child.pid);
    // The check, which sleeps, has a group of its own.
    if (signal === "SIGKILL") t.after(() => all.filter(runs).forEach((pid) => process.kill(pid)));
    const code = ended(child);
    child.kill(signal);
    assert.equal(await code, signal === "SIGINT" ? 130 : null);
    await until(() => all.filter(runs).length <= (signal === "SIGINT" ? 0 : 1));
  }
});
