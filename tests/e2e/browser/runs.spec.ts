// Runs, from the form to the page of the finished run: the mock agent against the simulated model, without containers. What
// the pages say is compared with what the command line says about the same folder.
import { existsSync, readFileSync } from "node:fs";
import { BEST, expect, serious, test, type Page } from "./fixture";

interface Live {
  readonly row: { readonly folder: string; readonly run: string | null; readonly state: string; readonly simulated: boolean; readonly turns: [number, number]; readonly episodes: [number, number]; readonly tokens: { input: number | null; output: number | null } };
  readonly episodes: readonly { readonly name: string; readonly cells: readonly string[]; readonly stamina: number; readonly end_reason: string | null }[];
}
interface Shown {
  readonly simulated: boolean;
  readonly episodes: readonly { readonly episode: string; readonly stamina: number; readonly turns: readonly { readonly verdict: string; readonly attempts: readonly unknown[] }[] }[];
}
/** A run of two small episodes takes seconds; a loaded machine takes its time. */
const PLAYED = { timeout: 180_000 };
test.setTimeout(420_000);

async function fill(page: Page, folder: string, values: Readonly<Record<string, string>>): Promise<void> {
  await page.getByLabel("Harness", { exact: true }).selectOption("mock");
  await page.getByLabel("Folder", { exact: true }).fill(folder);
  for (const [label, value] of Object.entries(values)) await page.getByLabel(label, { exact: true }).fill(value);
}

