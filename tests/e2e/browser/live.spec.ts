// What a run that is played can be told from its page, and the ways into the form: the mock agent against the simulated model,
// without containers.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Served } from "../lab";
import { expect, test, type Page } from "./fixture";

interface Live {
  readonly row: { readonly state: string; readonly run: string | null; readonly turns: [number, number] };
  readonly episode_budget: { readonly tokens: number | null };
  readonly episodes: readonly { readonly name: string; readonly phase: string; readonly end_reason: string | null; readonly cells: readonly string[]; readonly stuck: string | null }[];
}
/** A loaded machine takes its time. */
const PLAYED = { timeout: 180_000 };
test.setTimeout(420_000);
test.use({ actionTimeout: 60_000 });

/** Begins a run with these lines of YAML, beside what every run here has. */
async function begin(served: Served, folder: string, episodes: number, turns: number, more = ""): Promise<void> {
  const yaml = `agent: MOCK\nuse_docker: false\nendpoint:\n  mode: oracle\noracle.stack: native\noracle.defect_rate: 0\nrestful_server_gen_iterative:\n  n_scenarios: ${String(episodes)}\n  n_turns: ${String(turns)}\n  num_changes_per_turn: 1\n${more}`;
  const { settings } = (await served.rpc("load_settings", { yaml })) as { settings: object };
  await served.rpc("start_run", { settings: { ...settings, output_dir: folder }, shakedown: false });
}
const live = async (served: Served, folder: string): Promise<Live> => (await served.rpc("get_live_run", { folder })) as Live;
const retries = (folder: string): unknown => (JSON.parse(readFileSync(`${folder}/.stamina/control.json`, "utf8")) as { retry: unknown }).retry;
const chooseMock = (page: Page): Promise<unknown> => page.getByLabel("Harness", { exact: true }).selectOption("mock");

test("an attempt that may be stuck is reported, looked at and retried", async ({ lab, served, go, page }) => {
  const folder = lab.at("stalls");
  // The model never answers.
  await begin(served, folder, 1, 2, "oracle.mischief.stall: 1\n");
  const requests = (): number => readFileSync(`${folder}/.stamina/gateway.jsonl`, "utf8").split("\n").filter((line) => line.includes('"begun"')).length;
  await expect(async () => {
    expect(requests()).toBeGreaterThanOrEqual(1);
  }).toPass(PLAYED);
  const before = requests();
  // Nobody waits a quarter of an hour here: the sentence that the workbench would say then.
  const sentence = "The model's endpoint has not answered a request for 15 min.";
  await page.route("**/rpc/get_live_run", async (route) => {
    const response = await route.fetch();
    const run = (await response.json()) as Live;
    await route.fulfill({ response, json: { ...run, episodes: run.episodes.map((episode) => ({ ...episode, stuck: sentence })) } });
  });
  await go(`runs/live/${encodeURIComponent(folder)}?log=gateway`);
  await expect(page.getByRole("grid", { name: "Episodes" }).locator("tbody tr")).toContainText("stuck?");
  const stuck = page.getByRole("region", { name: "scenario_0 may be stuck" });
  await expect(stuck).toContainText(sentence);
  await stuck.getByRole("button", { name: "Open log" }).click();
  await expect(page.getByRole("tab", { name: "Agent" })).toHaveAttribute("aria-selected", "true");

  const dialog = page.getByRole("dialog");
  await stuck.getByRole("button", { name: "Retry attempt…" }).click();
  await expect(dialog).toContainText("Attempt 1 at turn 1 is ended and retried from the snapshot before it");
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  // The same from the log.
  await page.getByRole("region", { name: "Log of scenario_0" }).getByRole("button", { name: "Retry attempt…" }).click();
  await dialog.getByRole("button", { name: "Retry attempt", exact: true }).click();
  await expect(dialog).toHaveCount(0);
  expect(retries(folder)).toEqual({ scenario_0: 1 });
  // The agent is started again, and asks again.
  await expect.poll(requests, PLAYED).toBeGreaterThan(before);
  expect((await live(served, folder)).row.state).toBe("running");
});

