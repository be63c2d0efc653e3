// Accessibility of every page and dialog, in light and dark: axe finds nothing serious.
import { mkdirSync, writeFileSync } from "node:fs";
import { BEST, expect, fixtures, serious, test } from "./fixture";

const RUN = "jobs.failures-k1-oracle";
const TURN = `run/${RUN}/theme_v1_w1_notes_regression/3`;

test.beforeEach(async ({ lab }) => {
  await lab.stamina("ingest", `${fixtures}/harbor/jobs`, `${fixtures}/staminabench/own`);
});

const pages: readonly [name: string, to: string, ready: string][] = [
  ["library", "library", 'table[aria-label="Runs"] a'],
  ["library without a match", "library?q=nothing", "text=No run matches"],
  ["run", `run/${RUN}`, '[aria-label="Episodes by turns"]'],
  ["run as tables", `run/${RUN}?view=table&about=1`, "main table"],
  ["failed turn", TURN, "[data-test]"],
  ["passed turn", `run/${RUN}/theme_v1_w1_notes_regression/1`, '[aria-label="Tests of this attempt"]'],
  ["turn not reached", `run/${RUN}/theme_v2_w1_notes_abort_no_reward/4`, "main"],
  ["first start", "start", "text=How long do coding agents last?"],
  ["run that is not there", "run/no-such-run", "main"],
  ["policy", "policy", '[role="dialog"] table'],
  ["import report", "report/1", '[role="dialog"] table'],
];
for (const [name, to, ready] of pages) {
  test(name, async ({ go, page }) => {
    await go(to);
    await expect(page.locator(ready).first()).toBeVisible();
    expect(await serious(page, BEST)).toEqual([]);
  });
}

test("turn with code, transcript and logs", async ({ lab, go, page }) => {
  const run = (await lab.json<{ id: string; format: string }[]>("runs")).find((r) => r.format === "staminabench")!;
  const content = { code: ".cm-content", transcript: '[role="region"][aria-label="Transcript"]', logs: '[aria-label="Logs"]' };
  for (const pane of ["code", "transcript", "logs"] as const) {
    await go(`run/${run.id}/scenario_0/3?attempt=1&pane=${pane}`);
    await expect(page.getByRole("main").locator(content[pane]).first()).not.toHaveText("");
    expect(await serious(page, BEST)).toEqual([]);
  }
});

test("folder not recognized", async ({ lab, go, page }) => {
  mkdirSync(lab.at("holiday"));
  writeFileSync(lab.at("holiday/beach.txt"), "sun");
  await go(`open-failed?path=${encodeURIComponent(lab.at("holiday"))}`);
  await expect(page.getByRole("table", { name: "What was looked for" })).toBeVisible();
  expect(await serious(page, BEST)).toEqual([]);
});

test("palette, keys, tag dialog, open dialog", async ({ go, page }) => {
  await go("library");
  await expect(page.locator('table[aria-label="Runs"] a').first()).toBeVisible();
  const leave = async (): Promise<void> => {
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
  };
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Go to, search or run a command" }).fill("notes");
  await expect(page.getByRole("option").first()).toBeVisible();
  expect(await serious(page, BEST)).toEqual([]);
  await leave();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
  expect(await serious(page, BEST)).toEqual([]);
  await leave();
  await page.locator('table[aria-label="Runs"] tbody input[type="checkbox"]').first().check();
  await page.getByRole("button", { name: "Tag…" }).click();
  await expect(page.getByRole("dialog", { name: /Tag/ })).toBeVisible();
  expect(await serious(page, BEST)).toEqual([]);
  await leave();
  await page.keyboard.press("Control+o");
  await expect(page.getByRole("dialog", { name: "Open folder" })).toBeVisible();
  expect(await serious(page, BEST)).toEqual([]);
});
