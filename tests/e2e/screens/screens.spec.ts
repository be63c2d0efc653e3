// One picture of every page in light and dark, at 1280 × 800 and 1920 × 1080: empty, with one run, with a library, with
// 500 runs, with runs that are played. STAMINA_SCREENS_DATA holds the synthetic sweeps that scripts/screens.mjs writes;
// STAMINA_SCREENS names the scenes that are taken, without it all are.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test, type Page } from "@playwright/test";
import { smaller } from "../../../scripts/lib/png.mjs";
import { Lab, fixtures, root, type Served } from "../lab";

const only = (process.env["STAMINA_SCREENS"] ?? "").split(",").filter((name) => name !== "");
const wanted = (scene: string): boolean => only.length === 0 || only.some((name) => scene.startsWith(name));
const data = process.env["STAMINA_SCREENS_DATA"] ?? "";
const out = path.join(root, "docs/screens");
const sizes = [
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
] as const;

interface Scene {
  readonly name: string;
  /** Which library it is taken in. */
  readonly library: "empty" | "one" | "library" | "500" | "varied" | "played" | "live";
  readonly to: string;
  /** Makes what the address alone does not, and waits until everything is there. */
  readonly ready: (page: Page, lab: Lab) => Promise<void>;
}

const RUN = "sample-harbor.failures-k1-oracle";
const runs = (page: Page) => page.getByRole("grid", { name: "Runs" }).locator("tbody tr:has(a)");
const grid = (page: Page) => page.getByRole("grid", { name: "Episodes by turns" });
const figures = async (page: Page, count: number): Promise<void> => expect(page.locator(".figure[role=img] svg")).toHaveCount(count);

/** A run of the sample: real command lines that were played with a simulated model. */
const PLAYED = "sample-simulated.codex-middling";
const membersOf = (runs: readonly { readonly id: string }[]): string => encodeURIComponent(runs.map((r) => r.id).join(","));

interface Places {
  /** The best run over 100 turns. */
  readonly long: string;
  /** The latest turn that a run of the sample failed at. */
  readonly turn: string;
  /** Thirteen models of one harness, and five of them. */
  readonly thirteen: string;
  readonly five: string;
}
const NOWHERE: Places = { long: "", turn: "", thirteen: "", five: "" };

async function find(lab: Lab): Promise<Places> {
  const all = await lab.json<{ id: string; planned_turns: number | null; stamina: { mean: number | null } }[]>("runs");
  const best = all.sort((a, b) => (b.stamina.mean ?? 0) - (a.stamina.mean ?? 0));
  const run = best.find((r) => r.planned_turns === 100)!;
  const shown = await lab.json<{ episodes: { episode: string; failed_turn: number | null; censored: boolean }[] }>("show", PLAYED);
  const failed = shown.episodes.filter((e) => e.failed_turn !== null && !e.censored).sort((a, b) => b.failed_turn! - a.failed_turn!);
  const varied = best.filter((r) => r.id.startsWith("varied."));
  // Names that begin alike, the longest and the shortest.
  const five = ["halcyon", "o5", "deepwell-v4-pro", "deepwell-v4-flash", "quillon3.7"].map((part) => varied.find((r) => r.id.includes(part))!);
  return { long: `run/${run.id}`, turn: `run/${PLAYED}/${failed[0]!.episode}/${String(failed[0]!.failed_turn)}`, thirteen: membersOf(varied), five: membersOf(five) };
}

