// A run's page while it is played: the curve that grows, and the log that follows at its end and never scrolls against its reader.
import { appendFileSync, mkdirSync } from "node:fs";
import type { Served } from "../lab";
import { expect, test, type Locator } from "./fixture";

/** A loaded machine takes its time. */
const PLAYED = { timeout: 480_000 };
const TOLD = { timeout: 30_000 };
test.setTimeout(900_000);
test.use({ actionTimeout: 60_000 });

/** Begins a run of the mock agent against the simulated model, without containers. */
async function begin(served: Served, folder: string, episodes: number, turns: number, oracle: string): Promise<void> {
  const yaml = `agent: MOCK\nuse_docker: false\nbatch_size: 2\nendpoint:\n  mode: oracle\noracle.stack: native\n${oracle}\nrestful_server_gen_iterative:\n  attempt_limit: 1\n  n_scenarios: ${String(episodes)}\n  n_turns: ${String(turns)}\n  num_changes_per_turn: 1\n`;
  const { settings } = (await served.rpc("load_settings", { yaml })) as { settings: object };
  await served.rpc("start_run", { settings: { ...settings, output_dir: folder }, shakedown: false });
}

interface Live {
  readonly row: { readonly state: string; readonly run: string | null };
  readonly episodes: readonly { readonly phase: string; readonly stamina: number }[];
}

/** What a curve shows: how far it reaches and falls in px, how many episodes are at risk at its marked turns together, and its events. */
interface Curve {
  readonly reach: number;
  readonly fall: number;
  readonly risk: number;
  readonly events: number;
}

