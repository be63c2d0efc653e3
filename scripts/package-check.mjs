// Whether a .deb installs and starts in a Debian that has nothing else: its size, its files, and in a clean root of Debian 12 its
// dependencies, both programs, the type of packs, `stamina serve` and the window on a virtual screen.
//
// The root has no network: what the package depends on was downloaded into it before (scripts/lib/clean-debian.mjs).
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { SUITE, inCleanDebian } from "./lib/clean-debian.mjs";
import { DEPENDS, MOST_BYTES, PACK_ENDING, PACK_TYPE, names, version } from "./lib/package-contents.mjs";
import { output, stop } from "./lib/process.mjs";

/** What the check itself needs in the root. */
const TOOLS = ["curl", "x11-utils", "xvfb"];

/** The files of a .deb, as `dpkg-deb --contents` lists them. */
export function filesOf(listing) {
  const files = listing.split("\n").filter((line) => line.startsWith("-"));
  // Rights, owner, size, date, time, name.
  return files.map((line) => /^(?:\S+\s+){5}\.\/(.*)$/.exec(line)?.[1] ?? line).sort();
}

/** What is missing in a list of files, and what is too many. */
export function differences(files, wanted) {
  return [...wanted.filter((name) => !files.includes(name)).map((name) => `missing: ${name}`), ...files.filter((name) => !wanted.includes(name)).map((name) => `not expected: ${name}`)];
}

/** What runs in the clean root. Each step prints a line; the first that fails ends it. */
export const inside = (number) => `set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
apt-get install -y -q --no-install-recommends /package.deb
for program in stamina stamina-lab; do
  "$program" --version | grep -F ' ${number}'
done
echo "CHECK installs, and both programs say their version"
grep -F '${PACK_TYPE}:*${PACK_ENDING}' /usr/share/mime/globs2
echo "CHECK the type of packs is known"
apt-get install -y -q --no-install-recommends ${TOOLS.join(" ")}
useradd --create-home somebody
as_somebody() { exec setpriv --reuid=somebody --regid=somebody --clear-groups env HOME=/home/somebody "$@"; }
cd /home/somebody
(as_somebody stamina --db /home/somebody/served.sqlite serve --json) > /served &
serve=$!
until [ -s /served ]; do kill -0 "$serve"; sleep 0.2; done
port=$(sed 's/.*"port":\\([0-9]*\\).*/\\1/' /served)
token=$(sed 's/.*"token":"\\([^"]*\\)".*/\\1/' /served)
curl -fsS "http://127.0.0.1:$port/" | grep -F '<title>Stamina Lab</title>'
curl -fsS -X POST -H "x-stamina-token: $token" -d '{}' "http://127.0.0.1:$port/rpc/app_state" | grep -F '/usr/lib/Stamina Lab/data/sample-simulated.zip'
kill "$serve"
echo "CHECK stamina serve has the pages and the sample"
Xvfb :7 -screen 0 1280x800x24 -nolisten tcp &
screen=$!
export DISPLAY=:7
until xwininfo -root > /dev/null 2>&1; do kill -0 "$screen"; sleep 0.2; done
(as_somebody stamina-lab --db /home/somebody/library.sqlite) &
app=$!
until xwininfo -root -tree | grep -F '"Stamina Lab"'; do kill -0 "$app"; sleep 0.5; done
kill "$app"
echo "CHECK the window opens"
`;

/** Checks a .deb, which holds these files in at most so many bytes; ends this program with a failure where it is not as it should be. */
export function checkPackage(deb, { files = names(), mostBytes = MOST_BYTES } = {}) {
  if (!existsSync(deb)) stop(`There is no ${deb}. "npm run package" makes it.`);
  const bytes = statSync(deb).size;
  if (bytes > mostBytes) stop(`${deb} has ${(bytes / 1e6).toFixed(1)} MB; it may have ${mostBytes / 1e6}.`);
  const listing = output("dpkg-deb", ["--contents", deb]) ?? stop(`${deb} cannot be read: "dpkg-deb --contents" fails.`);
  const differing = differences(filesOf(listing), files);
  if (differing.length > 0) stop(`${deb} has other files than scripts/lib/package-contents.mjs says:\n${differing.join("\n")}`);
  process.stdout.write(`${(bytes / 1e6).toFixed(1)} MB, ${files.length} files\n`);
  const things = ["/package.deb", TOOLS.join(" ")];
  const succeeded = inCleanDebian(inside(version()), { things, files: [{ from: deb, to: "package.deb" }], key: DEPENDS.join(", ") });
  if (!succeeded) stop(`${deb} does not install and start in a clean Debian: the step after the last line "CHECK …" failed.`);
  process.stdout.write(`${path.basename(deb)} installs and starts in a clean Debian (${SUITE}).\n`);
}
