// Finds what is missing on this machine, installs it where it may, and otherwise says exactly what to do.
//
//   node scripts/setup.mjs          what the app needs: system libraries, Rust, npm packages
//   node scripts/setup.mjs --test   and what its tests need: a browser, a virtual screen, WebDriver,
//                                   a Python with Flask and pytest; also tries again what failed today
//
// System packages are installed through apt as root or with sudo that asks for no password; anywhere else they are
// named and the script stops. What cannot be had and only some tests need is said at the end and stops nothing; with --test
// it is tried each time, otherwise once a day. Earlier packages of npm or pip serve where new ones cannot be had. Nothing here needs npm packages, so it runs on a fresh clone.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import path from "node:path";
import { forgetFailure, hasFailedToday, rememberFailure } from "./lib/failed-today.mjs";
import { found, inRoot, output, root, runWithTries, stop } from "./lib/process.mjs";
import { setAside } from "./lib/set-aside.mjs";
import { findTool, toolRoot } from "./lib/tools.mjs";
import { pythonTools } from "./python-tools.mjs";

/** The first versions that Vite takes. */
const NODE = [
  [20, 19],
  [22, 12],
];

/** Debian packages by purpose. libwebkit2gtk brings GTK, Soup and JavaScriptCore with it. */
const PACKAGES = {
  app: ["build-essential", "pkg-config", "libwebkit2gtk-4.1-dev"],
  test: ["python3-venv"],
};

/** What only some tests need: without it all others run. */
const OF_SOME_TESTS = {
  "the end-to-end tests": ["chromium-headless-shell"],
  "the tests of the app's own window": ["dbus-daemon", "webkit2gtk-driver", "xclip", "xvfb"],
  // What is exported for papers is looked at as papers look at it.
  "the tests of figures and papers": ["fonts-dejavu-core", "fonts-wqy-microhei", "poppler-utils", "texlive-latex-base", "texlive-latex-recommended", "texlive-pictures"],
};

/** What does as well, where apt has no such package or it cannot be had: the whole browser, which draws windows that nobody sees. */
const OTHERWISE = { "chromium-headless-shell": "chromium" };

/** Makes sure of everything that the app, and with `tests` its tests, need; with `again` also of what failed today and can be missing. */
export function setup({ tests = false, again = false } = {}) {
  checkNode();
  const missing = systemPackages(tests ? [...PACKAGES.app, ...PACKAGES.test] : PACKAGES.app, { again, some: tests ? Object.values(OF_SOME_TESTS).flat() : [] });
  checkCargo();
  npmPackages();
  if (tests) {
    pythonTools();
    testTools();
  }
  process.stdout.write(missingReport(missing));
}

/** What is said of packages that only some tests need, where they could not be installed. */
export function missingReport(missing) {
  if (missing.length === 0) return "";
  const lines = Object.entries(OF_SOME_TESTS)
    .map(([tests, packages]) => [tests, packages.filter((name) => missing.includes(name))])
    .filter(([, packages]) => packages.length > 0)
    .map(([tests, packages]) => `  ${packages.join(" ")}: ${tests} fail or are left out\n`);
  return `System packages that could not be installed:\n${lines.join("")}Everything else is checked. "npm run setup" tries again, everything else tomorrow.\n`;
}

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  const newEnough = NODE.some(([first, least]) => major === first && minor >= least) || major > NODE.at(-1)[0];
  if (!newEnough) {
    stop(`Node ${process.versions.node} does not do: Stamina Lab needs Node ${NODE.map((version) => version.join(".")).join(" or ")}, or newer. See https://nodejs.org/en/download.`);
  }
}

function checkCargo() {
  const wanted = /rust-version = "([\d.]+)"/.exec(readFileSync(inRoot("Cargo.toml"), "utf8"))[1];
  const text = output("cargo", ["--version"]);
  if (text === null) {
    stop(`cargo is not there: Stamina Lab needs Rust ${wanted} or newer. Install it from https://rustup.rs, open a new terminal and try again.`);
  }
  const have = /(\d+)\.(\d+)/.exec(text);
  const [major, minor] = wanted.split(".").map(Number);
  if (Number(have[1]) < major || (Number(have[1]) === major && Number(have[2]) < minor)) {
    stop(`${text} is too old: Stamina Lab needs Rust ${wanted} or newer. Run: rustup update stable`);
  }
}

