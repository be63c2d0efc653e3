// One picture of every page in light and dark, at 1280 × 800 and 1920 × 1080: empty, with one run, with a library, with
// 500 runs. STAMINA_SCREENS_DATA holds the synthetic sweeps that scripts/screens.mjs writes.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { smaller } from "../../../scripts/lib/png.mjs";
import { Lab, fixtures, root, type Served } from "../lab";

const data = process.env["STAMINA_SCREENS_DATA"] ?? "";
const out = path.join(root, "docs/screens");
const sizes = [
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
] as const;

interface Scene {
  readonly name: string;
  /** Which library it is taken in. */
  readonly library: "empty" | "one" | "library" | "500";
  readonly to: string;
  /** Makes what the address alone does not, and waits until everything is there. */
  readonly ready: (page: Page, lab: Lab) => Promise<void>;
}

const RUN = "sample-harbor.failures-k1-oracle";
const runs = (page: Page) => page.getByRole("grid", { name: "Runs" }).locator("tbody tr:has(a)");
const grid = (page: Page) => page.getByRole("grid", { name: "Episodes by turns" });
const figures = async (page: Page, count: number): Promise<void> => expect(page.locator(".figure[role=img] svg")).toHaveCount(count);

/** The address of the run of the long sweep that failed latest, of a failed turn in it, and the best four runs. */
async function long(lab: Lab): Promise<{ run: string; turn: string; sweep: string }> {
  const all = await lab.json<{ id: string; source: string; planned_turns: number | null; stamina: { mean: number | null } }[]>("runs");
  const sweep = all.filter((r) => r.planned_turns === 100).sort((a, b) => (b.stamina.mean ?? 0) - (a.stamina.mean ?? 0));
  const run = sweep[0]!;
  const shown = await lab.json<{ episodes: { episode: string; failed_turn: number | null; censored: boolean }[] }>("show", run.id);
  const episode = shown.episodes.find((e) => e.failed_turn !== null && !e.censored && e.failed_turn > 4)!;
  const members = encodeURIComponent(sweep.slice(0, 4).map((r) => r.id).join(","));
  return { run: `run/${run.id}`, turn: `run/${run.id}/${episode.episode}/${String(episode.failed_turn)}`, sweep: members };
}

const scenes: readonly Scene[] = [
  { name: "start", library: "empty", to: "", ready: (page) => expect(page.getByRole("heading", { name: /How long/ })).toBeVisible() },
  {
    name: "not-recognised",
    library: "one",
    to: "NOT-RECOGNISED",
    ready: (page) => expect(page.getByRole("table", { name: "What was looked for" })).toBeVisible(),
  },
  { name: "library-one-run", library: "one", to: "library", ready: (page) => expect(runs(page)).toHaveCount(1) },
  {
    name: "library",
    library: "library",
    to: "library",
    ready: async (page) => {
      await expect(runs(page).nth(6)).toBeVisible();
      await runs(page).nth(1).click({ position: { x: 320, y: 10 } });
    },
  },
  { name: "library-500-runs", library: "500", to: "library", ready: (page) => expect(runs(page).nth(20)).toBeVisible() },
  {
    name: "run",
    library: "library",
    to: `run/${RUN}`,
    ready: async (page) => {
      await expect(grid(page)).toBeVisible();
      await figures(page, 2);
    },
  },
  {
    name: "run-100-turns",
    library: "library",
    to: "LONG",
    ready: async (page) => {
      await expect(grid(page)).toBeVisible();
      await figures(page, 2);
    },
  },
  { name: "run-table", library: "library", to: "LONG?view=table&about=1", ready: (page) => expect(page.getByRole("main").getByRole("table").first()).toBeVisible() },
  {
    name: "turn",
    library: "library",
    to: "TURN",
    ready: async (page) => {
      await expect(page.locator("[data-test]").first()).toBeVisible();
      await page.keyboard.press("n");
      await expect(page.locator(".cm-content, [aria-label=Logs]").first()).toBeVisible();
    },
  },
  { name: "turn-transcript", library: "library", to: "TURN?pane=transcript", ready: (page) => expect(page.getByRole("region", { name: "Transcript" }).last()).not.toHaveText("") },
  { name: "turn-harbor", library: "library", to: `run/${RUN}/theme_v1_w1_notes_regression/3?test=c003`, ready: (page) => expect(page.locator("[data-test]").first()).toBeVisible() },
  {
    name: "palette",
    library: "library",
    to: "library",
    ready: async (page) => {
      await expect(runs(page).first()).toBeVisible();
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("notes");
      await expect(page.getByRole("option").nth(2)).toBeVisible();
    },
  },
  {
    name: "keys",
    library: "library",
    to: "library",
    ready: async (page) => {
      await expect(runs(page).first()).toBeVisible();
      await page.keyboard.press("?");
      await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
    },
  },
  {
    name: "compare",
    library: "library",
    to: "compare?members=SWEEP",
    ready: async (page) => {
      await expect(page.locator(".figure[role=img] svg").first()).toBeVisible();
      await expect(page.getByRole("grid", { name: "Turns" }).locator("tbody tr").first()).toBeVisible();
    },
  },
  { name: "matrix", library: "library", to: "matrix?benchmark=staminabench", ready: (page) => expect(page.getByRole("table").first()).toBeVisible() },
  { name: "failures", library: "library", to: "failures?members=SWEEP", ready: (page) => expect(page.locator(".figure[role=img] svg").first()).toBeVisible({ timeout: 30_000 }) },
  { name: "scenarios", library: "library", to: "scenarios?turn=3", ready: (page) => expect(page.locator("[data-entity]").first()).toBeVisible() },
  { name: "scenarios-suite", library: "library", to: "scenarios?turn=3&tab=suite", ready: (page) => expect(page.locator("tbody tr").first()).toBeVisible() },
  {
    name: "export",
    library: "library",
    to: "compare?members=SWEEP",
    ready: async (page) => {
      await expect(page.locator(".figure[role=img] svg").first()).toBeVisible();
      await page.keyboard.press("Control+e");
      await expect(page.getByRole("dialog").locator("svg").first()).toBeVisible();
    },
  },
  { name: "import-report", library: "library", to: "REPORT", ready: (page) => expect(page.getByRole("dialog").getByRole("table")).toBeVisible() },
];

