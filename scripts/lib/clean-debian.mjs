// A clean root of Debian 12, and what runs in it with nothing of this machine: its own mounts, processes and network.
//
// What the root needs to install a package is downloaded once and kept beside it, so only the first check asks a mirror.
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import path from "node:path";
import { atEnd, found, runOrStop, stop } from "./process.mjs";
import { kept } from "./tools.mjs";

/** Debian 12. */
export const SUITE = "bookworm";
const MIRROR = process.env.DEBIAN_MIRROR ?? "http://deb.debian.org/debian";

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
const ENTER = 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && exec timeout 600 chroot "$1" sh "/$2"';

/** The kept root with what these things depend on, as a tar. It is made where there is none; `key` is what a new one is made for. */
function keptRoot(things, files, key) {
  const name = `${SUITE}-${createHash("sha256").update(`${key}\n${download(things)}`).digest("hex").slice(0, 16)}.tar`;
  const folder = path.join(kept, "debian");
  const file = path.join(folder, name);
  if (existsSync(file)) return file;
  const made = mkdtempSync(path.join(tmpdir(), "stamina-debian-"));
  atEnd(() => rmSync(made, { recursive: true, force: true }));
  runOrStop(...apart([], `exec debootstrap --variant=minbase ${SUITE} "$1" '${MIRROR}'`, made), { tries: 3, hint: "DEBIAN_MIRROR names another mirror." });
  putFiles(made, files);
  writeFileSync(path.join(made, "download.sh"), download(things));
  runOrStop(...apart([], ENTER, made, "download.sh"), { tries: 3, hint: "The packages could not be downloaded." });
  for (const { to } of files) rmSync(path.join(made, to));
  mkdirSync(folder, { recursive: true });
  for (const other of readdirSync(folder)) rmSync(path.join(folder, other), { force: true });
  const part = `${file}.${String(process.pid)}`;
  runOrStop("tar", ["--create", "--file", part, "--directory", made, "."]);
  renameSync(part, file);
  rmSync(made, { recursive: true, force: true });
  return file;
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
  if (process.getuid() !== 0 || !found("debootstrap") || !found("unshare")) {
    stop('A clean root of Debian needs root, debootstrap and unshare: "apt-get install debootstrap util-linux", then this again as root.');
  }
  const tar = keptRoot(things, files, key);
  const clean = mkdtempSync(path.join(tmpdir(), "stamina-package-"));
  atEnd(() => rmSync(clean, { recursive: true, force: true }));
  runOrStop("tar", ["--extract", "--file", tar, "--directory", clean]);
  // Whoever is not root can look into it, as into any root.
  chmodSync(clean, 0o755);
  putFiles(clean, files);
  writeFileSync(path.join(clean, "inside.sh"), script);
  const [command, args] = apart(["--net"], `ip link set lo up && ${ENTER}`, clean, "inside.sh");
  return spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] }).status === 0;
}
