// Run and turn: numbers against the store, one turn axis, the way by mouse and by keys, links, back and forward.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, fixtures, serious, test, type Page } from "./fixture";

const RUN = "jobs.failures-k1-oracle";

interface Point {
  readonly turn: number;
  readonly at_risk: number;
  readonly survival: number;
}
interface Shown {
  readonly episodes: readonly { readonly episode: string; readonly failed_turn: number | null; readonly turns: readonly { readonly attempts: readonly { readonly failing: readonly { readonly id: string; readonly message: string }[] }[] }[] }[];
}

test.beforeEach(async ({ lab }) => {
  await lab.stamina("ingest", `${fixtures}/harbor/jobs`, `${fixtures}/staminabench/own`);
});

/** Clicks into the middle of a cell of the grid, once the figures above it are drawn and it stands still. */
async function clickCell(page: Page, episode: string, turn: number): Promise<void> {
  const grid = page.getByRole("grid", { name: "Episodes by turns" });
  await expect(page.locator(".figure[role=img]")).toHaveCount(2);
  await grid.hover();
  const position = await grid.evaluate(
    (box, [name, column]) => {
      const [at, cells, row] = [box, box.querySelector("svg.cells")!, box.querySelector(`[data-episode="${name}"]`)!].map((element) => element.getBoundingClientRect()) as [DOMRect, DOMRect, DOMRect];
      return { x: cells.left - at.left + ((column - 0.5) * cells.width) / Number(box.getAttribute("aria-colcount")), y: (row.top + row.bottom) / 2 - at.top };
    },
    [episode, turn] as const,
  );
  await grid.click({ position });
}

test("the survival table on the page is the one of the command line", async ({ lab, go, page }) => {
  const points = await lab.json<Point[]>("survival", RUN);
  await go(`run/${RUN}?view=table`);
  const body = page.getByRole("main");
  for (const point of points.filter((p) => p.turn > 0)) {
    const row = body.getByRole("row").filter({ has: page.getByRole("cell", { name: String(point.turn), exact: true }).or(page.getByRole("rowheader", { name: String(point.turn), exact: true })) }).first();
    await expect(row).toContainText(String(point.at_risk));
  }
  await expect(body).toContainText(points.at(-1)!.survival.toFixed(2));
});

test("names of episodes stand whole in the tables of a run", async ({ lab, go, page }) => {
  const { episodes } = await lab.json<Shown>("show", RUN);
  await page.setViewportSize({ width: 1280, height: 800 });
  await go(`run/${RUN}?view=table`);
  const names = page.getByRole("table", { name: "Episodes" }).locator("td.name");
  await expect(names).toHaveCount(episodes.length);
  expect(await names.evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth || cell.textContent !== cell.getAttribute("title")).map((cell) => cell.textContent))).toEqual([]);
});

test("two episodes of one run side by side are named by what differs", async ({ lab, go, page }) => {
  const [one, other] = (await lab.json<Shown>("show", RUN)).episodes;
  await go(`side-by-side?left=${RUN}/${one!.episode}&right=${RUN}/${other!.episode}&turn=1`);
  const heads = ["Left side", "Right side"].map((name) => page.getByRole("group", { name }).getByRole("link").first());
  for (const head of heads) await expect(head).toBeVisible();
  await expect.poll(async () => new Set(await Promise.all(heads.map((head) => head.textContent()))).size).toBe(2);
  const [left, right] = await Promise.all(heads.map((head) => head.textContent()));
  await expect.poll(() => page.title()).toContain(`${left!} and ${right!}`);
});

test("curve, at-risk row, histogram and grid share one turn axis", async ({ go, page }) => {
  await go(`run/${RUN}`);
  const grid = page.getByRole("grid", { name: "Episodes by turns" });
  await expect(grid).toBeVisible();
  const figures = page.locator(".figure[role=img]");
  await expect(figures).toHaveCount(2);
  // Every other drawing with the axis begins where the cells begin, to half a pixel; all of them are measured at one moment.
  await expect(async () => {
    const [cells, lefts] = await page.evaluate(() => [
      document.querySelector("svg.cells")!.getBoundingClientRect().left,
      [...document.querySelectorAll<HTMLElement>("[data-plot-left]")].map((e) => e.getBoundingClientRect().left + Number(e.dataset["plotLeft"])),
    ] as const);
    expect(lefts.length).toBeGreaterThanOrEqual(4);
    for (const left of lefts) expect(Math.abs(left - cells)).toBeLessThanOrEqual(0.5);
  }).toPass({ timeout: 30_000 });
  // The figures say in words what they draw.
  for (const n of [0, 1]) await expect(figures.nth(n)).toHaveAttribute("aria-label", /.{41}/s);
});

