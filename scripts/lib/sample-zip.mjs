// Makes one small zip of the runs of scripts/samples.mjs. The same runs give the same bytes: sorted names, one date.
//
// What is left out, and taken out of `trajectory.json`'s lists of files, so that nothing is looked for in vain:
//   - `.stamina`, `ground_truth`, `test_suites`, `schemas`: `stamina generate` makes the same again from base seed 42
//   - `agent_logs`: the transcripts say the same in one shape for all harnesses
//   - `server_logs` of attempts that passed, and of turns other than the first failed one
//   - `agent_code` of attempts that passed, but each episode's last
//   - `transcripts` of turns after an episode's first failed turn, and their `agent_code` but that of the last
//   - `transcripts` of turns after the first that were passed at once: they are all alike
// `output_dir` in `config.yaml` is the only path of the machine that is written down, and becomes the run's name.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import path from "node:path";
import { zipSync } from "fflate";
import { stop } from "./process.mjs";

const MOST = 12 * 1024 * 1024;
const LEFT_OUT = new Set([".stamina", "ground_truth", "test_suites", "schemas", "agent_logs"]);

/** Folders of whoever played the runs, and keys. `/workspace` and `/home/agent` are those of a box. */
const FORBIDDEN = [/\/(?:home\/(?!agent\b)|Users\/|root\/|work\/|tmp\/wt)[\w.-]*/, /\bsk-[A-Za-z0-9_-]{16,}/, /\bAKIA[0-9A-Z]{16}\b/, /\bgh[pousr]_[A-Za-z0-9]{20,}/, /-----BEGIN [A-Z ]*PRIVATE KEY/];

const README = `# Simulated results

Three real harnesses in their containers (Codex CLI, Claude Code, Kimi Code), each over 5 scenarios of 20 turns. No model
was asked: a scripted one, the oracle of Stamina Lab, answered in three abilities (weak, middling, strong) with seeded
defects. The numbers say nothing about any model, nor which harness is better. Every run says \`"simulated": true\` in its
\`report.json\`. A turn that is not passed in 3 attempts is failed; the episode continues with the next one. Transcripts and
code of turns after the first failed one are not kept, but the code of the last turn, nor are transcripts of turns after the
first that were passed at once.

Made by \`npm run samples\`; what was left out to keep this small is listed in \`scripts/lib/sample-zip.mjs\`.
`;

/** Writes the runs `names` of `folder` into one zip. */
export function packSamples(folder, names, to) {
  const entries = { "README.md": Buffer.from(README) };
  for (const name of names) {
    const at = path.join(folder, name);
    const report = JSON.parse(readFileSync(path.join(at, "report.json"), "utf8"));
    if (report.run.simulated !== true) stop(`${name} does not say that it is simulated.`);
    if (!report.run.finished_at) stop(`${name} is not finished: "npm run samples" continues it.`);
    entries[`${name}/report.json`] = readFileSync(path.join(at, "report.json"));
    const config = readFileSync(path.join(at, "config.yaml"), "utf8");
    entries[`${name}/config.yaml`] = Buffer.from(config.replace(/^output_dir: .*$/m, `output_dir: ${name}`));
    for (const scenario of readdirSync(at).filter((entry) => entry.startsWith("scenario_"))) {
      const files = scenarioFiles(path.join(at, scenario));
      for (const [file, bytes] of Object.entries(files)) entries[`${name}/${scenario}/${file}`] = bytes;
    }
  }
  for (const [name, bytes] of Object.entries(entries)) check(name, bytes.toString("latin1"));
  const sorted = Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));
  const zip = zipSync(sorted, { level: 9, mtime: new Date(2026, 0, 1), os: 3 });
  if (zip.length > MOST) stop(`The sample has ${String(zip.length)} bytes; at most ${String(MOST)} are shipped.`);
  writeFileSync(to, zip);
  process.stdout.write(`${String(Object.keys(sorted).length)} files, ${(zip.length / 1024 / 1024).toFixed(1)} MiB\n`);
}

/** What is kept of a scenario's folder, by name. */
function scenarioFiles(at) {
  const trajectory = JSON.parse(readFileSync(path.join(at, "trajectory.json"), "utf8"));
  const last = trajectory.turns.at(-1);
  const failed = trajectory.turns.find((turn) => turn.attempts.at(-1).verdict !== "passed")?.turn ?? Infinity;
  const dropped = new Set(LEFT_OUT);
  for (const turn of trajectory.turns) {
    turn.files = { request: turn.files.request };
    for (const attempt of turn.attempts) {
      check(`an attempt of turn ${String(turn.turn)}`, "", attempt);
      delete attempt.files.agent_logs;
      const passed = attempt.verdict === "passed";
      const late = turn.turn > failed && turn !== last;
      const alike = passed && turn.attempts.length === 1 && turn.turn > 1;
      for (const [file, goes] of Object.entries({ server_log: passed || turn.turn !== failed, code: late || (passed && attempt !== last?.attempts.at(-1)), transcript: turn.turn > failed || alike })) {
        if (!goes) continue;
        dropped.add(attempt.files[file]);
        delete attempt.files[file];
      }
    }
  }
  const files = {};
  for (const file of filesBelow(at, "", dropped)) files[file] = readFileSync(path.join(at, file));
  files["trajectory.json"] = Buffer.from(`${JSON.stringify(trajectory)}\n`);
  return files;
}

/** Files below a folder, without those that are dropped. */
function filesBelow(at, below, dropped) {
  return readdirSync(path.join(at, below), { withFileTypes: true }).flatMap((entry) => {
    const name = below === "" ? entry.name : `${below}/${entry.name}`;
    if (dropped.has(name)) return [];
    if (entry.isDirectory()) return filesBelow(at, name, dropped);
    return entry.isFile() ? [name] : [];
  });
}

/** Stops at what must not be shipped, and at an attempt that did not fail by its tests. */
function check(name, text, attempt = undefined) {
  if (attempt && attempt.verdict !== "passed" && attempt.end_reason !== "tests_failed") {
    stop(`${name} ended with ${String(attempt.end_reason)}: the machine's or the harness's trouble, no sample of a model's.`);
  }
  const own = [hostname(), userInfo().username].filter((word) => word.length > 3 && !["root", "localhost"].includes(word));
  const hit = FORBIDDEN.map((pattern) => pattern.exec(text)?.[0]).find(Boolean) ?? own.find((word) => text.includes(word));
  if (hit) stop(`${name} contains "${hit}", which must not be shipped.`);
}
