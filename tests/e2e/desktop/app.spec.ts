// The built app as itself: its window under WebDriver, and what stands there against what lies in the store, which the
// command line reads from the same database.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "@playwright/test";
import { Lab, fixtures } from "../lab";
import { Desktop, eventually } from "./webdriver";

const JOBS = path.join(fixtures, "harbor/jobs");

interface Failing {
  readonly id: string;
  readonly expected: string | null;
  readonly actual: string | null;
  readonly message: string | null;
}
interface Shown {
  readonly id: string;
  readonly model: string;
  readonly episodes: readonly {
    readonly episode: string;
    readonly scenario: string;
    readonly failed_turn: number | null;
    readonly turns: readonly { readonly turn: number; readonly attempts: readonly { readonly verdict: string; readonly passed: number; readonly total: number; readonly failing: readonly Failing[] }[] }[];
  }[];
}
interface Run {
  readonly id: string;
  readonly model: string | null;
  readonly episodes: number;
  readonly score: number | null;
  readonly stamina: { readonly mean: number | null; readonly events: number; readonly censored: number; readonly tau: number };
}

/** A loaded machine takes its time. */
const PATIENCE = 60_000;
let lab: Lab;
let app: Desktop | undefined;
test.beforeEach(() => {
  lab = new Lab();
});
test.afterEach(async ({}, info) => {
  if (app && info.status !== info.expectedStatus) await info.attach("window", { body: await app.picture(), contentType: "image/png" }).catch(() => undefined);
  await app?.close();
  app = undefined;
  await lab.close();
});

/** Waits until the text of what matches satisfies `is`. */
function shows(label: string, css: string, is: (text: string) => boolean, ms = PATIENCE): Promise<string> {
  return eventually(label, ms, async () => {
    const text = await app!.text(css);
    if (!is(text)) throw new Error(`It says: ${text}`);
    return text;
  });
}

