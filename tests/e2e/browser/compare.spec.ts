// Comparing: the numbers on the page are those of the command line, what is not comparable is said first, members can be
// put in another order, and a disagreement opens both runs side by side.
import { writeFileSync } from "node:fs";
import { BEST, expect, fixtures, serious, test, type Page } from "./fixture";

const ORACLE = "jobs.oracle-k2-oracle";
const NOP = "jobs.nop-k1-nop";
const FAILS = "jobs.failures-k1-oracle";
const CUT = "jobs.interrupted-oracle";

interface Stamina {
  readonly value: number | null;
  readonly ci_low: number | null;
  readonly ci_high: number | null;
  readonly tau: number;
}
interface Compared {
  readonly runs: readonly { readonly id: string; readonly n: number; readonly events: number; readonly censored: number; readonly mean_stamina: Stamina; readonly mean_stamina_bootstrap: { readonly ci_low: number; readonly ci_high: number } | null; readonly median: number | null }[];
  readonly differences: readonly { readonly setting: string; readonly comparability: string }[];
}

const members = (...ids: readonly string[]): string => `compare?members=${encodeURIComponent(ids.join(","))}`;
const chips = (page: Page): Promise<(string | null)[]> => page.getByRole("list", { name: "Compared runs" }).locator("[data-chip]").evaluateAll((all) => all.map((chip) => chip.getAttribute("data-chip")));

test.beforeEach(async ({ lab }) => {
  await lab.stamina("ingest", `${fixtures}/harbor/jobs`);
});

test("numbers are those of the command line; what is not comparable stands first", async ({ lab, go, page }) => {
  const ids = [ORACLE, FAILS, NOP, CUT];
  const answer = await lab.json<Compared>("compare", ...ids);
  await go(members(...ids));
  const numbers = page.getByRole("region", { name: "Numbers" });
  for (const run of answer.runs) {
    const cells = numbers.locator(`tr[data-member="${run.id}"] td`);
    const s = run.mean_stamina;
    await expect.poll(() => cells.allInnerTexts()).toEqual([
      String(run.n),
      String(run.events),
      String(run.censored),
      s.value?.toFixed(2) ?? "unknown",
      s.ci_low === null || s.ci_high === null ? "n/a" : `${s.ci_low.toFixed(2)}–${s.ci_high.toFixed(2)}`,
      run.median === null ? "not reached" : String(run.median),
      expect.stringMatching(/^[\d.]+$|^unknown$/),
      run.mean_stamina_bootstrap === null ? "n/a" : `${run.mean_stamina_bootstrap.ci_low.toFixed(2)}–${run.mean_stamina_bootstrap.ci_high.toFixed(2)}`,
    ]);
  }
  await expect(numbers.getByText(`τ = ${String(answer.runs[0]!.mean_stamina.tau)}`)).toBeVisible();

  const settings = page.getByRole("region", { name: "Settings that differ" });
  const marked = answer.differences.filter((d) => d.comparability === "not_comparable");
  expect(marked.length).toBeGreaterThan(0);
  for (const { setting } of marked) await expect(settings.locator(`tr[data-setting="${setting}"]`)).toContainText("not comparable");
  await expect(page.getByRole("contentinfo")).toContainText("not comparable");
  // The heads of the columns stand on one line.
  const lines = await settings.locator("thead th").evaluateAll((heads) => heads.slice(0, -1).map((head) => {
    const range = document.createRange();
    range.selectNodeContents(head);
    const { top, bottom } = range.getBoundingClientRect();
    return (top + bottom) / 2;
  }));
  expect(Math.max(...lines) - Math.min(...lines)).toBeLessThanOrEqual(1);
  await settings.getByRole("button", { name: /are the same/ }).click();
  await expect(settings).toContainText("Attempt limit");
});