test("a click in the grid leads to the turn, back and forward work, and the link opens the same place", async ({ lab, go, page }) => {
  const shown = await lab.json<Shown>("show", RUN);
  const episode = shown.episodes.find((e) => e.episode.startsWith("theme_v8"))!;
  const turn = episode.failed_turn!;
  await go("library");
  await page.locator(`a[href="#/run/${RUN}"]`).click();
  await expect(page.locator(`[data-episode="${episode.episode}"]`)).toBeVisible();
  await clickCell(page, episode.episode, turn);
  await expect(page.getByRole("complementary", { name: "Episode" })).toContainText(episode.episode.slice(0, 20));
  await clickCell(page, episode.episode, turn);
  await expect(page).toHaveURL(new RegExp(`/${episode.episode}/${String(turn)}$`));
  const failing = episode.turns[turn - 1]!.attempts[0]!.failing;
  await expect(page.locator("[data-test]")).toHaveCount(failing.length);

  const link = page.url();
  await page.getByRole("button", { name: "Back" }).click();
  await expect(page.getByRole("grid", { name: "Episodes by turns" })).toBeVisible();
  await page.keyboard.press("Alt+ArrowLeft");
  await expect(page.getByRole("grid", { name: "Runs" })).toBeVisible();
  await page.keyboard.press("Alt+ArrowRight");
  await expect(page.getByRole("grid", { name: "Episodes by turns" })).toBeVisible();
  await page.getByRole("button", { name: "Forward" }).click();
  await expect(page.locator("[data-test]")).toHaveCount(failing.length);
  await page.reload();
  await expect(page).toHaveURL(link);
  await expect(page.locator("[data-test]")).toHaveCount(failing.length);
});

test("the same way by keys alone", async ({ lab, go, page }) => {
  const shown = await lab.json<Shown>("show", RUN);
  await go("library");
  await expect(page.locator(`a[href="#/run/${RUN}"]`)).toBeVisible();
  await page.keyboard.press("/");
  await page.keyboard.type("failures-k1");
  await expect(page.getByRole("grid", { name: "Runs" }).locator("tbody tr:has(a)")).toHaveCount(1);
  await page.keyboard.press("Tab");
  await page.getByRole("grid", { name: "Runs" }).focus();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  const grid = page.getByRole("grid", { name: "Episodes by turns" });
  await expect(grid).toBeVisible();
  const first = shown.episodes[0]!;
  await grid.focus();
  await page.keyboard.press("Control+Home");
  for (let turn = 1; turn < first.failed_turn!; turn += 1) await page.keyboard.press("ArrowRight");
  await expect(page.locator("#grid-cursor")).toContainText(`turn ${String(first.failed_turn)}: failed`);
  await page.keyboard.press("Enter");
  await expect(page.locator("[data-test]")).toHaveCount(8);
  await page.keyboard.press("n");
  await expect(page).toHaveURL(/test=c001/);
  await page.keyboard.press("n");
  await expect(page).toHaveURL(/test=c002/);
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowLeft");
  await expect(page).toHaveURL(new RegExp(`/${String(first.failed_turn! - 1)}(\\?|$)`));
  await page.keyboard.press("Escape");
  await expect(grid).toBeVisible();
  // And up to the list as it was left: its filter, the row, and the focus in it.
  await expect(grid).toBeFocused();
  await page.keyboard.press("Escape");
  const runs = page.getByRole("grid", { name: "Runs" });
  await expect(runs.locator("tbody tr:has(a)")).toHaveCount(1);
  await expect(runs.locator("tr.on")).toContainText("failures-k1");
  await expect(runs).toBeFocused();
});

