import { expect, test } from "vitest";
import type { LiveEpisode } from "../host/bindings/LiveEpisode";
import type { LiveRunDetail } from "../host/bindings/LiveRunDetail";
import type { PolicyTable } from "../host/bindings/PolicyTable";
import {
  atLeast,
  canContinue,
  canResume,
  canRetry,
  cellsInWords,
  censoredBy,
  endInWords,
  episodeMark,
  faultsInWords,
  isLive,
  outcome,
  retryInWords,
  rowMark,
  rowOf,
  stopKeeps,
  strip,
  verdictInWords,
} from "./live";

const plain = (text: string): string => text.replaceAll("\u202f", " ");
const policy = {
  rows: [
    { reason: "endpoint", ending: "censored" },
    { reason: "budget", ending: "censored" },
    { reason: "tests_failed", ending: "event" },
    { reason: "killed_itself", ending: "event" },
  ],
} as unknown as PolicyTable;
const isCensored = censoredBy(policy);

function episode(change: Partial<LiveEpisode> = {}): LiveEpisode {
  return {
    name: "scenario_3",
    title: null,
    phase: "agent",
    turns: 3,
    turn: 3,
    attempt: 2,
    cells: ["passed", "passed_after_retries"],
    stamina: 2,
    end_reason: null,
    seconds: 61,
    tokens: { input: null, cached: null, output: null },
    cost_usd: null,
    last_event_at: null,
    now: "pytest",
    eta_seconds: null,
    stuck: null,
    is_resumable: false,
    ...change,
  };
}
const none = { tokens: null, usd: null, seconds: null };
function detail(change: Partial<LiveRunDetail> = {}, row: Partial<LiveRunDetail["row"]> = {}): LiveRunDetail {
  return {
    row: {
      folder: "/r/a",
      name: "a",
      run: null,
      agent: "mock",
      model: "glm-5",
      simulated: false,
      endpoint_retried: 0,
      endpoint_lost: 0,
      shakedown: false,
      verdict: null,
      state: "running",
      message: null,
      started_at: "2026-11-21T20:00:00Z",
      seconds: 11_460,
      episodes: [1, 4],
      turns: [186, 800],
      unread: 0,
      problems: [],
      tokens: { input: 19.8e6, cached: 13.7e6, output: 310_000 },
      cost_usd: 12,
      last_event_at: null,
      ...row,
    },
    turns: 40,
    attempt_limit: 10,
    requests: 2204,
    unmetered: 0,
    budget: { tokens: null, usd: 60, seconds: null },
    episode_budget: none,
    attempt_budget: none,
    forecast: { seconds_left: [25_200, 39_600], cost_usd: [43.2, 58.1], tokens: null },
    episodes: [episode()],
    usual_gap: 14,
    faults: [[429, 4]],
    tokens_per_second: { prompt: { median: 1480.2, p10: 96 }, answer: { median: 21.44, p10: 5 } },
    ...change,
  };
}

test("what something else ended can continue, what the agent ended is a result", () => {
  // Which is which the workbench says: the runner goes by the same rule.
  const outside = episode({ phase: "over", end_reason: "budget", is_resumable: true });
  const own = episode({ phase: "over", end_reason: "tests_failed" });
  expect(canContinue("finished", [own, outside])).toBe(true);
  expect(canContinue("finished", [own])).toBe(false);
  expect(canContinue("running", [outside])).toBe(false);
  expect(canContinue("failed", [])).toBe(true);
});

test("an attempt in flight and an episode that continues can be retried, in a pause as well", () => {
  const outside = episode({ phase: "over", end_reason: "budget", is_resumable: true });
  for (const state of ["running", "paused"] as const) {
    expect(
      [outside, episode(), episode({ phase: "over", end_reason: "tests_failed" }), episode({ phase: "queued" })].map((one) =>
        canRetry(state, one),
      ),
    ).toEqual([true, true, false, false]);
  }
  expect((["stopping", "finished", "lost"] as const).some((state) => canRetry(state, outside))).toBe(false);
  expect(retryInWords(outside)).toContain("resume it with a larger one");
  expect(retryInWords({ end_reason: "endpoint" })).toContain("The endpoint or the containers");
});