test("an episode that a budget ended is retried, and continues with a larger one", async ({ lab, served, go, page }) => {
  // Each is over in a moment: so many that the first ones are seen before the last.
  const EPISODES = 20;
  const folder = lab.at("short");
  await begin(served, folder, EPISODES, 1, "limits.episode.tokens: 1\n");
  // Any of them may be the first that is over. What is paused stays where it is while it is looked at; a page that takes its time
  // would see the end of all of them first.
  let over = -1;
  await expect.poll(async () => (over = (await live(served, folder)).episodes.findIndex((episode) => episode.phase === "over")), { ...PLAYED, intervals: [100] }).toBeGreaterThanOrEqual(0);
  await served.rpc("control_run", { folder, action: { do: "pause" } });
  const name = `scenario_${String(over)}`;
  await go(`runs/live/${encodeURIComponent(folder)}?episode=${name}`);
  await expect(page.getByRole("grid", { name: "Episodes" }).locator("tbody tr").nth(over)).toContainText("censored", PLAYED);
  await expect(page.getByRole("button", { name: "Continue" })).toBeVisible();
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Retry episode…" }).click();
  await expect(dialog).toContainText("A budget ended it, not its agent.");
  await dialog.getByRole("button", { name: "Retry episode", exact: true }).click();
  await expect(dialog).toHaveCount(0);
  expect(retries(folder)).toEqual({ [name]: 1 });

  await page.getByRole("button", { name: "Stop…" }).click();
  await dialog.getByRole("button", { name: "Stop", exact: true }).click();
  await expect(page.getByText("Stopped. All finished turns are kept")).toBeVisible(PLAYED);
  await page.getByRole("button", { name: "Resume…" }).click();
  const budget = dialog.getByLabel("Each episode: Tokens");
  await expect(budget).toHaveAttribute("placeholder", "1");
  await budget.fill("0");
  await expect(dialog.getByRole("alert")).toHaveText("must be a number above 0");
  await expect(dialog.getByRole("button", { name: "Resume", exact: true })).toBeDisabled();
  await budget.fill("1000000");
  await dialog.getByRole("button", { name: "Resume", exact: true }).click();
  await expect(page.getByText("All episodes are over.")).toBeVisible(PLAYED);
  const ended = await live(served, folder);
  expect(ended.episode_budget.tokens).toBe(1_000_000);
  // What the budget ended before was an attempt.
  expect(ended.episodes.map((episode) => [episode.end_reason, episode.cells.map((cell) => cell.split("_")[0])])).toEqual(Array.from({ length: EPISODES }, () => ["passed_all", ["passed"]]));
});