test("after Back by mouse, with nothing further back, keys work", async ({ go, page }) => {
  await go("library");
  await page.locator(`a[href="#/run/${RUN}"]`).click();
  await expect(page.getByRole("grid", { name: "Episodes by turns" })).toBeVisible();
  await page.getByRole("button", { name: "Back", exact: true }).click();
  // A key that comes before the rows has nothing to choose.
  await expect(page.locator(`a[href="#/run/${RUN}"]`)).toBeVisible();
  const on = page.getByRole("grid", { name: "Runs" }).locator("tr.on");
  await page.keyboard.press("j");
  await expect(on).toHaveCount(1);
  const first = await on.innerText();
  await page.keyboard.press("j");
  await expect(on).not.toHaveText(first, { useInnerText: true });
  await page.keyboard.press("Space");
  await expect(page.getByRole("complementary", { name: /^Peek at/ })).toBeVisible();
});

test("about says which version this is and where its library lies", async ({ lab, go, page }) => {
  await go("library");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("about");
  await page.keyboard.press("Enter");
  const about = page.getByRole("dialog", { name: "About Stamina Lab" });
  await expect(about).toContainText(/\d+\.\d+\.\d+/);
  await expect(about).toContainText(lab.at(""));
});

test("the palette goes to runs, to turns by their text, and runs commands", async ({ lab, go, page }) => {
  const shown = await lab.json<Shown>("show", RUN);
  const failing = shown.episodes[0]!.turns[2]!.attempts[0]!.failing[0]!;
  await go("library");
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Go to, search or run a command" });
  // A command that fits stands before whatever is found.
  await field.fill("new run");
  await expect(page.getByRole("option").first()).toContainText("New run");
  await field.fill("gpt-4o");
  await page.getByRole("option", { name: /gpt-4o-mini/ }).first().click();
  await expect(page).toHaveURL(/#\/run\/jobs\.terminus2/);
  await page.keyboard.press("Control+k");
  await field.fill(`/${failing.message.split(":")[0]!}`);
  await expect(page.getByRole("option").first()).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/#\/run\/.*\/\d+\?.*test=c001/);
  await page.keyboard.press("Control+k");
  await field.fill(">theme: dark");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.keyboard.press("Control+k");
  await field.fill(`stamina://run/${RUN}`);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`#/run/${RUN}$`));
});

