// A system package that everything works without is tried once a day where it cannot be had; what only some tests need is left out, and
// what is there serves where it cannot be installed anew.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { forgetFailure, hasFailedToday, rememberFailure } from "./lib/failed-today.mjs";
import { inRoot } from "./lib/process.mjs";
import { setAside } from "./lib/set-aside.mjs";

/** A folder of its own, with programs that stand in for those of Debian: `apt-get` installs nothing and writes down its calls. */
function machine(t, { aptStatus = 100, aptGet = `exit ${aptStatus}` } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), "stamina-setup-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const programs = {
    "dpkg-query": '[ "$3" = chromium ] && printf "install ok installed"',
    "apt-cache": "exit 0",
    "apt-get": `echo "$@" >> '${folder}/calls'\n${aptGet}`,
    sudo: 'shift; exec "$@"',
  };
  mkdirSync(path.join(folder, "bin"));
  for (const [name, script] of Object.entries(programs)) {
    const at = path.join(folder, "bin", name);
    writeFileSync(at, `#!/bin/sh\n${script}\n`);
    chmodSync(at, 0o755);
  }
  const failures = path.join(folder, "failed");
  const call = (text) => {
    rmSync(path.join(folder, "calls"), { force: true });
    const script = `import { missingReport, npmPackages, systemPackages } from ${JSON.stringify(pathToFileURL(inRoot("scripts/setup.mjs")))};\n${text}`;
    const env = { ...process.env, PATH: `${path.join(folder, "bin")}:${process.env.PATH}` };
    return spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8", env });
  };
  const run = (again = false, packages = ["chromium-headless-shell"], some = []) => {
    const options = JSON.stringify({ again, failures, some, tries: 1 });
    const { status, stdout, stderr } = call(`process.stdout.write(missingReport(systemPackages(${JSON.stringify(packages)}, ${options})));`);
    assert.equal(status, 0, stderr);
    const calls = existsSync(path.join(folder, "calls")) ? readFileSync(path.join(folder, "calls"), "utf8").trim().split("\n") : [];
    return { stdout, calls };
  };
  return { run, call, failures, folder };
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