const scenes: readonly Scene[] = [
  { name: "start", library: "empty", to: "", ready: (page) => expect(page.getByRole("heading", { name: /How long/ })).toBeVisible() },
  {
    name: "not-recognized",
    library: "one",
    to: "NOT-RECOGNIZED",
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
    // The first attempt: what it changed since the turn before.
    to: "TURN?attempt=1",
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
    to: "compare?members=FIVE",
    ready: async (page) => {
      await expect(page.locator(".figure[role=img] svg").first()).toBeVisible();
      await expect(page.getByRole("grid", { name: "Turns" }).locator("tbody tr").first()).toBeVisible();
    },
  },
  {
    name: "compare-13-models",
    library: "library",
    to: "compare?members=THIRTEEN",
    ready: async (page) => {
      await expect(page.locator(".figure[role=img] svg").first()).toBeVisible();
      await expect(page.getByRole("grid", { name: "Turns" }).locator("tbody tr").first()).toBeVisible();
    },
  },
  {
    name: "matrix",
    library: "varied",
    to: "matrix?baselines=yes",
    ready: async (page) => {
      await expect(page.getByRole("table", { name: "Best and worst harness" })).toBeVisible();
      await figures(page, 2);
    },
  },
  { name: "failures-15-runs", library: "varied", to: "failures?members=FIFTEEN", ready: (page) => expect(page.locator(".figure[role=img] svg").first()).toBeVisible({ timeout: 30_000 }) },
  { name: "failures", library: "library", to: "failures?members=FIVE", ready: (page) => expect(page.locator(".figure[role=img] svg").first()).toBeVisible({ timeout: 30_000 }) },
  { name: "scenarios", library: "library", to: "scenarios?turn=3", ready: (page) => expect(page.locator("[data-entity]").first()).toBeVisible() },
  { name: "scenarios-suite", library: "library", to: "scenarios?turn=3&tab=suite", ready: (page) => expect(page.locator("tbody tr").first()).toBeVisible() },
  {
    name: "export",
    library: "library",
    to: "compare?members=FIVE",
    ready: async (page) => {
      await expect(page.locator(".figure[role=img] svg").first()).toBeVisible();
      await page.keyboard.press("Control+e");
      await expect(page.getByRole("dialog").locator("svg").first()).toBeVisible();
    },
  },
  {
    name: "side-by-side",
    library: "library",
    to: "compare?members=FIVE",
    ready: async (page) => {
      await page.getByRole("grid", { name: "Turns" }).locator("tbody tr").first().dblclick();
      await expect(page.locator(".cm-content").first()).toBeVisible();
    },
  },
  {
    name: "new-run",
    library: "played",
    to: "runs/new",
    ready: async (page) => {
      await page.getByLabel("Harness", { exact: true }).selectOption("mock");
      for (const [label, value] of Object.entries({ Episodes: "20", Turns: "40", "Parallel episodes": "2", "Simulated model: defect rate": "0.4", "Simulated model: repairs": "0.6", Tags: "smoke" })) await page.getByLabel(label, { exact: true }).fill(value);
      await expect(page.locator('[data-check="folder"][data-state="ok"]')).toBeVisible();
      await expect(page.getByRole("region", { name: "Estimate" })).toContainText("8,000 attempts");
    },
  },
  {
    name: "images",
    library: "played",
    to: "runs/new?show=images",
    ready: (page) => expect(page.getByRole("dialog").getByRole("row").nth(3)).toBeVisible(),
  },
  {
    name: "live",
    library: "live",
    to: "runs/live",
    ready: async (page) => {
      await expect(page.getByRole("grid", { name: "Episodes" }).locator("tbody tr").first()).toBeVisible();
      await expect(page.locator(".figure[role=img] svg").first()).toBeVisible();
      await expect(page.locator(".log .line").first()).toBeVisible();
    },
  },
  { name: "finished", library: "live", to: "runs/finished", ready: (page) => expect(page.getByRole("grid", { name: "Finished runs" }).locator("tbody tr").first()).toBeVisible() },
  { name: "import-report", library: "library", to: "REPORT", ready: (page) => expect(page.getByRole("dialog").getByRole("table")).toBeVisible() },
];

/** Plays a run of the mock agent against the simulated model to its end, and if so wished one that goes on while pictures are
 *  taken. */
async function play(lab: Lab, served: Served, goesOn: boolean): Promise<() => Promise<void>> {
  const begin = async (name: string, more: readonly string[]): Promise<string> => {
    const yaml = ["agent: MOCK", "use_docker: false", ...more].join("\n");
    const { settings } = (await served.rpc("load_settings", { yaml, file: null, run: null, folder: null })) as { settings: Record<string, unknown> };
    const folder = lab.at("results", name);
    await served.rpc("start_run", { settings: { ...settings, output_dir: folder }, shakedown: false });
    return folder;
  };
  const read = async (folder: string): Promise<{ state: string; turns: [number, number]; run: string | null }> => ((await served.rpc("get_live_run", { folder })) as { row: { state: string; turns: [number, number]; run: string | null } }).row;
  const patient = { timeout: 300_000, intervals: [1000] };
  const sizes = (episodes: number, turns: number): string[] => ["restful_server_gen_iterative:", `  n_scenarios: ${String(episodes)}`, `  n_turns: ${String(turns)}`, "  attempt_limit: 3"];
  const short = await begin("mock-1", [...sizes(2, 3), "tags: [smoke]"]);
  await expect.poll(async () => (await read(short)).state, patient).toBe("finished");
  if (!goesOn) return () => Promise.resolve();
  const long = await begin("mock-2", ["batch_size: 3", ...sizes(12, 40), "oracle:", "  defect_rate: 0.4", "  repair: 0.5"]);
  await expect.poll(async () => ((await read(long)).run === null ? 0 : (await read(long)).turns[0]), patient).toBeGreaterThan(16);
  return async () => {
    await served.rpc("control_run", { folder: long, action: { do: "stop" } });
    await expect.poll(async () => (await read(long)).state, patient).toBe("stopped");
  };
}