/**
 * Installs the system packages that are missing: those that nothing works without, or it stops, and those that `some` tests need. Of these
 * it gives back the names that could not be had. `failures` is the folder that remembers what failed today.
 */
export function systemPackages(packages, { some = [], again = false, failures, tries = 3 } = {}) {
  if (process.platform !== "linux") return [];
  if (!found("dpkg-query")) {
    // Not Debian: package names differ, so only say what must be there.
    if (output("pkg-config", ["--modversion", "webkit2gtk-4.1"]) === null) {
      stop(
        "WebKitGTK 4.1 with its headers is not there. On Debian and Ubuntu it is libwebkit2gtk-4.1-dev, on Fedora " +
          "webkit2gtk4.1-devel, on Arch webkit2gtk-4.1; a C compiler and pkg-config are needed too.",
      );
    }
    return [];
  }
  const missing = [...packages, ...some].filter((name) => !installed(name));
  const needed = packages.filter((name) => missing.includes(name) && !hasOther(name));
  const ofSome = some.filter((name) => missing.includes(name) && !hasOther(name));
  // On a machine without a network, one failed try a day is enough.
  const isDue = (name) => again || !hasFailedToday(name, { folder: failures });
  const due = ofSome.filter(isDue);
  // Without these everything works, but slower.
  const wished = missing.filter((name) => hasOther(name) && isDue(name) && isKnown(name));
  if (needed.length + due.length + wished.length === 0) return ofSome;
  const install = (names) => ["apt-get", "install", "-y", "--no-install-recommends", ...names];
  // Asked once the lists are there.
  const byKnownNames = (names) => install(names.map((name) => (name in OTHERWISE && !isKnown(name) ? OTHERWISE[name] : name)));
  const asRoot = process.getuid() === 0 ? [] : spawnSync("sudo", ["-n", "true"], { stdio: "ignore" }).status === 0 ? ["sudo", "-n"] : null;
  if (asRoot === null) {
    const byHand = () => `sudo apt-get update && sudo ${byKnownNames([...needed, ...ofSome]).join(" ")}`;
    if (needed.length > 0) stop(`System packages are missing. Install them and try again:\n\n  ${byHand()}\n`);
    if (ofSome.length > 0) process.stdout.write(`System packages that only some tests need can be installed by hand:\n\n  ${byHand()}\n\n`);
    return ofSome;
  }
  process.stdout.write(`Installing system packages: ${[...needed, ...due, ...wished].join(" ")}\n`);
  const apt = (args, most = tries) => {
    const [program, ...rest] = [...asRoot, "env", "DEBIAN_FRONTEND=noninteractive", ...args];
    return runWithTries(program, rest, { stdio: ["ignore", "ignore", "inherit"], tries: most });
  };
  // The package lists of a fresh machine are empty or old, so they are fetched first.
  if (needed.length + due.length > 0 && !apt(["apt-get", "update", "-q"])) process.stderr.write("apt-get update failed; trying with the lists that are there.\n");
  if (needed.length > 0) {
    const command = byKnownNames(needed);
    if (!apt(command)) stop(`System packages could not be installed. Try by hand and look at what it says:\n\n  ${command.join(" ")}\n`);
  }
  // A machine without a network uses what it has, and is not kept waiting.
  const quick = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10", "-o", "Acquire::https::Timeout=10"];
  // Where one of them cannot be had apt installs none.
  const together = due.length === 0 || apt(byKnownNames(due));
  const without = together ? [] : due.filter((name) => !installed(name) && !apt([...byKnownNames([name]), ...quick], 1));
  for (const name of due) (without.includes(name) ? rememberFailure : forgetFailure)(name, { folder: failures });
  const had = (name) => apt([...install([name]), ...quick], 1) || (apt(["apt-get", "update", "-q", ...quick], 1) && apt([...install([name]), ...quick], 1));
  for (const name of wished) {
    if (had(name)) {
      forgetFailure(name, { folder: failures });
      continue;
    }
    rememberFailure(name, { folder: failures });
    process.stdout.write(`${name} could not be installed; ${OTHERWISE[name]}, which is there, is used instead. "npm run setup" tries again, everything else tomorrow.\n`);
  }
  return ofSome.filter((name) => !due.includes(name) || without.includes(name));
}