async function shown(curve: Locator): Promise<Curve> {
  const label = (await curve.getByRole("img", { name: /^Episodes at risk/ }).getAttribute("aria-label")) ?? "";
  const countsText = (await curve.getByText(/\d+ started, /).textContent()) ?? "";
  const [reach, fall] = await curve.locator('.figure svg [id$="-curve"]').evaluateAll((drawn) => {
    const box = drawn[0] instanceof SVGGraphicsElement ? drawn[0].getBBox() : undefined;
    return [box?.width ?? 0, box?.height ?? 0] as const;
  });
  return { reach, fall, risk: [...label.matchAll(/: (\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0), events: Number(/, (\d+) event/.exec(countsText)?.[1]) };
}

test("the survival curve grows with the turns that are played, and says that it is provisional", async ({ lab, served, go, page }) => {
  const folder = lab.at("grows");
  // With this seed no episode fails within the turns that are watched, and one does near its end: where the only episode at risk
  // fails, the curve is known to its end at once.
  await begin(served, folder, 3, 20, "oracle.defect_rate: 0.03\noracle.repair: 0\noracle.seed: 23");
  const live = async (): Promise<Live> => (await served.rpc("get_live_run", { folder })) as Live;
  const play = async (action: "pause" | "continue"): Promise<unknown> => served.rpc("control_run", { folder, action: { do: action } });
  /** Goes on until an episode has passed one turn more, and not while the page is looked at, which may take its time. */
  const playOn = async (): Promise<void> => {
    const passed = async (): Promise<number> => Math.max(0, ...(await live()).episodes.map((episode) => episode.stamina));
    const before = await passed();
    await play("continue");
    await expect.poll(passed, { ...PLAYED, intervals: [100] }).toBeGreaterThan(before);
    await play("pause");
  };
  // Only what is played can be told anything.
  await expect.poll(async () => (await live()).row.state, { ...PLAYED, intervals: [100] }).toBe("running");
  await playOn();
  await go(`runs/live/${encodeURIComponent(folder)}`);
  const curve = page.getByRole("region", { name: /^Survival/ });
  const provisional = curve.getByText("Running episodes count as censored at their last finished turn. Read it as provisional.");
  await expect(curve.locator(".figure")).toBeVisible(PLAYED);
  let seen = await shown(curve);
  for (let step = 0; step < 3; step++) {
    const before = seen;
    await playOn();
    await expect(async () => {
      seen = await shown(curve);
      expect(seen.reach).toBeGreaterThan(before.reach + 1);
    }).toPass({ ...PLAYED, intervals: [100] });
    expect(seen.risk).toBeGreaterThanOrEqual(before.risk);
    expect(seen.events).toBeGreaterThanOrEqual(before.events);
    await expect(curve.getByRole("heading")).toHaveText("Survival so far");
    await expect(provisional).toBeVisible();
  }

  // Over: the same curve to its end, and nothing of it is provisional.
  await play("continue");
  await expect(page.getByText("All episodes are over.")).toBeVisible(PLAYED);
  await expect(curve.getByRole("heading")).toHaveText("Survival");
  await expect(provisional).toHaveCount(0);
  const { row } = await live();
  await expect(async () => {
    const { rows } = (await served.rpc("run_survival", { run: row.run })) as { rows: { events: number; at_risk: number }[] };
    const events = rows.reduce((sum, turn) => sum + turn.events, 0);
    expect(rows[0]?.at_risk).toBe(3);
    expect(events).toBeGreaterThan(0);
    const last = await shown(curve);
    expect(last.events).toBe(events);
    expect(last.fall).toBeGreaterThan(1);
    expect(last.reach).toBeGreaterThanOrEqual(seen.reach);
  }).toPass(PLAYED);
});

test("a log follows at its end, and never scrolls against its reader", async ({ lab, served, go, page }) => {
  const folder = lab.at("follows");
  // The model never answers: what comes into the log is what is written here, where the output of a server lies.
  await begin(served, folder, 1, 1, "oracle.mischief.stall: 1");
  await expect.poll(async () => ((await served.rpc("get_live_run", { folder })) as Live).episodes[0]?.phase, PLAYED).toBe("agent");
  mkdirSync(`${folder}/scenario_0/server_logs`, { recursive: true });
  let lines = 0;
  const write = (more: number): void => {
    for (const until = lines + more; lines < until; lines++) appendFileSync(`${folder}/scenario_0/server_logs/turn_1_attempt_1.txt`, `GET /line/${String(lines)}\n`);
  };
  write(200);
  await go(`runs/live/${encodeURIComponent(folder)}?episode=scenario_0&log=server`);
  const pane = page.getByRole("region", { name: "Log of scenario_0" });
  const log = pane.getByRole("tabpanel", { name: "Server log" });
  const status = pane.getByRole("status");
  const line = (number: number): Locator => log.getByText(`GET /line/${String(number)}`, { exact: true });
  /** Where it is scrolled to, once it moves no more: a wheel and a key move it little by little. */
  const top = (): Promise<number> =>
    log.evaluate(
      (box) =>
        new Promise<number>((done) => {
          let [at, still] = [box.scrollTop, 0];
          const look = (): void => {
            still = box.scrollTop === at ? still + 1 : 0;
            at = box.scrollTop;
            if (still < 10) requestAnimationFrame(look);
            else done(at);
          };
          look();
        }),
    );
  const fromEnd = (): Promise<number> => log.evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop);
  /** More lines come, and the reader is at their end. */
  const follows = async (): Promise<void> => {
    await expect(status).toHaveText("live", TOLD);
    write(30);
    await expect(line(lines - 1)).toBeInViewport(TOLD);
    await expect(status).toHaveText("live");
    await expect.poll(fromEnd).toBeLessThan(12);
  };
  /** More lines come, and the reader stays where they are: those that came are counted. */
  const stays = async (before = 0): Promise<void> => {
    const at = await top();
    write(15);
    await expect(status).toHaveText(`paused, ${String(before + 15)} new lines`, TOLD);
    await expect(line(lines - 1)).toHaveCount(1);
    expect(await top()).toBe(at);
    await expect(line(lines - 1)).not.toBeInViewport();
  };
  await expect(line(199)).toBeInViewport(PLAYED);
  await follows();
  await follows();

  await log.hover();
  await page.mouse.wheel(0, -400);
  await expect.poll(fromEnd).toBeGreaterThan(300);
  await stays();
  await stays(15);
  await pane.getByRole("button", { name: "Resume log", exact: true }).click();
  await follows();

  // By keys.
  await log.focus();
  await page.keyboard.press("Home");
  await expect.poll(top).toBe(0);
  await stays();
  await page.keyboard.press("End");
  await follows();

  // By the scroll bar, or a finger: there is neither a wheel nor a key.
  await log.evaluate((box) => (box.scrollTop -= 500));
  await expect(status).toHaveText("paused");
  await stays();
  await log.evaluate((box) => (box.scrollTop = box.scrollHeight));
  await follows();
  // A little up and back again before something comes.
  await log.evaluate((box) => (box.scrollTop -= 200));
  await expect(status).toHaveText("paused");
  await log.evaluate((box) => (box.scrollTop = box.scrollHeight));
  await follows();

  // Held by the button, at the end; by its key it follows again.
  await pane.getByRole("button", { name: "Pause log", exact: true }).click();
  await expect(status).toHaveText("paused");
  await stays();
  await page.getByRole("heading", { name: "scenario_0", exact: true }).click();
  await page.keyboard.press("h");
  await follows();

  // Who marks text to copy it keeps it under the pointer.
  await line(lines - 1).selectText();
  await stays();
});
