// Scenarios: a pack made by the command line, looked at, validated, and one made from the form; numbers against the pack.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { BEST, expect, serious, test } from "./fixture";

interface Suite {
  readonly cases: readonly { readonly id: string; readonly mark?: string; readonly aspect: string; readonly title: string }[];
}
const TURNS = 4;
/** A loaded machine takes its time to prove or make a pack. */
const MADE = { timeout: 120_000 };
test.setTimeout(420_000);

type Case = Suite["cases"][number];
type Entry = Case | readonly [turn: number, from: number, count: number, mark?: string];

/** The cases of a turn: those that its file writes, and those that it takes from the files of earlier turns (docs/formats.md). */
function casesOf(folder: string, turn: number): readonly Case[] {
  const entries = (n: number) => (JSON.parse(readFileSync(`${folder}/turn_${String(n)}.json`, "utf8")) as { readonly cases: readonly Entry[] }).cases;
  const written = (n: number) => entries(n).filter((entry): entry is Case => "id" in entry);
  return entries(turn).flatMap((entry) => {
    if ("id" in entry) return [entry];
    const [other, from, count, mark] = entry;
    return written(other).slice(from, from + count).map(({ mark: _, ...rest }) => (mark === undefined ? rest : { ...rest, mark }));
  });
}

test.beforeEach(async ({ lab }) => {
  const made = await lab.stamina("generate", "--out", lab.at("pack"), "--values", "restful_server_gen_iterative.n_scenarios=2", `restful_server_gen_iterative.n_turns=${String(TURNS)}`, "restful_server_gen_iterative.base_seed=7");
  expect(made.err + made.out).toContain("sha256");
  expect((await lab.stamina("ingest", lab.at("pack"))).code).toBe(0);
});

test("a pack's turns are shown as its files have them", async ({ lab, go, page }) => {
  const suite = { cases: casesOf(lab.at("pack/scenario_1/test_suites"), 3) };
  const flask = readFileSync(lab.at("pack/scenario_1/ground_truth/turn_3.py"), "utf8");
  await go("scenarios");
  await expect(page.getByRole("navigation", { name: "Packs" })).toContainText("seed 7");
  const scenario = page.getByRole("navigation", { name: "Packs" }).getByRole("link").nth(2);
  await scenario.click();
  await expect(scenario).toHaveAttribute("aria-current", "page");
  await page.getByRole("button", { name: "Next turn" }).click();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByText(`Turn 3 / ${String(TURNS)}`)).toBeVisible();
  await expect(page).toHaveURL(/turn=3/);

  // Sizes and diagram.
  const sizes = page.getByRole("group", { name: "Sizes of turn 3" });
  await expect(sizes).toContainText(`Test cases ${suite.cases.length.toLocaleString("en-US")}`);
  await expect(sizes).toContainText(`${String(suite.cases.filter((c) => c.mark === "new").length)} new`);
  await expect(sizes).toContainText(`Reference ${flask.trimEnd().split("\n").length.toLocaleString("en-US")}`);
  const boxes = page.locator("[data-entity]");
  const entities = Number((await sizes.innerText()).match(/Entities\s+(\d+)/)![1]);
  await expect(boxes).toHaveCount(entities);
  await boxes.first().click();
  const key = (await boxes.first().getAttribute("data-entity"))!;
  await expect(page.getByRole("group", { name: "Rules" })).toContainText("Fields");
  await expect(page).toHaveURL(new RegExp(`entity=${key}(&|$)`));
  await page.keyboard.press("Escape");
  await expect(page.getByRole("group", { name: "Rules" })).toContainText("Conventions");

  // Request and changes.
  await page.getByRole("button", { name: "Request and changes" }).click();
  await expect(page.getByRole("group", { name: "List of changes" }).getByRole("listitem")).toHaveCount(5);
  await expect(page.getByRole("group", { name: "Text of the request" })).not.toHaveText("");

  // Comparison of two turns.
  await page.getByRole("button", { name: "Compare turns" }).click();
  await expect(page.locator(".cm-content").first()).toContainText("version: stamina-schema/1");
  await page.getByRole("spinbutton", { name: "with turn" }).fill("3");
  await expect(page.getByText("nothing differs between turn 3 and turn 3")).toBeVisible();

  // A file as it is, every line of it.
  await page.getByRole("button", { name: "Files" }).click();
  await page.getByRole("group", { name: "File" }).getByRole("button", { name: "Reference server (Flask)" }).click();
  await expect(page.locator(".cm-content").first()).toContainText(flask.split("\n").find((line) => line.startsWith("from flask"))!);

  // The suite with its filters.
  await page.getByRole("button", { name: "Suite", exact: true }).click();
  const cases = page.getByRole("table", { name: "Cases" }).locator("tbody tr");
  await expect(cases).toHaveCount(Math.min(200, suite.cases.length));
  const changed = suite.cases.filter((c) => c.mark !== undefined);
  await page.getByRole("button", { name: /^New \d/ }).click();
  await expect(cases).toHaveCount(suite.cases.filter((c) => c.mark === "new").length);
  await page.getByRole("button", { name: /^All \d/ }).click();
  await page.getByPlaceholder("Find in ids and titles").fill(changed[0]!.id);
  await expect(cases).toHaveCount(suite.cases.filter((c) => c.id.includes(changed[0]!.id)).length);
  await cases.first().click();
  await expect(page.getByRole("group", { name: "The case in full" })).toContainText("What the text says");
});

