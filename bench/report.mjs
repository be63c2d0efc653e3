// The table: what was measured beside its budget.

const MB = 1024 * 1024;
const seconds = (value) => `${value.toFixed(value < 10 ? 2 : 1)} s`;
const milliseconds = (value) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
const megabytes = (value) => `${Math.round(value / MB)} MB`;

/**
 * @param {object} result as scripts/bench.mjs collects it
 * @returns {[string, string, string, string][]} figure, budget, measured, verdict; no budget = no verdict
 */
export function rows(result) {
  const all = [];
  const add = (figure, value, show, budget = null) => {
    all.push([figure, budget === null ? "" : `≤ ${show(budget)}`, show(value), budget === null ? "" : value <= budget ? "kept" : "MISSED"]);
  };
  const { ingest, python, tables, pages, comparisons, start, generation, suites, runner, harbor, locobench } = result;
  if (ingest) {
    add("ingest from nothing", ingest.cold_seconds, seconds, 60);
    add("– processor time", ingest.cold_processor_seconds, seconds);
    all.push(["– throughput", "", `${ingest.cold_mb_per_second.toFixed(0)} MB/s`, ""]);
    add("– memory", ingest.cold_peak_bytes, megabytes, 500 * MB);
    add("ingest again, unchanged", ingest.unchanged_seconds, seconds, 2);
    if (ingest.one_changed_seconds !== null) add("ingest again, one episode changed", ingest.one_changed_seconds, seconds);
  }
  if (python) {
    add("the Python importer", python.seconds, seconds);
    add("– processor time", python.processor_seconds, seconds);
    if (ingest) {
      all.push(["– times as long as Stamina Lab", "", `${(python.seconds / ingest.cold_seconds).toFixed(1)} ×`, ""]);
      all.push(["– times its processor time", "", `${(python.processor_seconds / ingest.cold_processor_seconds).toFixed(1)} ×`, ""]);
    }
  }
  if (tables) {
    add(`tidy table of ${tables.rows.toLocaleString("en")} rows`, tables.stamina.seconds, seconds, 20);
    add("– processor time", tables.stamina.processor_seconds, seconds);
    add("– memory", tables.stamina.peak_bytes, megabytes, 500 * MB);
    add("pandas and sqlite3 on the same file", tables.python.seconds, seconds);
    add("– memory", tables.python.peak_bytes, megabytes);
  }
  const page = (figure, { p50_ms, p95_ms }, budget) => {
    all.push([figure, `p95 ≤ ${budget} ms`, `p50 ${milliseconds(p50_ms)}, p95 ${milliseconds(p95_ms)}`, p95_ms <= budget ? "kept" : "MISSED"]);
  };
  if (pages) {
    for (const [name, times] of Object.entries(pages.commands)) {
      page(name, times, name.startsWith("run_figure") ? 20 : name.startsWith("draw_figure") ? 200 : 50);
    }
    all.push(["get_failures, every run for the first time", "", milliseconds(pages.commands.get_failures.first_ms), ""]);
    add("server ready after its start", pages.settled_seconds, seconds);
    add("– memory", pages.peak_bytes, megabytes, 500 * MB);
  }
  if (comparisons) {
    const { runs, episodes, attempts, failed } = comparisons;
    add(`get_failures of ${runs} runs (${episodes} episodes, ${failed} of ${attempts} attempts failed), for the first time`, comparisons.first_ms, milliseconds);
    add("– processor time", comparisons.first_cpu_ms, milliseconds);
    add("– again, p95", comparisons.again_p95_ms, milliseconds, 50);
    add(`survival of ${runs} runs, from the library to the SVG: median`, comparisons.figure_p50_ms, milliseconds, 200);
    add("– p95", comparisons.figure_p95_ms, milliseconds, 200);
  }
  if (start) {
    add("app start to usable window", start.usable_ms, milliseconds, 1500);
    add("– until the page begins to load", start.window_ms, milliseconds);
    add("– memory of the app's own process", start.peak_bytes, megabytes, 500 * MB);
  }
  if (generation) {
    const { scenarios, turns } = generation;
    add(`generating ${scenarios} × ${turns}`, generation.seconds, seconds, 10);
    add("– processor time", generation.processor_seconds, seconds);
    add("– memory", generation.peak_bytes, megabytes, 500 * MB);
    all.push(["– bytes", "", megabytes(generation.bytes), ""]);
    add("– into a zip", generation.zip_seconds, seconds);
    for (const shorter of generation.growth.slice(0, -1)) {
      all.push([`– ${scenarios} × ${shorter.turns}`, "", `${seconds(shorter.seconds)}, ${megabytes(shorter.bytes)}`, ""]);
    }
  }
  if (runner) {
    const { boxed, side_by_side, local } = runner;
    add("the runner's own cost of an attempt, in containers: median", boxed.own_seconds_median, seconds, 1);
    add("– p95", boxed.own_seconds_p95, seconds, 1);
    // Twenty at once wait for two cores as well, so what counts there is how often an attempt is done.
    const pace = side_by_side.seconds / side_by_side.attempts;
    add(`– ${side_by_side.at_once} episodes at once in containers: an attempt every`, pace, seconds, 1);
    all.push([`– – from its begin to its end`, "", `median ${seconds(side_by_side.own_seconds_median)}, p95 ${seconds(side_by_side.own_seconds_p95)}`, ""]);
    add(`– without containers, ${local.at_once} at once: median`, local.own_seconds_median, seconds, 1);
    add("– – p95", local.own_seconds_p95, seconds, 1);
    add(`– growth of memory over ${runner.local.turns} turns`, runner.memory_growth_bytes, megabytes, 50 * MB);
    add(`– – of ${runner.long.episodes} long conversations`, runner.long_growth_bytes, megabytes, 50 * MB);
  }
  if (harbor) {
    // Harbor's cost is the budget where it was measured in the same run; else the lower end of what is reported of it.
    add("a step of a Harbor task, less agent and verifier: median", harbor.ours.own_median, seconds, harbor.harbor?.own_median ?? 2);
    add("– p95", harbor.ours.own_p95, seconds);
    add("– the whole step: median", harbor.ours.whole_median, seconds, harbor.harbor?.whole_median ?? 2);
    if (harbor.harbor) {
      add("Harbor, the same steps, less agent and verifier: median", harbor.harbor.own_median, seconds);
      add("– the whole step: median", harbor.harbor.whole_median, seconds);
    } else {
      all.push(["Harbor", "", harbor.harbor_missing, ""]);
    }
  }
  if (locobench) {
    add(`${locobench.sessions} sessions of LoCoBench-Agent (${megabytes(locobench.bytes)}) from nothing`, locobench.seconds, seconds, 60);
    all.push(["– memory", "", megabytes(locobench.peak_bytes), ""]);
    add("– again, unchanged", locobench.unchanged_seconds, seconds);
    for (const [name, times] of Object.entries(locobench.pages)) page(`– ${name}`, times, 50);
    add("– `stamina locobench` of a run, p95", locobench.command_p95_seconds, seconds);
  }
  if (suites) {
    for (const { turn, cases, native_seconds, pytest_seconds, times } of suites.growth) {
      const last = turn === suites.turn;
      all.push([
        `suite of turn ${turn}, ${cases} cases`,
        last ? "≥ 20 × pytest" : "",
        `${seconds(native_seconds)}, pytest ${seconds(pytest_seconds)}: ${times.toFixed(0)} ×`,
        last ? (times >= 20 ? "kept" : "MISSED") : "",
      ]);
    }
  }
  return all;
}

/** A Markdown table with aligned columns. */
export function table(lines) {
  const head = ["figure", "budget", "measured", "verdict"];
  const widths = head.map((title, i) => Math.max(title.length, ...lines.map((line) => line[i].length)));
  const line = (cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i])).join(" | ")} |`;
  return [line(head), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...lines.map(line)].join("\n");
}