test("a run from the form to its page", async ({ lab, served, go, page }) => {
  const folder = lab.at("results");
  await go("runs/new");
  await expect(page.getByRole("heading", { name: "Agent" })).toBeVisible();
  // It opens valid, with an estimate and a folder that is free.
  await expect(page.getByRole("region", { name: "Estimate" })).toContainText("at most", PLAYED);
  await expect(page.getByText(/to fix/)).toHaveCount(0);
  await expect(page.getByLabel("Folder", { exact: true })).toHaveValue(/stamina-results\/[a-z-]+-\d+$/);
  await fill(page, folder, { Episodes: "2", Turns: "0", "Parallel episodes": "2", Tags: "from the form, e2e" });

  // What is wrong is said at the field (a moment later in the preflight, too), and nothing begins.
  const form = page.getByRole("form", { name: "Settings of the run" });
  await expect(form.getByRole("alert").getByText("enter a whole number from 1 to 1000")).toBeVisible();
  await expect(page.getByRole("button", { name: "Start run" })).toBeDisabled();
  // Plain processes have none of a container's limits.
  await expect(page.getByLabel("CPU per container")).toHaveCount(0);
  await expect(page.getByLabel("Time per attempt")).toBeVisible();
  await page.getByLabel("Turns", { exact: true }).fill("three");
  await expect(form.getByText("must be a number")).toBeVisible();
  await page.getByLabel("Turns", { exact: true }).fill("4");
  await expect(form.getByText("must be a number")).toHaveCount(0);
  await page.getByLabel("Simulated model: defect rate").fill("0.5");
  await expect(page.getByRole("contentinfo")).toContainText(/\d+ fields differ from the defaults of mock agent \(marked\)/);

  // Preflight without an engine: nothing fails.
  const preflight = page.getByRole("region", { name: "Preflight" });
  await expect(preflight.locator('[data-check="folder"][data-state="ok"]')).toBeVisible(PLAYED);
  await expect(preflight.locator('[data-state="fail"]')).toHaveCount(0);
  await expect(page.getByRole("region", { name: "Estimate" })).toContainText("at most 80 attempts");

  // The configuration that the command line takes says the same.
  await page.getByRole("button", { name: "YAML…" }).click();
  const yaml = page.getByLabel("Configuration as YAML");
  await expect(yaml).toContainText("agent: MOCK");
  await expect(yaml).toContainText(/n_turns: 4\s+# default 3/);
  await expect(page.getByRole("dialog")).toContainText("stamina run --configs");
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Start run" }).click();
  const numbers = page.getByRole("group", { name: "Numbers of the run" });
  await expect(numbers).toContainText("Turns done", PLAYED);
  await expect(page).toHaveURL(/#\/runs\/live\//);
  await expect(page.getByText("simulated").first()).toBeVisible();
  const episodes = page.getByRole("grid", { name: "Episodes" }).locator("tbody tr");
  await expect(episodes).toHaveCount(2, PLAYED);
  await expect(page.getByText("All episodes are over.")).toBeVisible(PLAYED);

  // Numbers against the command line. The library reads the folder a moment after the last attempt was written into it.
  const read = async (): Promise<Live> => (await served.rpc("get_live_run", { folder })) as Live;
  await expect.poll(async () => (await read()).row.run, PLAYED).not.toBeNull();
  const live = await read();
  expect(live.row).toMatchObject({ state: "finished", simulated: true, episodes: [2, 2] });
  await expect(numbers).toContainText(`Turns done ${String(live.row.turns[0])} of 8`);
  for (const [i, episode] of live.episodes.entries()) {
    await expect(episodes.nth(i)).toContainText(episode.name);
    await expect(episodes.nth(i)).toContainText("finished");
    await expect(episodes.nth(i).getByRole("img", { name: `${String(episode.cells.length)} of 4 turns decided, stamina so far ${String(episode.stamina)}` })).toBeVisible();
  }
  const run = live.row.run!;
  await expect(async () => {
    const { simulated, episodes: shown } = await lab.json<Shown>("show", run);
    expect({ simulated, episodes: shown.map((e) => [e.episode, e.stamina, e.turns.map((t) => t.verdict)]) }).toEqual({ simulated: true, episodes: live.episodes.map((e) => [e.name, e.stamina, e.cells]) });
  }).toPass(PLAYED);
  expect(readFileSync(`${folder}/config.yaml`, "utf8")).toContain("from the form");
  expect(JSON.parse(readFileSync(`${folder}/report.json`, "utf8"))).toMatchObject({ run: { simulated: true } });

  // The log of an episode, by keys.
  await page.keyboard.press("j");
  await expect(episodes.nth(1)).toHaveAttribute("aria-selected", "true");
  await page.getByRole("tab", { name: "Gateway" }).click();
  await expect(page.getByRole("tabpanel")).toContainText("model");
  // Enter leads to the turn, the link to the run; both once the page knows that the library has it.
  await expect(page.getByRole("link", { name: "Run page" })).toBeVisible(PLAYED);
  await page.getByRole("grid", { name: "Episodes" }).focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`#/run/${run}/scenario_1/4`));
  await page.goBack();
  await page.getByRole("link", { name: "Run page" }).click();
  await expect(page.getByRole("grid", { name: "Episodes by turns" })).toBeVisible();
  await expect(page.getByText("simulated").first()).toBeVisible();

  // It stands among the finished ones, and its settings go back into a form with a folder that is free.
  await go("runs/finished");
  const line = page.getByRole("grid", { name: "Finished runs" }).locator("tbody tr").first();
  await expect(line).toContainText("finished");
  await expect(line).toContainText(folder);
  // Esc leads back to its row from its page, and from its details.
  const finished = page.getByRole("grid", { name: "Finished runs" });
  for (const open of [
    () => finished.press("Enter"),
    () => line.getByRole("link", { name: "Details" }).click(),
  ]) {
    await open();
    await expect(page).toHaveURL(/#\/run\/|#\/runs\/live\//);
    await expect(page.getByRole("grid", { name: /^Episodes/ })).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(page).toHaveURL(/#\/runs\/finished/);
    await expect(finished).toBeFocused();
    await expect(finished.locator("tr.on")).toContainText(folder);
  }
  await go(`runs/new?from=${encodeURIComponent(folder)}`);
  await expect(page.getByText(`the run in ${folder}`)).toBeVisible();
  await expect(page.getByLabel("Turns", { exact: true })).toHaveValue("4");
  await expect(page.getByLabel("Simulated model: defect rate")).toHaveValue("0.5");
  await expect(page.getByLabel("Folder", { exact: true })).not.toHaveValue(folder);
});

test("a run is paused, stopped, and resumed from where it was", async ({ lab, served, go, page }) => {
  const folder = lab.at("long");
  // So many that it is not over before it is stopped.
  const turns = 15;
  const read = async (): Promise<Live> => (await served.rpc("get_live_run", { folder })) as Live;
  await go("runs/new");
  await expect(page.getByRole("heading", { name: "Agent" })).toBeVisible();
  await fill(page, folder, { Episodes: "1", Turns: String(turns) });
  await expect(page.locator('[data-check="folder"][data-state="ok"]')).toBeVisible(PLAYED);
  await page.getByRole("button", { name: "Start run" }).click();
  // A run is known only once its start has been answered.
  await expect(page).toHaveURL(/#\/runs\/live\//, PLAYED);
  await expect(async () => {
    expect((await read()).row.turns[0]).toBeGreaterThanOrEqual(1);
  }).toPass(PLAYED);
  await expect(page.getByRole("link", { name: "Runs 1 live" })).toBeVisible();

  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await expect(page.getByRole("button", { name: "Continue" })).toBeVisible();
  await expect(page.getByText("Paused: no new attempt begins")).toBeVisible();
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByRole("button", { name: "Pause", exact: true })).toBeVisible();

  await page.getByRole("button", { name: "Stop…" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("Stopping keeps all finished turns; resume continues in the same session.");
  await dialog.getByRole("button", { name: "Stop", exact: true }).click();
  await expect(page.getByText("Stopped. All finished turns are kept")).toBeVisible(PLAYED);
  const stopped = await read();
  expect(stopped.row.state).toBe("stopped");
  expect(stopped.row.turns[0]).toBeGreaterThanOrEqual(1);
  expect(stopped.row.turns[0]).toBeLessThan(turns);
  expect(existsSync(`${folder}/scenario_0/trajectory.json`)).toBe(true);

  await page.getByRole("button", { name: "Resume…" }).click();
  await dialog.getByRole("button", { name: "Resume", exact: true }).click();
  await expect(page.getByText("All episodes are over.")).toBeVisible(PLAYED);
  const over = await read();
  expect(over.row).toMatchObject({ state: "finished", turns: [turns, turns] });
  expect(over.episodes[0]!.cells.slice(0, stopped.episodes[0]!.cells.length)).toEqual(stopped.episodes[0]!.cells);
  await expect(async () => {
    const shown = await lab.json<Shown>("show", (await read()).row.run!);
    expect(shown.episodes.map((e) => e.turns.map((t) => t.verdict))).toEqual(over.episodes.map((e) => e.cells));
  }).toPass(PLAYED);
});

test("without a run there is one sentence and one way on", async ({ go, page }) => {
  await go("runs/live");
  await expect(page.getByText("No run is live.")).toBeVisible();
  await go("runs/finished");
  await page.getByRole("main").getByRole("link", { name: "New run…" }).click();
  await expect(page.getByRole("button", { name: "Smoke test, free" })).toBeVisible();
  await expect(page).toHaveURL(/#\/runs\/new/);
});

test("form, live view and list of runs are accessible", async ({ lab, served, go, page }) => {
  const folder = lab.at("small");
  const { settings } = (await served.rpc("load_settings", { yaml: "agent: MOCK\nuse_docker: false\nendpoint:\n  mode: oracle\noracle:\n  stack: native\nrestful_server_gen_iterative:\n  n_scenarios: 1\n  n_turns: 1\n" })) as { settings: Record<string, unknown> };
  await served.rpc("start_run", { settings: { ...settings, output_dir: folder }, shakedown: false });
  await expect(async () => {
    const { row } = (await served.rpc("get_live_run", { folder })) as Live;
    expect([row.state, row.run === null]).toEqual(["finished", false]);
  }).toPass(PLAYED);
  for (const [to, ready, act] of [
    ["runs/new", "form section", async () => { await page.getByRole("button", { name: /fields/ }).click(); }],
    ["runs/new?show=images", '[role="dialog"] table', undefined],
    ["runs/new?show=prices", '[role="dialog"] table', undefined],
    [`runs/live/${encodeURIComponent(folder)}`, 'table[aria-label="Episodes"] tr', undefined],
    ["runs/finished", 'table[aria-label="Finished runs"] a', undefined],
  ] as const) {
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await go(to);
    await expect(page.locator(ready).first()).toBeVisible();
    await act?.();
    expect(await serious(page, BEST), to).toEqual([]);
  }
});
