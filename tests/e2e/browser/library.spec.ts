// The library: what is listed, sorted, filtered, searched, tagged and noted, against what the command line says.
import { writeFileSync } from "node:fs";
import { expect, fixtures, names, rows, test } from "./fixture";

const JOBS = `${fixtures}/harbor/jobs`;

interface Run {
  readonly id: string;
  readonly model: string | null;
  readonly episodes: number;
  readonly score: number | null;
  readonly stamina: { readonly mean: number | null; readonly tau: number | null };
  readonly tags: readonly string[];
  readonly note: string | null;
}

test.beforeEach(async ({ lab, go, page }) => {
  await lab.stamina("ingest", JOBS);
  await go("library");
  await expect(page.getByRole("grid", { name: "Runs" }).locator("tbody tr:has(a)")).toHaveCount(5);
});

test("lists every run with the numbers of the store", async ({ lab, page }) => {
  const runs = await lab.json<Run[]>("runs");
  // Means of a benchmark over other numbers of turns say over how many.
  const several = new Set(runs.map((run) => run.stamina.tau).filter((tau) => tau !== null)).size > 1;
  const stamina = ({ stamina: { mean, tau } }: Run): string => (mean === null ? "unknown" : `${several ? `τ ${String(tau)} ` : ""}${mean.toFixed(2)}`);
  for (const run of runs) {
    const cells = page.locator(`a[href="#/run/${run.id}"]`).locator("xpath=ancestor::tr").locator("td");
    await expect.poll(() => cells.allInnerTexts()).toEqual(expect.arrayContaining([String(run.episodes), stamina(run), run.score?.toFixed(1) ?? "unknown"]));
  }
  // Unknown is a word.
  const listed = await rows(page);
  expect(listed.length).toBe(runs.length);
  expect(listed.flat()).toContain("unknown");
  expect(listed.flat().filter((cell) => ["–", "-", "null", "NaN"].includes(cell))).toEqual([]);
});

test("sorts by a column, and the order stands in the address", async ({ page }) => {
  const grid = page.getByRole("grid", { name: "Runs" });
  await grid.getByRole("button", { name: "Episodes" }).click();
  await expect(grid.getByRole("columnheader", { name: "Episodes" })).toHaveAttribute("aria-sort", /ending/);
  const sorted = async (): Promise<number[]> => (await rows(page)).map((cells) => Number(cells.find((cell, i) => i > 2 && /^\d+$/.test(cell))));
  const descending = (await grid.getByRole("columnheader", { name: "Episodes" }).getAttribute("aria-sort")) === "descending";
  const inOrder = (values: readonly number[], down: boolean): number[] => [...values].sort((a, b) => (down ? b - a : a - b));
  await expect.poll(async () => JSON.stringify(await sorted()) === JSON.stringify(inOrder(await sorted(), descending))).toBe(true);
  await grid.getByRole("button", { name: "Episodes" }).click();
  await expect.poll(async () => JSON.stringify(await sorted()) === JSON.stringify(inOrder(await sorted(), !descending))).toBe(true);
  await expect(page).toHaveURL(/sort=episodes/);
  const before = await names(page);
  await page.reload();
  await expect.poll(() => names(page)).toEqual(before);
});

