// `npm run sample`: data/sample-harbor.zip from tests/fixtures/harbor: Harbor jobs and, so that the declared steps and
// the requests are known, their tasks. The same files give the same bytes: sorted names, one date, one compression.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { zipSync } from "fflate";
import { inRoot, stop } from "./lib/process.mjs";

const FROM = inRoot("tests/fixtures/harbor");
const TO = inRoot("data/sample-harbor.zip");
const MOST = 1.5 * 1024 * 1024;

/** Things that must not be shipped: folders of whoever ran the jobs, and keys. `/home/lab` is a made-up user. */
const FORBIDDEN = [/\/(?:home\/(?!lab\/)|Users\/|root\/)[\w.-]*/, /\bsk-[A-Za-z0-9_-]{16,}/, /\bAKIA[0-9A-Z]{16}\b/, /\bgh[pousr]_[A-Za-z0-9]{20,}/, /-----BEGIN [A-Z ]*PRIVATE KEY/];

const files = readdirSync(FROM, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => path.relative(FROM, path.join(entry.parentPath ?? entry.path, entry.name)))
  .map((name) => name.split(path.sep).join("/"))
  .filter((name) => /^(jobs|tasks)\//.test(name))
  .sort((a, b) => (a < b ? -1 : 1));
const entries = {};
for (const name of files) {
  const bytes = readFileSync(path.join(FROM, name));
  const text = bytes.toString("latin1");
  for (const pattern of FORBIDDEN) {
    const hit = pattern.exec(text);
    if (hit) stop(`${name} contains "${hit[0]}", which must not be shipped.`);
  }
  entries[name] = bytes;
}
// The date is written as local time; the parts are given so that every time zone writes the same.
const zip = zipSync(entries, { level: 9, mtime: new Date(2026, 0, 1), os: 3 });
if (zip.length > MOST) stop(`The sample has ${zip.length} bytes; at most ${MOST} are shipped.`);
writeFileSync(TO, zip);
process.stdout.write(`${files.length} files, ${(zip.length / 1024).toFixed(0)} KiB\n`);