test("packages that only some tests need stop nothing", { skip: process.platform !== "linux" && "apt is asked on Linux only" }, (t) => {
  const { run, call } = machine(t, { aptGet: 'case "$*" in *install*xclip*) exit 100;; esac\nexit 0' });
  const { stdout, calls } = run(true, ["python3-venv"], ["xclip", "xvfb"]);
  assert.match(stdout, /System packages that could not be installed:\n {2}xclip: the tests of the app's own window fail or are left out\nEverything else is checked/);
  // All at once, and where that fails each by itself.
  const installs = calls.filter((line) => line.startsWith("install")).map((line) => line.match(/(?<= )[a-z][\w-]*(?= |$)/g).join(" "));
  assert.deepEqual(installs, ["python3-venv", "xclip xvfb", "xclip", "xvfb"]);
  // Named each time, tried once a day.
  const later = run(false, ["python3-venv"], ["xclip"]);
  assert.match(later.stdout, / {2}xclip: the tests/);
  assert.ok(!later.calls.some((line) => line.includes("xclip")));
  const needed = call('systemPackages(["xclip"], { tries: 1 });');
  assert.equal(needed.status, 1);
  assert.match(needed.stderr, /System packages could not be installed/);
});

test("without root or sudo only what all tests need stops", { skip: process.platform !== "linux" && "apt is asked on Linux only" }, (t) => {
  const { call, folder } = machine(t);
  writeFileSync(path.join(folder, "bin/sudo"), "#!/bin/sh\nexit 1\n");
  const asUser = (packages) => {
    const options = JSON.stringify({ some: ["xclip"], failures: path.join(folder, "failed"), tries: 1 });
    return call(`process.getuid = () => 1000;\nprocess.stdout.write(missingReport(systemPackages(${JSON.stringify(packages)}, ${options})));`);
  };
  const { status, stdout, stderr } = asUser([]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /by hand:\n\n {2}sudo apt-get update && sudo apt-get install .* xclip\n[^]*\n {2}xclip: the tests of the app's own window fail/);
  const stopped = asUser(["python3-venv"]);
  assert.equal(stopped.status, 1);
  assert.match(stopped.stderr, /Install them and try again:\n\n.* python3-venv xclip\n/);
  assert.ok(!existsSync(path.join(folder, "calls")));
});

test("npm packages that are there serve where they cannot be installed anew", { skip: process.platform === "win32" && "npm stands in as a shell script" }, (t) => {
  const { call, folder } = machine(t);
  const npm = (ci, ls, dry = "exit 0") => {
    writeFileSync(path.join(folder, "bin/npm"), `#!/bin/sh\ncase "$1 $2" in "ci --dry-run") ${dry};; ci*) ${ci};; ls*) ${ls};; esac\n`);
    chmodSync(path.join(folder, "bin/npm"), 0o755);
  };
  const clone = path.join(folder, "clone");
  const inClone = (...names) => path.join(clone, "node_modules", ...names);
  const install = () => call(`npmPackages(${JSON.stringify({ folder: clone, tries: 1 })});`);
  mkdirSync(inClone("a"), { recursive: true });
  writeFileSync(path.join(clone, "package-lock.json"), "{}");
  const fails = "mkdir -p node_modules/half; exit 1";

  npm(fails, "test -d node_modules/a");
  const kept = install();
  assert.equal(kept.status, 0, kept.stderr);
  assert.match(kept.stdout, /those that are there fit package\.json and are used/);
  assert.ok(existsSync(inClone("a")) && !existsSync(inClone("half")) && !existsSync(inClone(".installed-from")));

  // They do not fit, or it is the lock file that failed.
  for (const [ls, dry] of [["exit 1", "exit 0"], ["exit 0", "exit 1"]]) {
    npm(fails, ls, dry);
    const unfit = install();
    assert.equal(unfit.status, 1);
    assert.match(unfit.stderr, /`npm ci` failed/);
    assert.ok(existsSync(inClone("a")));
  }

  npm("mkdir -p node_modules/b", "exit 1");
  assert.equal(install().status, 0);
  assert.ok(existsSync(inClone("b")) && !existsSync(inClone("a")));
  assert.ok(existsSync(inClone(".installed-from")) && !existsSync(path.join(clone, ".cache/set-aside/node_modules")));

  rmSync(inClone(), { recursive: true });
  npm(fails, "exit 0");
  assert.equal(install().status, 1, "there is nothing that serves");
});

test("what an ended program left aside is put back", (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "stamina-aside-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [packages, aside] = [path.join(folder, "packages"), path.join(folder, "cache/aside")];
  mkdirSync(path.join(packages, "whole"), { recursive: true });
  setAside(packages, aside);
  mkdirSync(path.join(packages, "half"), { recursive: true });
  assert.ok(setAside(packages, aside).restore());
  assert.deepEqual(readdirSync(packages), ["whole"]);
  assert.deepEqual(readdirSync(path.dirname(aside)), []);
});

test("what another program has aside is left to it, and what cannot be moved is made anew where it is", (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "stamina-aside-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [packages, aside] = [path.join(folder, "packages"), path.join(folder, "cache/aside")];
  mkdirSync(path.join(packages, "ours"), { recursive: true });
  mkdirSync(path.join(aside, "theirs"), { recursive: true });
  writeFileSync(`${aside}.pid`, String(process.ppid));
  const left = setAside(packages, aside);
  left.remove();
  assert.equal(left.restore(), false);
  assert.deepEqual([readdirSync(packages), readdirSync(aside)], [["ours"], ["theirs"]]);
  writeFileSync(path.join(folder, "file"), "");
  assert.equal(setAside(packages, path.join(folder, "file/aside")).restore(), false);
  assert.deepEqual(readdirSync(packages), ["ours"]);
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
