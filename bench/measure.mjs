// Running programs under a watch, and what many measurements say together.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** The value below which a share of the values lies (nearest rank). */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

export const median = (values) => quantile(values, 0.5);

/** Highest resident memory of a process until now, in bytes; 0 once it is gone. */
export function peakMemory(pid) {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Seconds of processor time that a process has used until now, in all its threads. The kernel counts hundredths. */
export function processorTime(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}

/** Bytes that a process has read from the disk, and not from the system's cache, until now. */
function diskTraffic(pid) {
  try {
    const io = readFileSync(`/proc/${pid}/io`, "utf8");
    return Number(/^read_bytes: (\d+)/m.exec(io)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/**
 * Runs a program to its end.
 * @returns {Promise<{ seconds: number, cpu: number, peak: number, read: number, out: string }>} wall-clock time,
 *   processor time of all threads (it tells how much of the wall-clock time others took), highest resident memory in
 *   bytes, bytes that came from the disk, and what it printed
 */
export function timed(command, args) {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    let [out, complaints, cpu, peak, read] = ["", "", 0, 0, 0];
    const look = () => {
      peak = Math.max(peak, peakMemory(child.pid));
      cpu = Math.max(cpu, processorTime(child.pid));
      read = Math.max(read, diskTraffic(child.pid));
    };
    // The kernel keeps the peak itself; to look more often would slow down what is measured on two cores.
    const clock = setInterval(look, 100);
    child.stdout.on("data", (chunk) => {
      // What it prints comes at its end: a last look before it is gone.
      look();
      out += chunk;
    });
    child.stderr.on("data", (chunk) => (complaints += chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      clearInterval(clock);
      const seconds = (performance.now() - begun) / 1000;
      if (code === 0) resolve({ seconds, cpu, peak, read, out });
      else reject(new Error(`${command} ${args.join(" ")} ended with ${code}: ${complaints}`));
    });
  });
}

/** Does something several times, one after the other, and gives the results. */
export async function times(count, act) {
  const results = [];
  for (let i = 0; i < count; i++) results.push(await act(i));
  return results;
}
