// What the set-up of a container engine does where there is none, and that what it starts never outlives the tests.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { containers } from "./containers.mjs";
import { inRoot } from "./lib/process.mjs";

const nowhere = { answers: () => false };

test("CI fails where no engine can be had: stages must not be left out in silence", async () => {
  await assert.rejects(containers({ ...nowhere, ci: true, platform: "linux", uid: 1000 }), /only be installed on Linux as root/);
  await assert.rejects(containers({ ...nowhere, ci: true, platform: "darwin", uid: 0 }), /darwin, user 0/);
  await assert.rejects(containers({ ...nowhere, ci: true, platform: "win32", uid: null }), /this is win32\)/);
});

test("on a developer's machine they are left out", async () => {
  assert.equal(await containers({ ...nowhere, ci: false }), false);
});

test("what was started ends with the program, however that ends", () => {
  const run = (end) => {
    const script = `import { atEnd, stop } from ${JSON.stringify(inRoot("scripts/lib/process.mjs"))};
      atEnd(() => process.stdout.write("stopped"));
      ${end}`;
    const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    return { stdout, status };
  };
  assert.deepEqual(run(""), { stdout: "stopped", status: 0 });
  assert.deepEqual(run(`stop("a stage failed");`), { stdout: "stopped", status: 1 });
  assert.deepEqual(run(`setTimeout(() => {}, 60_000); process.kill(process.pid, "SIGTERM");`), { stdout: "stopped", status: 143 });
  assert.equal(run(`throw new Error("x");`).stdout, "stopped");
});
