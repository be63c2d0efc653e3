// From starting the desktop app to a window that can be used, with the library in it. Playwright runs the window.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { inRoot, root } from "../scripts/lib/process.mjs";
import { median } from "./measure.mjs";

/**
 * @param {string} db a library that was filled before
 * @returns {{ usable_ms: number, all_usable_ms: number[], peak_bytes: number }}
 */
export function start(db) {
  const result = inRoot(".cache/bench/start.json");
  rmSync(result, { force: true });
  const ended = spawnSync("npx", ["--no-install", "playwright", "test", "--config", "tests/e2e/bench/playwright.config.ts"], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, STAMINA_PROFILE: "release", STAMINA_BENCH_DB: db, STAMINA_BENCH_RESULT: result },
  });
  if (ended.status !== 0 || !existsSync(result)) throw new Error("The app did not come to a usable window");
  const starts = JSON.parse(readFileSync(result, "utf8"));
  const usable = starts.map((one) => one.usable_ms);
  return { usable_ms: median(usable), all_usable_ms: usable, window_ms: median(starts.map((one) => one.window_ms)), peak_bytes: Math.max(...starts.map((one) => one.peak_bytes)) };
}
