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
  readonly score: number;
  readonly stamina: { readonly mean: number; readonly events: number; readonly censored: number; readonly tau: number };
}

const SECONDS = 1000;
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
function shows(what: string, css: string, is: (text: string) => boolean, ms = 15 * SECONDS): Promise<string> {
  return eventually(what, ms, async () => {
    const text = await app!.text(css);
    if (!is(text)) throw new Error(`It says: ${text}`);
    return text;
  });
}

test("from the library through run and grid to a failing test, as the store has it", async () => {
  app = await Desktop.open(["--db", lab.db, JOBS]);
  const id = "jobs.failures-k1-oracle";
  const link = `//a[@href="#/run/${id}"]`;
  await shows("the run in the library", `table[aria-label="Runs"] a[href="#/run/${id}"]`, (text) => text === "failures-k1", 20 * SECONDS);

  // Library: the row of the run against `stamina runs`. The first rows stand there while reading still goes on.
  await eventually("the end of reading", 60 * SECONDS, async () => {
    const sources = await lab.json<{ path: string; status: string }[]>("sources");
    expect(sources.find((source) => source.path === JOBS)?.status).toBe("ready");
  });
  const run = (await lab.json<Run[]>("runs")).find((r) => r.id === id)!;
  const read = () => app!.run<string[]>("return [...document.querySelector(arguments[0]).closest('tr').cells].map((c) => c.innerText.trim())", `a[href="#/run/${id}"]`);
  await eventually("the numbers in the row", 20 * SECONDS, async () => {
    expect(await read()).toEqual(expect.arrayContaining([String(run.episodes), run.stamina.mean.toFixed(2), run.score.toFixed(1)]));
  });
  await app.click(link);

  // Run: the numbers and the rows of the grid against `stamina show`.
  const shown = await lab.json<Shown>("show", id);
  const numbers = await shows("the numbers of the run", '[aria-label="Numbers of this run"]', (text) => text.includes(run.stamina.mean.toFixed(2)));
  expect(numbers.replace(/\s+/g, " ")).toContain(`Episodes ${String(run.episodes)}`);
  await eventually("the grid", 15 * SECONDS, async () => {
    expect(await app!.run("return [...document.querySelectorAll('[data-episode]')].map((e) => e.dataset.episode)")).toEqual(shown.episodes.map((e) => e.episode));
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
  await eventually("the chosen cell", 5 * SECONDS, async () => {
    expect(await words()).toContain(`turn ${String(turn)}: failed, first failure, ${String(episode.turns[turn - 1]!.attempts[0]!.failing.length)} failing tests`);
  });
  await app.pointer(cell.x, cell.y);
  await eventually("the turn's address", 5 * SECONDS, async () => {
    expect(await app!.hash()).toBe(`#/run/${id}/${episode.episode}/${String(turn)}`);
  });

  // Turn: verdict, counts and every failing test with what was expected and what came.
  const attempt = episode.turns[turn - 1]!.attempts.at(-1)!;
  await shows("the failing tests", 'section[aria-label="Tests"]', (text) => text.includes(`${String(attempt.failing.length)} of ${String(attempt.total)}`));
  expect(await app.run("return [...document.querySelectorAll('[data-test]')].map((e) => e.dataset.test)")).toEqual(expect.arrayContaining(attempt.failing.map((f) => f.id)));
  expect(await app.run("return document.querySelectorAll('[data-test]').length")).toBe(attempt.failing.length);
  expect((await app.texts('[role="tab"]')).join(" ")).toContain(`${String(attempt.passed)} / ${String(attempt.total)}`);
  const failing = attempt.failing[2]!;
  await app.click(`//*[@data-test="${failing.id}"]//button[1]`);
  await eventually("the chosen test in the address", 5 * SECONDS, async () => {
    expect(await app!.hash()).toContain(`test=${failing.id}`);
  });
  expect(await app.run("return [...document.querySelectorAll(arguments[0] + ' .val')].map((e) => e.textContent)", `[data-test="${failing.id}"]`)).toEqual([failing.expected, failing.actual, failing.message]);
});

test("a folder that is none of the formats is told with what was looked for", async () => {
  mkdirSync(lab.at("holiday"));
  writeFileSync(lab.at("holiday", "beach.txt"), "sun");
  const cli = await lab.stamina("ingest", lab.at("holiday"), "--json");
  expect(cli.code).toBe(2);
  app = await Desktop.open(["--db", lab.db, lab.at("holiday")]);
  await shows("the message", "main", (text) => text.includes("Nothing in “holiday” is in a format that Stamina Lab reads"));
  const looked = await app.texts('table[aria-label="What was looked for"] tbody td:nth-child(2)');
  expect(looked.length).toBeGreaterThanOrEqual(3);
  for (const what of looked) expect(cli.err).toContain(what);
});

test("a figure is copied for other programs, as a picture and as text", async () => {
  app = await Desktop.open(["--db", lab.db, JOBS]);
  await shows("the run in the library", 'table[aria-label="Runs"] a[href="#/run/jobs.failures-k1-oracle"]', (text) => text === "failures-k1", 20 * SECONDS);
  await app.run("location.hash = '#/run/jobs.failures-k1-oracle'");
  const button = "//button[starts-with(@aria-label, 'Export ') and contains(., 'Export…')]";
  await eventually("the export dialog", 20 * SECONDS, () => app!.click(button));
  const copied = async (format: string, type: string): Promise<Buffer> => {
    await eventually(`the format ${format}`, 15 * SECONDS, () => app!.click(`//*[@role="dialog"]//label[.//*[normalize-space()="${format}"]]`));
    await eventually(`copied as ${type}`, 20 * SECONDS, async () => {
      await app!.click('//*[@role="dialog"]//button[normalize-space()="Copy"]');
      await eventually("the word that it is copied", 5 * SECONDS, async () => {
        expect((await app!.texts('[role="status"], [role="alert"], .toast')).join(" ")).toContain("Copied");
      });
    });
    return eventually(`the clipboard as ${type}`, 10 * SECONDS, () => app!.clipboard(type));
  };
  expect((await copied("PNG", "image/png")).subarray(1, 4).toString()).toBe("PNG");
  expect((await copied("SVG", "UTF8_STRING")).toString()).toContain("<svg");
});

test("the first start begins with the sample, and what a terminal reads appears by itself", async () => {
  app = await Desktop.open(["--db", lab.db]);
  await shows("the first page", "main", (text) => /Look at the sample\s+sample-simulated\.zip: 9 runs, already loaded/.test(text), 20 * SECONDS);
  await app.run("location.hash = '#/library'");
  await shows("the sample's runs", '[aria-label="Sources and views"]', (text) => text.includes("sample-simulated.zip"));

  // Another process reads into the same library.
  lab.copy("harbor/jobs/nop-k1", "late");
  expect((await lab.stamina("ingest", lab.at("late"))).code).toBe(0);
  await shows("the new source", '[aria-label="Sources and views"]', (text) => text.includes("late"), 2 * SECONDS);
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
         setTimeout(() => done(window.__ran ? "ran" : "nothing"), 2000);
       })`,
    ),
  ).toMatch(/^script-src/);
  expect(await app.wait<string>("fetch('http://127.0.0.1:9/').then(() => 'reached', (e) => 'refused')")).toBe("refused");
});
