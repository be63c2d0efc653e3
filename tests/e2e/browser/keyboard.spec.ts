// The four main uses of the app with the keyboard alone: open results and explore them to a transcript, begin a run from the
// form and watch it, compare runs, export a figure. No test here clicks, fills or focuses anything: only `page.keyboard` acts.
import { readFileSync } from "node:fs";
import { expect, fixtures, test, type Locator, type Page } from "./fixture";

const ORACLE = "jobs.oracle-k2-oracle";
const NOP = "jobs.nop-k1-nop";
const CUT = "jobs.interrupted-oracle";
const FAILS = "jobs.failures-k1-oracle";
/** A loaded machine takes its time. */
const PLAYED = { timeout: 480_000 };
/** No page has more stops between two of its controls. */
const MOST_STOPS = 150;
test.setTimeout(900_000);
test.use({ actionTimeout: 60_000 });

/** Presses a key until an element has the focus: Tab, Shift+Tab, or an arrow in a menu. */
async function keyTo(page: Page, key: string, target: Locator): Promise<void> {
  for (let pressed = 0; pressed < MOST_STOPS; pressed += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  await expect(target, `${String(MOST_STOPS)} times ${key}`).toBeFocused({ timeout: 1_000 });
}
const tabTo = (page: Page, target: Locator): Promise<void> => keyTo(page, "Tab", target);

/** Goes to a field of a form by Tab, and types over what stands there. */
async function enter(page: Page, label: string, value: string): Promise<void> {
  const field = page.getByLabel(label, { exact: true });
  await tabTo(page, field);
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(value);
  await expect(field).toHaveValue(value);
}

/** Chooses a run of the library: from its first row downwards. */
async function chooseRun(page: Page, run: string): Promise<void> {
  const grid = page.getByRole("grid", { name: "Runs" });
  const rows = await grid.locator("tbody tr:has(a)").count();
  await page.keyboard.press("Home");
  for (let row = 1; row < rows && (await grid.locator(`tr.on a[href="#/run/${run}"]`).count()) === 0; row += 1) await page.keyboard.press("j");
  await expect(grid.locator(`tr.on a[href="#/run/${run}"]`)).toHaveCount(1);
}

/** The window notes what is done with a pointer. */
test.beforeEach(async ({ page }) => {
  await page.addInitScript(() => {
    const seen = globalThis as unknown as { pointed: string[] };
    seen.pointed = [];
    for (const kind of ["pointerdown", "mousedown", "touchstart"]) addEventListener(kind, () => seen.pointed.push(kind), true);
  });
});
test.afterEach(async ({ page }) => {
  expect(await page.evaluate(() => (globalThis as unknown as { pointed: string[] }).pointed)).toEqual([]);
});

test("results are opened and explored down to a transcript", async ({ go, page }) => {
  await go();
  await expect(page.getByRole("heading", { name: "How long do coding agents last?" })).toBeVisible();
  await page.keyboard.press("ControlOrMeta+o");
  const dialog = page.getByRole("dialog", { name: "Open folder" });
  await expect(dialog.getByRole("textbox")).toBeFocused();
  await page.keyboard.type(`${fixtures}/staminabench/own`);
  await page.keyboard.press("Enter");
  await expect(dialog).toHaveCount(0);
  const runs = page.getByRole("grid", { name: "Runs" });
  await expect(runs.locator("tbody tr:has(a)")).toHaveCount(1);
  await expect(page.getByRole("contentinfo")).toContainText("watching 1 source");

  // The run, by the keys of the list.
  await page.keyboard.press("j");
  await expect(runs.locator("tr.on")).toHaveCount(1);
  await page.keyboard.press("Enter");
  const grid = page.getByRole("grid", { name: "Episodes by turns" });
  await expect(grid).toBeVisible();
  await expect(page.locator(".figure[role=img]")).toHaveCount(2);

  // A turn of its grid: one tab stop with arrows inside.
  await tabTo(page, grid);
  const cursor = page.locator("#grid-cursor");
  await page.keyboard.press("Control+Home");
  await expect(cursor).toContainText("turn 1:");
  const first = await cursor.innerText();
  await page.keyboard.press("ArrowDown");
  await expect(cursor).not.toHaveText(first, { useInnerText: true });
  await page.keyboard.press("ArrowRight");
  await expect(cursor).toContainText("turn 2:");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/#\/run\/own\.run\/scenario_\d\/2$/);
  await expect(page.getByRole("region", { name: "Request" })).not.toHaveText("");

  // Its transcript, and one step of it unfolded.
  await page.keyboard.press("s");
  const transcript = page.getByRole("region", { name: "Transcript" });
  const steps = transcript.getByRole("list", { name: "Steps" });
  await expect(steps.getByRole("listitem").first()).toContainText(/\w/);
  await expect(transcript.getByRole("group", { name: "Steps, scrolls" })).toBeFocused();
  const fold = steps.getByRole("button").first();
  await expect(fold).toHaveAttribute("aria-expanded", "false");
  await tabTo(page, fold);
  await page.keyboard.press("Enter");
  await expect(fold).toHaveAttribute("aria-expanded", "true");

  // And up again, to where each page was left.
  await page.keyboard.press("Escape");
  await expect(grid).toBeFocused();
  await expect(cursor).toContainText("turn 2:");
  await page.keyboard.press("Escape");
  await expect(runs).toBeFocused();
  await expect(runs.locator("tr.on")).toHaveCount(1);
});

test("a run is begun from the form and watched", async ({ lab, go, page }) => {
  const folder = lab.at("by-keys");
  await go();
  await page.keyboard.press("ControlOrMeta+k");
  await expect(page.getByRole("combobox", { name: "Go to, search or run a command" })).toBeFocused();
  await page.keyboard.type("new run");
  await expect(page.getByRole("option").first()).toContainText("New run");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Agent" })).toBeVisible();

  const harness = page.getByLabel("Harness", { exact: true });
  await tabTo(page, harness);
  await page.keyboard.type("mock");
  await expect(harness).toHaveValue("mock");
  await enter(page, "Episodes", "1");
  // So many that it is played while keys are pressed.
  await enter(page, "Turns", "15");
  await enter(page, "Folder", folder);
  await expect(page.locator('[data-check="folder"][data-state="ok"]')).toBeVisible(PLAYED);
  const start = page.getByRole("button", { name: "Start run" });
  await expect(start).toBeEnabled(PLAYED);
  await tabTo(page, start);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/#\/runs\/live\//, PLAYED);

  // It pauses and continues with a key, and its logs follow each other with another one.
  await expect(page.getByRole("button", { name: "Pause", exact: true })).toBeVisible(PLAYED);
  await page.keyboard.press("p");
  await expect(page.getByText("Paused: no new attempt begins")).toBeVisible(PLAYED);
  const tabs = page.getByRole("tab");
  await expect(tabs.filter({ hasText: "Agent" })).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("l");
  await page.keyboard.press("l");
  await expect(tabs.filter({ hasText: "Gateway" })).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("p");
  await expect(page.getByText("Paused: no new attempt begins")).toHaveCount(0, PLAYED);
  await expect(page.getByRole("tabpanel")).toContainText("model", PLAYED);

  // Enter opens the last turn that was played, once the library has the run.
  await expect(page.getByText("All episodes are over.")).toBeVisible(PLAYED);
  await expect(page.getByRole("link", { name: "Run page" })).toBeVisible(PLAYED);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/#\/run\/[^/]+\/scenario_0\/\d+$/);
  await expect(page.getByRole("region", { name: "Request" })).not.toHaveText("");
});

test.describe("over results that are open", () => {
  test.beforeEach(async ({ lab }) => {
    await lab.stamina("ingest", `${fixtures}/harbor/jobs`);
  });

  test("runs are chosen, compared, put in order, and a turn is opened side by side", async ({ go, page }) => {
    await go("library");
    const runs = page.getByRole("grid", { name: "Runs" });
    await expect(runs.locator("tbody tr:has(a)")).toHaveCount(5);
    // A group of the list is folded, and unfolded again.
    const group = runs.locator("tr.grp button").first();
    await expect(group).toHaveAttribute("aria-expanded", "true");
    await tabTo(page, group);
    await page.keyboard.press("Enter");
    await expect(group).toHaveAttribute("aria-expanded", "false");
    await page.keyboard.press("Enter");
    await expect(runs.locator("tbody tr:has(a)")).toHaveCount(5);
    for (const run of [ORACLE, NOP]) {
      await chooseRun(page, run);
      await page.keyboard.press("x");
    }
    await expect(page.getByRole("region", { name: "Selected runs" })).toContainText("2 selected");
    await page.keyboard.press("c");
    const compared = page.getByRole("list", { name: "Compared runs" }).locator("[data-chip]");
    const order = (): Promise<(string | null)[]> => compared.evaluateAll((all) => all.map((chip) => chip.getAttribute("data-chip")));
    const numbers = page.getByRole("region", { name: "Numbers" }).locator("tr[data-member]");
    await expect(numbers).toHaveCount(2);
    const [one, two] = (await order()) as [string, string];
    expect([one, two].sort()).toEqual([NOP, ORACLE]);

    // A third one is added, and moved to the left.
    await page.keyboard.press("a");
    await expect(page.getByRole("combobox", { name: /Search runs/ })).toBeFocused();
    await page.keyboard.type("interrupted");
    await expect(page.getByRole("listbox", { name: "Runs and groups" }).getByRole("option")).toHaveText([/interrupted/]);
    await page.keyboard.press("Enter");
    await expect.poll(order).toEqual([one, two, CUT]);
    await page.keyboard.press("Escape");
    await expect(page.getByRole("listbox", { name: "Runs and groups" })).toHaveCount(0);
    await expect(numbers).toHaveCount(3);
    const chip = (run: string): Locator => page.locator(`[data-chip="${run}"] button.name`);
    await keyTo(page, "Shift+Tab", chip(CUT));
    await page.keyboard.press("Shift+ArrowLeft");
    await expect.poll(order).toEqual([one, CUT, two]);

    // Another one is the reference: by the menu of its chip.
    await tabTo(page, chip(two));
    await page.keyboard.press("Enter");
    const menu = page.getByRole("menu");
    await expect(menu).toBeVisible();
    await expect(page.locator('[role="menu"]:focus, [role="menu"] :focus')).toHaveCount(1);
    await page.keyboard.press("Home");
    await keyTo(page, "ArrowDown", menu.getByRole("menuitem", { name: "Make it the reference" }));
    await page.keyboard.press("Enter");
    await expect(page.locator(`[data-chip="${two}"]`)).toContainText("reference");
    await expect(menu).toHaveCount(0);

    // The figure is read out, and a disagreement opened.
    const survival = page.getByRole("region", { name: "Survival", exact: true });
    await expect(survival.locator("svg").first()).toBeVisible();
    await tabTo(page, survival.getByRole("application"));
    await page.keyboard.press("ArrowRight");
    await expect(survival.locator(".reading .m")).not.toHaveText("");
    const list = page.getByRole("region", { name: "Where they disagree" });
    await tabTo(page, list.getByRole("grid"));
    await page.keyboard.press("j");
    await expect(list.locator("tbody tr[id]").nth(1)).toHaveAttribute("aria-selected", "true");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/#\/side-by-side\?/);
    await expect(page.getByRole("group", { name: "Left side" })).toContainText(/passed|failed/);
    await expect(page.getByRole("button", { name: "Next disagreement" })).toBeVisible();
    const address = page.url();
    await page.keyboard.press("n");
    await expect(page).not.toHaveURL(address);
    await page.keyboard.press("Escape");
    await expect.poll(order).toEqual([one, CUT, two]);
    await expect(list.locator("tr.on")).toHaveCount(1);
    await expect(list.getByRole("grid")).toBeFocused();
  });

  test("a figure is exported for a venue", async ({ lab, go, page }) => {
    await go("library");
    await expect(page.getByRole("grid", { name: "Runs" }).locator("tbody tr:has(a)")).toHaveCount(5);
    await chooseRun(page, FAILS);
    await page.keyboard.press("Enter");
    await expect(page.locator(".figure").first()).toBeVisible();
    await page.keyboard.press("ControlOrMeta+e");
    const dialog = page.getByRole("dialog", { name: /^Export/ });
    await expect(dialog.locator(".figure")).toBeVisible();
    await tabTo(page, dialog.getByRole("radio", { name: /^PDF/ }));
    await page.keyboard.press("ArrowDown");
    await expect(dialog.getByRole("radio", { name: /^SVG/ })).toBeChecked();
    const venue = dialog.getByRole("combobox", { name: /Venue/ });
    await tabTo(page, venue);
    await page.keyboard.type("neurips");
    await expect(venue).toHaveValue("neurips");

    const download = page.waitForEvent("download");
    await tabTo(page, dialog.getByRole("button", { name: "Save…" }));
    await page.keyboard.press("Enter");
    const saved = readFileSync(await (await download).path(), "utf8");
    const done = await lab.stamina("figure", "survival", FAILS, "--preset", "neurips", "--out", lab.at("cli.svg"));
    expect(done.code, done.err).toBe(0);
    expect(saved).toBe(readFileSync(lab.at("cli.svg"), "utf8"));
    await page.keyboard.press("Escape");
    await expect(dialog).toHaveCount(0);
  });
});
