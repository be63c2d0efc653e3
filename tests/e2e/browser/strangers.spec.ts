// A results folder that another library began: resuming it shows first what it would do here.
import { readFileSync, writeFileSync } from "node:fs";
import { Lab } from "../lab";
import { expect, serious, test } from "./fixture";

test.setTimeout(240_000);

/** A run that another library's command line stopped at its budget. */
async function theirs(lab: Lab): Promise<string> {
  const other = new Lab();
  const folder = lab.at("theirs");
  try {
    const { code } = await other.stamina(
      "run", "--json", "--values", "agent=MOCK", `output_dir=${folder}`, "restful_server_gen_iterative.n_scenarios=1",
      "restful_server_gen_iterative.n_turns=2", "restful_server_gen_iterative.num_changes_per_turn=1", "limits.run.tokens=1",
    );
    expect(code).toBe(3);
  } finally {
    await other.close();
  }
  await lab.stamina("ingest", folder);
  return folder;
}

test("a run that was not begun here shows what it would do, and is resumed once it is trusted", async ({ lab, go, page }) => {
  const folder = await theirs(lab);
  await go(`runs/live/${encodeURIComponent(folder)}`);
  await page.getByRole("button", { name: "Resume…" }).click();
  const dialog = page.getByRole("dialog");
  const facts = dialog.getByRole("region", { name: "What this run would do here" });
  await expect(facts).toContainText("This run was not begun here");
  await expect(facts).toContainText("simulated, on this machine");
  await expect(facts).toContainText(folder);
  expect(await serious(page)).toEqual([]);
  await dialog.getByLabel("The run: Tokens").fill("10000000");
  await dialog.getByRole("button", { name: "Trust and resume" }).click();
  await expect(page.getByText("finished", { exact: false }).first()).toBeVisible({ timeout: 120_000 });
});

test("endpoint, key and variables of a folder are taken only where they are ticked", async ({ lab, go, page }) => {
  const folder = await theirs(lab);
  const record = `${folder}/.stamina/run.json`;
  const run = JSON.parse(readFileSync(record, "utf8")) as { settings: Record<string, unknown> };
  Object.assign(run.settings, {
    model: "acme/new",
    use_docker: true,
    endpoint: { mode: "gateway", base_url: "https://models.a-very-long-name-of-a-company.example/v1/projects/evaluation", key: { env: "AWS_SECRET_ACCESS_KEY" } },
    env_vars: ["GITHUB_TOKEN", "SSH_AUTH_SOCK"],
  });
  writeFileSync(record, JSON.stringify(run));
  await go(`runs/live/${encodeURIComponent(folder)}`);
  await page.getByRole("button", { name: "Resume…" }).click();
  const dialog = page.getByRole("dialog");
  const facts = dialog.getByRole("region", { name: "What this run would do here" });
  for (const name of [/models\.a-very-long/, /AWS_SECRET_ACCESS_KEY/, /GITHUB_TOKEN, SSH_AUTH_SOCK/]) {
    await expect(facts.getByRole("checkbox", { name })).not.toBeChecked();
  }
  await expect(facts).toContainText("no key is sent");
  await expect(facts).toContainText("not handed over");
  expect(await serious(page)).toEqual([]);
  if (process.env["STAMINA_SHOT"]) await page.screenshot({ path: `${process.env["STAMINA_SHOT"]}/stranger.png` });
  // Nothing is known of this machine yet, and nothing of the folder is ticked.
  await dialog.getByRole("button", { name: "Trust and resume" }).click();
  await expect(dialog).toContainText("The endpoint of this run is to be chosen");
});
