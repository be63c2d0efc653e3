// What a comparison of eight runs takes: each time another reference and another τ, and failed attempts that no server has
// classified before.
import { Server } from "./pages.mjs";
import { median, processorTime, quantile } from "./measure.mjs";

/** Servers that classify for the first time; each has a library that it knows nothing of. */
const STARTS = 3;
const COUNT = 16;
const MOST = 8;

/** Milliseconds by the clock and of the processor. */
async function watched(server, command, request) {
  const before = processorTime(server.child.pid);
  const { ms, value } = await server.call(command, request);
  return { ms, cpu_ms: 1000 * (processorTime(server.child.pid) - before), value };
}

/**
 * @param {string} db a database that was filled before
 */
export async function comparisons(db) {
  const first = [];
  const again = [];
  const figures = [];
  let about = {};
  for (let start = 0; start < STARTS; start++) {
    const server = await Server.start(db);
    try {
      await server.settle();
      const { value: page } = await server.call("list_runs", { limit: 500, sort: "turns" });
      const members = page.rows.slice(0, MOST).map((row) => ({ by: "run", run: row.id }));
      const { ms, cpu_ms, value } = await watched(server, "get_failures", { members });
      first.push({ ms, cpu_ms });
      about = { runs: members.length, episodes: value.episodes, attempts: value.all_attempts, failed: value.attempts };
      const { value: one } = await server.call("compare_runs", { members, reference: 0 });
      for (let i = 0; i < COUNT; i++) {
        again.push((await watched(server, "get_failures", { members: members.slice(i % 2), group: ["member", "harness", "turn", "attempt"][i % 4] })).ms);
        const request = { members, reference: i % members.length, tau: Math.max(1, one.tau - i - COUNT * start) };
        figures.push((await watched(server, "draw_figure", { figure: { kind: "survival", request }, theme: "light", width: 640, height: null })).ms);
      }
    } finally {
      await server.stop();
    }
  }
  return {
    ...about,
    first_ms: Math.min(...first.map(({ ms }) => ms)),
    first_cpu_ms: median(first.map(({ cpu_ms }) => cpu_ms)),
    again_p95_ms: quantile(again, 0.95),
    figure_p50_ms: quantile(figures, 0.5),
    figure_p95_ms: quantile(figures, 0.95),
  };
}
