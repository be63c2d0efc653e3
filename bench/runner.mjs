// What the runner itself costs: its own seconds an attempt, and its memory over a thousand turns.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { runOrStop, stop, targetDir } from "../scripts/lib/process.mjs";
import { timed } from "./measure.mjs";

const IMAGE = "stamina/base:1";

/** Containers are what agents run in: without an engine, or the image of the mock agent, there is no figure to give. */
function needsBoxes() {
  if (spawnSync("docker", ["image", "inspect", IMAGE], { stdio: "ignore" }).status === 0) return;
  stop(`The runner's own cost is measured in containers: this needs Docker, and ${IMAGE} (\`stamina images build base\`).`);
}

async function played(program, episodes, turns, where, atOnce) {
  const run = await timed(program, [episodes, turns, where, atOnce].map(String));
  const costs = JSON.parse(run.out);
  if (costs.finish.how !== "finished") throw new Error(`The run ended: ${JSON.stringify(costs.finish)}`);
  return { ...costs, cpu_seconds: run.cpu };
}

/**
 * Plays with the mock agent and the simulated model: many turns without containers, then in containers one episode by itself and twenty
 * side by side.
 * @param {"full" | "small"} size
 */
export async function runner(size) {
  needsBoxes();
  const full = size === "full";
  runOrStop("cargo", ["build", "--release", "--locked", "--quiet", "--workspace", "--example", "runner_cost"]);
  const program = path.join(targetDir(), "release/examples/runner_cost");
  process.env.STAMINA_BIN = program;
  // 1,000 turns in all, 20 episodes at once: short ones that follow each other, and long ones, whose conversations grow.
  const local = await played(program, full ? 100 : 20, full ? 10 : 5, "local", 20);
  const long = await played(program, 20, full ? 50 : 5, "local", 20);
  const boxed = await played(program, 1, full ? 20 : 3, "docker", 1);
  const side_by_side = await played(program, 20, full ? 5 : 2, "docker", 20);
  return { local, memory_growth_bytes: growth(local), long, long_growth_bytes: growth(long), boxed, side_by_side };
}

/** The first turns fill caches and pools; from a quarter on nothing should be added. */
function growth({ memory_bytes_by_turn: memory }) {
  const settled = memory.slice(Math.floor(memory.length / 4)).map(([, bytes]) => bytes);
  return Math.max(...settled) - (settled[0] ?? 0);
}
