// What a step of a Harbor task costs beside its agent and its verifier: with Stamina Lab, and side by side with Harbor itself.
//
// Both play the same tasks with the reference solution and with nobody, one trial at a time, on the same engine. Images are built before
// anything is timed. Harbor is taken from PATH, or installed from PyPI into .cache/bench/harbor (it needs Python 3.12 or later);
// where neither works, only our own numbers are given, with the reason.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inRoot, stop, targetDir } from "../scripts/lib/process.mjs";
import { median, quantile } from "./measure.mjs";

const stamina = path.join(targetDir(), "release/stamina");
/** Of the fixtures those whose steps end by themselves: no step waits for a limit of time. */
const TASKS = ["theme_t1_w1_notes_cli", "theme_t2_w2_ledger_report", "theme_v1_w1_notes_regression"];
const BASE = "debian:trixie-slim";
const HARBOR = "harbor==0.24.0";
const PLAYERS = ["oracle", "nop"];
const ROUNDS = { full: 3, small: 1 };

/** @param {"full" | "small"} size */
export async function harborSteps(size) {
  if (spawnSync("docker", ["image", "inspect", BASE], { stdio: "ignore" }).status !== 0) {
    stop(`Steps of tasks are measured in containers: this needs Docker, and ${BASE}.`);
  }
  const room = inRoot(".cache/bench/harbor-steps");
  rmSync(room, { recursive: true, force: true });
  const tasks = path.join(room, "tasks");
  mkdirSync(tasks, { recursive: true });
  for (const name of TASKS) copied(name, tasks);
  const program = harbor();
  const ours = [];
  const theirs = [];
  // One after the other in each round, so that what slows the machine down slows down both. The first round builds the images.
  for (let round = 0; round <= ROUNDS[size]; round += 1) {
    for (const player of PLAYERS) {
      const own = playedHere(player, tasks, path.join(room, `ours-${player}-${String(round)}`));
      const other = program.path ? playedByHarbor(program.path, player, tasks, path.join(room, `harbor-${player}-${String(round)}`)) : [];
      if (round > 0) {
        ours.push(...own);
        theirs.push(...other);
      }
    }
  }
  return { tasks: TASKS.length, rounds: ROUNDS[size], ours: summary(ours), harbor: theirs.length > 0 ? summary(theirs) : null, harbor_missing: program.path ? null : program.why };
}

/** The task with an image that needs no network: what its recipe installs is for Harbor's own agents. */
function copied(name, tasks) {
  cpSync(inRoot("tests/fixtures/harbor/tasks", name), path.join(tasks, name), { recursive: true });
  const recipe = path.join(tasks, name, "environment/Dockerfile");
  const kept = readFileSync(recipe, "utf8").split("\n").filter((line) => !line.includes("apt-get"));
  writeFileSync(recipe, kept.join("\n"));
}

const secondsOf = (from, to) => (Date.parse(to) - Date.parse(from)) / 1000;

/**
 * The steps of a trial, from when one begins to when the next one does: whole seconds, and those that neither agent nor verifier took.
 * @param {{ begun: string, worked: number }[]} steps in order; `worked` = seconds of agent and verifier
 * @param {string} end of the last one
 */
function stepsOf(steps, end) {
  return steps.map(({ begun, worked }, at) => {
    const whole = secondsOf(begun, steps[at + 1]?.begun ?? end);
    return { whole, own: Math.max(0, whole - worked) };
  });
}

