// What the sample keeps of runs, and that it never has more than is shipped.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { strFromU8, unzipSync } from "fflate";
import { packSamples } from "./lib/sample-zip.mjs";

/** Bytes of each file of an attempt; random, so that they do not get smaller. */
const SIZE = 3_000;
const TURNS = [["passed"], ["failed", "passed"], ["failed", "failed", "failed"], ["failed", "passed"]];

function run(folder) {
  const putFile = (name, bytes) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), bytes);
  };
  putFile("report.json", JSON.stringify({ run: { simulated: true, finished_at: "2026-11-22T19:53:45Z" } }));
  putFile("config.yaml", "agent: CODEX\noutput_dir: /somewhere/else\n");
  const turns = TURNS.map((verdicts, t) => {
    const attempts = verdicts.map((verdict, a) => {
      const stem = `turn_${String(t + 1)}_attempt_${String(a + 1)}`;
      const files = { test_output: `test_results/${stem}.txt`, transcript: `transcripts/${stem}.json`, code: `agent_code/${stem}`, server_log: `server_logs/${stem}.txt`, agent_logs: [`agent_logs/${stem}.txt`, `agent_logs/${stem}.err`] };
      putFile(`scenario_0/${files.test_output}`, "1 passed");
      putFile(`scenario_0/${files.transcript}`, randomBytes(SIZE).toString("hex"));
      putFile(`scenario_0/${files.code}/server.py`, randomBytes(SIZE).toString("hex"));
      putFile(`scenario_0/${files.server_log}`, randomBytes(SIZE).toString("hex"));
      for (const name of files.agent_logs) putFile(`scenario_0/${name}`, randomBytes(SIZE / 2).toString("hex"));
      return { attempt: a + 1, verdict, end_reason: verdict === "passed" ? null : "tests_failed", files };
    });
    putFile(`scenario_0/changes/turn_${String(t + 1)}.md`, "Change it.");
    return { turn: t + 1, files: { request: `changes/turn_${String(t + 1)}.md`, suite: "test_suites/x.json" }, attempts };
  });
  putFile("scenario_0/test_suites/x.json", "{}");
  putFile("scenario_0/trajectory.json", JSON.stringify({ turns }));
}

/** Packs one run into at most so many bytes: what its attempts keep, by `turn.attempt`, and the zip. */
function packed(most) {
  const folder = mkdtempSync(path.join(tmpdir(), "stamina-sample-"));
  try {
    run(path.join(folder, "codex-weak"));
    const to = path.join(folder, "sample.zip");
    packSamples(folder, ["codex-weak"], to, most);
    const zip = readFileSync(to);
    const entries = unzipSync(zip);
    const { turns } = JSON.parse(strFromU8(entries["codex-weak/scenario_0/trajectory.json"]));
    const kept = new Map(turns.flatMap((turn) => turn.attempts.map((attempt) => [`${String(turn.turn)}.${String(attempt.attempt)}`, Object.keys(attempt.files)])));
    // What is named is there, and nothing else of an attempt is.
    const named = turns.flatMap((turn) => turn.attempts.flatMap((attempt) => Object.values(attempt.files).flat()));
    const present = Object.keys(entries).filter((name) => /\/(?:transcripts|agent_code|server_logs|agent_logs)\//.test(name));
    for (const name of present) assert.ok(named.some((one) => name === `codex-weak/scenario_0/${one}` || name.startsWith(`codex-weak/scenario_0/${one}/`)), name);
    for (const one of named) assert.ok(Object.keys(entries).some((name) => name.startsWith(`codex-weak/scenario_0/${one}`)), one);
    assert.equal(Object.keys(entries).some((name) => name.includes("test_suites")), false);
    assert.match(strFromU8(entries["codex-weak/config.yaml"]), /^output_dir: codex-weak$/m);
    return { kept, bytes: zip.length, readme: strFromU8(entries["README.md"]) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ALL = ["test_output", "transcript", "code", "server_log", "agent_logs"];

test("where there is room, every attempt keeps code, transcript and logs", () => {
  const { kept, readme } = packed(10_000_000);
  assert.equal(kept.size, 8);
  for (const files of kept.values()) assert.deepEqual(files, ALL);
  assert.match(readme, /1 scenarios of 4 turns/);
});

test("where there is less, every turn still has code, transcript and logs of its last attempt", () => {
  const whole = packed(10_000_000).bytes;
  for (const [most, files] of [[whole - SIZE, ALL], [whole - 10 * SIZE, ALL.slice(0, 4)]]) {
    const { kept, bytes } = packed(most);
    assert.ok(bytes <= most);
    for (const last of ["1.1", "2.2", "3.3", "4.2"]) assert.deepEqual(kept.get(last), files, last);
    // The first failed turn is the one that people look into.
    assert.deepEqual(kept.get("3.1"), files);
    assert.deepEqual(kept.get("2.1"), ["test_output"]);
    assert.deepEqual(kept.get("4.1"), ["test_output"]);
  }
});
