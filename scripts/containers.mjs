// A container engine for the tests that need one.
//
// Where an engine answers it is used as it is. In CI on Debian as root one is installed and started, and the base
// image that the Dockerfiles name is made with debootstrap, since an image registry may be out of reach; where that is
// not possible, CI fails. On a developer's machine the tests that need an engine are left out, and that is said.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { atEnd, found, inRoot, output, runLogged } from "./lib/process.mjs";

/** The image that every Dockerfile of the project begins from. */
const BASE = "debian:trixie-slim";
const LOGS = ".cache/test";

/** Whether an engine answers. */
export const engineAnswers = () => output("docker", ["version", "--format", "{{.Server.Version}}"]) !== null;

/**
 * Makes sure of an engine with the base image. Resolves to whether there is one; `false` where none is to be installed.
 * Throws where CI asks for one and it cannot be had. An engine that is started here ends with this program, however that
 * ends.
 */
export async function containers({ ci, answers = engineAnswers, platform = process.platform, uid = process.getuid?.() }) {
  if (!answers()) {
    if (!ci) return false;
    if (platform !== "linux" || uid !== 0) throw new Error(`No container engine answers, and one can only be installed on Linux as root (this is ${platform}${typeof uid === "number" ? `, user ${uid}` : ""}). Start one before the tests.`);
    await install();
    await start();
  }
  if (ci) await baseImage();
  return true;
}

async function install() {
  if (["dockerd", "debootstrap", "iptables", "ip"].every(found)) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args) => spawnSync("apt-get", args, { env, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] });
  apt("update", "-q");
  // Debian 12 has the client in docker.io, later ones in docker-cli.
  const packages = ["docker.io", "debootstrap", "iptables", "iproute2"];
  for (let tries = 1; ; tries += 1) {
    let done = apt("install", "-y", "--no-install-recommends", "docker-cli", ...packages);
    if (done.status !== 0) done = apt("install", "-y", "--no-install-recommends", ...packages);
    if (done.status === 0) return;
    if (tries === 3) throw new Error(`The container engine could not be installed:\n${done.stderr}`);
    await pause(10_000 * tries);
  }
}

async function start() {
  mkdirSync(inRoot(LOGS), { recursive: true });
  const log = inRoot(LOGS, "dockerd.log");
  const file = openSync(log, "w");
  const daemon = spawn("dockerd", [], { detached: true, stdio: ["ignore", file, file] });
  daemon.unref();
  atEnd(() => {
    if (daemon.exitCode === null) daemon.kill("SIGTERM");
  });
  for (let tries = 0; tries < 120; tries += 1) {
    if (engineAnswers()) return;
    if (daemon.exitCode !== null) break;
    await pause(500);
  }
  throw new Error(`dockerd did not start:\n${readFileSync(log, "utf8").split("\n").slice(-20).join("\n")}`);
}

async function baseImage() {
  if (output("docker", ["image", "inspect", "--format", "{{.Id}}", BASE]) !== null) return;
  if (spawnSync("docker", ["pull", "--quiet", BASE], { stdio: "ignore", timeout: 60_000 }).status === 0) return;
  const folder = inRoot(".cache/base-image");
  const script = `set -e
    debootstrap --variant=minbase --include=ca-certificates trixie "$1"
    rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/*
    tar -C "$1" -c . | docker import --change 'CMD ["bash"]' - "$2"
    rm -rf "$1"`;
  for (let tries = 1; ; tries += 1) {
    rmSync(folder, { recursive: true, force: true });
    const { code, text } = await runLogged("bash", ["-c", script, "base-image", folder, BASE], { log: inRoot(LOGS, "base-image.log") });
    if (code === 0) return;
    if (tries === 3) throw new Error(`The base image could not be made:\n${text.split("\n").slice(-20).join("\n")}`);
    await pause(10_000 * tries);
  }
}