test("from the library through run and grid to a failing test, as the store has it", async () => {
  app = await Desktop.open(["--db", lab.db, JOBS]);
  const id = "jobs.failures-k1-oracle";
  const link = `//a[@href="#/run/${id}"]`;
  await shows("the run in the library", `table[aria-label="Runs"] a[href="#/run/${id}"]`, (text) => text === "failures-k1");

  // Library: the row of the run against `stamina runs`. The first rows stand there while reading still goes on.
  // The app itself must have done with it, and every row have its last numbers: until then they change their places.
  await eventually("the end of reading", PATIENCE, async () => {
    const { sources } = await app!.wait<{ sources: { path: string; status: string; watch: string }[] }>("window.__TAURI_INTERNALS__.invoke('rpc', { name: 'app_state', payload: {} })");
    const source = sources.find((one) => one.path === JOBS);
    expect([source?.status, source?.watch === "off"]).toEqual(["ready", false]);
  });
  // Those that are shown: the sample is there, too.
  const runs = (await lab.json<Run[]>("runs")).filter((r) => r.id.startsWith("jobs."));
  const run = runs.find((r) => r.id === id)!;
  const read = (runId: string) => app!.run<string[]>("return [...document.querySelector(arguments[0]).closest('tr').cells].map((c) => c.innerText.trim())", `a[href="#/run/${runId}"]`);
  await eventually("the numbers in the rows", PATIENCE, async () => {
    // Where the runs of a group have other horizons, the mean says its τ before it.
    const mean = (stamina: Run["stamina"]) => (stamina.mean === null ? "unknown" : expect.stringMatching(new RegExp(`^(τ \\d+\\s)?${stamina.mean.toFixed(2)}$`)));
    for (const { id: runId, episodes, stamina, score } of runs) expect(await read(runId)).toEqual(expect.arrayContaining([String(episodes), mean(stamina), score?.toFixed(1) ?? "unknown"]));
  });
  await eventually("the run's link", PATIENCE, () => app!.click(link));

  // Run: the numbers and the rows of the grid against `stamina show`.
  const shown = await lab.json<Shown>("show", id);
  const numbers = await shows("the numbers of the run", '[aria-label="Numbers of this run"]', (text) => text.includes(run.stamina.mean!.toFixed(2)));
  expect(numbers.replace(/\s+/g, " ")).toContain(`Episodes ${String(run.episodes)}`);
  await eventually("the grid", PATIENCE, async () => {
    expect(await app!.run("return [...document.querySelectorAll('[data-episode]')].map((e) => e.dataset.episode)")).toEqual(shown.episodes.map((e) => e.episode));
  });
  // What is drawn above it and on it begins at one line once it has its width.
  await eventually("the figures above it", PATIENCE, async () => {
    const aside = await app!.run<number[]>(
      `const cells = document.querySelector("svg.cells").getBoundingClientRect().left;
       if (document.querySelectorAll(".figure[role=img]").length < 2) return [];
       return [...document.querySelectorAll("[data-plot-left]")].map((e) => Math.abs(e.getBoundingClientRect().left + Number(e.dataset.plotLeft) - cells));`,
    );
    expect(aside.length).toBeGreaterThanOrEqual(4);
    expect(Math.max(...aside)).toBeLessThanOrEqual(0.5);
  });

  // Grid: one click chooses the cell, the next opens the turn. The first failure is chosen from the start, so another.
  const episode = shown.episodes.find((e) => e.scenario === "theme_v8_w1_notes_multi_reward_final")!;
  const turn = episode.failed_turn!;
  const cell = await app.run<{ x: number; y: number }>(
    `const grid = document.querySelector('[role="grid"][aria-label="Episodes by turns"]');
     const cells = grid.querySelector("svg.cells").getBoundingClientRect();
     const row = grid.querySelector('[data-episode="' + arguments[0] + '"]').getBoundingClientRect();
     return { x: cells.left + (arguments[1] - 0.5) * cells.width / Number(grid.getAttribute("aria-colcount")), y: (row.top + row.bottom) / 2 };`,
    episode.episode,
    turn,
  );
  const words = () => app!.text("#grid-cursor");
  await app.pointer(cell.x, cell.y);
  await eventually("the chosen cell", PATIENCE, async () => {
    expect(await words()).toContain(`turn ${String(turn)}: failed, first failure, ${String(episode.turns[turn - 1]!.attempts[0]!.failing.length)} failing tests`);
  });
  await app.pointer(cell.x, cell.y);
  await eventually("the turn's address", PATIENCE, async () => {
    expect(await app!.hash()).toBe(`#/run/${id}/${episode.episode}/${String(turn)}`);
  });

  // Turn: verdict, counts and every failing test with what was expected and what came.
  const attempt = episode.turns[turn - 1]!.attempts.at(-1)!;
  await shows("the failing tests", 'section[aria-label="Tests"]', (text) => text.includes(`${String(attempt.failing.length)} of ${String(attempt.total)}`));
  await eventually("each of them", PATIENCE, async () => {
    const tests = await app!.run<string[]>("return [...document.querySelectorAll('[data-test]')].map((e) => e.dataset.test)");
    expect(tests).toEqual(expect.arrayContaining(attempt.failing.map((f) => f.id)));
    expect(tests.length).toBe(attempt.failing.length);
    expect((await app!.texts('[role="tab"]')).join(" ")).toContain(`${String(attempt.passed)} / ${String(attempt.total)}`);
  });
  const failing = attempt.failing[2]!;
  await eventually("the failing test", PATIENCE, () => app!.click(`//*[@data-test="${failing.id}"]//button[1]`));
  await eventually("the chosen test in the address", PATIENCE, async () => {
    expect(await app!.hash()).toContain(`test=${failing.id}`);
  });
  expect(await app.run("return [...document.querySelectorAll(arguments[0] + ' .val')].map((e) => e.textContent)", `[data-test="${failing.id}"]`)).toEqual([failing.expected, failing.actual, failing.message]);
});

test("a folder of no known format is reported with what was looked for", async () => {
  mkdirSync(lab.at("holiday"));
  writeFileSync(lab.at("holiday", "beach.txt"), "sun");
  const cli = await lab.stamina("ingest", lab.at("holiday"), "--json");
  expect(cli.code).toBe(2);
  app = await Desktop.open(["--db", lab.db, lab.at("holiday")]);
  await shows("the message", "main", (text) => text.includes('Nothing in "holiday" is in a format that Stamina Lab reads'));
  const looked = await app.texts('table[aria-label="What was looked for"] tbody td:nth-child(2)');
  expect(looked.length).toBeGreaterThanOrEqual(3);
  for (const lookedFor of looked) expect(cli.err).toContain(lookedFor);
});

