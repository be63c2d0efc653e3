// What the package would hold, without building it: every file is there, the desktop entry and the type of packs say what desktops
// need, and a real pack is of that type.
import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { DEPENDS, MOST_BYTES, PACK_ENDING, PACK_TYPE, PROGRAMS, contents, debugNames, names, notBuilt, uiFiles } from "./lib/package-contents.mjs";
import { found, inRoot } from "./lib/process.mjs";
import { differences, filesOf, inside } from "./package-check.mjs";

const textOf = (to) => contents().find((file) => file.to === to).text;

test("every file of the package is there, once, and what is not a program leaves room for both", () => {
  assert.equal(new Set(names()).size, names().length);
  for (const { to, from, text } of contents()) {
    assert.ok(!path.isAbsolute(to) && !to.includes(".."), to);
    assert.ok(text !== undefined || existsSync(inRoot(from)), from);
  }
  const bytes = contents().reduce((sum, { from, text }) => sum + (from === undefined ? text.length : statSync(inRoot(from)).size), 0);
  assert.ok(bytes < MOST_BYTES / 2, `${bytes}`);
  assert.ok(DEPENDS.length > 3);
});

test("the programs and resources are those that Cargo and Tauri name", () => {
  const tauri = JSON.parse(readFileSync(inRoot("src-tauri/tauri.conf.json"), "utf8"));
  assert.ok(PROGRAMS.includes(tauri.mainBinaryName));
  for (const [from, to] of Object.entries(tauri.bundle.resources)) {
    const packed = contents().find((file) => file.to === `usr/lib/${tauri.productName}/${to}`);
    assert.equal(inRoot(packed.from), inRoot("src-tauri", from));
  }
  const [association] = tauri.bundle.fileAssociations;
  assert.deepEqual([association.mimeType, `.${association.ext[0]}`], [PACK_TYPE, PACK_ENDING]);
});

test("the desktop entry opens packs, names its program and has its icons", () => {
  const entry = new Map(textOf("usr/share/applications/stamina-lab.desktop").split("\n").filter((line) => line.includes("=")).map((line) => line.split(/=(.*)/s).slice(0, 2)));
  assert.equal(entry.get("Type"), "Application");
  assert.ok(PROGRAMS.includes(entry.get("Exec").split(" ")[0]));
  assert.ok(entry.get("MimeType").split(";").includes(PACK_TYPE));
  const icons = names().filter((name) => name.startsWith("usr/share/icons/hicolor/"));
  for (const name of [entry.get("Icon"), PACK_TYPE.replace("/", "-")]) assert.ok(icons.some((icon) => path.parse(icon).name === name), name);
});

test("a pack is of the type of packs, another zip is not", (t) => {
  if (!["update-mime-database", "gio"].every(found)) return t.skip("shared-mime-info and gio are not here");
  const home = mkdtempSync(path.join(tmpdir(), "stamina-types-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(path.join(home, "mime/packages"), { recursive: true });
  writeFileSync(path.join(home, "mime/packages/stamina-lab.xml"), textOf("usr/share/mime/packages/stamina-lab.xml"));
  const run = (command, ...args) => spawnSync(command, args, { encoding: "utf8", env: { ...process.env, XDG_DATA_HOME: home, LC_ALL: "C.UTF-8" } });
  const made = run("update-mime-database", path.join(home, "mime"));
  assert.equal(made.status, 0, made.stderr);
  const typeOf = (from, name) => {
    const file = path.join(home, name);
    copyFileSync(inRoot(from), file);
    const info = run("gio", "info", "-a", "standard::content-type", file).stdout;
    return /standard::content-type: (\S+)/.exec(info)?.[1];
  };
  assert.equal(typeOf("data/sample-pack.zip", `a${PACK_ENDING}`), PACK_TYPE);
  assert.equal(typeOf("data/sample-pack.zip", "without-an-ending"), PACK_TYPE);
  assert.equal(typeOf("data/sample-harbor.zip", "jobs.zip"), "application/zip");
  assert.equal(typeOf("data/sample-harbor.zip", "other-without-an-ending"), "application/zip");
});

test("a package of programs for development has the UI where these look for it, and no bill of materials", () => {
  const ui = uiFiles("icons");
  const icon = ui.find(({ from }) => from === "icons/icon.svg");
  const program = path.join("/usr/bin", PROGRAMS[0]);
  const [, beside] = /folder\.join\("(share\/[^"]+)"\)/.exec(readFileSync(inRoot("crates/cli/src/web_ui.rs"), "utf8"));
  assert.equal(path.join("/", icon.to), path.join(path.dirname(path.dirname(program)), beside, "icon.svg"));
  assert.deepEqual(debugNames(ui), [...names().filter((name) => !name.endsWith(".cdx.json")), ...ui.map(({ to }) => to)].sort());
});

test("what a package of programs for development lacks is said in a sentence", (t) => {
  const empty = mkdtempSync(path.join(tmpdir(), "stamina-not-built-"));
  t.after(() => rmSync(empty, { recursive: true, force: true }));
  const { status, stderr } = spawnSync(process.execPath, [inRoot("scripts/package.mjs"), "--check-debug"], { encoding: "utf8", env: { ...process.env, CARGO_TARGET_DIR: empty } });
  if (process.platform === "linux" && found("dpkg")) {
    assert.equal(status, 1);
    assert.equal(stderr.trim(), notBuilt({ programs: path.join(empty, "debug") }));
  }
  assert.match(notBuilt({ programs: empty }), /^There is no \S+stamina\. "cargo build .*--bin stamina-lab" builds the programs\.$/);
  for (const name of PROGRAMS) writeFileSync(path.join(empty, name), "");
  assert.match(notBuilt({ programs: empty, ui: empty }), /^There is no \S+index\.html\. "node scripts\/build-ui\.mjs" builds the UI\.$/);
  writeFileSync(path.join(empty, "index.html"), "");
  assert.equal(notBuilt({ programs: empty, ui: empty }), null);
});

test("a .deb with other files is not taken", () => {
  const listing = ["drwxr-xr-x root/root         0 2026-11-27 10:00 ./usr/", "-rw-r--r-- root/root        12 2026-11-27 10:00 ./usr/lib/Stamina Lab/data/a.zip", "-rwxr-xr-x root/root 41234567 2026-11-27 10:00 ./usr/bin/stamina"].join("\n");
  const files = filesOf(listing);
  assert.deepEqual(files, ["usr/bin/stamina", "usr/lib/Stamina Lab/data/a.zip"]);
  assert.deepEqual(differences(files, files), []);
  assert.deepEqual(differences(files, ["usr/bin/stamina", "usr/bin/stamina-lab"]), ["missing: usr/bin/stamina-lab", "not expected: usr/lib/Stamina Lab/data/a.zip"]);
});

test("what runs in the clean root is a script that a shell reads", () => {
  const { status, stderr } = spawnSync("sh", ["-n"], { input: inside("0.1.0"), encoding: "utf8" });
  assert.equal(status, 0, stderr);
});
