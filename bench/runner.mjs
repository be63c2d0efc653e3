// What the runner itself costs: its own seconds an attempt, and its memory over a thousand turns.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { runOrStop, targetDir } from "../scripts/lib/process.mjs";
import { timed } from "./measure.mjs";

/** Whether a container engine answers, and has the image that the mock agent runs in. */
function boxes() {
  return spawnSync("docker", ["image", "inspect", "stamina/base:1"], { stdio: "ignore" }).status === 0;
}

async function played(program, episodes, turns, where) {
  const run = await timed(program, [String(episodes), String(turns), where]);
  const said = JSON.parse(run.out);
  if (said.finish.how !== "finished") throw new Error(`The run ended: ${JSON.stringify(said.finish)}`);
  return said;
}

/**
 * Plays with the mock agent and the scripted model: many turns without boxes, and a few in boxes where there is an engine.
 * @param {"full" | "small"} size
 */
export async function runner(size) {
  runOrStop("cargo", ["build", "--release", "--locked", "--quiet", "-p", "runner", "--example", "runner_cost"]);
  const program = path.join(targetDir, "release/examples/runner_cost");
  process.env.STAMINA_BIN = program;
  // 20 episodes side by side, 1,000 turns in all.
  const local = await played(program, size === "full" ? 20 : 10, size === "full" ? 50 : 10, "local");
  // The first turns fill caches and pools; from a quarter on nothing should be added.
  const memory = local.memory_bytes_by_turn;
  const settled = memory[Math.floor(memory.length / 4)]?.[1] ?? 0;
  const growth = Math.max(...memory.slice(Math.floor(memory.length / 4)).map(([, bytes]) => bytes)) - settled;
  const boxed = boxes() ? await played(program, 2, size === "full" ? 10 : 3, "docker") : null;
  return { local, memory_growth_bytes: growth, boxed };
}