/** Waits until the page has asked for nothing for a moment; one that always waits for changes is no part of it, nor what
 *  a live page asks every second. */
function settled(page: Page): () => Promise<void> {
  const open = new Set<unknown>();
  let last = performance.now();
  const goesOn = /(wait_for_changes|get_live_run|list_live_runs|live_log)$/;
  page.on("request", (request) => {
    if (goesOn.test(request.url())) return;
    open.add(request);
    last = performance.now();
  });
  const done = (request: unknown): void => {
    if (open.delete(request)) last = performance.now();
  };
  page.on("requestfinished", done);
  page.on("requestfailed", done);
  return () => expect.poll(() => open.size === 0 && performance.now() - last > 300, { intervals: [100] }).toBe(true);
}

test.describe.configure({ mode: "serial" });
for (const library of ["empty", "one", "library", "500", "varied", "played", "live"] as const) {
  const taken = scenes.filter((s) => s.library === library && wanted(s.name));
  if (taken.length === 0) continue;
  test(`pictures with the library: ${library}`, async ({ browser }) => {
    const lab = new Lab();
    let served: Served | undefined;
    let end: (() => Promise<void>) | undefined;
    try {
      // A folder with damage, so that the import report has something to say.
      const damaged = lab.copy("harbor/jobs/interrupted", "interrupted-job");
      writeFileSync(path.join(damaged, "result.json"), '{"stats": {"n_tri');
      mkdirSync(lab.at("holiday-pictures/2026"), { recursive: true });
      writeFileSync(lab.at("holiday-pictures/2026/beach.txt"), "sun");
      writeFileSync(lab.at("holiday-pictures/result.json"), "{}");
      if (library === "one") await lab.stamina("ingest", path.join(fixtures, "harbor/jobs/terminus2-mock-priced"));
      if (library === "library") await lab.stamina("ingest", path.join(root, "data/sample-harbor.zip"), path.join(root, "data/sample-simulated.zip"), path.join(root, "data/sample-pack.zip"), path.join(data, "sweep"), path.join(data, "varied"), damaged);
      if (library === "varied") await lab.stamina("ingest", path.join(data, "varied-26"));
      if (library === "500") await lab.stamina("ingest", path.join(data, "many"));
      // Results lie below the home folder by default; a picture tells nothing of the one that it was made in.
      served = await lab.serve({ HOME: lab.folder });
      // The sources are read again at the start; the notice of that belongs in no picture.
      await expect.poll(async () => ((await served!.rpc("app_state")) as { sources: { status: string }[] }).sources.every((s) => s.status === "ready")).toBe(true);
      if (library === "played" || library === "live") end = await play(lab, served, library === "live");
      const places = library === "library" ? await find(lab) : NOWHERE;
      const fifteen = library === "varied" ? membersOf((await lab.json<{ id: string }[]>("runs")).slice(0, 15)) : "";
      const report = library === "library" ? (await lab.json<{ id: number; name: string }[]>("sources")).find((s) => s.name === "interrupted-job")?.id : 0;
      for (const scene of taken) {
        const to = scene.to
          .replace("THIRTEEN", places.thirteen)
          .replace("FIFTEEN", fifteen)
          .replace("FIVE", places.five)
          .replace("LONG", places.long)
          .replace("TURN", places.turn)
          .replace("REPORT", `report/${String(report)}`)
          .replace("NOT-RECOGNIZED", `open-failed?path=${encodeURIComponent(lab.at("holiday-pictures"))}`);
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
      await end?.();
      await served?.stop();
      await lab.close();
    }
  });
}
