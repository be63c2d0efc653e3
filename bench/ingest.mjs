// Reading the library: for the first time, again unchanged, with one episode changed, and by the Python yardstick.
import { rmSync, utimesSync } from "node:fs";
import path from "node:path";
import { inRoot, targetDir } from "../scripts/lib/process.mjs";
import { median, timed, times } from "./measure.mjs";

const stamina = path.join(targetDir(), "release/stamina");

function remove(db) {
  for (const tail of ["", "-wal", "-shm", ".running"]) rmSync(db + tail, { force: true });
}

/** What `stamina ingest` counted must be what the generator made, or the time says nothing. */
function check(what, counted, made) {
  for (const key of ["runs", "episodes", "turns", "attempts"]) {
    if (counted[key] !== made[key]) throw new Error(`${what} counted ${counted[key]} ${key}, the library has ${made[key]}`);
  }
}

/**
 * @param {string} folder the library
 * @param {Record<string, number>} made what is in it
 * @param {string} db the database to fill; it is left there for what comes after
 */
export async function ingest(folder, made, db) {
  const read = async () => {
    const run = await timed(stamina, ["--db", db, "--json", "ingest", folder]);
    const [source] = JSON.parse(run.out).sources;
    check("stamina ingest", source, made);
    return { ...run, warnings: source.warnings.length };
  };
  const cold = await times(2, async () => {
    remove(db);
    return read();
  });
  const quicker = cold[0].seconds <= cold[1].seconds ? cold[0] : cold[1];
  const again = await times(5, read);
  const changed = await times(5, async (i) => {
    // A part is read again when a file of it is of another time.
    const now = Date.now() / 1000 + i;
    utimesSync(path.join(folder, "openhands.delta-30b", "scenario_0", "trajectory.json"), now, now);
    return read();
  }).catch(async (error) => {
    if (error.code !== "ENOENT") throw error;
    return [];
  });
  return {
    cold_seconds: quicker.seconds,
    cold_processor_seconds: quicker.cpu,
    cold_both_seconds: cold.map((run) => run.seconds),
    cold_mb_per_second: made.bytes / 1e6 / quicker.seconds,
    cold_peak_bytes: Math.max(...cold.map((run) => run.peak)),
    cold_read_from_disk_bytes: quicker.read,
    warnings: quicker.warnings,
    unchanged_seconds: median(again.map((run) => run.seconds)),
    unchanged_processor_seconds: median(again.map((run) => run.cpu)),
    unchanged_peak_bytes: Math.max(...again.map((run) => run.peak)),
    one_changed_seconds: changed.length > 0 ? median(changed.map((run) => run.seconds)) : null,
  };
}

/** The same folder through a straightforward importer in Python; the quicker of two. */
export async function python(folder, made, db) {
  const runs = await times(2, async () => {
    remove(db);
    const run = await timed("python3", [inRoot("bench/python_import.py"), folder, db]);
    check("python_import.py", JSON.parse(run.out), made);
    return run;
  });
  remove(db);
  const quicker = runs[0].seconds <= runs[1].seconds ? runs[0] : runs[1];
  return { seconds: quicker.seconds, processor_seconds: quicker.cpu, both_seconds: runs.map((run) => run.seconds), peak_bytes: Math.max(...runs.map((run) => run.peak)) };
}
