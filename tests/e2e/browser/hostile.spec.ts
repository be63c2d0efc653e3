// docs/security.md: Pages, terminals and files that others open
// Whatever comes from a source is text: markup, scripts, links and control characters in every field that a page shows.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { expect, test } from "./fixture";

const EVIL = `"><img src=x onerror="window.__ran=1"><script>window.__ran=1</script><svg/onload="window.__ran=1">`;
const MARKDOWN = `# Change ${EVIL}\n\n[click](javascript:window.__ran=1) ![pixel](https://example.org/p.png) <iframe src="https://example.org"></iframe>\n\n<b onclick="window.__ran=1">bold</b>\n\n\`\`\`html\n${EVIL}\n\`\`\`\n`;
const CONTROL = "\u001b[31mred\u001b]0;title\u0007\u202egnp.exe\u0000";

test("content of a source is inert on every page", async ({ lab, go, page }) => {
  const folder = lab.copy("staminabench/own", "own");
  renameSync(folder, lab.at("a&b <img src=x onerror=window.__ran=1>"));
  const at = lab.at("a&b <img src=x onerror=window.__ran=1>");
  const file = `${at}/scenario_0/trajectory.json`;
  const trajectory = JSON.parse(readFileSync(file, "utf8")) as { title: string; turns: { title: string; request: string; attempts: { failures?: object[]; exception?: object; end_reason?: string; files?: { transcript?: string } }[] }[] } & Record<string, unknown>;
  trajectory.title = `Title ${EVIL}${CONTROL}`;
  trajectory["unknown_field"] = EVIL;
  for (const turn of trajectory.turns) {
    turn.title = EVIL + CONTROL;
    turn.request = MARKDOWN + CONTROL;
    for (const attempt of turn.attempts) {
      attempt.exception = { type: EVIL, message: EVIL + CONTROL };
      attempt.failures = (attempt.failures ?? []).map((failure) => ({ ...failure, message: EVIL + CONTROL, expected: EVIL, actual: CONTROL }));
    }
  }
  writeFileSync(file, JSON.stringify(trajectory));
  for (const log of ["test_results/turn_3_attempt_1.txt", "server_logs/turn_3_attempt_1.txt", "changes/turn_3.md"]) {
    const path = `${at}/scenario_0/${log}`;
    writeFileSync(path, `${EVIL}\n${CONTROL}\n${readFileSync(path, "utf8").replaceAll("AssertionError: ", `AssertionError: ${EVIL} `)}`);
  }
  writeFileSync(`${at}/scenario_0/agent_code/turn_3_attempt_1/server.py`, `# ${EVIL}\nprint("${CONTROL.replace("\0", "")}")\n`);
  await lab.stamina("ingest", at);
  const [run] = await lab.json<{ id: string }[]>("runs");
  const episode = "scenario_0";
  const id = encodeURIComponent(run!.id);

  const inert = async (): Promise<void> => {
    expect(await page.evaluate(() => (window as unknown as { __ran?: number }).__ran)).toBeUndefined();
    expect(await page.locator("img, iframe, object, embed, [onerror], [onload], [onclick], a[href^='javascript:'], a[href^='https://example.org']").count()).toBe(0);
    expect(await page.locator("body script").count()).toBe(0);
  };
  await go("library");
  await expect(page.getByRole("grid", { name: "Runs" }).locator("tbody tr:has(a)")).toHaveCount(1);
  await expect(page.getByRole("complementary", { name: "Sources and views" })).toContainText("<img src=x");
  await inert();
  await go(`run/${id}`);
  await expect(page.getByRole("grid", { name: "Episodes by turns" })).toBeVisible();
  await expect(page.getByRole("complementary", { name: "Episode" })).toContainText("<script>");
  await inert();
  await go(`run/${id}?about=1&view=table`);
  await expect(page.getByRole("group", { name: "Show as" }).getByRole("button", { name: "Table" })).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByRole("main").getByRole("table").first()).toBeVisible();
  await inert();
  for (const pane of ["code", "transcript", "logs"]) {
    await go(`run/${id}/${episode}/3?attempt=1&pane=${pane}`);
    await expect(page.getByRole("region", { name: "Request" })).toContainText("onerror");
    await expect(page.locator("[data-test]").first()).toContainText("onerror");
    if (pane === "logs") await expect(page.getByRole("region", { name: "Logs" })).toContainText("onerror");
    if (pane === "transcript") await expect(page.getByRole("group", { name: "Steps, scrolls" })).not.toHaveText("");
    if (pane === "code") await expect(page.locator(".cm-content").first()).toContainText("onerror");
    await inert();
  }
  await page.keyboard.press("Control+k");
  const answered = page.waitForResponse(/rpc\/search/);
  await page.getByRole("combobox", { name: "Go to, search or run a command" }).fill("/onerror");
  await answered;
  // Hits, or the word that there are none: before the answer there is neither.
  await expect(page.getByRole("listbox", { name: "Results" })).not.toHaveText("");
  await inert();
});

test("the server gives nothing without the token and nothing to another name", async ({ served, page }) => {
  const { origin } = new URL(served.url);
  const sendRequest = (headers: Record<string, string>) => fetch(`${origin}/rpc/app_state`, { method: "POST", body: "{}", headers: { "content-type": "application/json", ...headers } });
  expect((await sendRequest({})).status).toBe(401);
  expect((await sendRequest({ "x-stamina-token": "guess" })).status).toBe(401);
  // Without its token the page itself says what to do.
  await page.goto(origin);
  await expect(page.getByText("trying again")).toBeVisible();
});
