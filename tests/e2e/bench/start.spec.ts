// How long the app takes from its process's begin until its first rows stand on the screen.
import { expect, test } from "@playwright/test";
import { readFileSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Desktop, eventually } from "../desktop/webdriver";
import { target } from "../lab";

/** Starts that are measured; one more before them is not. */
const STARTS = 6;

function environment(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: this is run by npm run bench`);
  return value;
}

/** Processes of the app. */
function apps(): number[] {
  const program = path.join(target, "stamina-lab");
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/exe`) === program;
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** When a process began, in milliseconds since 1970. The kernel counts in hundredths of a second since it started. */
function begin(pid: number): number {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
  const ticks = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
  const up = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
  return Date.now() - up * 1000 + ticks * 10;
}

function peakMemory(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}

test("from the start to a usable window", async () => {
  const db = environment("STAMINA_BENCH_DB");
  const starts: { usable_ms: number; window_ms: number; peak_bytes: number }[] = [];
  for (let i = 0; i <= STARTS; i++) {
    const before = new Set(apps());
    const desktop = await Desktop.open([], { STAMINA_DB: db });
    try {
      const mark = await eventually("the usable mark", 60_000, async () => {
        const found = await desktop.run<number | null>("const [m] = performance.getEntriesByName('usable'); return m ? performance.timeOrigin + m.startTime : null");
        if (found === null) throw new Error("There is no mark yet");
        return found;
      });
      const origin = await desktop.run<number>("return performance.timeOrigin");
      const pid = apps().find((app) => !before.has(app));
      if (pid === undefined) throw new Error("The app's process was not found");
      expect(await desktop.run<number>("return document.querySelectorAll('tbody tr').length")).toBeGreaterThan(1);
      if (i > 0) starts.push({ usable_ms: mark - begin(pid), window_ms: origin - begin(pid), peak_bytes: peakMemory(pid) });
    } finally {
      await desktop.close();
    }
  }
  writeFileSync(environment("STAMINA_BENCH_RESULT"), JSON.stringify(starts));
});
