// Reading 8,000 sessions of LoCoBench-Agent into a new library, and the data of their pages.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { inRoot, targetDir } from "../scripts/lib/process.mjs";
import { quantile, timed } from "./measure.mjs";

const stamina = path.join(targetDir(), "release/stamina");
const SESSIONS = { full: 8000, small: 80 };

/** @param {"full" | "small"} size */
export async function locobench(size) {
  const sessions = SESSIONS[size];
  const folder = inRoot(".cache/bench", `locobench-${sessions}`);
  if (!existsSync(path.join(folder, "made.json"))) {
    rmSync(folder, { recursive: true, force: true });
    const made = spawnSync("python3", [inRoot("bench/locobench/synthesize.py"), folder, String(sessions)], { stdio: "inherit" });
    if (made.status !== 0) throw new Error("bench/locobench/synthesize.py failed");
  }
  const made = JSON.parse(readFileSync(path.join(folder, "made.json"), "utf8"));
  const db = inRoot(".cache/bench", "locobench.sqlite");
  for (const tail of ["", "-wal", "-shm", ".running"]) rmSync(db + tail, { force: true });
  const read = await timed(stamina, ["--db", db, "--json", "ingest", folder]);
  const [source] = JSON.parse(read.out).sources;
  if (source.runs !== made.runs || source.episodes !== made.sessions) throw new Error(`stamina ingest counted ${source.runs} runs and ${source.episodes} sessions`);
  const again = await timed(stamina, ["--db", db, "--json", "ingest", folder]);
  const runs = JSON.parse((await timed(stamina, ["--db", db, "--json", "runs"])).out);
  const pages = [];
  for (const run of runs) pages.push((await timed(stamina, ["--db", db, "--json", "locobench", run.id])).seconds);
  return { sessions: made.sessions, bytes: made.bytes, seconds: read.seconds, processor_seconds: read.cpu, peak_bytes: read.peak, unchanged_seconds: again.seconds, command_p95_seconds: quantile(pages, 0.95) };
}