test("what cannot be read is unknown and named", () => {
  const unread = episode({ phase: "unknown", turn: 0, cells: [], stamina: 0, now: null });
  expect(episodeMark(unread, isCensored).text).toBe("unknown");
  expect(cellsInWords(unread, 3)).toBe("unknown: its record cannot be read");
  expect((["running", "finished"] as const).map((state) => canRetry(state, unread))).toEqual([false, false]);
  const turns = (row: Partial<LiveRunDetail["row"]>): string | undefined =>
    strip(detail({}, row)).find((stat) => stat.key === "Turns done")?.value;
  expect([turns({}), plain(turns({ unread: 1 }) ?? ""), turns({ unread: 1, turns: [0, 2] })]).toEqual(["186", "≥ 186", "unknown"]);
  expect(atLeast(0, { state: "unreadable", unread: 0 })).toBe("unknown");
  const lost = { state: "unreadable", message: "it is no JSON", verdict: null } as const;
  expect(endInWords(lost)).toBe("Its record cannot be read: it is no JSON.");
  expect([rowMark(lost).text, canResume("unreadable"), isLive("unreadable")]).toEqual(["unreadable", false, false]);
});

test("a smoke test says whether the harness works here", () => {
  const works = { works: true, passed: 3, turns: 3, turn: null, reason: null, message: null };
  expect(verdictInWords(works)).toBe("3 of 3 turns passed: this harness works here.");
  const broken = {
    works: false,
    passed: 0,
    turns: 3,
    turn: 1,
    reason: "agent_error",
    message: "exit code 1, and no sign that it finished.",
  } as const;
  expect(verdictInWords(broken)).toBe("Turn 1: agent error: exit code 1, and no sign that it finished. See the log.");
  expect(endInWords({ state: "finished", message: null, verdict: broken })).toBe(verdictInWords(broken));
  const stopped = { ...broken, turn: null, reason: null, message: null };
  expect(verdictInWords(stopped)).toBe("Before the first turn: it ended without a message. See the log.");
  expect(endInWords({ state: "stopped", message: null, verdict: stopped })).toMatch(/^Stopped/);
  // Only one that came to its end says anything of the harness.
  for (const state of ["stopped", "lost", "failed"] as const) expect(rowMark({ state, verdict: broken }).text).toBe(state);
  expect([rowMark({ state: "finished", verdict: broken }).look, rowMark({ state: "finished", verdict: works }).look]).toEqual([
    "failed",
    "passed",
  ]);
});

test("an episode has a shape, a word and a color of its own", () => {
  const mark = (change: Partial<LiveEpisode>): string => {
    const { look, text, class: cls } = episodeMark(episode(change), isCensored);
    return `${look} ${text} ${cls}`;
  };
  expect(mark({})).toBe("live running run");
  expect(mark({ phase: "queued" })).toBe("off queued nr");
  expect(mark({ phase: "waiting" })).toBe("live waiting run");
  expect(mark({ stuck: "No event for 11 min." })).toBe("live stuck? warn");
  expect(mark({ phase: "waiting", stuck: "It has waited for 15 min: 429 from the endpoint, try 3 of 6." })).toBe("live waiting run");
  expect(mark({ phase: "over", end_reason: "passed_all" })).toBe("passed finished passed");
  expect(mark({ phase: "over", end_reason: "tests_failed" })).toBe("failed finished failed");
  expect(mark({ phase: "over", end_reason: "endpoint", stuck: "old" })).toBe("censored censored censored");
  expect(mark({ phase: "over", end_reason: "killed_itself" })).toBe("error failed error");
  expect(mark({ phase: "over", end_reason: null })).toBe("censored unknown censored");
});

test("what an episode came to follows the policy, not a second list", () => {
  const over = episode({ phase: "over", end_reason: "endpoint", stamina: 11 });
  expect(outcome(over, 40, isCensored)).toBe("censored (endpoint) after turn 11");
  expect(outcome(over, 40, () => false)).toBe("failed at turn 12: endpoint");
  expect(outcome(episode({ phase: "over", end_reason: "passed_all" }), 40, isCensored)).toBe("passed all 40");
  expect(outcome(episode(), 40, isCensored)).toBe("pytest");
});

test("the cells of an episode are those of the grid; the turns ahead are dots", () => {
  expect(rowOf(episode({ cells: ["passed", "passed_after_retries", "failed", "error"] }), 6, isCensored)).toMatchObject({
    cells: "prfenn",
    stamina: 2,
    censored: false,
  });
  // A bar where observation stopped stands only when the episode is over.
  expect(rowOf(episode(), 4, isCensored)).toMatchObject({ cells: "prnn", censored: false });
  expect(rowOf(episode({ phase: "over", end_reason: "endpoint" }), 4, isCensored)).toMatchObject({
    cells: "prnn",
    censored: true,
    end_reason: "endpoint",
  });
});