function playedHere(player, tasks, folder) {
  const values = ["benchmark=HARBOR", `tasks=${tasks}`, `agent=${player.toUpperCase()}`, `output_dir=${folder}`, "batch_size=1", "limits.cpus=2", "limits.memory_gib=1"];
  const db = path.join(path.dirname(folder), "library.sqlite");
  const run = spawnSync(stamina, ["--db", db, "--json", "run", "--values", ...values], { encoding: "utf8" });
  if (run.status !== 0) throw new Error(`stamina run ended with ${String(run.status)}: ${run.stderr.slice(-2000)}`);
  const steps = [];
  for (const episode of readdirSync(folder).filter((name) => name.startsWith("scenario_"))) {
    const { turns } = JSON.parse(readFileSync(path.join(folder, episode, "trajectory.json"), "utf8"));
    const attempts = turns.flatMap((turn) => turn.attempts);
    if (attempts.length === 0) throw new Error(`${folder}: ${episode} has no step`);
    steps.push(...stepsOf(attempts.map((a) => ({ begun: a.started_at, worked: (a.agent_seconds ?? 0) + (a.test_seconds ?? 0) })), attempts.at(-1).finished_at));
  }
  return steps;
}

function playedByHarbor(program, player, tasks, folder) {
  mkdirSync(folder, { recursive: true });
  const config = path.join(folder, "config.json");
  const job = { job_name: "job", jobs_dir: folder, n_attempts: 1, n_concurrent_trials: 1, agents: [{ name: player }], datasets: [{ path: tasks }] };
  writeFileSync(config, JSON.stringify(job));
  const run = spawnSync(program, ["run", "--config", config], { encoding: "utf8", cwd: folder, env: { ...process.env, NO_COLOR: "1" } });
  if (run.status !== 0) throw new Error(`harbor run ended with ${String(run.status)}: ${`${run.stdout}${run.stderr}`.slice(-2000)}`);
  const steps = [];
  for (const trial of readdirSync(path.join(folder, "job"))) {
    const file = path.join(folder, "job", trial, "result.json");
    if (!existsSync(file)) continue;
    const results = JSON.parse(readFileSync(file, "utf8")).step_results ?? [];
    const timed = results.map(({ agent_execution: agent, verifier }) => ({ begun: agent.started_at, worked: secondsOf(agent.started_at, agent.finished_at) + secondsOf(verifier.started_at, verifier.finished_at), end: verifier.finished_at }));
    if (timed.length > 0) steps.push(...stepsOf(timed, timed.at(-1).end));
  }
  if (steps.length === 0) {
    const reasons = readdirSync(path.join(folder, "job")).map((trial) => path.join(folder, "job", trial, "exception.txt")).filter((file) => existsSync(file));
    throw new Error(`${folder}: Harbor recorded no step. ${reasons.map((file) => readFileSync(file, "utf8").trim().slice(-500)).join("\n")}`);
  }
  return steps;
}

function summary(steps) {
  const whole = steps.map((step) => step.whole);
  const own = steps.map((step) => step.own);
  return { steps: steps.length, whole_median: median(whole), whole_p95: quantile(whole, 0.95), own_median: median(own), own_p95: quantile(own, 0.95) };
}

/** @returns {{ path: string | null, why?: string }} Harbor's program */
function harbor() {
  if (spawnSync("docker", ["compose", "version"], { stdio: "ignore" }).status !== 0) return { path: null, why: "Harbor needs the plugin `docker compose`, which is not here" };
  if (spawnSync("harbor", ["--version"], { stdio: "ignore" }).status === 0) return { path: "harbor" };
  const venv = inRoot(".cache/bench/harbor");
  const program = path.join(venv, "bin/harbor");
  if (existsSync(program)) return { path: program };
  const python = ["python3.13", "python3.12", "python3"].find((name) => spawnSync(name, ["-c", "import sys; sys.exit(sys.version_info < (3, 12))"], { stdio: "ignore" }).status === 0);
  if (!python) return { path: null, why: "Harbor needs Python 3.12 or later, which is not here" };
  const steps = [[python, ["-m", "venv", venv]], [path.join(venv, "bin/pip"), ["install", "--quiet", HARBOR]]];
  for (const [command, args] of steps) {
    const done = spawnSync(command, args, { encoding: "utf8" });
    if (done.status !== 0) {
      rmSync(venv, { recursive: true, force: true });
      return { path: null, why: `${HARBOR} could not be installed: ${(done.stderr ?? "").trim().split("\n").at(-1) ?? "no word"}` };
    }
  }
  return { path: program };
}
