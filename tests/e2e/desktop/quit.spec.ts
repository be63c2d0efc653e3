// The window is closed while its process plays a run: it asks first, in the window.
import { expect, test } from "@playwright/test";
import { Lab } from "../lab";
import { Desktop, eventually } from "./webdriver";

interface Status {
  readonly state: { readonly state: string; readonly finish?: { readonly how: string } };
  readonly episodes: readonly { readonly phase: string }[];
}

/** A loaded machine takes its time. */
const PATIENCE = 60_000;
const DIALOG = '[role="dialog"]';
let lab: Lab;
let app: Desktop | undefined;
test.beforeEach(() => {
  lab = new Lab();
});
test.afterEach(async ({}, info) => {
  if (app && info.status !== info.expectedStatus) await info.attach("window", { body: await app.picture(), contentType: "image/png" }).catch(() => undefined);
  await app?.close();
  app = undefined;
  await lab.close();
});

const dialog = (): Promise<string> => app!.text(DIALOG);
const press = (button: string): Promise<void> => app!.click(`//*[@role="dialog"]//button[normalize-space()="${button}"]`);

/** Asks the window to close until its page asks back. */
async function closeAndBeAsked(): Promise<void> {
  expect(await app!.askToClose()).toBe(1);
  await eventually("the question", PATIENCE, async () => {
    expect(await dialog()).toContain("Stop and quit?");
  });
}

test("closing the window of a run that is played asks first", async () => {
  app = await Desktop.open(["--db", lab.db]);
  await eventually("the first page", PATIENCE, async () => {
    expect(await app!.text("main")).toContain("Open");
  });
  const rpc = (name: string, payload: object) => app!.wait<Record<string, unknown>>("window.__TAURI_INTERNALS__.invoke('rpc', { name: arguments[0], payload: arguments[1] })", name, payload);
  // A model that never answers: its attempt is in flight until somebody ends it.
  const folder = lab.at("results");
  const yaml = "agent: MOCK\nuse_docker: false\nendpoint:\n  mode: oracle\noracle:\n  stack: native\n  mischief:\n    stall: 1\nrestful_server_gen_iterative:\n  n_scenarios: 1\n  n_turns: 2\n";
  const { settings } = (await rpc("load_settings", { yaml })) as { settings: object };
  expect(await rpc("start_run", { settings: { ...settings, output_dir: folder }, shakedown: false })).toMatchObject({ folder });
  const status = () => lab.json<Status>("status", folder);
  await eventually("the agent at work", PATIENCE, async () => {
    expect((await status()).episodes[0]?.phase).toBe("agent");
  });

  await closeAndBeAsked();
  expect(await dialog()).toContain("This window runs 1 live run, and it stops with it. 1 attempt in flight is dropped and retried after a resume; finished turns are kept.");
  await press("Keep open");
  await eventually("the dialog gone", PATIENCE, async () => {
    expect(await app!.texts(DIALOG)).toEqual([]);
  });
  const kept = await status();
  expect([kept.state.state, kept.episodes[0]?.phase]).toEqual(["running", "agent"]);

  await closeAndBeAsked();
  await press("Stop and quit");
  await eventually("the window gone", PATIENCE, async () => {
    expect(await app!.askToClose()).toBe(0);
  });
  await eventually("the end of the run", PATIENCE, async () => {
    expect((await status()).state).toMatchObject({ state: "ended", finish: { how: "stopped" } });
  });
});

test("without a run the window closes at once", async () => {
  app = await Desktop.open(["--db", lab.db]);
  await eventually("the first page", PATIENCE, async () => {
    expect(await app!.text("main")).toContain("Open");
  });
  expect(await app.askToClose()).toBe(1);
  await eventually("the window gone", PATIENCE, async () => {
    expect(await app!.askToClose()).toBe(0);
  });
});
