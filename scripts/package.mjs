// `npm run package`: a .deb of the app, the command line, the sample results, and a bill of materials of all that is in them
// (CycloneDX: one of the crates, one of the npm packages). Both programs carry the web UI. Lies in `target/package`.
//
// `npm run package -- --check [FILE]`: whether that .deb (or another one) installs and starts in a clean Debian.
// `npm run package -- --check-debug`: the same of a .deb of the programs that `cargo build` made.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buildUi } from "./build-ui.mjs";
import { advisories } from "./lib/advisories.mjs";
import { BILLS, DEPENDS, DOCS, PROGRAMS, contents, debugNames, notBuilt, uiFiles, version } from "./lib/package-contents.mjs";
import { inRoot, output, root, runOrStop, stop, targetDir } from "./lib/process.mjs";
import { checkPackage } from "./package-check.mjs";
import { cargoSbom, setup } from "./setup.mjs";

process.chdir(root);
if (process.platform !== "linux") stop("A package is made on Linux only.");
const architecture = output("dpkg", ["--print-architecture"]) ?? stop("There is no dpkg here, which makes the package.");
const folder = path.join(targetDir(), "package");
const top = path.join(folder, "root");
const deb = path.join(folder, `stamina-lab_${version()}_${architecture}.deb`);
const [mode, named] = process.argv.slice(2);
if (mode === "--check") checkPackage(named ? path.resolve(named) : deb);
else if (mode === "--check-debug") checkDebug();
else if (mode === undefined) make();
else stop(`There is no "${mode}" here. What there is: --check [FILE], --check-debug.`);

/** The place of a file in the package, in a folder that is there. */
function place(to) {
  const at = path.join(top, to);
  mkdirSync(path.dirname(at), { recursive: true });
  return at;
}

function putFile(from, to, mode = 0o644) {
  const at = place(to);
  copyFileSync(from, at);
  chmodSync(at, mode);
  return at;
}

/** Lays out the programs of a profile without their symbols, and these files, where nothing else lies. */
function layOut(profile, files) {
  rmSync(top, { recursive: true, force: true });
  for (const program of PROGRAMS) {
    const at = putFile(path.join(targetDir(), profile, program), `usr/bin/${program}`, 0o755);
    runOrStop("strip", ["--strip-unneeded", at], { hint: "binutils has it." });
  }
  for (const { to, from, text } of files) {
    if (from === undefined) writeFileSync(place(to), text);
    else putFile(inRoot(from), to);
  }
}

/** Makes a .deb of what is laid out. */
function build(file, compression) {
  const size = Number(output("du", ["-sk", top])?.split(/\s/)[0] ?? 0);
  writeFileSync(
    place("DEBIAN/control"),
    `Package: stamina-lab\nVersion: ${version()}\nArchitecture: ${architecture}\nMaintainer: Stamina Lab maintainers <maintainers@stamina-lab.example>\n` +
      `Installed-Size: ${size}\nDepends: ${DEPENDS.join(", ")}\n` +
      "Section: science\nPriority: optional\nDescription: How long coding agents last\n" +
      " Opens results of coding agents that were evaluated over many turns and shows how\n long they last; launches evaluations in containers; exports figures for papers.\n",
  );
  runOrStop("dpkg-deb", ["--root-owner-group", compression, "--build", top, file]);
  process.stdout.write(`${path.relative(root, file)}: ${(statSync(file).size / 1e6).toFixed(1)} MB\n`);
}

/**
 * A .deb of the programs for development, and whether it installs and starts. They do not carry the UI, so it lies beside them, and
 * there is no bill of materials and no limit of size.
 */
function checkDebug() {
  const missing = notBuilt();
  if (missing !== null) stop(missing);
  const ui = uiFiles();
  layOut("debug", [...contents(), ...ui]);
  const file = path.join(folder, `stamina-lab-debug_${version()}_${architecture}.deb`);
  build(file, "-Znone");
  checkPackage(file, { files: debugNames(ui), mostBytes: Number.POSITIVE_INFINITY });
  rmSync(file);
}

function make() {
  setup();
  const { isUnsafe, sentence } = advisories();
  if (isUnsafe) stop(sentence);
  process.stdout.write(`${sentence}\n`);
  buildUi();
  runOrStop("cargo", ["build", "--release", "--workspace", "--locked", "--bin", "stamina", "--bin", "stamina-lab"]);
  layOut("release", contents());

  // What is in it, by name, version and license.
  const crates = output(cargoSbom(), ["--output-format", "cyclone_dx_json_1_4"]) ?? stop("The crates could not be listed.");
  const packages = output("npm", ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--workspace", "ui"]) ?? stop("The npm packages could not be listed.");
  for (const [at, text] of [crates, packages].entries()) {
    const count = JSON.parse(text).components?.length ?? 0;
    if (count === 0) stop(`The bill of materials ${BILLS[at]} is empty.`);
    writeFileSync(place(`${DOCS}/${BILLS[at]}`), text.replaceAll(root, "."));
    process.stdout.write(`${BILLS[at]}: ${count} components\n`);
  }
  build(deb, "-Zxz");
}
