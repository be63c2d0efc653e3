// Every page gives away what it shows, the clipboard gets what was asked for within the click, and what is to be known of a
// file is said before and after it is saved.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { root } from "../lab";
import { expect, fixtures, serious, test, type Locator, type Page } from "./fixture";

const RUN = "jobs.failures-k1-oracle";

test.use({ permissions: ["clipboard-read", "clipboard-write"] });

/** Pictures for people who look at them: `STAMINA_PICTURES=FOLDER`. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["STAMINA_PICTURES"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png` });
}

async function csv(dialog: Locator, page: Page): Promise<string> {
  await dialog.getByRole("radio", { name: /^CSV/ }).check();
  const download = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Save…" }).click();
  return readFileSync(await (await download).path(), "utf8");
}

test.describe("results", () => {
  test.beforeEach(async ({ lab }) => {
    await lab.stamina("ingest", `${fixtures}/harbor/jobs`);
  });

  test("the run page gives away its charts, its grid and its tables", async ({ lab, go, page }) => {
    await go(`run/${RUN}`);
    await expect(page.locator(".figure").first()).toBeVisible();
    await picture(page, "run");
    const dialog = page.getByRole("dialog");
    for (const [button, kind, args] of [
      ["Export Survival…", "Figure", ["figure", "survival"]],
      ["Export First failures…", "Figure", ["figure", "first-failures"]],
      ["Export Episode grid…", "Table", ["table", "turns"]],
    ] as const) {
      await page.getByRole("button", { name: button }).click();
      if (kind === "Figure") await expect(dialog.locator(".figure")).toBeVisible();
      const saved = await csv(dialog, page);
      const done = await lab.stamina(...args, RUN, "--out", lab.at("cli.csv"));
      expect(done.code, done.err).toBe(0);
      expect(saved).toBe(readFileSync(lab.at("cli.csv"), "utf8"));
      await page.keyboard.press("Escape");
      await expect(dialog).toHaveCount(0);
    }
    await page.keyboard.press("Control+e");
    await expect(dialog.locator(".figure")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(dialog).toHaveCount(0);
    await page.keyboard.press("t");
    await picture(page, "run-table");
    await page.getByRole("button", { name: "Export Episodes…" }).click();
    const saved = await csv(dialog, page);
    await lab.stamina("table", "episodes", RUN, "--out", lab.at("cli.csv"));
    expect(saved).toBe(readFileSync(lab.at("cli.csv"), "utf8"));
  });

  test("the library gives away its list as it is filtered", async ({ lab, go, page }) => {
    await go("library?q=oracle");
    await expect(page.getByRole("grid", { name: "Runs" })).toContainText("oracle");
    await picture(page, "library");
    await page.keyboard.press("Control+e");
    const saved = await csv(page.getByRole("dialog"), page);
    const rows = (text: string): number => text.trimEnd().split("\r\n").length - 1;
    await lab.stamina("table", "library", "--out", lab.at("cli.csv"));
    const all = readFileSync(lab.at("cli.csv"), "utf8");
    expect(rows(saved)).toBeGreaterThan(0);
    expect(rows(saved)).toBeLessThan(rows(all));
    expect(saved.split("\r\n")[0]).toBe(all.split("\r\n")[0]);
  });

  test("what is copied is what was asked for, however long it takes to make", async ({ go, page }) => {
    const waiting: (() => void)[] = [];
    let held = false;
    await page.route("**/rpc/export", async (route) => {
      if (held) await new Promise<void>((done) => waiting.push(done));
      await route.continue();
    });
    await page.addInitScript(() => {
      const write = navigator.clipboard.write.bind(navigator.clipboard);
      const seen = globalThis as unknown as { written: number };
      seen.written = 0;
      navigator.clipboard.write = (items) => {
        seen.written += 1;
        return write(items);
      };
    });
    const written = (): Promise<number> => page.evaluate(() => (globalThis as unknown as { written: number }).written);
    await go(`run/${RUN}`);
    await page.getByRole("button", { name: "Export Survival…" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog.locator(".figure")).toBeVisible();
    const copied = (kind: string): Promise<{ types: string[]; text: string; bytes: number }> =>
      page.evaluate(async (type) => {
        const items = await navigator.clipboard.read();
        const types = items.flatMap((item) => [...item.types]);
        const blob = await items.find((item) => item.types.includes(type))?.getType(type);
        return { types, text: type.startsWith("text") ? ((await blob?.text()) ?? "") : "", bytes: blob?.size ?? 0 };
      }, kind);
    const copy = async (detail: string): Promise<void> => {
      const before = await written();
      held = true;
      await dialog.getByRole("button", { name: "Copy", exact: true }).click();
      // A webview lets the clipboard be written within the click only: before anything has been made.
      expect(await written()).toBe(before + 1);
      held = false;
      for (const go of waiting.splice(0)) go();
      await expect(page.getByText(detail)).toBeVisible();
    };
    await copy("as a picture (PNG)");
    expect((await copied("image/png")).bytes).toBeGreaterThan(1_000);
    await dialog.getByRole("radio", { name: /^SVG/ }).check();
    await copy("as SVG text");
    expect((await copied("text/plain")).text).toMatch(/^<svg/);
    await dialog.getByRole("button", { name: "Report", exact: true }).click();
    await copy("as HTML");
    expect((await copied("text/plain")).text).toMatch(/^<!doctype html>/);
    await dialog.getByRole("radio", { name: /^Markdown/ }).check();
    await copy("as Markdown");
    const markdown = (await copied("text/plain")).text;
    expect(markdown).toMatch(/^# Report of /);
    expect(markdown).not.toMatch(/\]\((?!data:image\/svg)/);
  });

  test("a report is made for the venue that was chosen, and heights that do not fit a page are said", async ({ go, page }) => {
    await go(`run/${RUN}`);
    await page.getByRole("button", { name: "Export Survival…" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog.locator(".figure")).toBeVisible();
    await dialog.getByRole("spinbutton", { name: /Height/ }).fill("1100");
    await expect(dialog.getByRole("alert")).toContainText("From 40 to 1000 pt");
    await expect(dialog.getByRole("button", { name: "Save…" })).toBeDisabled();
    await dialog.getByRole("spinbutton", { name: /Height/ }).fill("40");
    await expect(dialog.getByRole("button", { name: "Save…" })).toBeEnabled();
    await dialog.getByRole("button", { name: "Report", exact: true }).click();
    await dialog.getByRole("combobox", { name: /Venue/ }).selectOption("neurips");
    const preview = dialog.getByRole("group", { name: "Preview" });
    await expect(preview).toHaveCount(0);
    await dialog.getByRole("button", { name: "Show a preview" }).click();
    await expect(preview).toContainText("# Report of ");
    await expect(preview.locator("img").first()).toBeVisible();
    const download = page.waitForEvent("download");
    await dialog.getByRole("button", { name: "Save…" }).click();
    const html = readFileSync(await (await download).path(), "utf8");
    expect(html).toContain('width="396pt"');
    expect(html).not.toContain('width="234pt"');
  });
});