test("a figure is copied for other programs, as a picture and as text", async () => {
  app = await Desktop.open(["--db", lab.db, JOBS]);
  await shows("the run in the library", 'table[aria-label="Runs"] a[href="#/run/jobs.failures-k1-oracle"]', (text) => text === "failures-k1");
  await app.run("location.hash = '#/run/jobs.failures-k1-oracle'");
  // That of the run, not that of the library before it, and not before there is something to export.
  await eventually("the export dialog", PATIENCE, async () => {
    if ((await app!.texts('[role="dialog"]')).length === 0) await app!.click("//button[@aria-label='Export this run…' and not(@disabled)]");
    expect((await app!.texts('[role="dialog"]')).length).toBe(1);
  });
  const copied = async (format: string, type: string, outcome: string): Promise<Buffer> => {
    await eventually(`the format ${format}`, PATIENCE, () => app!.click(`//*[@role="dialog"]//label[.//*[normalize-space()="${format}"]]`));
    await eventually(`copied as ${type}`, PATIENCE, async () => {
      await app!.click('//*[@role="dialog"]//button[normalize-space()="Copy"]');
      await eventually("the word that it is copied", 10_000, async () => {
        expect((await app!.texts('[role="status"], [role="alert"], .toast')).join(" ").replace(/\s+/g, " ")).toContain(`Copied ${outcome}`);
      });
    });
    return eventually(`the clipboard as ${type}`, PATIENCE, () => app!.clipboard(type));
  };
  expect((await copied("PNG", "image/png", "as a picture (PNG)")).subarray(1, 4).toString()).toBe("PNG");
  expect((await copied("SVG", "UTF8_STRING", "as SVG text")).toString()).toContain("<svg");
});

test("the first start begins with the sample, and what a terminal reads appears by itself", async () => {
  app = await Desktop.open(["--db", lab.db]);
  await shows("the first page", "main", (text) => /Look at the sample\s+sample-simulated\.zip: 9 runs, already loaded/.test(text));
  await app.run("location.hash = '#/library'");
  await shows("the sample's runs", '[aria-label="Sources and views"]', (text) => text.includes("sample-simulated.zip"));

  // Another process reads into the same library.
  lab.copy("harbor/jobs/nop-k1", "late");
  expect((await lab.stamina("ingest", lab.at("late"))).code).toBe(0);
  await shows("the new source", '[aria-label="Sources and views"]', (text) => text.includes("late"));
});

test("the window can ask the system for nothing but what it needs", async () => {
  app = await Desktop.open(["--db", lab.db]);
  await shows("the first page", "main", (text) => text.includes("Open"));
  const refused = (command: string, args: object) =>
    app!.wait<string>("window.__TAURI_INTERNALS__.invoke(arguments[0], arguments[1]).then(() => 'allowed', (e) => String(e))", command, args);
  for (const [command, args] of [
    ["plugin:fs|read_text_file", { path: "/etc/hostname" }],
    ["plugin:dialog|message", { message: "x" }],
    ["plugin:window|close", { label: "main" }],
    ["plugin:webview|create_webview_window", { options: { label: "other", url: "https://example.org" } }],
    ["plugin:event|emit", { event: "opened", payload: "/" }],
  ] as const) {
    expect(await refused(command, args), command).toMatch(/not allowed|not found/);
  }
  // The page itself may load and run only what the app carries.
  expect(
    await app.wait<string>(
      `new Promise((done) => {
         addEventListener("securitypolicyviolation", (e) => done(e.effectiveDirective), { once: true });
         const script = document.createElement("script");
         script.textContent = "window.__ran = true";
         document.head.append(script);
         setTimeout(() => done(window.__ran ? "ran" : "nothing"), 10000);
       })`,
    ),
  ).toMatch(/^script-src/);
  expect(await app.wait<string>("fetch('http://127.0.0.1:9/').then(() => 'reached', (e) => 'refused')")).toBe("refused");
});