test("a comparison is kept as a view, opened again as it was, removed, and taken back", async ({ go, page }) => {
  await go(`${members(ORACLE, NOP)}&numbers=tests&mode=all`);
  await page.getByRole("button", { name: "Save as view…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("oracle against nop");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await expect(dialog).toBeHidden();
  await go("library");
  const view = page.getByRole("link", { name: /oracle against nop/ });
  await view.click();
  await expect.poll(() => chips(page)).toEqual([ORACLE, NOP]);
  await expect(page).toHaveURL(/numbers=tests/);
  await expect(page).toHaveURL(/mode=all/);
  await go("library");
  await page.getByRole("button", { name: "Remove view oracle against nop" }).click();
  await expect(view).toBeHidden();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(view).toBeVisible();
});

test("members move, one is the reference, others go and come; all of it stands in the address", async ({ go, page }) => {
  await go(members(ORACLE, FAILS, NOP));
  await expect.poll(() => chips(page)).toEqual([ORACLE, FAILS, NOP]);
  // With the numbers come the names, and with them the widths of the chips.
  await expect(page.getByRole("region", { name: "Numbers" }).locator("tr[data-member]")).toHaveCount(3);
  const chip = (n: number): ReturnType<Page["locator"]> => page.getByRole("list", { name: "Compared runs" }).locator("[data-chip] .name").nth(n);

  await chip(2).focus();
  await page.keyboard.press("Shift+ArrowLeft");
  await expect.poll(() => chips(page)).toEqual([ORACLE, NOP, FAILS]);
  // A hover waits until it stands still.
  await chip(2).hover();
  await chip(0).hover();
  const from = (await chip(0).boundingBox())!;
  const to = (await chip(2).boundingBox())!;
  await page.mouse.move(from.x + 20, from.y + 10);
  await page.mouse.down();
  await page.mouse.move(from.x + 60, from.y + 12, { steps: 4 });
  await page.mouse.move(to.x + to.width * 0.8, to.y + 12, { steps: 12 });
  await page.mouse.move(to.x + to.width + 4, to.y + 12, { steps: 2 });
  await page.mouse.up();
  await expect.poll(() => chips(page)).toEqual([NOP, FAILS, ORACLE]);
  await expect(page).toHaveURL(new RegExp(`members=${NOP}%2C${FAILS}%2C${ORACLE}`));
  // The reference is still the same run.
  await expect(page.locator(`[data-chip="${ORACLE}"]`)).toContainText("reference");

  await chip(0).click();
  await page.getByRole("menuitem", { name: "Make it the reference" }).click();
  await expect(page.locator(`[data-chip="${NOP}"]`)).toContainText("reference");
  await page.getByRole("button", { name: /^Remove / }).nth(1).click();
  await expect.poll(() => chips(page)).toEqual([NOP, ORACLE]);

  await page.getByRole("button", { name: "Run or group" }).click();
  await page.getByRole("combobox", { name: /Search runs/ }).fill("interrupted");
  // Until it is the only one it still moves.
  const offered = page.getByRole("listbox", { name: "Runs and groups" }).getByRole("option");
  await expect(offered).toHaveCount(1);
  await offered.filter({ hasText: /interrupted/ }).click();
  await page.keyboard.press("Escape");
  await expect.poll(() => chips(page)).toEqual([NOP, ORACLE, CUT]);
  await expect(page).toHaveURL(new RegExp(`members=${NOP}%2C${ORACLE}%2C${CUT}`));
  const address = page.url();
  await page.reload();
  await expect.poll(() => chips(page)).toEqual([NOP, ORACLE, CUT]);
  await expect(page).toHaveURL(address.replace(/\?token=[^#]*/, ""));
});

test("the list of disagreements is the command's, and a turn opens side by side", async ({ go, page, served }) => {
  const request = { members: [ORACLE, NOP].map((run) => ({ by: "run", run })), reference: 0, mode: "different", sort: "reference_fails", text: "", offset: 0, limit: 0 };
  const answer = (await served.rpc("list_disagreements", request)) as { total: number; counts: number[]; rows: { scenario: string; turn: number }[] };
  await go(members(ORACLE, NOP));
  const list = page.getByRole("region", { name: "Where they disagree" });
  await expect(list.getByRole("button", { name: /^Different/ })).toHaveText(`Different ${String(answer.total)}`);
  await expect(list.getByRole("button", { name: /^All/ })).toHaveText(`All ${String(answer.counts[0])}`);
  const shown = (): Promise<unknown> => list.locator("tbody tr[id]").evaluateAll((rows) => rows.map((row) => [...(row as HTMLTableRowElement).cells].slice(0, 2).map((cell) => cell.textContent)));
  await expect.poll(shown).toEqual(answer.rows.map((row) => [row.scenario, String(row.turn)]));

  await list.getByRole("grid").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  const second = answer.rows[1]!;
  await expect(page).toHaveURL(new RegExp(`side-by-side.*turn=${String(second.turn)}`));
  await expect(page.getByRole("heading", { name: second.scenario })).toBeVisible();
  const left = page.getByRole("group", { name: "Left side" });
  const right = page.getByRole("group", { name: "Right side" });
  await expect(left).toContainText("passed");
  await expect(right).toContainText("failed");
  await expect(page.getByRole("region", { name: "Tests" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Request" }).getByLabel("Text of the request")).not.toHaveText("");

  // The next one of the list (once that is known), the sides swapped, and back to the list with that row chosen.
  await expect(page.getByRole("button", { name: "Next disagreement" })).toBeVisible();
  await page.keyboard.press("n");
  await expect(page).toHaveURL(new RegExp(`turn=${String(answer.rows[2]!.turn)}(&|$)`));
  await page.keyboard.press("w");
  await expect(left).toContainText("failed");
  await page.keyboard.press("Escape");
  await expect(list.locator("tr.on")).toContainText(answer.rows[2]!.scenario);
  await expect(list.locator("tr.on td").nth(1)).toHaveText(String(answer.rows[2]!.turn));
});

test("the library's ticked runs are compared with one key, and it says what they have in common", async ({ go, page }) => {
  await go("library");
  for (const id of [ORACLE, NOP]) await page.locator(`tr:has(a[href="#/run/${id}"])`).getByRole("checkbox").check();
  const bar = page.getByRole("region", { name: "Selected runs" });
  await expect(bar).toContainText(/not comparable|may differ|effect unknown|no setting that matters differs/);
  await page.getByRole("grid", { name: "Runs" }).focus();
  await page.keyboard.press("c");
  await expect.poll(async () => [...(await chips(page))].sort()).toEqual([NOP, ORACLE]);
});

test("a figure is drawn, read out by key and shown as a table", async ({ go, page }) => {
  await go(members(ORACLE, NOP));
  const survival = page.getByRole("region", { name: "Survival", exact: true });
  await expect(survival.locator("svg").first()).toBeVisible();
  await expect(survival.getByRole("img").first()).toHaveAttribute("aria-label", /\w{4}/);
  await survival.getByRole("application").focus();
  await page.keyboard.press("ArrowRight");
  await expect(survival.locator(".reading .m")).not.toHaveText("");
  await survival.getByRole("button", { name: "Table view" }).click();
  await expect(survival.getByRole("columnheader", { name: "Alive after" }).first()).toBeVisible();
});

test("of 13 members each has a panel with its name and its numbers at risk", async ({ lab, go, page }) => {
  const cells = Array.from({ length: 13 }, (_, run) =>
    Array.from({ length: 6 }, (_, scenario) =>
      Array.from({ length: 1 + ((run + scenario) % 4) }, (_, turn) => `m${String(run)},terminus-2,one-model,task-${String(scenario)},${String(turn + 1)},1,${String(turn < (run + scenario) % 4)}`),
    ),
  );
  writeFileSync(lab.at("many.csv"), ["run,harness,model,scenario,turn,attempt,passed", ...cells.flat(2), ""].join("\n"));
  await lab.stamina("ingest", lab.at("many.csv"));
  const ids = (await lab.json<{ id: string }[]>("runs")).map((run) => run.id).filter((id) => id.startsWith("many"));
  expect(ids).toHaveLength(13);
  await go(members(...ids));
  const pane = page.getByRole("region", { name: "Survival", exact: true });
  for (const window of [{ width: 1280, height: 800 }, { width: 1920, height: 1080 }]) {
    await page.setViewportSize(window);
    const figure = pane.locator(".figure svg").first();
    await expect(figure).toBeVisible();
    await expect(pane.locator('[aria-busy="true"], .dim')).toHaveCount(0);
    // The pane does not scroll by itself: what it holds, it shows.
    await expect.poll(() => pane.locator(".fill").evaluate((node) => node.scrollHeight - node.clientHeight)).toBeLessThanOrEqual(1);
    for (let run = 0; run < 13; run += 1) await expect(pane.locator(".figure svg text", { hasText: new RegExp(`(^|[^a-z0-9])m${String(run)}\\)?$`) })).toHaveCount(1);
    expect(await pane.locator(".figure svg text", { hasText: /^At risk$/ }).count()).toBeGreaterThan(2);
  }
  // No names of 13 members over a table without a row.
  const settings = page.getByRole("region", { name: "Settings that differ" });
  await expect(settings).toContainText("No setting that the sources state differs.");
  await expect(settings.locator("thead th")).toHaveCount(2);
});

const pages: readonly [name: string, to: string, ready: string][] = [
  ["nothing compared", "compare", "main h2"],
  ["compare", members(ORACLE, FAILS, NOP), '[aria-label="Turns"] tbody td'],
  ["compare, tables", `${members(ORACLE, NOP)}&numbers=tests&contrast=paired&figure=cost`, '[aria-label="Turns"] tbody td'],
  ["side by side", `side-by-side?left=${ORACLE}/theme_t1_w1_notes_cli&right=${NOP}/theme_t1_w1_notes_cli&turn=2`, '[aria-label="Tests of both sides"]'],
];
for (const [name, to, ready] of pages) {
  test(`axe: ${name}`, async ({ go, page }) => {
    await go(to);
    await expect(page.locator(ready).first()).toBeVisible();
    expect(await serious(page, BEST)).toEqual([]);
  });
}
