// Opening: by path, from the recent list, what is not recognized, the import report, and folders that change.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { zipSync } from "fflate";
import { expect, fixtures, names, serious, test, type Locator } from "./fixture";

const JOBS = `${fixtures}/harbor/jobs`;

async function openFolder(page: import("@playwright/test").Page, path: string): Promise<void> {
  await page.keyboard.press("Control+o");
  const dialog = page.getByRole("dialog", { name: "Open folder" });
  await dialog.getByRole("textbox").fill(path);
  await dialog.getByRole("button", { name: "Open" }).click();
}

test("the first page says what can be opened; a typed path opens", async ({ go, page }) => {
  await go();
  await expect(page.getByRole("heading", { name: "How long do coding agents last?" })).toBeVisible();
  await expect(page.getByRole("table", { name: "What is recognized" }).getByRole("row")).not.toHaveCount(0);
  await openFolder(page, JOBS);
  await expect.poll(async () => (await names(page)).length).toBe(5);
  await expect(page.getByRole("complementary", { name: "Sources and views" }).getByRole("link", { name: /jobs/ })).toBeVisible();
});

test("a folder of no known format: what was looked for, what was found, the closest match", async ({ lab, go, page }) => {
  mkdirSync(lab.at("mixed/inner"), { recursive: true });
  writeFileSync(lab.at("mixed/inner/result.json"), '{"stats": {}}');
  writeFileSync(lab.at("mixed/notes.txt"), "nothing");
  await go();
  await openFolder(page, lab.at("mixed"));
  await expect(page.getByRole("heading", { name: /Nothing in .mixed. is in a format that Stamina Lab reads/ })).toBeVisible();
  const table = page.getByRole("table", { name: "What was looked for" });
  for (const format of ["Harbor", "EvoCode", "StaminaBench"]) await expect(table.getByRole("cell", { name: new RegExp(format) }).first()).toBeVisible();
  // The page is reached again after a reload, and left with Esc.
  await page.reload();
  await expect(table).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(/#\/(library|start)/);
});

test("columns of a table with other headings are chosen once, and remembered for its header", async ({ lab, go, page }) => {
  const table = (experiment: string): string => `experiment,harness,llm,scenario,depth,try,ok\n${experiment},codex,gpt,s1,1,1,yes\n${experiment},codex,gpt,s1,2,1,no\n`;
  writeFileSync(lab.at("rounds.csv"), table("first"));
  writeFileSync(lab.at("more.csv"), table("second"));
  await go();
  await openFolder(page, lab.at("rounds.csv"));
  const form = page.getByRole("form", { name: "Columns of the table" });
  await expect(form).toContainText("harness, scenario: as they are called");
  // What can be guessed is chosen; a column cannot be two.
  const column = (name: string): Locator => form.getByLabel(name, { exact: true });
  for (const [ours, theirs] of [["run", "experiment"], ["model", "llm"], ["turn", ""], ["attempt", "try"], ["passed", "ok"]] as const) await expect(column(ours)).toHaveValue(theirs);
  const open = form.getByRole("button", { name: "Open with these columns" });
  await expect(open).toBeDisabled();
  await column("turn").selectOption("try");
  await expect(form).toContainText("One column is chosen twice.");
  await expect(open).toBeDisabled();
  expect(await serious(page)).toEqual([]);
  await column("turn").selectOption("depth");
  await expect(form).toContainText("Remembered for every table with the same header.");
  await open.click();
  await expect.poll(async () => (await names(page)).length).toBe(1);
  const ids = async (): Promise<string[]> => (await lab.json<{ id: string }[]>("runs")).map((run) => run.id).sort();
  expect(await ids()).toEqual(["rounds.csv.first"]);
  const { episodes } = await lab.json<{ episodes: { stamina: number; failed_turn: number | null }[] }>("show", "rounds.csv.first");
  expect(episodes).toMatchObject([{ stamina: 1, failed_turn: 2 }]);
  // Another table with this header asks nothing.
  await openFolder(page, lab.at("more.csv"));
  await expect.poll(ids).toEqual(["more.csv.second", "rounds.csv.first"]);
  await expect(form).toHaveCount(0);
  await expect(page).toHaveURL(/#\/library\?source=/);
});

/** With settings of its own, beside those of whoever runs the tests. */
const withSettings = test.extend({
  served: async ({ lab }, use) => {
    const served = await lab.serve({ XDG_CONFIG_HOME: lab.at("config") });
    await use(served);
    await served.stop();
  },
});

withSettings("an importer is added, shown with what is executed, run by its button alone, and removed", async ({ lab, go, page }) => {
  mkdirSync(lab.at("results"));
  mkdirSync(lab.at("own"));
  writeFileSync(lab.at("results/verdicts.txt"), "s1 1 true");
  const program = lab.at("own/stamina-import-verdicts");
  writeFileSync(program, '#!/bin/sh\necho run >> "$0.runs"\necho experiment,harness,model,scenario,turn,attempt,passed\necho e,h,m,s1,1,1,true\n', { mode: 0o755 });
  const timesRun = (): number => (existsSync(`${program}.runs`) ? readFileSync(`${program}.runs`, "utf8").trim().split("\n").length : 0);
  await go();
  await openFolder(page, lab.at("results"));
  await page.getByRole("button", { name: "Open with an importer…" }).click();
  const dialog = page.getByRole("dialog", { name: "Open with an importer" });
  const open = dialog.getByRole("button", { name: "Run and open" });
  const importer = dialog.getByRole("radio", { name: /verdicts/ });
  await expect(dialog.getByRole("textbox", { name: "Folder or zip" })).toHaveValue(lab.at("results"));
  await expect(dialog).toContainText("the settings name none");
  await expect(open).toBeDisabled();
  // Only an executable file is taken.
  const add = dialog.getByRole("form", { name: "Add an importer" });
  await add.getByRole("textbox").fill(lab.at("own/nothing"));
  await add.getByRole("button", { name: "Add" }).click();
  await expect(add.getByRole("alert")).toContainText("The importer is missing");
  await add.getByRole("textbox").fill(program);
  await add.getByRole("button", { name: "Add" }).click();
  await expect(importer).toBeChecked();
  await expect(dialog).toContainText(`Executed once, with all rights of Stamina Lab: ${program} ${lab.at("results")}`);
  expect(await serious(page)).toEqual([]);
  expect(timesRun()).toBe(0);
  await open.click();
  // Its table has another name for a column.
  const form = page.getByRole("form", { name: "Columns of the table" });
  await expect(form).toContainText(`This runs ${program} again.`);
  await form.getByRole("button", { name: "Open with these columns" }).click();
  await expect.poll(async () => (await names(page)).length).toBe(1);
  expect(timesRun()).toBe(2);

  await page.getByRole("button", { name: "Open folder or zip…" }).click();
  await page.getByRole("menuitem", { name: "With an importer…" }).click();
  await expect(importer).toBeChecked();
  await dialog.getByRole("button", { name: "Remove verdicts" }).click();
  await expect(importer).toHaveCount(0);
  await expect(open).toBeDisabled();
  expect([existsSync(program), timesRun()]).toEqual([true, 2]);
});

test("a path that is not there is reported with the path", async ({ lab, go, page }) => {
  await go();
  await openFolder(page, lab.at("nowhere"));
  await expect(page.getByRole("alert")).toContainText(lab.at("nowhere"));
});

test("a zip is read in place, damage stands in the import report", async ({ lab, go, page }) => {
  const files: Record<string, Uint8Array> = {};
  const job = lab.copy("harbor/jobs/oracle-k2", "job");
  const { readdirSync, readFileSync, statSync } = await import("node:fs");
  for (const name of readdirSync(job, { recursive: true }) as string[]) {
    if (statSync(`${job}/${name}`).isFile()) files[`job/${name}`] = readFileSync(`${job}/${name}`);
  }
  const trial = Object.keys(files).find((name) => /job\/theme_[^/]+\/result\.json$/.test(name))!;
  files[trial] = files[trial]!.slice(0, 200);
  files["job/../../outside.json"] = new TextEncoder().encode("{}");
  writeFileSync(lab.at("oracle.zip"), zipSync(files));
  await go();
  await openFolder(page, lab.at("oracle.zip"));
  await expect.poll(async () => (await names(page)).length).toBe(1);

  await page.getByRole("contentinfo").getByRole("link", { name: /warning/ }).click();
  const report = page.getByRole("dialog", { name: "Import report" });
  await expect(report).toContainText("Nothing in the zip was changed");
  await expect(report).toContainText(trial.slice("job/".length));
  await expect(report).toContainText("outside.json");
  // What may make a number wrong stands apart from what is only good to know.
  await expect(report.getByRole("group", { name: "Severity" }).getByRole("button")).toHaveText([/^All \d+$/, /^Warnings \d+$/, /^Repairs \d+$/, /^Notes \d+$/]);
  await page.keyboard.press("Control+e");
  await expect(page.getByRole("dialog", { name: /Export/ })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog", { name: /Export/ })).toBeHidden();
  await expect(page).toHaveURL(/#\/report\//);
  const link = page.url();
  await page.keyboard.press("Escape");
  await expect(report).toBeHidden();
  await page.goto(link);
  await expect(report).toBeVisible();
});

test("a closed source stands in the recent list and opens again from there", async ({ lab, served, go, page }) => {
  await lab.stamina("ingest", JOBS);
  await lab.stamina("close", JOBS);
  await go();
  expect(await served.rpc("app_state")).toMatchObject({ runs: 0 });
  await page.getByRole("complementary", { name: "Sources and views" }).getByRole("button", { name: /^jobs/ }).click();
  await expect.poll(async () => (await names(page)).length).toBe(5);
});

// How soon it is noticed is promised to a machine that is not busy with everything else: crates/ingest/src/watch/tests.rs.
test("what is added to an open folder appears by itself, on the page that shows it too", async ({ lab, go, page }) => {
  const folder = lab.at("jobs");
  cpSync(`${JOBS}/nop-k1`, `${folder}/nop-k1`, { recursive: true });
  await go();
  await openFolder(page, folder);
  await expect.poll(async () => (await names(page)).length).toBe(1);
  // The first look is over, and what watches the folder is there.
  await expect(page.getByRole("contentinfo")).toContainText("watching 1 source");

  cpSync(`${JOBS}/terminus2-mock-priced`, `${folder}/priced`, { recursive: true });
  await expect(page.getByRole("link", { name: "gpt-4o-mini" })).toBeVisible();

  // Not by its link: lines move while the folder is read.
  await go("run/jobs.nop-k1-nop");
  const episodes = page.locator("[data-episode]");
  await expect(episodes).toHaveCount(2);
  rmSync(`${folder}/nop-k1/${(await import("node:fs")).readdirSync(`${folder}/nop-k1`).find((name) => name.startsWith("theme_t2"))!}`, { recursive: true });
  await expect(episodes).toHaveCount(1);
});