/** Whether something is there that does as well. */
const hasOther = (name) => name in OTHERWISE && installed(OTHERWISE[name]);

/** Whether apt can install a package, by the lists that are there. */
const isKnown = (name) => output("apt-cache", ["show", name]) !== null;

function installed(name) {
  return output("dpkg-query", ["-W", "-f=${Status}", name])?.endsWith(" installed") ?? false;
}

/**
 * Installs the packages of the lock file in `folder`. Where that fails, those that are there serve if they do for package.json, and if
 * the lock file is not what failed.
 */
export function npmPackages({ folder = root, tries = 3 } = {}) {
  const packages = path.join(folder, "node_modules");
  const stamp = path.join(packages, ".installed-from");
  const wanted = createHash("sha256").update(readFileSync(path.join(folder, "package-lock.json"))).digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  process.stdout.write("Installing npm packages\n");
  // `npm ci` begins by removing what is there.
  const earlier = setAside(packages, path.join(folder, ".cache/set-aside/node_modules"));
  if (runWithTries("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder, tries })) {
    // Before the stamp: what is left aside is put back one day.
    earlier.remove();
    writeFileSync(stamp, wanted);
    return;
  }
  const succeeds = (...args) => spawnSync("npm", args, { cwd: folder, stdio: "ignore" }).status === 0;
  // Without doing anything it fails only for a lock file that is broken or contradicts package.json.
  const isLockSound = () => succeeds("ci", "--dry-run", "--offline", "--ignore-scripts", "--no-audit");
  const fits = earlier.restore() && isLockSound() && succeeds("ls", "--depth=0");
  if (!fits) stop("`npm ci` failed. If package.json was edited, run `npm install` once and try again.");
  process.stdout.write("The npm packages of package-lock.json could not be installed; those that are there fit package.json and are used. The next set-up tries again.\n");
}

/** Builds a program for the tests with Cargo, unless it is there. Where it cannot be built, it says what comes of that and goes on. */
function tool(name, version, otherwise, ...more) {
  if (findTool(name)) return;
  process.stdout.write(`Building ${name}\n`);
  // Its own target folder is kept so that a second try goes on where it was.
  const built = runWithTries("cargo", ["install", name, "--version", version, "--locked", "--quiet", "--root", toolRoot, ...more], {
    env: { CARGO_TARGET_DIR: inRoot(`.cache/${name}`) },
    tries: 3,
  });
  if (!built) process.stdout.write(`${name} could not be built: ${otherwise}.\n`);
}

/** Where cargo-sbom lies; it is built where it is not there. */
export function cargoSbom() {
  tool("cargo-sbom", "^0.10", "there is no list of crates", "--debug");
  return findTool("cargo-sbom") ?? stop("cargo-sbom is needed for the list of crates.");
}

function testTools() {
  // Version 3 is an alpha for Tauri 3.
  if (process.platform === "linux") tool("tauri-driver", "^2", "the tests of the app's own window fail");
  // Run once a test: building it costs more than its speed.
  tool("cargo-deny", "^0.20", "the stage of dependencies fails", "--debug");
  if (output("cargo", ["nextest", "--version"]) === null) tool("cargo-nextest", "^0.9.131", "the tests run under cargo test, which tries nothing twice", "--debug");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.chdir(root);
  setup({ tests: process.argv.includes("--test"), again: true });
}
