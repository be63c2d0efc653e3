// `npm run harnesses [NAME…]`: every real harness in its image plays one scenario over five turns with the simulated
// model. Says what each came to; ends with 1 if one of them did not pass what an agent without defects passes.
//
//   --turns N      other than 5
//   --keep FOLDER  where the results go (default: .cache/harnesses, made anew)
//   --built        takes the command line as it was built last
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { containers } from "./containers.mjs";
import { duration, inRoot, root, runOrStop, stop, targetDir } from "./lib/process.mjs";

/** The configuration's word of each harness, and its image. */
const HARNESSES = {
  MINI_SWE: "mini-swe-agent",
  OPENHANDS: "openhands",
  OPENCODE: "opencode",
  QWEN_CODE: "qwen-code",
  KIMI_CLI: "kimi-cli",
  KIMI_CODE: "kimi-code",
  VIBE: "mistral-vibe",
  CLAUDE_CODE: "claude-code",
  CODEX: "codex",
};

process.chdir(root);
const args = process.argv.slice(2);
const option = (name, otherwise) => {
  const at = args.indexOf(name);
  return at === -1 ? otherwise : args.splice(at, 2)[1];
};
const turns = Number(option("--turns", "5"));
const built = args.includes("--built") && args.splice(args.indexOf("--built"), 1).length > 0;
const folder = path.resolve(option("--keep", inRoot(".cache/harnesses")));
const chosen = args.length === 0 ? Object.keys(HARNESSES) : args.map((name) => name.toUpperCase().replaceAll("-", "_"));
const unknown = chosen.filter((name) => !(name in HARNESSES));
if (unknown.length > 0) stop(`No harness is called ${unknown.join(", ")}. There are ${Object.keys(HARNESSES).join(", ")}.`);

const stopEngine = await containers({ ci: Boolean(process.env.CI) });
if (stopEngine === null) stop("No container engine answers. Start Docker or Podman and try again.");
if (!built) runOrStop("cargo", ["build", "--locked", "--quiet", "-p", "stamina"]);
const stamina = path.join(targetDir, "debug/stamina");
runOrStop(stamina, ["images", "build", ...chosen.map((name) => HARNESSES[name])]);

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
let failed = 0;
for (const name of chosen) {
  const begun = Date.now();
  const values = [`agent=${name}`, `output_dir=${path.join(folder, name.toLowerCase())}`, "use_docker=true", "endpoint.mode=oracle", "restful_server_gen_iterative.n_scenarios=1", `restful_server_gen_iterative.n_turns=${String(turns)}`, "restful_server_gen_iterative.base_seed=0"];
  const run = spawnSync(stamina, ["--json", "run", "--values", ...values], { encoding: "utf8", maxBuffer: 1 << 28 });
  const events = run.stdout.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  const attempts = events.filter((event) => event.event === "attempt");
  const passed = attempts.filter((event) => event.verdict === "passed").length;
  if (run.status !== 0 || passed !== turns) failed += 1;
  const why = attempts.filter((event) => event.end_reason).map((event) => `turn ${String(event.turn)}: ${event.end_reason}`);
  process.stdout.write(`${HARNESSES[name].padEnd(16)} ${String(passed)} / ${String(turns)} turns passed, ${String(attempts.length)} attempts, ${duration(Date.now() - begun)}${why.length > 0 ? ` (${why.join(", ")})` : ""}${run.status === 0 ? "" : `\n${run.stderr}`}\n`);
}
stopEngine();
if (failed > 0) stop(`${String(failed)} of ${String(chosen.length)} harnesses did not pass all turns. Their results are in ${folder}.`);
