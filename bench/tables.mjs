// A tidy table of many rows, through `stamina ingest` and through pandas and sqlite3.
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { once } from "node:events";
import path from "node:path";
import { inRoot, targetDir } from "../scripts/lib/process.mjs";
import { timed, times } from "./measure.mjs";

const stamina = path.join(targetDir(), "release/stamina");
const ROWS = { full: 5_000_000, small: 50_000 };
const TURNS = 50;

function remove(db) {
  for (const tail of ["", "-wal", "-shm", ".running"]) rmSync(db + tail, { force: true });
}

/** Writes the table once: 20 runs, episodes of up to 50 turns, each turn in one or two attempts. */
async function written(rows, file) {
  if (existsSync(file)) return;
  mkdirSync(path.dirname(file), { recursive: true });
  const out = createWriteStream(`${file}.part`);
  out.write("run,harness,model,scenario,turn,attempt,passed,tests_passed,tests_total,end_reason,tokens_in,tokens_out,cost_usd,agent_seconds,planned_turns\n");
  // xorshift: the same rows every time.
  let state = 0x9e3779b9;
  const draw = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  const perRun = Math.ceil(rows / 20);
  let count = 0;
  for (let run = 0; count < rows; run++) {
    const runCells = `run-${run},harness-${run % 5},model-${Math.floor(run / 5)}`;
    for (let scenario = 0, ofRun = 0; ofRun < perRun && count < rows; scenario++) {
      let text = "";
      for (let turn = 1; turn <= TURNS && count < rows; turn++) {
        const passed = draw() < 0.995;
        for (let attempt = 1; attempt <= (passed ? 1 : 2) && count < rows; attempt++, count++, ofRun++) {
          const tests = 10 + turn;
          const tokens = 1000 + Math.floor(draw() * 20000);
          text += `${runCells},scenario_${scenario},${turn},${attempt},${passed},${passed ? tests : tests - 3},${tests},${passed ? "" : "tests_failed"},${tokens},${tokens >> 3},${(tokens * 2e-6).toFixed(6)},${(5 + draw() * 60).toFixed(2)},${TURNS}\n`;
        }
        if (!passed) break;
      }
      if (!out.write(text)) await once(out, "drain");
    }
  }
  out.end();
  await once(out, "finish");
  renameSync(`${file}.part`, file);
}

export async function tables(size) {
  const rows = ROWS[size];
  const file = inRoot(".cache/bench", size, "attempts.csv");
  await written(rows, file);
  const db = inRoot(".cache/bench", size, "table.sqlite");
  const check = (what, attempts) => {
    if (attempts !== rows) throw new Error(`${what} counted ${attempts} attempts, the table has ${rows}`);
  };
  const ours = await times(2, async () => {
    remove(db);
    const run = await timed(stamina, ["--db", db, "--json", "ingest", file]);
    check("stamina ingest", JSON.parse(run.out).sources[0].attempts);
    return run;
  });
  const theirs = await times(2, async () => {
    remove(db);
    const run = await timed("python3", [inRoot("bench/python_table.py"), file, db]);
    check("python_table.py", JSON.parse(run.out).attempts);
    return run;
  });
  remove(db);
  const quicker = (runs) => (runs[0].seconds <= runs[1].seconds ? runs[0] : runs[1]);
  const kept = (runs) => ({ seconds: quicker(runs).seconds, processor_seconds: quicker(runs).cpu, peak_bytes: Math.max(...runs.map((run) => run.peak)) });
  return { rows, stamina: kept(ours), python: kept(theirs) };
}