test("letters that a PDF has to borrow are told before it is saved, and after", async ({ lab, go, page }) => {
  for (const [name, model] of [["one", "模型"], ["other", "zai.glm-5"]] as const) {
    const results = lab.copy("staminabench/own", name);
    for (const file of ["config.yaml", "report.json"]) writeFileSync(`${results}/${file}`, readFileSync(`${results}/${file}`, "utf8").replaceAll("zai.glm-5", model));
    await lab.stamina("ingest", results);
  }
  const { rows } = (await lab.json("rpc", "list_runs", "{}")) as { rows: { id: string; model: string | null }[] };
  expect(rows.map((row) => row.model)).toContain("模型");
  await go(`compare?members=${encodeURIComponent(rows.map((row) => row.id).join(","))}`);
  // The preview is drawn as SVG; what the PDF lacks comes with another answer.
  const made = page.waitForResponse((response) => response.url().endsWith("/rpc/export") && (response.request().postDataJSON() as { format: string }).format === "pdf");
  await page.getByRole("button", { name: "Export Survival…" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.locator(".figure")).toBeVisible();
  const { warnings } = (await (await made).json()) as { warnings: string[] };
  const texts = [...new Set(warnings)];
  expect(texts.length).toBeGreaterThan(0);
  await expect(dialog.locator(".warning")).toHaveText(texts);
  await picture(page, "warnings");
  const download = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Save…" }).click();
  await download;
  await expect(page.getByText(/warnings? in the dialog/)).toBeVisible();
  await expect(dialog.locator(".warning")).toHaveText(texts);
});

test("suites and validations are given away", async ({ lab, go, page }) => {
  const pack = `${root}/data/sample-pack.zip`;
  await lab.stamina("ingest", pack);
  await go("scenarios?tab=suite&turn=2");
  await expect(page.getByRole("table", { name: "Cases" })).toBeVisible();
  await picture(page, "suite");
  await page.keyboard.press("Control+e");
  const dialog = page.getByRole("dialog", { name: "Export" });
  const saved = await csv(dialog, page);
  await lab.stamina("table", "suite", pack, "--turn", "2", "--out", lab.at("cli.csv"));
  expect(saved).toBe(readFileSync(lab.at("cli.csv"), "utf8"));
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);

  await page.getByRole("button", { name: "Validate…" }).click();
  const validate = page.getByRole("dialog", { name: "Validate" });
  await validate.getByRole("button", { name: "Validate", exact: true }).click();
  await validate.getByRole("button", { name: "Export mutants by operator…" }).click();
  await picture(page, "validation");
  const mutants = await csv(dialog, page);
  expect(mutants).toMatch(/^operator,mutants,noticed,rate\r\n/);
});

test("axe finds nothing serious in the dialog of a report", async ({ lab, go, page }) => {
  await lab.stamina("ingest", `${fixtures}/harbor/jobs`);
  await go(`run/${RUN}`);
  await expect(page.locator(".figure").first()).toBeVisible();
  await picture(page, "run");
  await page.getByRole("button", { name: "Export this run…" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.locator(".figure")).toBeVisible();
  await picture(page, "dialog-figure");
  await dialog.getByRole("button", { name: "Report", exact: true }).click();
  await picture(page, "dialog-report");
  expect(await serious(page)).toEqual([]);
});
