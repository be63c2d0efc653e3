// `npm run samples`: data/sample-simulated.zip, results of three real harnesses in their images, played by the simulated
// model in three abilities: 5 scenarios × 12 turns each, all with the same scenarios, so that they can be paired.
//
//   --bin FILE     takes this command line; otherwise it is built (release)
//   --keep FOLDER  where the runs go (default: .cache/samples). What is finished there is not retried, what was
//                  begun is resumed
//   --at-once N    runs at the same time, two episodes of each (default: 1)
//   --pack         plays nothing: packs what is there
//
// Episodes continue after a turn that is not passed, to the last one: what an agent makes of the changes after it is seen, too.
// Runs are comparable only where the simulated model makes the same mistakes, so all have one seed. Its defects follow from the
// seed, the scenario and the turn, so harnesses come to the same stamina; their transcripts, tokens and times differ.
// So many turns that code, transcripts and logs of every turn fit what is shipped.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { containers } from "./containers.mjs";
import { duration, inRoot, root, runOrStop, stop, targetDir } from "./lib/process.mjs";
import { packSamples } from "./lib/sample-zip.mjs";

/** The configuration's word of each harness, and its image. */
const HARNESSES = [
  { agent: "CODEX", image: "codex" },
  { agent: "CLAUDE_CODE", image: "claude-code" },
  { agent: "KIMI_CODE", image: "kimi-code" },
];
const SCENARIOS = 5;
const TURNS = 12;
/** Of the model's choices. */
const SEED = 1;

/** How often a turn's first attempt has defects, and how often feedback repairs one. */
const ABILITIES = [
  { name: "weak", defectRate: 0.6, repair: 0.35 },
  { name: "middling", defectRate: 0.4, repair: 0.55 },
  { name: "strong", defectRate: 0.3, repair: 0.6 },
];

process.chdir(root);
const args = process.argv.slice(2);
const option = (name, otherwise) => {
  const at = args.indexOf(name);
  return at === -1 ? otherwise : args.splice(at, 2)[1];
};
const flag = (name) => args.includes(name) && args.splice(args.indexOf(name), 1).length > 0;
const bin = option("--bin", null);
const folder = path.resolve(option("--keep", inRoot(".cache/samples")));
const atOnce = Number(option("--at-once", "1"));
const packOnly = flag("--pack");
if (args.length > 0) stop(`"${args.join(" ")}" is not understood. The head of scripts/samples.mjs lists what is.`);

const runs = HARNESSES.flatMap((harness) => ABILITIES.map((ability) => ({ harness, ability, name: `${harness.image}-${ability.name}` })));

/** Settings of a run, as `--values` takes them. */
const values = ({ harness, ability, name }) => [
  `agent=${harness.agent}`,
  `${harness.agent.toLowerCase()}.model_id=oracle-${ability.name}`,
  `output_dir=${path.join(folder, name)}`,
  "use_docker=true",
  "batch_size=2",
  "endpoint.mode=oracle",
  `restful_server_gen_iterative.n_scenarios=${String(SCENARIOS)}`,
  `restful_server_gen_iterative.n_turns=${String(TURNS)}`,
  "restful_server_gen_iterative.base_seed=42",
  "restful_server_gen_iterative.attempt_limit=3",
  "restful_server_gen_iterative.test_fail_feedback_type=DETAILED",
  `oracle.seed=${String(SEED)}`,
  "oracle.most_defects=2",
  `oracle.defect_rate=${String(ability.defectRate)}`,
  `oracle.repair=${String(ability.repair)}`,
  // Generous: a busy machine is no failure of an agent.
  "limits.attempt_minutes=60",
  "keep_snapshots=60",
  `tags=[sample,${ability.name}]`,
];

/** Whether a run is over, by its own report. */
function finished(name) {
  const report = path.join(folder, name, "report.json");
  if (!existsSync(report)) return false;
  const { results, run } = JSON.parse(readFileSync(report, "utf8"));
  return Boolean(run.finished_at) && results.length === SCENARIOS;
}

/** Whether a run has the turns and the seed of today, by its own settings. */
function isOfToday(name) {
  const config = readFileSync(path.join(folder, name, "config.yaml"), "utf8");
  return [`n_scenarios: ${String(SCENARIOS)}`, `n_turns: ${String(TURNS)}`, `seed: ${String(SEED)}`].every((line) => config.includes(`  ${line}\n`));
}

/** Plays runs until none is waiting. */
async function playAll(stamina, waiting) {
  for (let run = waiting.shift(); run; run = waiting.shift()) {
    const begun = Date.now();
    const at = path.join(folder, run.name);
    if (existsSync(at) && !existsSync(path.join(at, ".stamina/run.json"))) rmSync(at, { recursive: true });
    const subcommand = existsSync(at) ? ["resume", at] : ["run", "--values", ...values(run)];
    const child = spawn(stamina, subcommand, { stdio: ["ignore", "inherit", "inherit"] });
    const code = await new Promise((resolve) => void child.on("close", resolve));
    process.stdout.write(`${run.name} ${duration(Date.now() - begun)}\n`);
    if (code !== 0) stop(`${run.name} ended with ${String(code)}. "npm run samples" continues it.`);
  }
}

if (!packOnly) {
  if (!(await containers({ ci: Boolean(process.env.CI) }))) stop("No container engine answers. Start Docker or Podman and try again.");
  if (!bin) runOrStop("cargo", ["build", "--workspace", "--locked", "--release", "--quiet", "--bin", "stamina"]);
  const stamina = bin ? path.resolve(bin) : path.join(targetDir(), "release/stamina");
  runOrStop(stamina, ["images", "build", ...HARNESSES.map((harness) => harness.image)]);
  mkdirSync(folder, { recursive: true });
  const others = runs.filter((run) => existsSync(path.join(folder, run.name, "config.yaml")) && !isOfToday(run.name));
  if (others.length > 0) stop(`${others[0].name} was begun with other settings. Delete ${folder} and begin again.`);
  const waiting = runs.filter((run) => !finished(run.name));
  await Promise.all(Array.from({ length: atOnce }, () => playAll(stamina, waiting)));
}
for (const { name } of runs) if (!isOfToday(name)) stop(`${name} was played with other settings. Delete ${folder} and begin again.`);
packSamples(folder, runs.map((run) => run.name), inRoot("data/sample-simulated.zip"));
