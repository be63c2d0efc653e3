// A run of a benchmark without tests, from files that LoCoBench-Agent itself wrote: three columns of figures, what differs
// between them, the plane, and the line that puts the figures in their place.
import { overlaps, WINDOWS } from "./boxes";
import { expect, fixtures, serious, test } from "./fixture";

interface Mean {
  readonly name: string;
  readonly mean: number | null;
}
interface Sessions {
  readonly nothing_says: string;
  readonly metrics: readonly string[];
  readonly sessions: readonly { readonly scenario: string; readonly counts: boolean; readonly differs: readonly string[] }[];
  readonly all: { readonly imported: readonly Mean[]; readonly compat: readonly Mean[] };
  readonly published: readonly { readonly model: string }[];
}

const RUN = "recorded.openai-gpt-4o";

test("the page of a run without tests has three columns, marks what differs, and says what nothing scores", async ({ lab, go, page }) => {
  await lab.stamina("ingest", `${fixtures}/locobench/recorded`);
  const answer = await lab.json<Sessions>("rpc", "list_sessions", JSON.stringify({ run: RUN }));
  await go(`run/${RUN}`);
  const pane = page.getByRole("region", { name: "Sessions", exact: true });
  expect(answer.nothing_says).toContain("A session that does nothing scores .780 / .650");
  await expect(pane.getByRole("note")).toHaveText(answer.nothing_says);
  await expect(pane).toContainText("No stamina, survival or comparison");

  const figures = pane.getByRole("table", { name: "Figures", exact: true });
  await expect(figures.getByRole("columnheader")).toHaveText(["Metric", "Imported (95 % CI)", "Compat (95 % CI)", "Corrected (95 % CI)"]);
  const marked: string[] = [];
  for (const { name, mean } of answer.all.imported) {
    const cells = figures.getByRole("row").filter({ has: page.getByRole("cell", { name, exact: true }) }).getByRole("cell");
    await expect(cells.nth(1)).toContainText(mean?.toFixed(3) ?? "unknown");
    await expect(cells.nth(2)).toContainText(answer.all.compat.find((compat) => compat.name === name)?.mean?.toFixed(3) ?? "unknown");
    const differs = answer.sessions.some((session) => session.counts && session.differs.includes(name));
    if (differs) marked.push(name);
    await (differs ? expect(cells.nth(2)) : expect(cells.nth(2)).not).toContainText("≠");
  }
  // One score of the fixture was changed by hand, and with it what is made of it.
  expect(marked).toContain("execution_success_rate");
  expect(marked).not.toContain("solution_usability");
  const corrected = (name: string) => figures.getByRole("row").filter({ has: page.getByRole("cell", { name, exact: true }) }).getByRole("cell").nth(3);
  await expect(corrected("information_coverage")).toContainText("files written");
  await expect(corrected("solution_usability")).toHaveText("unknown");

  const plane = pane.getByRole("img", { name: /^Comprehension against efficiency/ });
  const models = [...new Set(answer.published.map((number) => number.model))];
  expect(models).toHaveLength(6);
  for (const name of ["this run, imported", "this run, compat", "a session that does nothing 0.780 and 0.650", ...models]) {
    await expect(plane).toHaveAttribute("aria-label", new RegExp(`[:;] ${name.replaceAll(".", "\\.")}`));
  }
  await expect(plane.locator("circle")).toHaveCount(models.length + 3);
  await expect(pane.getByRole("heading", { name: "Sessions still running after step t (not success)" })).toBeVisible();

  // The nine of a session, and what is made of them.
  const session = answer.sessions.find((one) => one.differs.length > 0)!;
  const line = pane.getByRole("table", { name: "Sessions", exact: true }).getByRole("row").filter({ hasText: session.scenario }).filter({ hasText: "≠" });
  await line.getByRole("button", { name: `All figures of ${session.scenario}` }).click();
  const own = pane.getByRole("table", { name: `Figures of ${session.scenario}` }).locator("tbody tr");
  await expect(own).toHaveCount(answer.metrics.length + 3);
  await expect(own.filter({ hasText: "≠" })).toHaveCount(session.differs.length);
  expect(await serious(page)).toEqual([]);
});

for (const folder of ["recorded", "throttled"]) {
  test(`tables and pictures of a run without tests do not overlap: ${folder}`, async ({ lab, go, page }) => {
    await lab.stamina("ingest", `${fixtures}/locobench/${folder}`);
    await go(`run/${folder}.openai-gpt-4o`);
    const pane = page.getByRole("region", { name: "Sessions", exact: true });
    const parts = [pane.locator("table"), pane.locator("svg[role=img]"), pane.getByRole("heading")];
    for (const window of WINDOWS) {
      await page.setViewportSize(window);
      await expect(pane.getByRole("img")).not.toHaveCount(0);
      expect(await overlaps(page, parts)).toEqual([]);
      // Nothing has to be scrolled sideways.
      expect(await pane.evaluate((node) => node.scrollWidth - node.clientWidth)).toBeLessThanOrEqual(0);
    }
  });
}
