// Makes one small zip of the runs of scripts/samples.mjs. The same runs give the same bytes: sorted names, one date.
//
// Always left out: `.stamina`, `ground_truth`, `test_suites`, `schemas`; `stamina generate` makes the same again from base seed 42.
// Every turn keeps its request and, of each attempt, its verdict, its tests and its counts. Of code, transcripts and logs the most
// is kept that fits, see `LEVELS`; what is not kept is taken out of `trajectory.json`'s lists of files, so that nothing is looked for
// in vain. `output_dir` in `config.yaml` is the only path of the machine that is written down, and becomes the run's name.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import path from "node:path";
import { zipSync } from "fflate";
import { stop } from "./process.mjs";

/** Bytes that are shipped at most. */
const MOST = 15_000_000;
const LEFT_OUT = new Set([".stamina", "ground_truth", "test_suites", "schemas"]);
/** What an attempt leaves behind, beside the output of its tests. */
const FILES = ["code", "transcript", "server_log", "agent_logs"];

/** What is kept, from the most to the least: the files of an attempt, by whether it is one that every turn has. */
const LEVELS = [
  { contents: "of every attempt code, transcript and logs", keeps: () => FILES },
  { contents: "of the last attempt of every turn, and of all attempts at the first failed one, code, transcript and logs", keeps: (chosen) => (chosen ? FILES : []) },
  { contents: "of the last attempt of every turn, and of all attempts at the first failed one, code, transcript and the server's log", keeps: (chosen) => (chosen ? FILES.filter((file) => file !== "agent_logs") : []) },
];

/** Folders of whoever played the runs, and keys. `/workspace` and `/home/agent` are those of a container. */
const FORBIDDEN = [/\/(?:home\/(?!agent\b)|Users\/|root\/|work\/|tmp\/wt)[\w.-]*/, /\bsk-[A-Za-z0-9_-]{16,}/, /\bAKIA[0-9A-Z]{16}\b/, /\bgh[pousr]_[A-Za-z0-9]{20,}/, /-----BEGIN [A-Z ]*PRIVATE KEY/];

const readme = (contents, scenarios, turns) => `# Simulated results

Three real harnesses in their containers (Codex CLI, Claude Code, Kimi Code), each over ${String(scenarios)} scenarios of ${String(turns)} turns. No model
was asked: the simulated model of Stamina Lab answered in three abilities (weak, middling, strong) with seeded defects. Its seed
is the same in all runs, so its mistakes are the same with every harness; transcripts, tokens and times are each harness's own.
The numbers say nothing about any model, nor which harness is better. Every run says \`"simulated": true\` in its \`report.json\`.
A turn that is not passed in 3 attempts is failed; the episode continues with the next one.

Kept are ${contents}.
Made by \`npm run samples\`; \`scripts/lib/sample-zip.mjs\` lists what is left out.
`;

/** Writes the runs `names` of `folder` into one zip of at most so many bytes. */
export function packSamples(folder, names, to, most = MOST) {
  for (const { contents, keeps } of LEVELS) {
    const entries = entriesOf(folder, names, contents, keeps);
    for (const [name, bytes] of Object.entries(entries)) check(name, bytes.toString("latin1"));
    const sorted = Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));
    const zip = zipSync(sorted, { level: 9, mtime: new Date(2026, 0, 1), os: 3 });
    process.stdout.write(`${String(Object.keys(sorted).length)} files, ${(zip.length / 1e6).toFixed(1)} MB: ${contents}\n`);
    if (zip.length > most) continue;
    writeFileSync(to, zip);
    return contents;
  }
  return stop(`The sample has more than the ${String(most)} bytes that are shipped. Play fewer turns or scenarios.`);
}

/** What the zip holds at a level, by name. */
function entriesOf(folder, names, contents, keeps) {
  const entries = {};
  let [scenarios, turns] = [0, 0];
  for (const name of names) {
    const at = path.join(folder, name);
    const report = JSON.parse(readFileSync(path.join(at, "report.json"), "utf8"));
    if (report.run.simulated !== true) stop(`${name} does not say that it is simulated.`);
    if (!report.run.finished_at) stop(`${name} is not finished: "npm run samples" continues it.`);
    entries[`${name}/report.json`] = readFileSync(path.join(at, "report.json"));
    const config = readFileSync(path.join(at, "config.yaml"), "utf8");
    entries[`${name}/config.yaml`] = Buffer.from(config.replace(/^output_dir: .*$/m, `output_dir: ${name}`));
    const played = readdirSync(at).filter((entry) => entry.startsWith("scenario_"));
    for (const scenario of played) {
      const { files, count } = scenarioFiles(path.join(at, scenario), keeps);
      for (const [file, bytes] of Object.entries(files)) entries[`${name}/${scenario}/${file}`] = bytes;
      turns = Math.max(turns, count);
    }
    scenarios = Math.max(scenarios, played.length);
  }
  return { "README.md": Buffer.from(readme(contents, scenarios, turns)), ...entries };
}

/** What is kept of a scenario's folder, by name, and its number of turns. */
function scenarioFiles(at, keeps) {
  const trajectory = JSON.parse(readFileSync(path.join(at, "trajectory.json"), "utf8"));
  const failed = trajectory.turns.find((turn) => turn.attempts.at(-1).verdict !== "passed");
  const dropped = new Set(LEFT_OUT);
  for (const turn of trajectory.turns) {
    turn.files = { request: turn.files.request };
    for (const attempt of turn.attempts) {
      check(`an attempt of turn ${String(turn.turn)}`, "", attempt);
      const kept = keeps(turn === failed || attempt === turn.attempts.at(-1));
      for (const file of FILES.filter((one) => !kept.includes(one) && attempt.files[one] !== undefined)) {
        for (const name of [attempt.files[file]].flat()) dropped.add(name);
        delete attempt.files[file];
      }
    }
  }
  const files = {};
  for (const file of filesBelow(at, "", dropped)) files[file] = readFileSync(path.join(at, file));
  files["trajectory.json"] = Buffer.from(`${JSON.stringify(trajectory)}\n`);
  return { files, count: trajectory.turns.length };
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
    stop(`${name} ended with ${String(attempt.end_reason)}: the machine's or the harness's fault, no sample of a model's.`);
  }
  const own = [hostname(), userInfo().username].filter((word) => word.length > 3 && !["root", "localhost"].includes(word));
  const hit = FORBIDDEN.map((pattern) => pattern.exec(text)?.[0]).find(Boolean) ?? own.find((word) => text.includes(word));
  if (hit) stop(`${name} contains "${hit}", which must not be shipped.`);
}
