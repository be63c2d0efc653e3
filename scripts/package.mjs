// `npm run package`: a .deb of the app, the command line, the web UI, the sample results, and a bill of materials of all that
// is in them (CycloneDX: one of the crates, one of the npm packages). Lies in `target/package`.
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buildUi } from "./build-ui.mjs";
import { inRoot, output, root, runOrStop, stop, targetDir } from "./lib/process.mjs";
import { cargoSbom, setup } from "./setup.mjs";

process.chdir(root);
if (process.platform !== "linux") stop("A package is made on Linux only.");
setup();
buildUi();
runOrStop("cargo", ["build", "--release", "--workspace", "--locked", "--bin", "stamina", "--bin", "stamina-lab"]);

const { version } = JSON.parse(readFileSync(inRoot("ui/package.json"), "utf8"));
const architecture = output("dpkg", ["--print-architecture"]) ?? stop("There is no dpkg here, which makes the package.");
const folder = path.join(targetDir(), "package");
const top = path.join(folder, "root");
rmSync(top, { recursive: true, force: true });

/** Puts a file into the package. */
function put(from, to, mode = 0o644) {
  const at = path.join(top, to);
  mkdirSync(path.dirname(at), { recursive: true });
  copyFileSync(from, at);
  chmodSync(at, mode);
  return at;
}

/** Writes a file of the package. */
function write(to, text) {
  const at = path.join(top, to);
  mkdirSync(path.dirname(at), { recursive: true });
  writeFileSync(at, text);
}

for (const program of ["stamina", "stamina-lab"]) {
  const at = put(path.join(targetDir(), "release", program), `usr/bin/${program}`, 0o755);
  runOrStop("strip", ["--strip-unneeded", at], { hint: "binutils has it." });
}
cpSync(inRoot("ui/dist"), path.join(top, "usr/share/stamina-lab/ui"), { recursive: true });
// Where Tauri looks for resources: a folder of the product's name.
put(inRoot("data/sample-simulated.zip"), "usr/lib/Stamina Lab/data/sample-simulated.zip");
for (const size of ["32x32", "128x128"]) put(inRoot(`icons/${size}.png`), `usr/share/icons/hicolor/${size}/apps/stamina-lab.png`);
put(inRoot("icons/icon.svg"), "usr/share/icons/hicolor/scalable/apps/stamina-lab.svg");
write(
  "usr/share/applications/stamina-lab.desktop",
  "[Desktop Entry]\nType=Application\nName=Stamina Lab\nComment=How long coding agents last\nExec=stamina-lab %F\nIcon=stamina-lab\n" +
    "Categories=Development;Science;\nMimeType=application/zip;inode/directory;\nTerminal=false\n",
);
const docs = "usr/share/doc/stamina-lab";
for (const name of ["LICENSE-APACHE", "LICENSE-MIT", "README.md"]) put(inRoot(name), `${docs}/${name}`);

// What is in it, by name, version and licence.
const crates = output(cargoSbom(), ["--output-format", "cyclone_dx_json_1_4"]) ?? stop("The crates could not be listed.");
const packages = output("npm", ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--workspace", "ui"]) ?? stop("The npm packages could not be listed.");
for (const [name, text] of [["crates", crates], ["npm", packages]]) {
  const count = JSON.parse(text).components?.length ?? 0;
  if (count === 0) stop(`The bill of materials of ${name} is empty.`);
  write(`${docs}/sbom-${name}.cdx.json`, text.replaceAll(root, "."));
  process.stdout.write(`${name}: ${count} components\n`);
}

const size = Number(output("du", ["-sk", top])?.split(/\s/)[0] ?? 0);
write(
  "DEBIAN/control",
  `Package: stamina-lab\nVersion: ${version}\nArchitecture: ${architecture}\nMaintainer: Stamina Lab maintainers <maintainers@stamina-lab.example>\n` +
    `Installed-Size: ${size}\nDepends: libc6 (>= 2.36), libgcc-s1, libgtk-3-0, libwebkit2gtk-4.1-0, libjavascriptcoregtk-4.1-0, libsoup-3.0-0\n` +
    "Section: science\nPriority: optional\nDescription: How long coding agents last\n" +
    " Opens results of coding agents that were evaluated over many turns and shows how\n long they last; launches evaluations in containers; exports figures for papers.\n",
);
const deb = path.join(folder, `stamina-lab_${version}_${architecture}.deb`);
runOrStop("dpkg-deb", ["--root-owner-group", "-Zxz", "--build", top, deb]);
process.stdout.write(`${path.relative(root, deb)}: ${(statSync(deb).size / 1e6).toFixed(1)} MB\n`);
