// What the .deb holds, as data: `npm run package` makes it from this list, `npm run package -- --check` compares a .deb that was
// made with it, and the check of every change looks at the list itself (scripts/package.test.mjs).
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { inRoot, targetDir } from "./process.mjs";

/** The type of scenario packs in a zip. */
export const PACK_TYPE = "application/vnd.stamina-lab.pack+zip";

/** How the names of packs end that have this type. */
export const PACK_ENDING = ".stamina-pack.zip";

/** Most bytes of a package. */
export const MOST_BYTES = 60e6;

/** The programs, which are built. */
export const PROGRAMS = ["stamina", "stamina-lab"];

/** The bills of materials, which are made with the package. */
export const BILLS = ["sbom-crates.cdx.json", "sbom-npm.cdx.json"];

/** Where documents lie. */
export const DOCS = "usr/share/doc/stamina-lab";

export const DEPENDS = ["libc6 (>= 2.36)", "libgcc-s1", "libgtk-3-0", "libwebkit2gtk-4.1-0", "libjavascriptcoregtk-4.1-0", "libsoup-3.0-0"];

/** The version of everything here. */
export const version = () => JSON.parse(readFileSync(inRoot("ui/package.json"), "utf8")).version;

/** The icon of a type is named after it. */
const PACK_ICON = PACK_TYPE.replace("/", "-");

const DESKTOP_ENTRY = `[Desktop Entry]
Type=Application
Name=Stamina Lab
Comment=How long coding agents last
Exec=stamina-lab %F
Icon=stamina-lab
Categories=Development;Science;
MimeType=${PACK_TYPE};application/zip;inode/directory;
Terminal=false
`;

// A zip is a pack if its name says so. One without such a name is known by its first files, which are always the manifest and
// then those of a scenario.
const TYPES = `<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="${PACK_TYPE}">
    <comment>Scenario pack of Stamina Lab</comment>
    <sub-class-of type="application/zip"/>
    <generic-icon name="package-x-generic"/>
    <magic priority="60">
      <match type="string" offset="0" value="PK\\003\\004">
        <match type="string" offset="30" value="manifest.json">
          <match type="string" offset="43:65536" value="scenario_"/>
        </match>
      </match>
    </magic>
    <glob pattern="*${PACK_ENDING}" weight="60"/>
  </mime-type>
</mime-info>
`;

/** Every file but the programs and the bills of materials: where it goes, and the file of the repository or the text that it is. */
export function contents() {
  const icons = (folder, name) => [
    ...["32x32", "128x128"].map((size) => ({ to: `usr/share/icons/hicolor/${size}/${folder}/${name}.png`, from: `icons/${size}.png` })),
    { to: `usr/share/icons/hicolor/scalable/${folder}/${name}.svg`, from: "icons/icon.svg" },
  ];
  return [
    // Where Tauri looks for resources: a folder of the product's name.
    { to: "usr/lib/Stamina Lab/data/sample-simulated.zip", from: "data/sample-simulated.zip" },
    ...icons("apps", "stamina-lab"),
    ...icons("mimetypes", PACK_ICON),
    { to: "usr/share/applications/stamina-lab.desktop", text: DESKTOP_ENTRY },
    { to: "usr/share/mime/packages/stamina-lab.xml", text: TYPES },
    ...["LICENSE-APACHE", "LICENSE-MIT", "README.md"].map((name) => ({ to: `${DOCS}/${name}`, from: name })),
  ];
}

/** The names of all files of the package. */
export const names = () => [...PROGRAMS.map((name) => `usr/bin/${name}`), ...contents().map(({ to }) => to), ...BILLS.map((name) => `${DOCS}/${name}`)].sort();

/** Where programs that do not carry the UI look for it, seen from the root. */
const UI = "usr/share/stamina-lab/ui";

/** The files of the built UI, for programs that do not carry it: where each goes, and the file of the repository that it is. */
export function uiFiles(folder = "ui/dist") {
  const entries = readdirSync(inRoot(folder), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => path.relative(inRoot(folder), path.join(entry.parentPath ?? entry.path, entry.name)));
  return files.map((name) => ({ to: path.join(UI, name), from: path.join(folder, name) }));
}

/** The names of all files of a package of programs for development, with these files of the UI. */
export const debugNames = (ui) => [...PROGRAMS.map((name) => `usr/bin/${name}`), ...[...contents(), ...ui].map(({ to }) => to)].sort();

/** What has to be built before there can be a package of programs for development, in a sentence; `null` where all is there. */
export function notBuilt({ programs = path.join(targetDir(), "debug"), ui = inRoot("ui/dist") } = {}) {
  const program = PROGRAMS.map((name) => path.join(programs, name)).find((file) => !existsSync(file));
  if (program) return `There is no ${program}. "cargo build --workspace --locked ${PROGRAMS.map((name) => `--bin ${name}`).join(" ")}" builds the programs.`;
  const page = path.join(ui, "index.html");
  return existsSync(page) ? null : `There is no ${page}. "node scripts/build-ui.mjs" builds the UI.`;
}