test("a smoke test says whether the harness works here, and stays out of the library", async ({ lab, go, page }) => {
  await go("runs/new");
  await expect(page.getByRole("heading", { name: "Agent" })).toBeVisible();
  await chooseMock(page);
  await page.getByRole("button", { name: "Smoke test, free" }).click();
  await expect(page).toHaveURL(/#\/runs\/live\//, PLAYED);
  await expect(page.getByText("smoke test", { exact: true })).toBeVisible();
  await expect(page.getByText("3 of 3 turns passed: this harness works here.")).toBeVisible(PLAYED);
  expect(await lab.json<unknown[]>("runs")).toEqual([]);
});

test("a run that was played is loaded into the form", async ({ lab, served, go, page }) => {
  const folder = lab.at("played");
  await begin(served, folder, 1, 1, "tags: [from before]\nlimits.attempt.minutes: 7\n");
  await expect.poll(async () => (await live(served, folder)).row.state, PLAYED).toBe("finished");
  await go("runs/new");
  await page.getByRole("button", { name: "Load a run into the form…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Results folder").fill(lab.at("nothing"));
  await dialog.getByRole("button", { name: "Load", exact: true }).click();
  await expect(dialog.getByRole("alert")).toContainText("The folder has no config.yaml");
  await dialog.getByLabel("Find a run").fill("no such run");
  await expect(dialog.getByText("No run matches.")).toBeVisible();
  await dialog.getByLabel("Find a run").fill("played");
  await dialog.getByRole("button", { name: folder }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByText(`the run in ${folder}`)).toBeVisible();
  await expect(page.getByLabel("Turns", { exact: true })).toHaveValue("1");
  await expect(page.getByLabel("Tags", { exact: true })).toHaveValue("from before");
  // A budget that holds is a field, also where it is folded away.
  await page.getByRole("button", { name: /\d+ fields/ }).click();
  await expect(page.getByLabel("Wall time of an attempt")).toHaveValue("7");
});

test("while a model samples its scenarios the form of a run stays as it is", async ({ lab, served, go, page }) => {
  // A model that answers once it is let, and then nothing useful: what it does not fill in is generated from the seed.
  let requestCount = 0;
  let answer: () => void = () => undefined;
  const released = new Promise<void>((done) => (answer = done));
  const endpoint = createServer((request, response) => {
    requestCount += 1;
    request.resume();
    void released.then(() => response.setHeader("content-type", "application/json").end(JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: "No." } }] })));
  }).listen(0, "127.0.0.1");
  try {
    await once(endpoint, "listening");
    const folder = lab.at("sampled");
    const url = `http://127.0.0.1:${String((endpoint.address() as AddressInfo).port)}`;
    await go("runs/new");
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "YAML…" }).click();
    await dialog.getByLabel("A configuration, pasted").fill(`agent: MOCK\noutput_dir: ${folder}\nuse_docker: false\nendpoint:\n  mode: oracle\noracle.stack: native\noracle.defect_rate: 0\nllm_sampler.base_url: ${url}\nrestful_server_gen_iterative:\n  use_llm_sampler: true\n  n_scenarios: 1\n  n_turns: 1\n`);
    await dialog.getByRole("button", { name: "Load", exact: true }).click();
    await expect(dialog).toHaveCount(0);
    const turns = page.getByLabel("Turns", { exact: true });
    await expect(turns).toHaveValue("1");
    await page.getByRole("button", { name: "Start run" }).click();
    await expect.poll(() => requestCount, PLAYED).toBeGreaterThan(0);
    const samplings = async (): Promise<string[]> => ((await served.rpc("list_jobs")) as { jobs: { kind: string; state: string }[] }).jobs.filter((job) => job.kind === "sampling").map((job) => job.state);
    await expect.poll(samplings, PLAYED).toEqual(["running"]);
    for (const held of [turns, page.getByRole("button", { name: "YAML…" }), page.getByRole("button", { name: "Load a run into the form…" }), page.getByRole("button", { name: "Smoke test, free" })]) await expect(held).toBeDisabled();
    // Whoever leaves and comes back finds it as it was left; a second asker gets the same job.
    await page.getByRole("link", { name: "Library", exact: true }).first().click();
    await expect(page).toHaveURL(/#\/(library)?$/);
    // The address changes before the page does; who comes back to a form that was never left begins the run there.
    await expect(turns).toHaveCount(0);
    await page.goBack();
    await expect(turns).toBeDisabled();
    expect(await samplings()).toEqual(["running"]);
    answer();
    // What it wrote is the pack of the form, which can be begun now.
    await expect(turns).toBeEnabled(PLAYED);
    await expect(page.getByLabel("Pack", { exact: true })).toHaveValue(`${folder}-pack`);
  } finally {
    answer();
    endpoint.closeAllConnections();
    endpoint.close();
  }
});

test("where a page could not be shown the mark stands beside its sentence", async ({ lab, go, page }) => {
  for (const [to, title] of [
    [`runs/live/${encodeURIComponent(lab.at("nowhere"))}`, /^Live runs/],
    ["compare?members=no-such-run", /^Compare/],
    ["failures?members=no-such-run", /^Failures/],
  ] as const) {
    await go(to);
    // Not what the page before it said.
    await expect(page).toHaveTitle(title);
    const alert = page.getByRole("main").getByRole("alert");
    const middle = async (part: string): Promise<number> => {
      const box = await alert.locator(part).first().boundingBox();
      return box === null ? NaN : box.y + box.height / 2;
    };
    await expect(alert.locator("p").first()).toBeVisible();
    await expect.poll(async () => Math.abs((await middle("svg")) - (await middle("p"))), { message: to }).toBeLessThan(8);
  }
});
