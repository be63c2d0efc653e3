// What the check reads off the reports of its runners, and what it prints of that.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { runWithTries } from "../lib/process.mjs";
import { chosen } from "./changed.mjs";
import { counts, difference, neverRun } from "./counts.mjs";
import { featuresOfTests } from "./features.mjs";
import { filterOf, nextestArgs, nextestResults } from "./nextest.mjs";
import { playwrightResults } from "./playwright.mjs";
import { failureReport, leftOutReport, mostByLuck, namesInReport, tail, withoutDataReport } from "./report.mjs";
import { keepTimes, knownTimes } from "./times.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "stamina-check-"));
before(() => {
  process.env.STAMINA_NEXTEST_REPORTS = path.join(folder, "nextest");
  process.env.STAMINA_TEST_TIMES = path.join(folder, "test/times.json");
});
after(() => rmSync(folder, { recursive: true }));

const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="3" failures="1">
  <testsuite name="gateway::gateway" tests="3">
    <testcase name="lives::all_are_heard" classname="gateway::gateway" time="0.1"/>
    <testcase name="lives::some_are_late" classname="gateway::gateway" time="0.1">
      <flakyFailure timestamp="x" time="0.2" message="thread panicked" type="test failure with exit code 101">left: 1 &lt; 2
        <system-err>first &amp; only</system-err>
      </flakyFailure>
      <flakyFailure timestamp="x" time="0.2" type="t"><system-err>second</system-err></flakyFailure>
    </testcase>
    <testcase name="lives::one_is_lost" classname="gateway::gateway" time="0.1">
      <failure message="m" type="test failure with exit code 101"><![CDATA[assertion failed: a < b]]></failure>
      <rerunFailure timestamp="x" type="t">again<system-err>again</system-err></rerunFailure>
      <system-err>first of it</system-err>
    </testcase>
  </testsuite>
