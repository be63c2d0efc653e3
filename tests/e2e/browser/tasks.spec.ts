// Tasks of Harbor in the form of a new run: a folder or a zip beside packs, protocols by name, and what cannot be played is
// named per task before anything is spent. No engine is needed: nothing is played here.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, fixtures, serious, test } from "./fixture";

const LOOKED = { timeout: 60_000 };
const NOTES = "harbor/tasks/theme_v1_w1_notes_regression";

test("a folder of tasks is chosen, its protocol explained, and what is not played is named", async ({ lab, go, page }) => {
  const tasks = lab.copy(NOTES, "tasks/notes");
  expect(tasks).toBe(lab.at("tasks", "notes"));
  // The same task with what is not played: a compose file, and a GPU.
  for (const name of ["composed", "gpu"]) cpSync(path.join(fixtures, NOTES), lab.at("tasks", name), { recursive: true });
  writeFileSync(lab.at("tasks", "composed", "environment", "docker-compose.yaml"), "services: {}\n");
  const toml = lab.at("tasks", "gpu", "task.toml");
  writeFileSync(toml, withGpu(readFileSync(toml, "utf8")));

  await go("runs/new");
  await expect(page.getByRole("heading", { name: "Agent" })).toBeVisible();
  await expect(page.getByLabel("Pack", { exact: true })).toBeVisible();
  await page.getByLabel("Kind", { exact: true }).selectOption({ label: "Harbor tasks" });
  await expect(page.getByLabel("Pack", { exact: true })).toHaveCount(0);
  const form = page.getByRole("form", { name: "Settings of the run" });
  await expect(form.getByRole("alert").getByText("it is the folder or zip of the tasks", { exact: false })).toBeVisible();
  await page.getByLabel("Folder or zip of tasks").fill(lab.at("tasks"));
  await page.getByLabel("Folder", { exact: true }).fill(lab.at("results"));

  const preflight = page.getByRole("region", { name: "Preflight" });
  const packCheck = preflight.locator('[data-check="pack"]');
  await expect(packCheck).toContainText("1 of 3, 4 steps", LOOKED);
  await expect(packCheck).toContainText(/composed: .*docker-compose\.yaml/);
  await expect(packCheck).toContainText(/gpu: .*GPU/i);
  await expect(page.getByRole("region", { name: "Estimate" })).toContainText("at most 4 attempts");
  // The protocol is explained, and sets its fields.
  const protocol = page.locator('[data-about="protocol"]');
  await expect(protocol).toContainText("the whole chain whatever fails");
  await expect(page.getByLabel("Attempts per turn", { exact: true })).toHaveCount(0);
  await page.getByLabel("Protocol", { exact: true }).selectOption({ label: "EvoCode, paper: MT@k" });
  await expect(protocol).toContainText("each from the same snapshot");
  await expect(page.getByLabel("Attempts per turn", { exact: true })).toHaveValue("4");
  await expect(page.getByRole("region", { name: "Estimate" })).toContainText("at most 16 attempts", LOOKED);
  expect(await serious(page)).toEqual([]);

  // The command line takes the same.
  await page.getByRole("button", { name: "YAML…" }).click();
  const yaml = page.getByLabel("Configuration as YAML");
  await expect(yaml).toContainText("benchmark: HARBOR");
  await expect(yaml).toContainText("protocol: mt_at_k");
  await page.keyboard.press("Escape");

  // Who asks no model has no fields of one.
  await page.getByLabel("Harness", { exact: true }).selectOption({ label: "reference solutions (ORACLE)" });
  await expect(page.getByLabel("Model endpoint", { exact: true })).toHaveCount(0);
  await expect(page.getByRole("region", { name: "Estimate" })).toContainText("no model is asked");

  // Back to scenarios.
  await page.getByLabel("Kind", { exact: true }).selectOption({ label: "REST servers" });
  await expect(page.getByLabel("Pack", { exact: true })).toBeVisible();
  await expect(page.getByLabel("Attempts per turn", { exact: true })).toHaveValue("10");
  await expect(page.getByText(/to fix/)).toHaveCount(0);
});

/** A task that wants a GPU. */
function withGpu(toml: string): string {
  const changed = toml.replace(/^\[environment\]$/m, "[environment]\ngpus = 1");
  expect(changed).not.toBe(toml);
  return changed;
}