/** Waits until the page has asked for nothing for a moment. The one request that always waits for changes is no part of it. */
function settled(page: Page): () => Promise<void> {
  const open = new Set<unknown>();
  let last = performance.now();
  page.on("request", (request) => {
    if (!request.url().endsWith("wait_for_changes")) open.add(request);
    last = performance.now();
  });
  const done = (request: unknown): void => {
    open.delete(request);
    last = performance.now();
  };
  page.on("requestfinished", done);
  page.on("requestfailed", done);
  return () => expect.poll(() => open.size === 0 && performance.now() - last > 300, { intervals: [100] }).toBe(true);
}

test.describe.configure({ mode: "serial" });
for (const library of ["empty", "one", "library", "500"] as const) {
  test(`pictures with the library: ${library}`, async ({ browser }) => {
    const lab = new Lab();
    let served: Served | undefined;
    try {
      // A folder with damage, so that the import report has something to say.
      const damaged = lab.copy("harbor/jobs/interrupted", "interrupted-job");
      writeFileSync(path.join(damaged, "result.json"), '{"stats": {"n_tri');
      mkdirSync(lab.at("holiday-pictures/2026"), { recursive: true });
      writeFileSync(lab.at("holiday-pictures/2026/beach.txt"), "sun");
      writeFileSync(lab.at("holiday-pictures/result.json"), "{}");
      if (library === "one") await lab.stamina("ingest", path.join(fixtures, "harbor/jobs/terminus2-mock-priced"));
      if (library === "library") await lab.stamina("ingest", path.join(root, "data/sample-harbor.zip"), path.join(root, "data/sample-pack.zip"), path.join(data, "sweep"), damaged);
      if (library === "500") await lab.stamina("ingest", path.join(data, "many"));
      served = await lab.serve();
      // The sources are read again at the start; the notice of that belongs in no picture.
      await expect.poll(async () => ((await served!.rpc("app_state")) as { sources: { status: string }[] }).sources.every((s) => s.status === "ready")).toBe(true);
      const places = library === "library" ? await long(lab) : { run: "", turn: "", sweep: "" };
      const report = library === "library" ? (await lab.json<{ id: number; name: string }[]>("sources")).find((s) => s.name === "interrupted-job")?.id : 0;
      for (const scene of scenes.filter((s) => s.library === library)) {
        const to = scene.to
          .replace("SWEEP", places.sweep)
          .replace("LONG", places.run)
          .replace("TURN", places.turn)
          .replace("REPORT", `report/${String(report)}`)
          .replace("NOT-RECOGNISED", `open-failed?path=${encodeURIComponent(lab.at("holiday-pictures"))}`);
        for (const viewport of sizes) {
          for (const colorScheme of ["light", "dark"] as const) {
            const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
            const page = await context.newPage();
            const quiet = settled(page);
            await page.goto(`${served.url}${to === "" ? "" : `#/${to}`}`);
            await scene.ready(page, lab);
            await page.evaluate(() => document.fonts.ready);
            await quiet();
            const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
            writeFileSync(path.join(out, `${scene.name}-${colorScheme}-${String(viewport.width)}x${String(viewport.height)}.png`), smaller(picture));
            await context.close();
          }
        }
      }
    } finally {
      await served?.stop();
      await lab.close();
    }
  });
}
