// `npm test -- --changed`: which targets are built and which tests run for what differs from `main`.
//
// Of a crate that differs: its lints and its tests. Of those that need it: whether they compile, with their lints, and their unit tests.
// Of the tests the quickest run, as many as fit into some seconds. The rest is left to the whole check, and named at the end.
import path from "node:path";
import { output, root, stop } from "../lib/process.mjs";
import { filterOf } from "./nextest.mjs";
import { fileOf } from "./test-files.mjs";
import { knownTimes } from "./times.mjs";

/** So many seconds of tests run, the quickest first: of a crate that differs, and of one that needs it. A test whose time is not known runs. */
const SECONDS = { ofChanged: 16, ofDependent: 3 };

/** What belongs to no crate but is compiled by all. */
const OF_ALL = (file) => ["Cargo.toml", "Cargo.lock", "clippy.toml"].includes(file) || file.startsWith(".cargo/");

/** `{ crates, targets, filter, leftOut }` of what differs from a commit: names, arguments for cargo, arguments for cargo-nextest, lines. */
export function changedCrates(revision = "main") {
  const base = output("git", ["merge-base", "HEAD", revision]) ?? (revision === "main" ? "HEAD" : stop(`There is no commit ${revision}.`));
  const files = [...lines(output("git", ["diff", "--name-only", base])), ...lines(output("git", ["ls-files", "--others", "--exclude-standard"]))];
  const { packages } = JSON.parse(output("cargo", ["metadata", "--locked", "--no-deps", "--format-version", "1"]));
  return chosen(packages, files, knownTimes(), root);
}

/** The same as a pure function of cargo's metadata, the changed files (paths from `folder`), and known times by binary and test. */
export function chosen(packages, files, times, folder) {
  const own = packages.map((one) => ({ ...one, folder: path.relative(folder, path.dirname(one.manifest_path)) }));
  const within = (one, file) => file.startsWith(`${one.folder}/`);
  const crates = own.filter((one) => files.some((file) => OF_ALL(file) || within(one, file)));
  const dependents = thatNeed(own, crates);
  const both = [...crates, ...dependents];

  const isTest = ({ kind }) => kind.includes("test");
  const bins = both.flatMap(({ targets }) => targets.filter(({ kind }) => kind.includes("bin")));
  const tests = crates.flatMap((one) => one.targets.filter(isTest));
  const targets = crates.length === 0 ? [] : ["--lib", ...bins.flatMap(({ name }) => ["--bin", name]), ...tests.flatMap(({ name }) => ["--test", name])];

  // Who changes a test wants to see it run.
  const inTests = (one) => files.filter((file) => file.startsWith(`${one.folder}/tests/`)).map((file) => file.slice(`${one.folder}/tests/`.length));
  const edited = new Set(crates.flatMap((one) => inTests(one).map((file) => `${one.name}::${file.split("/")[0].replace(/\.rs$/, "")}`)));
  const known = Object.entries(times).flatMap(([binary, secondsByTest]) => {
    const [crate, target] = binary.split("::");
    const isUnit = target === undefined || target.startsWith("bin/");
    return Object.entries(secondsByTest).map(([test, seconds]) => ({ crate, isUnit, binary, test, seconds }));
  });
  const slow = [
    ...crates.flatMap(({ name }) => beyond(SECONDS.ofChanged, known.filter((test) => test.crate === name && !edited.has(fileOf(test))))),
    ...dependents.flatMap(({ name }) => beyond(SECONDS.ofDependent, known.filter(({ crate, isUnit }) => isUnit && crate === name))),
  ];
  const sum = (list) => list.map(({ name }) => `package(=${name})`).join(" + ");
  const wanted = [sum(crates), dependents.length > 0 ? `((${sum(dependents)}) & (kind(lib) + kind(bin)))` : ""].filter((part) => part !== "").join(" + ");
  const filter = crates.length === 0 ? "none()" : slow.length === 0 ? wanted : `(${wanted}) - (${filterOf(slow)})`;
  return { crates: crates.map(({ name }) => name), targets, filter: [...targets, "--no-tests", "pass", "-E", filter], leftOut: leftOut({ own, files, crates, dependents, slow, isTest, within }) };
}

/** The tests that are left when the quickest have taken so many seconds. */
function beyond(seconds, tests) {
  let sum = 0;
  return tests.toSorted((a, b) => a.seconds - b.seconds).filter((test) => (sum += test.seconds) > seconds);
}

/** Those that need some of these crates: to be compiled, at any distance, or only for their own tests. */
function thatNeed(own, crates) {
  const needs = (one, names, kinds) => one.dependencies.some((dependency) => dependency.path && kinds.includes(dependency.kind) && names.has(dependency.name));
  const names = new Set(crates.map(({ name }) => name));
  for (let before = -1; before < names.size; ) {
    before = names.size;
    for (const one of own) if (needs(one, names, [null, "build"])) names.add(one.name);
  }
  return own.filter((one) => !crates.includes(one) && (names.has(one.name) || needs(one, names, ["dev"])));
}

/** What the whole check runs and this one does not, in lines for people. */
function leftOut({ own, files, crates, dependents, slow, isTest, within }) {
  const out = [];
  const slowFiles = [...new Set(slow.map(fileOf))].map((name) => {
    const those = slow.filter((test) => fileOf(test) === name);
    return `${name} (${those.length}, ${Math.round(those.reduce((all, { seconds }) => all + seconds, 0))} s)`;
  });
  if (slow.length > 0) out.push(`${slow.length} slow tests: ${slowFiles.join(", ")}`);
  const withFiles = dependents.filter(({ targets }) => targets.some(isTest)).map(({ name }) => name);
  if (withFiles.length > 0) out.push(`integration tests of what needs them: ${withFiles.join(", ")}`);
  if (files.some((file) => file.startsWith("ui/"))) out.push("the UI, which differs: npm test -- ui");
  const elsewhere = files.filter((file) => !OF_ALL(file) && !file.startsWith("ui/") && !own.some((one) => within(one, file)));
  if (elsewhere.length > 0) out.push(`tests that read what lies in no crate: ${elsewhere.slice(0, 5).join(", ")}${elsewhere.length > 5 ? `, and ${elsewhere.length - 5} more` : ""}`);
  out.push("tests in containers, end to end, dependencies, numbers of tests");
  return out;
}

const lines = (text) => (text ?? "").split("\n").filter((line) => line !== "");
