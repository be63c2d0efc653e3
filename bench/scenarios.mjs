// Generating scenarios, and running their suites: how long it takes, and how that grows with turns.
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { inRoot, targetDir } from "../scripts/lib/process.mjs";
import { pythonTools } from "../scripts/python-tools.mjs";
import { median, timed, times } from "./measure.mjs";

const stamina = path.join(targetDir(), "release/stamina");
const key = (name, value) => `restful_server_gen_iterative.${name}=${value}`;

/**
 * Into a place of its own, once the disk is at rest: what an earlier generation wrote would be written down meanwhile, on the
 * same processors. Nothing is deleted before all is measured: for some minutes ext4 passes over the places of deleted
 * files one by one, each time it looks for that of a new one, which took longer than all the rest.
 */
async function generated(out, scenarios, turns) {
  spawnSync("sync", { stdio: "ignore" });
  const values = [key("n_scenarios", scenarios), key("n_turns", turns), key("base_seed", 0)];
  const run = await timed(stamina, ["--json", "generate", "--out", out, "--values", ...values]);
  return { ...run, ...JSON.parse(run.out), seconds: run.seconds };
}

/**
 * Generates shorter packs, then one in full three times: as a zip and twice as a folder. They are gone when the bench ends.
 * @param {"full" | "small"} size
 * @returns {Promise<{ pack: string, scenarios: number, turns: number, [figure: string]: unknown }>}
 */
export async function generation(size) {
  const [scenarios, turns] = size === "full" ? [20, 100] : [4, 10];
  const parent = inRoot(".cache/bench/scenarios");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(path.join(parent, `${size}-`));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const shorter = [];
  for (const share of [0.1, 0.25, 0.5]) {
    const fewer = Math.max(1, Math.round(turns * share));
    const run = await generated(path.join(folder, `turns-${fewer}`), scenarios, fewer);
    shorter.push({ turns: fewer, seconds: run.seconds, bytes: run.bytes });
  }
  const zip = await generated(path.join(folder, "pack.zip"), scenarios, turns);
  const pack = path.join(folder, "pack-1");
  const runs = await times(2, (nth) => generated(path.join(folder, `pack-${nth}`), scenarios, turns));
  const [first, second] = runs;
  if (first.sha256 !== second.sha256 || first.sha256 !== zip.sha256) throw new Error("Two generations differ");
  const quicker = first.seconds <= second.seconds ? first : second;
  return {
    pack,
    scenarios,
    turns,
    seconds: quicker.seconds,
    processor_seconds: quicker.cpu,
    both_seconds: runs.map((run) => run.seconds),
    zip_seconds: zip.seconds,
    bytes: quicker.bytes,
    peak_bytes: Math.max(...runs.map((run) => run.peak)),
    sha256: quicker.sha256,
    growth: [...shorter, { turns, seconds: quicker.seconds, bytes: quicker.bytes }],
  };
}

/** A reference server of a turn, and a way to end it. */
function reference(pack, turn) {
  return new Promise((resolve, reject) => {
    const child = spawn(stamina, ["serve-reference", pack, "--scenario", "0", "--turn", String(turn)], { stdio: ["ignore", "pipe", "ignore"] });
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`serve-reference ended with ${code}`)));
    createInterface({ input: child.stdout }).once("line", (url) => {
      resolve({
        url,
        end: () => {
          child.removeAllListeners("exit");
          child.kill();
        },
      });
    });
  });
}

/**
 * The suites of some turns, natively and with pytest, against the same reference server: three rounds of one after the
 * other, so that both meet the machine as it is at the time.
 * @param {string} pack
 * @param {number} turns
 */
export async function suites(pack, turns) {
  const python = pythonTools();
  const growth = [];
  for (const turn of [...new Set([1, Math.ceil(turns / 4), Math.ceil(turns / 2), Math.ceil((3 * turns) / 4), turns])]) {
    const server = await reference(pack, turn);
    try {
      // In a folder of its own: Python writes its caches where it runs, and a pack holds nothing else.
      const folder = inRoot(".cache/bench/scenarios/suites");
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      for (let earlier = 1; earlier <= turn; earlier++) {
        const name = `turn_${earlier}.py`;
        copyFileSync(path.join(pack, "scenario_0/test_suites", name), path.join(folder, name));
      }
      const rounds = await times(3, async () => {
        const native = await timed(stamina, ["--json", "test-server", pack, "--scenario", "0", "--turn", String(turn), "--url", server.url]);
        const report = JSON.parse(native.out);
        if (report.passed !== report.total) throw new Error(`The reference passes ${report.passed} of ${report.total} cases`);
        const pytest = await timed("env", [`BASE_URL=${server.url}`, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", path.join(folder, `turn_${turn}.py`)]);
        const passed = Number(/(\d+) passed/.exec(pytest.out)?.[1] ?? 0);
        if (passed !== report.total) throw new Error(`pytest passed ${passed} of ${report.total} cases`);
        return { cases: passed, native, pytest };
      });
      const middle = (figure) => median(rounds.map(figure));
      growth.push({
        turn,
        cases: rounds[0].cases,
        native_seconds: middle((round) => round.native.seconds),
        native_processor_seconds: middle((round) => round.native.cpu),
        pytest_seconds: middle((round) => round.pytest.seconds),
        pytest_processor_seconds: middle((round) => round.pytest.cpu),
        times: middle((round) => round.pytest.seconds / round.native.seconds),
      });
    } finally {
      server.end();
    }
  }
  return { growth, ...growth.at(-1) };
}