test("the strip says unknown where nothing is known", () => {
  const figures = (run: LiveRunDetail): Record<string, string> =>
    Object.fromEntries(strip(run).map((s) => [s.key, plain(`${s.value}${s.small === undefined ? "" : ` ${s.small}`}`)]));
  expect(figures(detail())).toEqual({
    "Turns done": "186 of 800",
    Spend: "$12.00 of $60.00",
    "At this pace": "$43–58 at the end",
    "Elapsed, left": "3 h 11 m 7–11 h left",
    "Tokens in, cached, out": "19.8 M 13.7 M cached, 310 k out",
    Endpoint: "4 × 429 last 10 min",
    "Tokens a second": "21.4 answer, p10 5.0; prompt 1,480, p10 96.0",
  });
  expect(figures(detail({}, { endpoint_retried: 3, endpoint_lost: 1 }))).toMatchObject({
    Endpoint: "4 × 429 last 10 min; 3 attempts retried, 1 lost",
  });
  expect(endInWords({ state: "finished", message: null, verdict: null, endpoint_retried: 1, endpoint_lost: 0 })).toBe(
    "All episodes are over. Because of the endpoint: 1 attempt retried.",
  );
  expect(endInWords({ state: "finished", message: null, verdict: null, endpoint_retried: 0, endpoint_lost: 2 })).toBe(
    "All episodes are over. Because of the endpoint: 2 attempts lost.",
  );
  // An older version began it and counted nothing.
  expect(figures(detail({}, { endpoint_retried: null, endpoint_lost: null }))).toMatchObject({ Endpoint: "4 × 429 last 10 min" });
  expect(endInWords({ state: "finished", message: null, verdict: null, endpoint_retried: null, endpoint_lost: null })).toBe(
    "All episodes are over.",
  );
  const dark = figures(
    detail(
      { forecast: null, budget: { tokens: null, usd: null, seconds: null }, faults: [] },
      { cost_usd: null, tokens: { input: null, cached: null, output: null } },
    ),
  );
  expect(dark).toMatchObject({
    Spend: "unknown no price for this model",
    "At this pace": "unknown too early to say",
    "Elapsed, left": "3 h 11 m time left unknown",
    "Tokens in, cached, out": "unknown",
    Endpoint: "no faults last 10 min",
  });
  expect(figures(detail({ tokens_per_second: { prompt: null, answer: null } }))["Tokens a second"]).toBe("unknown");
  expect(figures(detail({ tokens_per_second: { prompt: { median: 148, p10: 96 }, answer: null } }))["Tokens a second"]).toBe(
    "unknown prompt 148, p10 96.0",
  );
  // The simulated model takes no money: that is known, and nothing of it is forecast.
  const free = figures(detail({}, { simulated: true, cost_usd: null }));
  expect(free["Spend"]).toBe("no cost simulated");
  expect(free).not.toHaveProperty("At this pace");
  expect(free).not.toHaveProperty("Tokens a second");
  expect(figures(detail({ forecast: { seconds_left: [60, 90], cost_usd: [50, 64], tokens: null } }))["At this pace"]).toBe(
    "$50–64 may hit $60.00",
  );
  expect(Object.keys(figures(detail({}, { state: "stopped" })))).not.toContain("At this pace");
});

test("a stop says what it keeps and what is retried", () => {
  expect(stopKeeps(detail())).toBe("186 finished turns are kept. 1 attempt in flight is dropped and retried after a resume.");
  expect(stopKeeps(detail({ episodes: [episode({ phase: "paused" })] }, { turns: [1, 4] }))).toBe(
    "1 finished turn is kept. No attempt is in flight.",
  );
});

test("every state is either live, over, or can be resumed", () => {
  const states = ["starting", "running", "paused", "stopping", "finished", "stopped", "budget", "failed", "lost"] as const;
  expect(states.filter(isLive)).toEqual(["starting", "running", "paused", "stopping"]);
  expect(states.filter(canResume)).toEqual(["stopped", "budget", "failed", "lost"]);
  for (const state of states) expect(endInWords({ state, message: null, verdict: null }) === "", state).toBe(isLive(state));
  expect(endInWords({ state: "failed", message: "the disk is full", verdict: null })).toContain(": the disk is full.");
  expect(
    faultsInWords([
      [429, 4],
      [0, 1],
    ]),
  ).toBe("4 × 429, 1 × no answer");
});
