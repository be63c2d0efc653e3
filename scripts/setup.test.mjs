// A system package that everything works without is tried once a day where it cannot be had.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { forgetFailure, hasFailedToday, rememberFailure } from "./lib/failed-today.mjs";
import { inRoot } from "./lib/process.mjs";

/** A folder of its own, with programs that stand in for those of Debian: `apt-get` installs nothing and writes down its calls. */
function machine(t, { aptStatus = 100 } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), "stamina-setup-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const programs = {
    "dpkg-query": '[ "$3" = chromium ] && printf "install ok installed"',
    "apt-cache": "exit 0",
    "apt-get": `echo "$@" >> '${folder}/calls'; exit ${aptStatus}`,
    sudo: 'shift; exec "$@"',
  };
  mkdirSync(path.join(folder, "bin"));
  for (const [name, script] of Object.entries(programs)) {
    const at = path.join(folder, "bin", name);
    writeFileSync(at, `#!/bin/sh\n${script}\n`);
    chmodSync(at, 0o755);
  }
  const failures = path.join(folder, "failed");
  const run = (again = false) => {
    rmSync(path.join(folder, "calls"), { force: true });
    const script = `import { systemPackages } from ${JSON.stringify(pathToFileURL(inRoot("scripts/setup.mjs")))};
systemPackages(["chromium-headless-shell"], ${JSON.stringify({ again, failures })});`;
    const env = { ...process.env, PATH: `${path.join(folder, "bin")}:${process.env.PATH}` };
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8", env });
    assert.equal(status, 0, stderr);
    const calls = existsSync(path.join(folder, "calls")) ? readFileSync(path.join(folder, "calls"), "utf8").trim().split("\n") : [];
    return { stdout, calls };
  };
  return { run, failures };
}

test("a browser that cannot be installed is tried once a day", { skip: process.platform !== "linux" && "apt is asked on Linux only" }, (t) => {
  const { run, failures } = machine(t);
  const first = run();
  assert.match(first.stdout, /chromium-headless-shell could not be installed; chromium, which is there, is used instead/);
  assert.equal(first.calls.length, 2);
  assert.deepEqual(run(), { stdout: "", calls: [] });
  // Who runs the setup wants it tried.
  assert.equal(run(true).calls.length, 2);
  rememberFailure("chromium-headless-shell", { folder: failures, now: new Date(Date.now() - 24 * 3_600_000) });
  assert.equal(run().calls.length, 2);
});

test("a browser that was installed is no failure", { skip: process.platform !== "linux" && "apt is asked on Linux only" }, (t) => {
  const { run, failures } = machine(t, { aptStatus: 0 });
  rememberFailure("chromium-headless-shell", { folder: failures });
  assert.equal(run(true).calls.length, 1);
  assert.ok(!hasFailedToday("chromium-headless-shell", { folder: failures }));
});

test("a failure is remembered for its day", (t) => {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), "stamina-failed-")), "new");
  t.after(() => rmSync(path.dirname(folder), { recursive: true, force: true }));
  const at = (now) => ({ folder, now: new Date(now) });
  assert.ok(!hasFailedToday("a", at("2026-11-29T10:00:00Z")));
  rememberFailure("a", at("2026-11-29T10:00:00Z"));
  assert.ok(hasFailedToday("a", at("2026-11-29T23:59:59Z")));
  assert.ok(!hasFailedToday("a", at("2026-11-30T00:00:00Z")));
  assert.ok(!hasFailedToday("b", at("2026-11-29T10:00:00Z")));
  forgetFailure("a", { folder });
  forgetFailure("a", { folder });
  assert.ok(!hasFailedToday("a", at("2026-11-29T10:00:00Z")));
});
