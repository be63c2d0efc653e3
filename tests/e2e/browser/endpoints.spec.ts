// The form finds a model endpoint at an address that is typed, and a model that is chosen sets address, name and context. What
// an endpoint is found to lack when a run is to start is shown first.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, serious, test } from "./fixture";

let server: Server;
const requestedPaths: string[] = [];
test.beforeAll(async () => {
  server = createServer((request, response) => {
    requestedPaths.push(request.url ?? "");
    const answers: Readonly<Record<string, unknown>> = {
      "/v1/models": { object: "list", data: [{ id: "small-model", owned_by: "llamacpp", meta: { n_ctx_train: 32768 } }] },
      "/props": { default_generation_settings: { n_ctx: 8192 }, total_slots: 2 },
    };
    const answer = answers[request.url ?? ""];
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? { error: { message: "File Not Found" } }));
  });
  await new Promise<void>((resolve) => { server.listen(0, "127.0.0.1", resolve); });
});
test.afterAll(async () => {
  await new Promise((resolve) => { server.close(resolve); });
});

test("a model of an endpoint is chosen from what the endpoint lists", async ({ go, page }) => {
  const address = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  await go("runs/new");
  await expect(page.getByRole("heading", { name: "Agent" })).toBeVisible();
  expect(requestedPaths).toEqual([]);
  await page.getByTitle("Model endpoints on this machine, or at an address").click();
  const dialog = page.getByRole("dialog", { name: "Model endpoints" });
  await dialog.getByLabel("Address of an endpoint").fill(address);
  await dialog.getByRole("button", { name: "Ask this address" }).click();
  await expect(dialog.getByText("llama.cpp")).toBeVisible();
  await expect(dialog.getByText("serves 8,192 tokens, made for 32,768")).toBeVisible();
  expect(await serious(page)).toEqual([]);
  await dialog.getByRole("button", { name: /small-model/ }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByLabel("Model", { exact: true })).toHaveValue("small-model");
  await expect(page.getByLabel("Endpoint address", { exact: true })).toHaveValue(address);
  expect(requestedPaths.slice(0, 2)).toEqual(["/v1/models", "/props"]);
});

test("a start that finds a warning of the endpoint shows it, and pressing again starts", async ({ go, page }) => {
  test.setTimeout(240_000);
  // Without containers only the simulated model plays, which lacks nothing: what an endpoint that is asked would tell.
  const sentence = "The endpoint does not list the model typo. It lists small-model. Choose one that it lists, or check the spelling.";
  const calls: boolean[] = [];
  let started = 0;
  await page.route("**/rpc/preflight_run", async (route) => {
    const { call } = route.request().postDataJSON() as { call: boolean };
    calls.push(call);
    const response = await route.fetch();
    const preflight = (await response.json()) as { checks: object[] };
    const listed = { id: "model", title: "Model", state: "warn", value: "not listed", sentence, fix: null };
    await route.fulfill({ response, json: { ...preflight, checks: call ? [...preflight.checks, listed] : preflight.checks } });
  });
  page.on("request", (request) => { if (request.url().endsWith("/rpc/start_run")) started += 1; });
  await go("runs/new");
  await page.getByLabel("Harness", { exact: true }).selectOption("mock");
  await page.getByLabel("Episodes", { exact: true }).fill("1");
  await page.getByLabel("Turns", { exact: true }).fill("1");
  const start = page.getByRole("region", { name: "Start", exact: true });
  // A busy machine takes its time for what a start looks at first.
  const answered = page.waitForResponse((response) => response.url().endsWith("/rpc/preflight_run") && (response.request().postDataJSON() as { call: boolean }).call, { timeout: 180_000 });
  await start.getByRole("button", { name: "Start run" }).click();
  const found = (await (await answered).json()) as { can_start: boolean; checks: object[] };
  expect(found.can_start, JSON.stringify(found.checks)).toBe(true);
  await expect(start.getByRole("alert")).toContainText(sentence);
  expect([started, calls.includes(true)]).toEqual([0, true]);
  expect(await serious(page)).toEqual([]);
  // It is said of this model.
  await page.getByLabel("Model", { exact: true }).fill("another");
  await expect(start.getByRole("alert")).toHaveCount(0);
  await page.getByLabel("Model", { exact: true }).fill("");
  await start.getByRole("button", { name: "Start anyway" }).click();
  await expect(page).toHaveURL(/#\/runs\/live\//, { timeout: 180_000 });
  expect(started).toBe(1);
});
