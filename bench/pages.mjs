// What the pages ask for, over `stamina serve`, one request at a time as a person goes through them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { targetDir } from "../scripts/lib/process.mjs";
import { peakMemory, quantile } from "./measure.mjs";

/** Requests of each command. */
export const COUNT = 60;
const SORTS = ["stamina", "model", "harness", "benchmark", "source", "episodes", "turns", "score", "tokens", "cost", "date"];
const WORDS = ["409", "summary", "rejects overdue", "loans", "expected 422", "delta", "quantity limit", "Traceback", "GET /books", "scenario_7"];

export class Server {
  static async start(db) {
    const server = new Server();
    server.child = spawn(path.join(targetDir(), "release/stamina"), ["--db", db, "--json", "serve", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(createInterface({ input: server.child.stdout }), "line");
    const { url, token } = JSON.parse(line);
    server.origin = new URL(url).origin;
    server.token = token;
    return server;
  }

  /** Milliseconds until the answer is there, and the answer. */
  async call(name, request = {}) {
    const begun = performance.now();
    const response = await fetch(`${this.origin}/rpc/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-stamina-token": this.token },
      body: JSON.stringify(request),
    });
    const text = await response.text();
    const ms = performance.now() - begun;
    if (!response.ok) throw new Error(`${name} ${JSON.stringify(request)}: ${text}`);
    return { ms, bytes: text.length, value: JSON.parse(text) };
  }

  /** Waits until every source has been looked at again. */
  async settle() {
    const begun = performance.now();
    for (;;) {
      const { value } = await this.call("app_state");
      const ready = value.sources.every((source) => source.status === "ready");
      if (ready && value.sources.every((source) => source.watch !== "off")) return performance.now() - begun;
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  async stop() {
    const exit = once(this.child, "exit");
    this.child.kill("SIGTERM");
    await exit;
  }
}

/** A number from 0 to `below`, spread evenly over the requests and the same every time. */
export const spread = (i, below, salt) => Math.floor((((i + 1) * 0.618033988749895 + salt * 0.324717957244746) % 1) * below);

/** The requests of every page, made from what the library really has. */
async function requests(server) {
  const { value: page } = await server.call("list_runs", { limit: 500 });
  const runs = page.rows.map((row) => row.id);
  const source = page.rows[0].source;
  const places = [];
  for (let i = 0; i < COUNT; i++) {
    const run = runs[spread(i, runs.length, 1)];
    const { value: grid } = await server.call("run_grid", { run });
    const row = grid.rows[spread(i, grid.rows.length, 2)];
    const reached = row.cells.replace(/n+$/, "").length;
    // Every second place is a turn that failed, where there is one: those have more to show.
    const turn = i % 2 === 0 && row.failed_turn ? row.failed_turn : 1 + spread(i, reached, 3);
    const { value: detail } = await server.call("get_turn", { run, episode: row.episode, turn });
    const attempt = detail.attempts[detail.attempts.length - 1];
    places.push({ run, episode: row.episode, turn, turns: grid.turns, attempt: attempt.number, logs: attempt.logs, has_code: attempt.has_code });
  }
  const each = (make) => places.map(make).filter((request) => request !== null);
  const placeOf = ({ run, episode, turn, attempt }) => ({ run, episode, turn, attempt });
  const figure = (kind) => (place, i) => ({
    run: place.run,
    kind,
    theme: i % 2 ? "dark" : "light",
    width: 1280,
    height: kind === "survival" ? 220 : 90,
    plot_left: 224,
    px_per_turn: 8,
    turns: place.turns,
  });
  // Eight other runs each time, so that nothing is answered from memory but what a page would find there.
  const eight = (i) => Array.from({ length: Math.min(8, runs.length) }, (_, k) => ({ by: "run", run: runs[(spread(i, runs.length, 4) + k * (1 + (i % 5))) % runs.length] }));
  const distinct = (i) => [...new Map(eight(i).map((member) => [member.run, member])).values()];
  // Turned, the same members are another comparison.
  const turned = (list, by) => [...list.slice(by % list.length), ...list.slice(0, by % list.length)];
  const compare = (i, by = 0) => ({ members: turned(distinct(i), by), reference: 0 });
  const MEASURES = ["stamina", "score", "tokens", "cost", "time", "steps", "steps_survived", "tool_calls", "cost_per_survived_turn"];
  const GROUPS = ["member", "harness", "turn", "attempt"];
  const SCOPES = ["attempts", "turns", "first"];
  // Every kind of figure that a comparison has, by itself: a slow one is not hidden among quick ones.
  const kinds = {
    survival: (request, i) => ({ kind: "survival", request, bands: i % 2 ? "all" : "auto" }),
    "first failures": (request) => ({ kind: "first_failures", request }),
    differences: (request) => (request.members.length > 1 ? { kind: "differences", request, ratio: false } : null),
    ratios: (request) => (request.members.length > 1 ? { kind: "differences", request, ratio: true } : null),
    // One run alone, as a small library may give, is paired with nothing.
    paired: (request) => (request.members.length > 1 ? { kind: "paired", request, other: request.members.length - 1 } : null),
    ...Object.fromEntries(MEASURES.map((measure) => [`bars of ${measure.replaceAll("_", " ")}`, (request, i) => ({ kind: "bars", request, measure, published: measure === "stamina" && i % 2 === 0 })])),
    "stamina against cost": (request) => ({ kind: "pareto", request }),
    retries: (request, i) => ({ kind: "retries", request: { members: request.members }, published: i % 2 === 0 }),
    matrix: (request, i) => ({ kind: "matrix", request: { runs: request.members.map((member) => member.run) }, published: i % 2 === 0 }),
    failures: (request, i) => ({ kind: "failures", request: { members: request.members, group: GROUPS[i % 4], scope: SCOPES[i % 3] } }),
  };
  const drawn = (names) =>
    Object.fromEntries(
      names.map((name) => {
        const place = Object.keys(kinds).indexOf(name);
        const figures = each((_, i) => {
          const figure = kinds[name](compare(i + (place + 1) * COUNT, place), i);
          return figure && { figure, theme: i % 2 ? "dark" : "light", width: 640, height: null };
        });
        return [`draw_figure, ${name} of 8 runs`, figures];
      }),
    );
  const code = places.filter((place) => place.has_code);
  const files = [];
  for (const place of code) {
    const { value: changes } = await server.call("code_changes", { attempt: placeOf(place), against: null });
    if (changes.files.length > 0) files.push({ code: { attempt: placeOf(place), against: null }, path: changes.files[0].path });
  }
  return {
    app_state: each(() => ({})),
    "list_runs, sorted": each((_, i) => ({ sort: SORTS[i % SORTS.length], ascending: i % 2 === 0, limit: 500 })),
    "list_runs, filtered and grouped": each((_, i) => ({
      text: ["", "delta", "mini_swe", "cirrus large"][i % 4],
      models: i % 3 === 0 ? ["elm-2", "delta-30b"] : [],
      min_episodes: i % 5 === 0 ? 3 : null,
      group: ["benchmark", "harness", "model", "source", "none"][i % 5],
    })),
    get_run: each(({ run }) => ({ run })),
    run_grid: each(({ run }, i) => ({ run, sort: ["stamina", "scenario", "score"][i % 3] })),
    run_survival: each(({ run }) => ({ run })),
    "run_figure, survival": each(figure("survival")),
    "run_figure, first failures": each(figure("first_failures")),
    get_episode: each(({ run, episode }) => ({ run, episode })),
    get_turn: each(({ run, episode, turn }) => ({ run, episode, turn })),
    get_transcript: each(placeOf),
    code_changes: code.map((place) => ({ attempt: placeOf(place), against: null })),
    code_file: files,
    read_text: places.flatMap((place) => place.logs.map((log) => ({ run: place.run, episode: place.episode, turn: place.turn, attempt: place.attempt, path: log.path, offset: 0, limit: 0 }))).slice(0, COUNT),
    compare_runs: each((_, i) => compare(i)),
    ...drawn(Object.keys(kinds).filter((name) => name !== "failures")),
    list_disagreements: each((_, i) => ({ members: distinct(i), reference: 0, mode: ["different", "all", "failures", "errors"][i % 4], sort: ["reference_fails", "spread", "scenario"][i % 3], offset: 0, limit: 200 })),
    get_matrix: each(() => ({})),
    get_retries: each((_, i) => ({ members: distinct(i) })),
    // A run's failed attempts are classified when they are first asked for; all are, before these are timed.
    get_failures: [{}, ...each((_, i) => ({ members: distinct(i), group: GROUPS[i % 4], scope: SCOPES[i % 3] }))],
    ...drawn(["failures"]),
    list_failure_cases: each((_, i) => ({ failures: { members: distinct(i) }, offset: 0, limit: 200 })),
    search: each((_, i) => ({ text: WORDS[i % WORDS.length], limit: i % 2 ? 14 : 40 })),
    import_report: each(() => ({ source, offset: 0, limit: 2000 })),
  };
}

/**
 * Asks each list of requests one after the other. The name of a list is that of its command, and what is special about it after a comma.
 * @param {Server} server
 * @param {Record<string, object[]>} lists
 */
export async function measured(server, lists) {
  const commands = {};
  for (const [name, list] of Object.entries(lists)) {
    // A library may have nothing to ask for, such as code, or a second run to compare with.
    if (list.length === 0) continue;
    const command = name.split(",")[0];
    // Once untimed: the first call prepares statements and fills caches, as the first click of a session does.
    const first = await server.call(command, list[0]);
    const taken = [];
    let bytes = 0;
    for (const request of list) {
      const answer = await server.call(command, request);
      taken.push(answer.ms);
      bytes = Math.max(bytes, answer.bytes);
    }
    commands[name] = { requests: list.length, first_ms: first.ms, p50_ms: quantile(taken, 0.5), p95_ms: quantile(taken, 0.95), max_ms: Math.max(...taken), most_bytes: bytes };
  }
  return commands;
}

/**
 * Measures every page's commands on a database that was filled before.
 * @param {string} db
 */
export async function pages(db) {
  const server = await Server.start(db);
  try {
    const settled = await server.settle();
    const commands = await measured(server, await requests(server));
    return { settled_seconds: settled / 1000, peak_bytes: peakMemory(server.child.pid), commands };
  } finally {
    await server.stop();
  }
}