test("a place in a log is found in the palette, and opened with its words marked", async ({ lab, go, page }) => {
  const places = await lab.json<{ kind: string; where: string; log: string | null; line: number | null }[]>("search", "passed");
  const log = places.find((place) => place.kind === "log")!;
  await go("library");
  await page.keyboard.press("Control+Shift+f");
  await page.getByRole("combobox", { name: "Go to, search or run a command" }).fill("/passed");
  await page.getByRole("option").filter({ hasText: log.where }).first().click();
  await expect(page).toHaveURL(/#\/run\/.*\/\d+\?.*pane=logs/);
  const logs = page.getByRole("tabpanel");
  await expect(logs.locator("mark").first()).toHaveText(/passed/i);
  await expect(logs.locator("mark").first()).toBeInViewport();
});

test("words in a long step are in the middle of its pane, and nothing around the pane scrolls", async ({ lab, go, page }) => {
  const folder = lab.copy("staminabench/own", "long");
  const file = `${folder}/scenario_0/trajectory.json`;
  const trajectory = JSON.parse(readFileSync(file, "utf8")) as { turns: { attempts: { steps: object[] }[] }[] };
  const talk = (text: string): object[] => Array.from({ length: 150 }, (_, n) => ({ kind: "agent", text: `${text} ${String(n)}` }));
  const result = Array.from({ length: 400 }, (_, n) => (n === 300 ? "here is the quagga" : `line ${String(n)}`)).join("\n");
  const call = { kind: "agent", text: "I look.", tool_calls: [{ name: "bash", arguments: { command: "cat animals" }, result, is_error: false, seconds: 0.1 }] };
  trajectory.turns[0]!.attempts[0]!.steps = [...talk("before"), call, ...talk("after")];
  writeFileSync(file, JSON.stringify(trajectory));
  await lab.stamina("ingest", folder);
  const places = await lab.json<{ kind: string; run: string; episode: string; turn: number; attempt: number; step: number }[]>("search", "quagga");
  const { run, episode, turn, attempt, step } = places.find((place) => place.kind === "transcript")!;
  await go(`run/${run}/${episode}/${String(turn)}?mark=quagga&attempt=${String(attempt)}&pane=transcript&step=${String(step)}`);
  const steps = page.getByRole("group", { name: "Steps, scrolls" });
  const words = steps.locator("mark").first();
  await expect(words).toHaveText("quagga");
  await expect(words).toBeInViewport();
  expect(await steps.evaluate((pane) => pane.scrollTop)).toBeGreaterThan(0);
  const moved = await steps.evaluate((pane) => {
    const around: string[] = [];
    for (let box = pane.parentElement; box !== null; box = box.parentElement) if (box.scrollTop !== 0 || box.scrollLeft !== 0) around.push(box.className);
    return around;
  });
  expect(moved).toEqual([]);
});

test("a number is explained when it is pointed at, and with e", async ({ go, page }) => {
  await go(`run/${RUN}`);
  const mean = page.getByText(/^Mean stamina/).first();
  await mean.hover();
  await expect(page.getByRole("tooltip")).toContainText("How many of the first τ turns");
  await page.keyboard.press("e");
  const dialog = page.getByRole("dialog", { name: "Mean stamina" });
  await expect(dialog).toContainText("Σ_{t = 1..τ} S(t)");
  await expect(dialog).toContainText(`stamina table episodes ${RUN} --out episodes.csv`);
  await expect(dialog).toContainText("S = lambda t");
  // Long lines of code go on below, and are not cut.
  expect(await dialog.locator("pre").evaluate((node) => node.scrollWidth - node.clientWidth)).toBeLessThanOrEqual(0);
  await dialog.getByRole("button", { name: "Events" }).click();
  await expect(page.getByRole("dialog", { name: "Events" })).toContainText("Does not say");
  await page.getByRole("link", { name: "the episodes" }).click();
  await expect(page).toHaveURL(new RegExp(`#/run/${RUN}\\?view=table`));
});

test("e explains numbers of a turn, t goes to its tests, and where no number is, e says so", async ({ lab, go, page }) => {
  const shown = await lab.json<Shown>("show", RUN);
  await go(`run/${RUN}/${shown.episodes[0]!.episode}/3`);
  await page.getByText("Tokens", { exact: true }).first().hover();
  await page.keyboard.press("e");
  const dialog = page.getByRole("dialog", { name: "Tokens of an attempt", exact: true });
  await expect(dialog).toContainText(`stamina table tidy ${RUN} --out attempts.csv`);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await page.keyboard.press("t");
  await expect(page.getByRole("group", { name: "Tests of this attempt" })).toBeFocused();
  await go("start");
  // A page that is not there yet takes no key.
  await expect(page.getByRole("heading", { name: "How long do coding agents last?" })).toBeVisible();
  await page.keyboard.press("e");
  await expect(page.getByText("No number here has an explanation")).toBeVisible();
});

test("e in an open menu goes to the line that begins with it, and says nothing of numbers", async ({ go, page }) => {
  await go("library");
  await page.getByRole("button", { name: "Columns", exact: true }).click();
  const menu = page.getByRole("menu");
  await expect(menu).toBeVisible();
  await page.keyboard.press("e");
  await expect(menu.getByRole("menuitemcheckbox", { name: "Episodes" })).toBeFocused();
  await expect(page.getByText("No number here has an explanation")).toHaveCount(0);
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("the command for the tests of both sides has their runs, episode and turn in it, and t goes to these tests", async ({ lab, go, page }) => {
  const { episode } = (await lab.json<Shown>("show", RUN)).episodes[0]!;
  await go(`side-by-side?left=${RUN}/${episode}&right=${RUN}/${episode}&turn=1`);
  const tests = page.getByRole("region", { name: "Tests" });
  await tests.getByRole("button", { name: /^Different/ }).hover();
  await page.keyboard.press("e");
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText(`stamina table joined ${RUN} ${RUN} --episode ${episode} --turn 1 --out joined.csv`);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await page.keyboard.press("t");
  await expect(page.getByRole("group", { name: "Tests of both sides" })).toBeFocused();
});

test("e explains what lies on top: numbers of a dialog, not those behind it", async ({ go, page }) => {
  await go("runs/new?show=prices");
  const prices = page.getByRole("dialog", { name: "Prices" });
  await prices.getByRole("columnheader", { name: "Output" }).hover();
  await expect(page.getByRole("tooltip")).toContainText("What a million tokens of this kind cost");
  await prices.focus();
  await page.keyboard.press("e");
  const dialog = page.getByRole("dialog", { name: "Price of a million tokens" });
  await expect(dialog).toContainText("stamina rpc get_prices > prices.json");
  await expect(dialog.getByRole("list", { name: "Numbers of this page" }).getByRole("button")).toHaveText(["Price of a million tokens"]);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await expect(prices).toBeVisible();
});

test("a tour of the page of a run points at each of its parts", async ({ go, page }) => {
  await go(`run/${RUN}`);
  await expect(page.getByRole("heading", { name: "Episodes" }).or(page.getByText("Episodes").first())).toBeVisible();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("tour of a run");
  await page.keyboard.press("Enter");
  const card = page.getByRole("region", { name: "Tour of this page" });
  await expect(card.getByRole("heading", { name: /^Stamina 1 of/ })).toBeVisible();
  expect(await serious(page)).toEqual([]);
  // Every step but the last has a frame around what it is about, and the last one ends the tour.
  while ((await card.getByRole("button", { name: "Done" }).count()) === 0) {
    await expect(page.locator(".frame")).toBeVisible();
    await card.getByRole("button", { name: "Next" }).click();
  }
  await card.getByRole("button", { name: "Done" }).click();
  await expect(card).toHaveCount(0);
});

test("the key sheet lists the keys, and single keys can be turned off", async ({ go, page }) => {
  await go("library");
  await expect(page.getByRole("grid", { name: "Runs" })).toBeVisible();
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Keyboard" });
  await expect(sheet).toContainText("Command palette");
  await sheet.getByRole("checkbox", { name: "Single-key shortcuts" }).uncheck();
  await page.keyboard.press("Escape");
  await expect(sheet).toBeHidden();
  await page.keyboard.press("?");
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("dialog", { name: "Command palette" })).toBeVisible();
  await expect(sheet).toBeHidden();
});

test("a turn shows request, attempts, code with its difference, transcript and logs", async ({ lab, go, page }) => {
  const run = (await lab.json<{ id: string; format: string }[]>("runs")).find((r) => r.format === "staminabench")!;
  const shown = await lab.json<Shown>("show", run.id);
  const episode = shown.episodes.find((e) => e.episode === "scenario_0")!;
  await go(`run/${run.id}/${episode.episode}/3`);
  const attempts = page.getByRole("tab");
  await expect(attempts).toHaveCount(episode.turns[2]!.attempts.length);
  await expect(page.getByRole("region", { name: "Request" })).not.toHaveText("");
  await page.keyboard.press("1");
  await expect(page).toHaveURL(/attempt=1/);
  await expect(page.locator("[data-test]")).toHaveCount(episode.turns[2]!.attempts[0]!.failing.length);

  await page.keyboard.press("d");
  await expect(page.locator(".cm-editor").first()).toBeVisible();
  await expect(page.locator(".cm-changedLine, .cm-insertedLine, .cm-deletedChunk").first()).toBeVisible();
  await page.keyboard.press("Escape");
  await go(`run/${run.id}/${episode.episode}/3?attempt=1&pane=transcript`);
  await expect(page.getByRole("region", { name: "Transcript" }).last()).toContainText(/\w+/);
  await go(`run/${run.id}/${episode.episode}/3?attempt=1&pane=logs`);
  const logs = page.getByRole("region", { name: "Logs" });
  await expect(logs).toContainText(/failed|passed/);
});

test("a page whose code cannot be had says so, and loads once it can", async ({ go, page }) => {
  const code = /\/assets\/MatrixPage-[^/]*\.js$/;
  // As a file that was cut off: what the browser refuses by itself, it also writes to its console.
  await page.route(code, (route) => route.fulfill({ contentType: "text/javascript", body: 'throw new Error("cut off");' }));
  await go("matrix");
  await expect(page.getByRole("alert")).toContainText("This page could not be loaded");
  await page.unroute(code);
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect(page.getByRole("heading", { name: "Matrix" }).or(page.getByText("No run of a real model is in the library"))).not.toHaveCount(0);
});
