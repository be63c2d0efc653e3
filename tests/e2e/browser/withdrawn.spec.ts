// Runs of one turn, trials to run again, and what is withdrawn: the pages say what the command line says.
import { expect, fixtures, serious, test } from "./fixture";

interface Shown {
  readonly episodes: readonly { readonly episode: string; readonly scenario: string; readonly end_reason: string; readonly invalid: string | null }[];
}
interface Run {
  readonly id: string;
  readonly episodes: number;
  readonly invalid: string | null;
  readonly withdrawn_episodes: number;
  readonly pass_rate: { readonly value: number | null; readonly passed: number; readonly trials: number } | null;
}

const TASKS = `${fixtures}/world/set-order`;

test("the tasks of runs of one turn stand with what their trials came to, alone and side by side", async ({ lab, go, page }) => {
  await lab.stamina("ingest", TASKS);
  const runs = await lab.json<Run[]>("runs");
  expect(runs.length).toBe(2);
  const { id } = runs[0]!;
  const shown = await lab.json<Shown>("show", id);
  await go(`run/${id}`);
  const tasks = page.getByRole("table", { name: "Tasks", exact: true });
  await expect(tasks.locator("tbody tr")).toHaveCount(shown.episodes.length);
  for (const trial of shown.episodes) {
    const came = trial.end_reason === "passed_all" ? "passed" : "failed";
    await expect(tasks.getByRole("row").filter({ hasText: trial.scenario }).getByRole("button", { name: new RegExp(`${trial.scenario}: ${came}$`) })).toBeVisible();
  }
  const numbers = page.getByLabel("Numbers of this run");
  await expect(numbers).toContainText(`${((runs[0]!.pass_rate!.value ?? 0) * 100).toFixed(1)}`);

  await go(`compare?members=${encodeURIComponent(runs.map((run) => run.id).join(","))}`);
  const grid = page.getByRole("table", { name: "Tasks by run" });
  await expect(grid.locator("tbody tr:has(a)")).toHaveCount(shown.episodes.length);
  // What differs in the names is seen.
  const parts = await grid.getByRole("columnheader").allInnerTexts();
  expect(new Set(parts.slice(1, 3).map((part) => part.trim())).size).toBe(2);
  await expect(page.getByRole("group", { name: "Which tasks" }).getByRole("button", { name: /^All/ })).toHaveAttribute("aria-pressed", "true");
  const cell = grid.locator("tbody tr:has(a)").last().getByRole("link").last();
  await cell.click();
  await expect(page).toHaveURL(/#\/run\/.+\/.+\/1/);
  // Esc leads back to the cell that was opened.
  await expect(page.getByRole("region", { name: "Request" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(/#\/compare\?/);
  await expect(cell).toBeFocused();
});

test("trials to run again are those of the command line", async ({ lab, go, page }) => {
  await lab.stamina("ingest", `${fixtures}/harbor/jobs`);
  const run = "jobs.failures-k1-oracle";
  const list = async (kinds: object): Promise<string> => (await lab.json<{ readonly text: string }>("rpc", "list_reruns", JSON.stringify({ run, ...kinds }))).text;
  await go(`run/${run}`);
  await page.getByRole("button", { name: "Trials to run again" }).click();
  const dialog = page.getByRole("dialog", { name: /Trials to run again/ });
  const text = dialog.getByLabel("List", { exact: true });
  await expect.poll(() => text.textContent()).toBe(await list({ censored: true, unreadable: true, missing: true }));
  await dialog.getByRole("checkbox", { name: "unreadable" }).uncheck();
  await dialog.getByRole("checkbox", { name: "missing" }).uncheck();
  await expect.poll(() => text.textContent()).toBe(await list({ censored: true, unreadable: false, missing: false }));
  await dialog.getByRole("checkbox", { name: "censored" }).uncheck();
  await expect(text).toHaveText("Choose at least one of the three.");
  await expect(dialog.getByRole("button", { name: "Copy" })).toBeDisabled();
  expect(await serious(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await expect(dialog).toBeHidden();
});

test("a withdrawn trial leaves the numbers of its run and stays with its mark", async ({ lab, go, page }) => {
  await lab.stamina("ingest", TASKS);
  const { id } = (await lab.json<Run[]>("runs"))[0]!;
  const own = async (): Promise<Run> => (await lab.json<Run[]>("runs")).find((run) => run.id === id)!;
  const failed = (await lab.json<Shown>("show", id)).episodes.find((trial) => trial.end_reason !== "passed_all")!;
  await go(`run/${id}?episode=${failed.episode}`);
  const panel = page.getByRole("complementary", { name: "Episode" });
  await panel.getByRole("button", { name: "Withdraw this trial…" }).click();
  const reason = panel.getByRole("textbox", { name: "Why its numbers must not count" });
  await reason.fill("gone with Escape");
  await reason.press("Escape");
  await expect(panel.getByRole("button", { name: "Withdraw this trial…" })).toBeVisible();
  expect((await own()).withdrawn_episodes).toBe(0);
  await panel.getByRole("button", { name: "Withdraw this trial…" }).click();
  await panel.getByRole("textbox", { name: "Why its numbers must not count" }).fill("network down");
  await panel.getByRole("textbox", { name: "Why its numbers must not count" }).press("Enter");
  await expect(panel.getByText("Withdrawn: network down")).toBeVisible();
  await expect.poll(own).toMatchObject({ episodes: 1, withdrawn_episodes: 1, invalid: null, pass_rate: { passed: 1, trials: 1 } });
  const tasks = page.getByRole("table", { name: "Tasks", exact: true });
  await expect(tasks.getByRole("button", { name: `${failed.scenario}: withdrawn` })).toBeVisible();
  await expect(page.getByLabel("Numbers of this run")).toContainText("1 withdrawn");
  expect(await serious(page)).toEqual([]);
  await page.getByRole("button", { name: /^Table/ }).click();
  await expect(page.getByRole("table", { name: "Trials" }).getByRole("row").filter({ hasText: failed.scenario })).toContainText("withdrawn");
  await panel.getByRole("button", { name: "Count it again" }).click();
  await expect.poll(own).toMatchObject({ episodes: 2, withdrawn_episodes: 0, pass_rate: { passed: 1, trials: 2 } });
});

test("a withdrawn run is marked in the library and refused in comparisons", async ({ lab, go, page }) => {
  await lab.stamina("ingest", TASKS);
  const [first, second] = await lab.json<Run[]>("runs");
  await go(`library?run=${first!.id}`);
  const grid = page.getByRole("grid", { name: "Runs" });
  await grid.locator(`tr:has(a[href="#/run/${first!.id}"])`).click({ position: { x: 500, y: 10 } });
  await page.keyboard.press("Space");
  const peek = page.getByRole("complementary", { name: /Peek/ });
  await peek.getByRole("button", { name: "Withdraw this run…" }).click();
  await peek.getByRole("textbox", { name: "Why its numbers must not count" }).fill("wrong image");
  await peek.getByRole("textbox", { name: "Why its numbers must not count" }).press("Enter");
  await expect(peek.getByText("Withdrawn: wrong image")).toBeVisible();
  await expect(grid.locator(`tr:has(a[href="#/run/${first!.id}"])`)).toContainText("withdrawn");
  await go(`compare?members=${encodeURIComponent(`${first!.id},${second!.id}`)}`);
  await expect(page.getByText(/is withdrawn and cannot be taken together with other runs: wrong image/)).toBeVisible();
});