test("filters by text, benchmark and harness; an empty result says how to come back", async ({ page }) => {
  const text = page.getByRole("textbox", { name: /Filter runs/ });
  await text.fill("terminus");
  await expect.poll(() => names(page)).toEqual(["gpt-4o-mini"]);
  await expect(page.getByText("5 runs, 1 shown")).toBeVisible();
  await text.fill("no such run");
  await expect(page.getByText("No run matches.")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect.poll(async () => (await names(page)).length).toBe(5);

  await page.getByRole("button", { name: "Harness: any" }).click();
  await page.getByRole("menuitemcheckbox", { name: /nop/ }).click();
  await expect.poll(async () => (await names(page)).length).toBe(1);
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(/harness/);
});

test("leaves baselines out of the view of real runs", async ({ page }) => {
  await page.getByRole("link", { name: /Real runs only/ }).click();
  await expect.poll(() => names(page)).toEqual(["gpt-4o-mini"]);
  await expect(page.getByRole("link", { name: /Real runs only/ })).toHaveAttribute("aria-current", "true");
});

test("tags and notes are kept in the store and found again", async ({ lab, page }) => {
  const id = "jobs.oracle-k2-oracle";
  const row = page.locator(`tr:has(a[href="#/run/${id}"])`);
  await row.getByRole("checkbox").check();
  await page.getByRole("region", { name: "Selected runs" }).getByRole("button", { name: "Tag…" }).click();
  const dialog = page.getByRole("dialog", { name: /Tag/ });
  await dialog.getByRole("combobox", { name: "Tag to add" }).fill("for the paper");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toBeHidden();
  await page.getByRole("link", { name: /for the paper/ }).click();
  await expect.poll(async () => (await names(page)).length).toBe(1);

  await row.click({ position: { x: 500, y: 10 } });
  await page.keyboard.press("Space");
  const peek = page.getByRole("complementary", { name: /Peek/ });
  const note = peek.getByRole("textbox", { name: /note/i });
  await note.fill("reference of\nthe whole job");
  await note.blur();
  await expect.poll(async () => (await lab.json<Run[]>("runs")).find((r) => r.id === id)).toMatchObject({ tags: ["for the paper"], note: "reference of\nthe whole job" });
  await page.getByRole("textbox", { name: /Filter runs/ }).fill("whole job");
  await expect.poll(async () => (await names(page)).length).toBe(1);
});

test("where the chosen run is gone, j and Space go on from its place", async ({ lab, page }) => {
  writeFileSync(lab.at("gone.csv"), "run,harness,model,scenario,turn,attempt,passed\ngone,terminus-2,gone-model,task,1,1,true\n");
  await lab.stamina("ingest", lab.at("gone.csv"));
  await page.getByRole("link", { name: /gone-model/ }).locator("xpath=ancestor::tr").click({ position: { x: 500, y: 10 } });
  await expect(page).toHaveURL(/run=gone/);
  const side = page.getByRole("complementary", { name: "Sources and views" });
  await side.getByRole("listitem").filter({ hasText: "gone" }).first().hover();
  await side.getByRole("button", { name: /Actions for gone/ }).click();
  await page.getByRole("menuitem", { name: /Remove/ }).click();
  await expect.poll(async () => (await names(page)).length).toBe(5);
  const selected = page.getByRole("grid", { name: "Runs" }).locator("tr.on");
  await expect(selected).toHaveCount(0);
  await page.keyboard.press("Space");
  await expect(selected).toHaveCount(1);
  await expect(page.getByRole("complementary", { name: /Peek/ })).toBeVisible();
  await page.keyboard.press("j");
  await expect(selected).toHaveCount(1);
});

test("a source is taken out and taken back, and the folder is not touched", async ({ page, served }) => {
  const side = page.getByRole("complementary", { name: "Sources and views" });
  await side.getByRole("listitem").filter({ hasText: "jobs" }).first().hover();
  await side.getByRole("button", { name: /jobs/ }).first().click();
  await page.getByRole("menuitem", { name: /Remove/ }).click();
  await expect(page.getByText("jobs removed from the library")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect.poll(async () => (await names(page)).length).toBe(5);
  expect(await served.rpc("app_state")).toMatchObject({ runs: 5, recent: [] });
});

test("groups by harness, and a group can be folded", async ({ page }) => {
  await page.getByRole("button", { name: /^Group:/ }).click();
  await page.getByRole("menuitemradio", { name: "harness" }).click();
  const groups = page.getByRole("grid", { name: "Runs" }).getByRole("button", { expanded: true });
  await expect(groups).toHaveCount(3);
  await groups.filter({ hasText: "oracle" }).click();
  await expect.poll(async () => (await names(page)).length).toBe(2);
});

test("without groups the head of the column shows the scale of the intervals", async ({ page }) => {
  const grid = page.getByRole("grid", { name: "Runs" });
  const scale = page.getByRole("img", { name: /^Scale of stamina, 0 to [\d.]+ turns$/ });
  // A run by itself has one τ.
  await page.getByRole("textbox", { name: /Filter runs/ }).fill("oracle-k2");
  await expect(grid.locator("tbody").locator(scale)).toHaveCount(1);
  await page.getByRole("button", { name: /^Group:/ }).click();
  await page.getByRole("menuitemradio", { name: "none" }).click();
  await expect(grid.locator("tbody").locator(scale)).toHaveCount(0);
  const head = grid.locator("thead").locator(scale);
  // It lies over the intervals of the rows, to the pixel, and inside its cell.
  for (const window of [{ width: 1280, height: 800 }, { width: 1920, height: 1080 }]) {
    await page.setViewportSize(window);
    const [axis, interval, cell] = [await head.boundingBox(), await grid.locator("tbody td.whisk svg").first().boundingBox(), await head.locator("xpath=ancestor::th").boundingBox()];
    expect(Math.abs(axis!.x - interval!.x)).toBeLessThanOrEqual(1);
    expect(Math.abs(axis!.width - interval!.width)).toBeLessThanOrEqual(1);
    expect(axis!.y + axis!.height).toBeLessThanOrEqual(cell!.y + cell!.height + 1);
  }
});

test("means over other numbers of turns are drawn as shares of them", async ({ lab, page }) => {
  const csv = (name: string, turns: number): void => {
    const played = Array.from({ length: turns }, (_, turn) => `${name},terminus-2,${name}-model,task,${String(turn + 1)},1,true\n`);
    writeFileSync(lab.at("horizons.csv"), played.join(""), { flag: "a" });
  };
  writeFileSync(lab.at("horizons.csv"), "run,harness,model,scenario,turn,attempt,passed\n");
  csv("short", 3);
  csv("long", 12);
  await lab.stamina("ingest", lab.at("horizons.csv"));
  const grid = page.getByRole("grid", { name: "Runs" });
  const line = (name: string): ReturnType<typeof page.locator> =>
    grid.getByRole("link", { name: `${name}-model` }).locator("xpath=ancestor::tr").locator("td.whisk svg circle");
  // Both passed to their last turn: 3 of 3 stands where 12 of 12 does.
  const place = async (name: string): Promise<string | null> => await line(name).getAttribute("cx");
  expect(await place("short")).not.toBeNull();
  expect(await place("short")).toBe(await place("long"));
  // The runs of Harbor have 3 and 4.
  const axis = (of: RegExp): ReturnType<typeof page.locator> => grid.locator("tbody").getByRole("img", { name: of });
  await expect(axis(/^Scale of mean stamina as a share of τ, 0 to 100 %/)).toHaveCount(2);
  await expect(axis(/^Scale of stamina/)).toHaveCount(0);
  await page.getByRole("textbox", { name: /Filter runs/ }).fill("short");
  await expect(axis(/^Scale of stamina, 0 to 3 turns/)).toHaveCount(1);
});

test("runs that are open twice say so in their rows", async ({ lab, page }) => {
  await lab.stamina("ingest", lab.copy("harbor/jobs", "again"));
  const lines = page.getByRole("grid", { name: "Runs" }).locator("tbody tr:has(a)");
  await expect(lines).toHaveCount(10);
  const marked = lines.filter({ has: page.getByLabel(/\d+ trials? (is|are) also in /) });
  await expect.poll(() => marked.count()).toBeGreaterThan(0);
  expect((await marked.count()) % 2).toBe(0);
});
