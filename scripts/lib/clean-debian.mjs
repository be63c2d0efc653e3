// A clean root of Debian 12, and what runs in it with nothing of this machine: its own mounts, processes and network.
//
// What the root needs to install a package is downloaded once and kept beside it, so only the first check asks a mirror.
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import path from "node:path";
import { atEnd, found, runOrStop, stop } from "./process.mjs";
import { kept } from "./tools.mjs";

/** Debian 12. */
export const SUITE = "bookworm";
/** Where to download from; by itself debootstrap asks Debian's own mirror. */
const MIRROR = process.env.DEBIAN_MIRROR;

/** How the names of roots begin that are made or used. */
const BEGIN = "stamina-debian-";

/**
 * What downloads the things that `apt-get install` takes, each with all that it depends on, and installs none. Files need not reach the
 * disk: the root is thrown away.
 */
export const download = (things) => `set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
echo force-unsafe-io > /etc/dpkg/dpkg.cfg.d/unsafe
apt-get update -q
${things.map((thing) => `apt-get install -y -q --no-install-recommends --download-only ${thing}\n`).join("")}`;

/** A command that runs a script in a root, in namespaces of its own; mounts and processes end with it. */
const apart = (namespaces, script, ...args) => ["unshare", [...namespaces, "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh", ...args]];
const ENTER = 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && exec timeout --kill-after=10 600 chroot "$1" sh "/$2"';

/** Older ones are left over from a check that was killed. */
const OLD_MS = 24 * 60 * 60 * 1000;

function removeOld(folder, begin) {
  for (const name of readdirSync(folder).filter((name) => name.startsWith(begin))) {
    const at = path.join(folder, name);
    if (Date.now() - statSync(at).mtimeMs > OLD_MS) rmSync(at, { recursive: true, force: true });
  }
}

/** Where the tar of a root with what these things depend on is kept. `key` is what a new one is made for. */
const tarOf = (things, key) => path.join(kept, "debian", `${SUITE}-${createHash("sha256").update(`${key}\n${download(things)}`).digest("hex").slice(0, 16)}.tar`);

/** Makes the tar of a root. */
function makeTar(file, things, files) {
  const made = mkdtempSync(path.join(tmpdir(), BEGIN));
  atEnd(() => rmSync(made, { recursive: true, force: true }));
  // Each try begins with an empty folder, and ends by itself: a signal to `unshare` ends nothing.
  const strap = `find "$1" -mindepth 1 -delete && exec timeout --kill-after=10 1000 debootstrap --variant=minbase ${SUITE} "$1"${MIRROR ? ` '${MIRROR}'` : ""}`;
  runOrStop(...apart([], strap, made), { tries: 3, hint: "DEBIAN_MIRROR names another mirror." });
  putFiles(made, files);
  writeFileSync(path.join(made, "download.sh"), download(things));
  runOrStop(...apart([], ENTER, made, "download.sh"), { tries: 3, hint: "The packages could not be downloaded." });
  for (const { to } of files) rmSync(path.join(made, to));
  mkdirSync(path.dirname(file), { recursive: true });
  removeOld(path.dirname(file), SUITE);
  const part = `${file}.${String(process.pid)}`;
  runOrStop("tar", ["--create", "--numeric-owner", "--file", part, "--directory", made, "."]);
  renameSync(part, file);
  rmSync(made, { recursive: true, force: true });
}

/** A clean root with what these things depend on, and these files at its top. A kept tar that is damaged is made anew. */
function cleanRoot(things, files, key) {
  removeOld(tmpdir(), BEGIN);
  const tar = tarOf(things, key);
  const clean = mkdtempSync(path.join(tmpdir(), BEGIN));
  atEnd(() => rmSync(clean, { recursive: true, force: true }));
  const unpack = ["--extract", "--numeric-owner", "--file", tar, "--directory", clean];
  if (!existsSync(tar) || spawnSync("tar", unpack, { stdio: "ignore" }).status !== 0) {
    makeTar(tar, things, files);
    runOrStop("tar", unpack);
  }
  // One that is used is not old. Whoever is not root can look into the root, as into any.
  utimesSync(tar, new Date(), new Date());
  chmodSync(clean, 0o755);
  putFiles(clean, files);
  return clean;
}

function putFiles(root, files) {
  for (const { from, to } of files) copyFileSync(from, path.join(root, to));
}

/**
 * Runs a script in a clean root, without a network, and returns whether it succeeded. In it `apt-get install` can install each of these
 * `things`: names of packages, or of `files`, which lie at the top. What they depend on is downloaded the first time, and again
 * when `key` is another. It needs root, and a mirror to download from.
 */
export function inCleanDebian(script, { things, files, key }) {
  if (process.getuid() !== 0 || !["debootstrap", "unshare", "ip"].every(found)) {
    stop('A clean root of Debian needs root, debootstrap, unshare and ip: "apt-get install debootstrap util-linux iproute2", then this again as root.');
  }
  const clean = cleanRoot(things, files, key);
  writeFileSync(path.join(clean, "inside.sh"), script);
  const [command, args] = apart(["--net"], `ip link set lo up && ${ENTER}`, clean, "inside.sh");
  return spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] }).status === 0;
}
