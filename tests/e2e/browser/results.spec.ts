// Matrix, Failures and the export dialog: numbers are those of the command line, choices stand in the address, and what
// is exported in the window is what the command line exports.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, fixtures, serious, test, type Locator } from "./fixture";

interface Matrix {
  readonly harnesses: readonly { readonly name: string | null }[];
  readonly models: readonly { readonly name: string | null }[];
  readonly cells: readonly ({ readonly stamina: { readonly mean: number | null; readonly n: number } } | null)[];
}
interface Failures {
  readonly attempts: number;
  readonly classes: readonly { readonly class: string; readonly label: string }[];
  readonly total: { readonly shares: readonly { readonly class: string; readonly attempts: number; readonly tests: number }[] };
}

const RUN = "jobs.failures-k1-oracle";

test.beforeEach(async ({ lab }) => {
  await lab.stamina("ingest", `${fixtures}/harbor/jobs`, `${fixtures}/staminabench/own`);
});

test("the matrix has the numbers of the command; chosen cells are compared", async ({ lab, go, page }) => {
  const answer = await lab.json<Matrix>("rpc", "get_matrix", JSON.stringify({ benchmark: "harbor:tasks", with_baselines: true }));
  await go("matrix?benchmark=harbor%3Atasks&baselines=yes");
  await page.getByRole("button", { name: "Table view" }).first().click();
  const table = page.getByRole("table", { name: "Mean stamina by harness and model" });
  for (const [row, harness] of answer.harnesses.entries()) {
    const cells = table.getByRole("row").filter({ has: page.getByRole("rowheader", { name: harness.name ?? "unknown", exact: true }) }).getByRole("cell");
    for (const [column] of answer.models.entries()) {
      const cell = answer.cells[row * answer.models.length + column];
      if (cell) await expect(cells.nth(column)).toContainText(cell.stamina.mean?.toFixed(2) ?? "unknown");
      else await expect(cells.nth(column)).toHaveText("no run");
    }
  }
  await table.getByRole("button").first().click();
  await expect(page).toHaveURL(/cells=/);
  const chosen = page.url();
  const compare = page.getByRole("link", { name: /^Compare 1 cell \(\d+ runs?\)$/ });
  await compare.click();
  await expect(page).toHaveURL(/#\/compare\?members=/);
  await expect(page.getByRole("list", { name: "Compared runs" }).locator("[data-chip]").first()).toBeVisible();
  // Esc leads back to the matrix with its cell, and to the link that led away from it.
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(chosen);
  await expect(compare).toBeFocused();
});

test("shares of failures lead to their cases, and a case to its turn", async ({ lab, go, page }) => {
  const answer = await lab.json<Failures>("rpc", "get_failures", JSON.stringify({ members: [{ by: "run", run: RUN }] }));
  expect(answer.attempts).toBeGreaterThan(0);
  await go(`failures?members=${encodeURIComponent(RUN)}`);
  const classes = page.getByRole("table", { name: "Classes of failures" });
  for (const share of answer.total.shares) {
    const label = answer.classes.find((c) => c.class === share.class)!.label;
    await expect(classes.getByRole("row").filter({ has: page.getByRole("button", { name: label, exact: true }) }).getByRole("cell").nth(1)).toHaveText(String(share.attempts));
  }
  const first = answer.total.shares.find((share) => share.attempts > 0)!;
  await classes.getByRole("button", { name: answer.classes.find((c) => c.class === first.class)!.label, exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`class=${first.class}`));
  const cases = page.getByRole("table", { name: "Failed attempts" });
  await expect(cases.locator("tbody tr")).toHaveCount(first.attempts);
  // A share of tests leads to every attempt that has such tests, whatever the attempt's own class is.
  const tested = answer.total.shares.find((share) => share.tests > 0)!;
  await classes.getByRole("button", { name: `${String(tested.tests)} ${tested.tests === 1 ? "failing test" : "failing tests"}: ${answer.classes.find((c) => c.class === tested.class)!.label}`, exact: true }).click();
  await expect(page).toHaveURL(/of=tests/);
  const { total } = await lab.json<{ readonly total: number }>("rpc", "list_failure_cases", JSON.stringify({ failures: { members: [{ by: "run", run: RUN }] }, class: tested.class, by_tests: true }));
  expect(total).toBeGreaterThan(0);
  await expect(cases.locator("tbody tr")).toHaveCount(total);
  const left = page.url();
  const opened = cases.locator('tbody a[href*="test="]').first();
  await opened.click();
  await expect(page).toHaveURL(/#\/run\/.*[?&]test=/);
  // Esc leads from the test to its turn, and from there to the list with its filter and to the row that was opened.
  const back = async (opened: Locator): Promise<void> => {
    await expect(page.locator("[data-test]").first()).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(page).not.toHaveURL(/[?&]test=/);
    await page.keyboard.press("Escape");
    await expect(page).toHaveURL(left);
    await expect(opened).toBeFocused();
  };
  await back(opened);
  // The last row, too, by key; other rows may be of the same turn.
  const last = cases.locator('tbody a[href*="test="]').last();
  await last.press("Enter");
  await expect(page).toHaveURL(/#\/run\/.*[?&]test=/);
  await back(cases.locator('tbody tr:has(a[href*="test="])').last().locator("a").first());
});

test("a failed attempt behind the two hundredth is listed, opened and found again by the address", async ({ lab, go, page }) => {
  const scenarios = Array.from({ length: 230 }, (_, n) => `s${String(n + 1).padStart(3, "0")}`);
  writeFileSync(lab.at("attempts.csv"), ["run,harness,model,scenario,turn,attempt,passed", ...scenarios.map((scenario) => `cases,codex,gpt,${scenario},1,1,false`), ""].join("\n"));
  await lab.stamina("ingest", lab.at("attempts.csv"));
  await go("failures?members=attempts.csv.cases");
  const cases = page.getByRole("table", { name: "Failed attempts" });
  const listed = cases.locator("tbody tr");
  await expect(listed).toHaveCount(200);
  await expect(page.getByText("200 of 230 failed attempts")).toBeVisible();
  await page.getByRole("button", { name: "Show more", exact: true }).click();
  await expect(page).toHaveURL(/[?&]rows=400/);
  await expect(listed).toHaveCount(230);
  const left = page.url();
  const opened = cases.getByRole("link", { name: "s217", exact: true });
  await opened.click();
  await expect(page).toHaveURL(/#\/run\/attempts\.csv\.cases\/s217[^/]*\/1\?attempt=1/);
  // The list has the name, too: the page is there once the list has gone.
  await expect(listed).toHaveCount(0);
  await expect(page.getByRole("main")).toContainText("s217");
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(left);
  await expect(opened).toBeFocused();
  await expect(opened).toBeInViewport();
  // The address alone lists as many.
  await page.reload();
  await expect(listed).toHaveCount(230);
  // Another choice begins with its first rows.
  await page.getByRole("table", { name: "Classes of failures" }).locator("tbody").getByRole("button").first().click();
  await expect(page).toHaveURL(/[?&]class=/);
  await expect(page).not.toHaveURL(/[?&]rows=/);
  await expect(listed).toHaveCount(200);
});

test("Esc leads from a turn back to the flipping test that was opened", async ({ go, page }) => {
  await go("failures?members=own.run&tab=flips");
  const flip = page.getByRole("table", { name: "Flipping tests" }).locator('tbody a[href*="test="]').last();
  const left = page.url();
  await flip.click();
  await expect(page).toHaveURL(/#\/run\/.*[?&]test=/);
  await expect(page.getByRole("region", { name: "Request" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page).not.toHaveURL(/[?&]test=/);
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(left);
  await expect(flip).toBeFocused();
});

test("a pair is exported as it is shown", async ({ lab, go, page }) => {
  const other = "jobs.oracle-k2-oracle";
  await go(`compare?members=${encodeURIComponent(`${RUN},${other}`)}&contrast=paired`);
  await page.getByRole("region", { name: "Paired scenarios" }).getByRole("button", { name: "Export Paired scenarios…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Table", exact: true }).click();
  await dialog.getByRole("radio", { name: /^CSV/ }).check();
  await expect(dialog.getByRole("group", { name: "Preview" })).toContainText("run,against,scenario,title,stamina");
  await lab.stamina("table", "paired", RUN, other, "--out", lab.at("paired.csv"));
  await expect(dialog.getByRole("group", { name: "Preview" })).toContainText(readFileSync(lab.at("paired.csv"), "utf8").split("\r\n")[1] ?? "nothing");
});

test("what the window exports is what the command line exports", async ({ lab, go, page }) => {
  await go(`failures?members=${encodeURIComponent(RUN)}`);
  await page.getByRole("button", { name: "Export Shares of classes…" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.locator(".figure")).toBeVisible();
  await dialog.getByRole("radio", { name: /^CSV/ }).check();
  await expect(dialog.getByRole("group", { name: "Preview" })).toContainText(",");
  const download = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Save…" }).click();
  const saved = await (await download).path();
  await lab.stamina("figure", "failures", RUN, "--out", lab.at("cli.csv"));
  expect(readFileSync(saved, "utf8")).toBe(readFileSync(lab.at("cli.csv"), "utf8"));
});

test("axe finds nothing serious on Matrix, Failures and in the export dialog", async ({ go, page }) => {
  await go("matrix?benchmark=harbor%3Atasks&baselines=yes");
  await expect(page.locator(".figure").first()).toBeVisible();
  expect(await serious(page)).toEqual([]);
  for (const tab of ["cases", "repair", "flips", "rules"]) {
    await go(`failures?members=${encodeURIComponent(RUN)}&tab=${tab}`);
    await expect(page.getByRole("table", { name: "Classes of failures" })).toBeVisible();
    await expect(page.locator(".figure").first()).toBeVisible();
    expect(await serious(page)).toEqual([]);
  }
  await page.getByRole("button", { name: "Export Shares of classes…" }).click();
  await expect(page.getByRole("dialog").locator(".figure")).toBeVisible();
  expect(await serious(page)).toEqual([]);
});