test("a pack is validated and another one made from the form", async ({ lab, go, page }) => {
  await go("scenarios");
  await page.getByRole("button", { name: "Validate…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Scenario 0" }).click();
  await dialog.getByRole("button", { name: "Validate", exact: true }).click();
  const found = dialog.getByRole("group", { name: "What was found" });
  await expect(found).toContainText(`Turns ${String(TURNS)}`, MADE);
  await expect(found).toContainText("Reference fails 0 cases");
  await expect(found).toContainText("Vacuous turns 0");
  await expect(found).toContainText("Not as the manifest says 0");
  const report = await lab.json<{ mutants: number; killed: number; operators: Record<string, unknown> }>("validate", lab.at("pack"), "--scenarios", "0");
  await expect(found).toContainText(`${report.killed.toLocaleString("en-US")} of ${report.mutants.toLocaleString("en-US")}`);
  await expect(dialog.getByRole("table", { name: "Mutants by operator" }).locator("tbody tr")).toHaveCount(Object.keys(report.operators).length);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);

  await page.getByRole("button", { name: "Generate…" }).first().click();
  await dialog.getByRole("spinbutton", { name: "Turns" }).fill("0");
  await expect(dialog.getByText("must be a whole number from 1 to 1000")).toBeVisible();
  await dialog.getByRole("spinbutton", { name: "Turns" }).fill("2");
  await dialog.getByRole("spinbutton", { name: "Scenarios" }).fill("1");
  await expect(dialog.getByRole("status", { name: "Estimate" })).toContainText("14 files");
  await dialog.getByRole("textbox").fill(lab.at("made.zip"));
  await dialog.getByRole("button", { name: "Generate", exact: true }).click();
  await expect(page.getByRole("navigation", { name: "Packs" })).toContainText("made.zip", MADE);
  expect(existsSync(lab.at("made.zip"))).toBe(true);
  expect(readdirSync(lab.folder).filter((name) => name.includes("made"))).toEqual(["made.zip"]);
});

test("every view of the page is accessible", async ({ go, page }) => {
  for (const [to, ready] of [
    ["scenarios?turn=2", "[data-entity]"],
    ["scenarios?turn=2&tab=changes", "ol li"],
    ["scenarios?turn=2&tab=compare", ".cm-content"],
    ["scenarios?turn=2&tab=suite", "tbody tr"],
    ["scenarios?turn=2&tab=files", ".cm-content"],
  ] as const) {
    await go(to);
    await expect(page.locator(ready).first()).toBeVisible();
    expect(await serious(page, BEST), to).toEqual([]);
  }
});
