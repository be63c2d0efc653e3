// Reading 8,000 sessions of LoCoBench-Agent into a new library, and the data of their pages.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { inRoot, targetDir } from "../scripts/lib/process.mjs";
import { quantile, timed } from "./measure.mjs";
import { COUNT, Server, measured, spread } from "./pages.mjs";

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
  const whole = [];
  for (const run of runs) whole.push((await timed(stamina, ["--db", db, "--json", "locobench", run.id])).seconds);
  return {
    sessions: made.sessions,
    bytes: made.bytes,
    seconds: read.seconds,
    processor_seconds: read.cpu,
    peak_bytes: read.peak,
    unchanged_seconds: again.seconds,
    command_p95_seconds: quantile(whole, 0.95),
    pages: await pages(db, runs.map((run) => run.id)),
  };
}

/** What the page of a run asks for, with its list of sessions, and the page of a turn of a session, over `stamina serve`. */
async function pages(db, runs) {
  const server = await Server.start(db);
  try {
    await server.settle();
    const lists = new Map();
    for (const run of runs) lists.set(run, (await server.call("list_sessions", { run })).value.sessions);
    // There are fewer runs than requests: each is asked for in turn, and never twice running.
    const places = [];
    for (let i = 0; i < COUNT; i++) {
      const run = runs[i % runs.length];
      const { episode } = lists.get(run)[spread(i, lists.get(run).length, 1)];
      const { value } = await server.call("get_episode", { run, episode });
      // Phases that the session did not begin have no transcript.
      const begun = value.turns.filter((turn) => turn.attempts > 0);
      places.push({ run, episode, turn: begun[spread(i, begun.length, 2)].number });
    }
    return await measured(server, {
      get_run: places.map(({ run }) => ({ run })),
      list_sessions: places.map(({ run }) => ({ run })),
      get_turn: places,
      get_transcript: places.map((place) => ({ ...place, attempt: 1 })),
    });
  } finally {
    await server.stop();
  }
}