</testsuites>`;

test("failed and flaky tests are read off nextest's report", () => {
  mkdirSync(path.join(folder, "nextest/ci"), { recursive: true });
  writeFileSync(path.join(folder, "nextest/ci/junit.xml"), REPORT);
  const { failed, flaky, passed } = nextestResults("ci");
  assert.deepEqual(passed, [{ binary: "gateway::gateway", test: "lives::all_are_heard", name: "gateway::gateway lives::all_are_heard", seconds: 0.1 }]);
  assert.deepEqual(failed.map(({ name }) => name), ["gateway::gateway lives::one_is_lost"]);
  assert.deepEqual(failed[0].lines, ["assertion failed: a < b", "first of it"], "of several tries the first one");
  assert.equal(failed[0].repeat, "npm test -- rust -E '(binary_id(=gateway::gateway) & test(=lives::one_is_lost))'");
  assert.deepEqual(flaky.map(({ name }) => name), ["gateway::gateway lives::some_are_late"]);
  assert.ok(flaky[0].lines.some((line) => line.includes("first & only")));
  assert.ok(!flaky[0].lines.some((line) => line.includes("second")));
  assert.equal(filterOf([...failed, ...flaky]).split(" | ").length, 2);
  // A run that ends without a report says nothing of an earlier one.
  nextestArgs("ci");
  assert.deepEqual(nextestResults("ci"), { failed: [], flaky: [], passed: [], withoutData: [], leftOut: [] });
});

test("what passed without its data is named at the end", () => {
  mkdirSync(path.join(folder, "nextest/ci"), { recursive: true });
  const lacks = (output) => `<testcase name="all_add_up" classname="ingest::evocode" time="0.1"><system-out>${output}</system-out></testcase>`;
  const report = [
    lacks("running 1 test\ntest all_add_up ... not run for lack of data: data/a &amp; b\nok"),
    lacks("running 1 test\ntest all_add_up ... ok"),
    lacks("").replace(/<system-out>.*<\/system-out>/, "<failure>not run for lack of data: c</failure>"),
  ];
  writeFileSync(path.join(folder, "nextest/ci/junit.xml"), `<testsuites>${report.join("\n")}</testsuites>`);
  const { failed, passed, withoutData } = nextestResults("ci");
  assert.deepEqual([failed.length, passed.length], [1, 2]);
  assert.deepEqual(withoutData, [{ name: "ingest::evocode all_add_up", data: "data/a & b" }]);
  assert.match(withoutDataReport(withoutData), /^\n1 not run for lack of data, .*:\n {2}ingest::evocode all_add_up \(data\/a & b\)\n$/);
  assert.equal(withoutDataReport([]), "");
  // Each file whose tests say so has its output in the report.
  const root = path.join(import.meta.dirname, "../..");
  const output = /^\[\[profile\.ci\.overrides\]\].*\nfilter = \'\'\'([^\']*)\'\'\'\njunit = \{ store-success-output = true \}$/m.exec(readFileSync(path.join(root, ".config/nextest.toml"), "utf8"))?.[1] ?? "";
  const files = readdirSync(path.join(root, "crates"), { recursive: true }).filter((file) => /^[^/]+\/tests\/.*\.rs$/.test(file));
  const matching = files.filter((file) => readFileSync(path.join(root, "crates", file), "utf8").includes("data_beside_the_repository("));
  const packageOf = (crate) => /^name = "(.*)"$/m.exec(readFileSync(path.join(root, "crates", crate, "Cargo.toml"), "utf8"))?.[1] ?? "";
  const saying = new Set(matching.map((file) => file.split("/")).map(([crate, , name]) => `${packageOf(crate)}::${name.replace(/\.rs$/, "")}`));
  assert.ok(saying.size > 0);
  const named = [...output.matchAll(/package\(=(.*)\) & (test\(.*\))/g)].flatMap(([, crate, filter]) => filesOf(filter).map((file) => `${crate}::${file}`));
  assert.deepEqual(named.sort(), [...saying].sort());
});

test("what passed and did nothing is named at the end, by its reason", () => {
  mkdirSync(path.join(folder, "nextest/containers"), { recursive: true });
  const testcase = (file, output) => `<testcase name="${file}::each" classname="runner::runner_integration" time="0.1"><system-out>${output}</system-out></testcase>`;
  const report = [testcase("docker_ends", "test each ... left out: vibe is not chosen\nok"), testcase("docker_faults", "left out: vibe is not chosen"), testcase("docker_faults", "ok")];
  writeFileSync(path.join(folder, "nextest/containers/junit.xml"), `<testsuites>${report.join("\n")}</testsuites>`);
  const { passed, leftOut } = nextestResults("containers");
  assert.equal(passed.length, 3);
  assert.match(leftOutReport(leftOut), /^\n2 passed and did nothing, .*:\n {2}vibe is not chosen: runner::docker_ends, runner::docker_faults\n$/);
  assert.equal(leftOutReport([]), "");
  // Each file whose tests say so has its output in the report.
  const root = path.join(import.meta.dirname, "../..");
  const kept = /^filter = '(.*)'\njunit = \{ store-success-output = true \}$/m.exec(/^\[\[profile\.containers\.overrides\]\].*$[^]*/m.exec(readFileSync(path.join(root, ".config/nextest.toml"), "utf8"))?.[0] ?? "")?.[1] ?? "";
  const files = readdirSync(path.join(root, "crates"), { recursive: true }).filter((file) => /^[^/]+\/tests\/docker_.*\.rs$/.test(file));
  const matching = files.filter((file) => readFileSync(path.join(root, "crates", file), "utf8").includes('println!("left out: '));
  const binaries = new Set(matching.map((file) => file.split("/")[2].replace(/\.rs$/, "")));
  assert.deepEqual(filesOf(kept).sort(), [...binaries].sort());
});

/** The files that a filter of cargo-nextest means: those of `test(/^(a|b)::/)`, `test(=a::one)` and `test(/^a::one/)`. */
function filesOf(filter) {
  return [...filter.matchAll(/test\((?:=|\/\^)(\w*)(?:\(([\w|]+)\))?::/g)].flatMap(([, begin, ends = ""]) => ends.split("|").map((end) => begin + end));
}

test("every test file is compiled, and the runner's settings name files and tests that exist", () => {
  const root = path.join(import.meta.dirname, "../..");
  const settings = readFileSync(path.join(root, ".config/nextest.toml"), "utf8");
  const compiled = [];
  for (const crate of readdirSync(path.join(root, "crates"))) {
    const folder = path.join(root, "crates", crate, "tests");
    const manifest = readFileSync(path.join(root, "crates", crate, "Cargo.toml"), "utf8");
    if (!/^autotests = false$/m.test(manifest)) continue;
    const programs = [...manifest.matchAll(/^\[\[test\]\]\nname = "(\w+)"$/gm)].map(([, name]) => name);
    const modules = [...readFileSync(path.join(folder, "integration.rs"), "utf8").matchAll(/^mod (\w+);$/gm)].map(([, name]) => name);
    const files = readdirSync(folder).filter((name) => name.endsWith(".rs") || existsSync(path.join(folder, name, "main.rs"))).map((name) => name.replace(/\.rs$/, ""));
    assert.deepEqual(files.filter((name) => name !== "integration" && !programs.includes(name) && !modules.includes(name)), [], crate);
    const sources = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".rs"));
    const declared = new Set(sources.flatMap((name) => [...readFileSync(path.join(folder, name), "utf8").matchAll(/^\s*(?:pub(?:\(\w+\))? )?mod (\w+);/gm)].map(([, module]) => module)));
    const moduleOf = (name) => path.basename(/\/(?:mod|main)\.rs$/.test(name) ? path.dirname(name) : name, ".rs");
    assert.deepEqual(sources.map(moduleOf).filter((name) => name !== "integration" && !programs.includes(name) && !declared.has(name)), [], `${crate}: beneath a folder`);
    compiled.push(...modules.map((name) => ({ name, folder })));
  }
  const named = filesOf(settings);
  assert.ok(named.length > 20);
  assert.deepEqual(named.filter((name) => !compiled.some((one) => one.name === name)), []);
  for (const [, file, test] of settings.matchAll(/test\((?:=|\/\^)(\w+)::(?:\w+::)*(\w+)/g)) {
    const texts = compiled.filter(({ name }) => name === file).flatMap(({ folder }) => readdirSync(folder, { recursive: true }).filter((name) => name === `${file}.rs` || name.startsWith(`${file}/`)).map((name) => readFileSync(path.join(folder, name), "utf8")));
    assert.ok(texts.some((text) => text.includes(`fn ${test}`)), `${file}::${test}`);
  }
});

test("tests of one program are counted by their files", () => {
  const tests = [
    { binary: "cli::cli_integration", test: "a::one" },
    { binary: "cli::cli_integration", test: "a::b::two" },
    { binary: "cli::cli_integration", test: "c::one" },
    { binary: "cli::alone", test: "d::one" },
    { binary: "cli", test: "e::one" },
  ];
  assert.deepEqual(counts(tests), { cli: 1, "cli::a": 2, "cli::alone": 1, "cli::c": 1 });
});

test("a list of tests differs where a file has fewer, more, or is new", () => {
  assert.equal(difference({ a: 1, b: 2 }, { b: 2, a: 1 }), null);
  assert.match(difference({ a: 1, b: 2, d: 1 }, { a: 2, c: 3, d: 1 }), /:\na: 1 listed, 2 there\nb: 2 listed, 0 there\nc: 0 listed, 3 there\n/);
});

test("a feature that only tests bring is named", () => {
  const programs = "gateway v0.1.0 (/w/crates/gateway) []\ngetrandom v0.4.3 []\nlibc v0.2.1 [default,std]\nlibc v0.2.1 [default,std] (*)\nrand v0.9.5 [std]\n";
  const tests = `${programs}getrandom v0.4.3 [std,sys_rng]\nrand v0.10.3 [alloc]\nproptest v1.12.0 [default]\n`;
  assert.deepEqual(featuresOfTests(programs, tests), ["getrandom v0.4.3 [std,sys_rng]"]);
  assert.deepEqual(featuresOfTests(programs, programs), []);
});

test("a test that no stage ran is named", () => {
  const tests = [
    { binary: "cli::cli_integration", test: "docker_a::in_a_container", ignored: true },
    { binary: "cli::cli_integration", test: "docker_a::without", ignored: false },
    { binary: "store::files", test: "by_name_only", ignored: true },
    { binary: "store", test: "unit", ignored: false },
  ];
  assert.deepEqual(neverRun(["ci", "containers"], [tests[0], tests[3]], tests), ["cli::cli_integration docker_a::without"]);
  assert.deepEqual(neverRun(["ci"], tests, tests), []);
  assert.deepEqual(neverRun(["containers"], [], tests), ["cli::cli_integration docker_a::in_a_container"]);
  assert.equal(neverRun(["ci"], [], null).length, 1);
});

test("of two times of a test the shorter one counts", () => {
  const passed = (seconds) => keepTimes([{ binary: "a::b", test: "t", seconds }]);
  [9, 4, 5].forEach(passed);
  assert.deepEqual(knownTimes(), { "a::b": { t: 4 } });
  passed(6);
  assert.deepEqual(knownTimes(), { "a::b": { t: 5 } });
});

const target = (crate, kind, name) => ({ kind: [kind], name, src_path: `/w/crates/${crate}/${kind === "test" ? `tests/${name}` : "src/main"}.rs` });
const crate = (name, needs, targets, kind = null) => ({
  name,
  manifest_path: `/w/crates/${name}/Cargo.toml`,
  targets,
  dependencies: needs.map((needed) => ({ name: needed, path: `/w/crates/${needed}`, kind })),
});
const WORKSPACE = [
  crate("low", [], [target("low", "lib", "low"), target("low", "test", "low_integration")]),
  crate("middle", ["low"], [target("middle", "lib", "middle"), target("middle", "test", "whole")]),
  crate("tested", ["middle"], [target("tested", "lib", "tested"), target("tested", "test", "beside")], "dev"),
  crate("top", ["middle"], [target("top", "bin", "top"), target("top", "test", "run"), target("top", "test", "slow")]),
  crate("alone", [], [target("alone", "lib", "alone")]),
];

test("a changed crate brings its tests, and the unit tests of what needs it", () => {
  const times = { "low::low_integration": { "one::slow": 12, "one::quick": 1, "one::slower": 20 }, low: { second: 4 }, middle: { quick: 1 }, top: { slow: 7.5 }, "middle::whole": { long: 60 }, alone: { slow: 60 } };
  const { crates, targets, filter, leftOut } = chosen(WORKSPACE, ["crates/low/src/lib.rs", "docs/a.md"], times, "/w");
  assert.deepEqual(crates, ["low"]);
  assert.deepEqual(targets, ["--lib", "--bin", "top", "--test", "low_integration"]);
  const expected =
    "(package(=low) + ((package(=middle) + package(=tested) + package(=top)) & (kind(lib) + kind(bin))))" +
    " - ((binary_id(=low::low_integration) & test(=one::slow)) | (binary_id(=low::low_integration) & test(=one::slower)) | (binary_id(=top) & test(=slow)))";
  assert.deepEqual(filter, [...targets, "--no-tests", "pass", "-E", expected]);
  assert.deepEqual(leftOut, [
    "3 slow tests: low::one (2, 32 s), top (1, 8 s)",
    "integration tests of what needs them: middle, tested, top",
    "tests that read what lies in no crate: docs/a.md",
    "tests in containers, end to end, dependencies, numbers of tests",
  ]);
});

test("a changed test runs however long it takes", () => {
  const { targets, filter } = chosen(WORKSPACE, ["crates/top/tests/slow.rs"], { "top::slow": { long: 60 }, "top::run": { long: 60 } }, "/w");
  assert.deepEqual(targets, ["--lib", "--bin", "top", "--test", "run", "--test", "slow"]);
  assert.equal(filter.at(-1), "(package(=top)) - ((binary_id(=top::run) & test(=long)))");
  const times = { "low::low_integration": { "one::slow": 60, "two::slow": 60 } };
  const inOneProgram = chosen(WORKSPACE, ["crates/low/tests/one/part.rs"], times, "/w").filter.at(-1);
  assert.ok(inOneProgram.endsWith(" - ((binary_id(=low::low_integration) & test(=two::slow)))"), inOneProgram);
});

test("where no crate differs nothing is built, and what all compile changes all", () => {
  assert.deepEqual(chosen(WORKSPACE, ["README.md"], {}, "/w").targets, []);
  assert.equal(chosen(WORKSPACE, ["Cargo.lock"], {}, "/w").crates.length, WORKSPACE.length);
});

test("every failure is listed with its lines and how to repeat it", () => {
  const text = failureReport([{ name: "a", lines: tail("\n1\n\n2\n3\n", 2), repeat: "npm test -- rust" }]);
  assert.match(text, /1 failed:\n\n✗ a\n {4}2\n {4}3\n {2}again: npm test -- rust\n/);
});

test("a flaky end-to-end test has what its first try printed, its picture and the trace of the next one", () => {
  const work = path.join(folder, "e2e");
  const file = (at) => {
    mkdirSync(path.dirname(path.join(work, at)), { recursive: true });
    writeFileSync(path.join(work, at), at);
    return path.join(work, at);
  };
  const first = {
    status: "failed",
    errors: [{ message: "\u001b[31mno button\u001b[39m" }],
    stdout: [{ text: "asked\n" }],
    stderr: [{ buffer: Buffer.from("refused\n").toString("base64") }],
    attachments: [{ name: "screenshot", path: file("runs-one/test-failed-1.png") }, { name: "note", body: "" }, { name: "gone", path: path.join(work, "gone.png") }],
  };
  const second = { status: "passed", errors: [], stdout: [{ text: "second\n" }], stderr: [], attachments: [{ name: "trace", path: file("runs-one-retry1/trace.zip") }] };
  const specs = [{ title: "one", file: "runs.spec.ts", tests: [{ status: "flaky", results: [first, second] }] }];
  const kept = path.join(folder, "kept");
  const { flaky, failed, passed } = playwrightResults({ suites: [{ title: "runs.spec.ts", file: "runs.spec.ts", specs }] }, kept);
  assert.deepEqual([failed, passed], [[], []]);
  const place = (at) => path.relative(path.join(import.meta.dirname, "../.."), path.join(kept, at));
  assert.deepEqual(flaky[0].lines, ["asked", "refused", `screenshot: ${place("runs-one/test-failed-1.png")}`, `trace: ${place("runs-one-retry1/trace.zip")}`, "no button"]);
  // Where there is no place for them, as on a full disk, the report goes on.
  writeFileSync(path.join(folder, "full"), "");
  const unkept = playwrightResults({ suites: [{ title: "runs.spec.ts", file: "runs.spec.ts", specs }] }, path.join(folder, "full"));
  assert.deepEqual(unkept.flaky[0].lines, ["asked", "refused", "screenshot: could not be kept", "trace: could not be kept", "no button"]);
  // Playwright's next run empties its own folder.
  rmSync(work, { recursive: true });
  assert.equal(readFileSync(path.join(kept, "runs-one/test-failed-1.png"), "utf8"), "runs-one/test-failed-1.png");
  assert.deepEqual(playwrightResults(null), { failed: [], flaky: [], passed: [] });
});

test("more failures than luck explains are those of a twentieth, and at least twenty", () => {
  const results = (failed, passed) => ({ failed: Array.from({ length: failed }), flaky: [], passed: Array.from({ length: passed }) });
  assert.equal(mostByLuck(results(1, 99)), 20);
  assert.equal(mostByLuck(results(60, 1940)), 100);
});

test("the names of a report are read again", () => {
  const failed = [{ name: "a b (c)", lines: ["✗ of its own", "2 failed:"], repeat: "x" }, { name: "d", lines: [], repeat: "y" }];
  const flaky = "\n1 flaky: failed, then passed on another try. Mend the cause.\n  runner one (passed when nothing ran beside it)\n      first line (passed 3)\n";
  assert.deepEqual(namesInReport(`▸ ui … 2 failed (1.0 s)\n${flaky}${failureReport(failed)}\nFailed after 3 s.\n`), { failed: ["a b (c)", "d"], flaky: ["runner one"] });
  assert.deepEqual(namesInReport(`${flaky}\nAll passed in 3 s.\n`), { failed: [], flaky: ["runner one"] });
  assert.deepEqual(namesInReport("▸ ui … ok (1.0 s)\n"), { failed: undefined, flaky: [] });
});

test("what is tried once and fails is not tried again", () => {
  const file = path.join(folder, "tries");
  assert.equal(runWithTries("sh", ["-c", `echo x >> "${file}"; exit 1`]), false);
  assert.equal(readFileSync(file, "utf8"), "x\n");
  assert.equal(runWithTries("true", []), true);
});

test("a check in CI takes no variable that changes what is tested", () => {
  const root = path.join(import.meta.dirname, "../..");
  const files = readdirSync(path.join(root, "crates"), { recursive: true }).filter((file) => /^[^/]+\/tests\/.*\.rs$/.test(file));
  const read = /env::var(?:_os)?\(\s*"([A-Z_]+)"|^const [A-Z_]+: &str = "(STAMINA_[A-Z_]+)";/gm;
  const names = new Set(files.flatMap((file) => [...readFileSync(path.join(root, "crates", file), "utf8").matchAll(read)].map(([, name, named]) => name ?? named)));
  // What every machine has or may have.
  for (const name of ["CI", "PATH", "DOCKER_HOST", "OWN_MODEL_KEY", "STAMINA_SHARED"]) names.delete(name);
  for (const name of ["UPDATE_SCHEMA", "STAMINA_EVERY_WAY", "STAMINA_PROGRAM", "KEEP_PAPERS"]) assert.ok(names.has(name), name);
  // It starts this in place of the check.
  const bin = path.join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(path.join(bin, "npm"), "#!/bin/sh\nenv\n", { mode: 0o755 });
  const script = readFileSync(path.join(root, ".ci/run"), "utf8").replace(/^.*\/proc\/sys.*$/m, "");
  const env = { ...Object.fromEntries([...names].map((name) => [name, "1"])), STAMINA_SHARED: folder, PATH: `${bin}:${process.env.PATH}` };
  const { stdout, status, stderr } = spawnSync("bash", ["-c", script, path.join(root, ".ci/run")], { encoding: "utf8", env });
  assert.equal(status, 0, stderr);
  const left = new Set(stdout.split("\n").map((line) => line.split("=")[0]));
  assert.deepEqual([...names].filter((name) => left.has(name)), []);
  assert.ok(left.has("STAMINA_SHARED") && left.has("CI"));
});
