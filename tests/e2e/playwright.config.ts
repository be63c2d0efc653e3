import { defineConfig } from "@playwright/test";
import { browserOptions } from "../../scripts/lib/browser.mjs";

export default defineConfig({
  testDir: ".",
  outputDir: "../../.cache/e2e",
  reporter: [["list"], ["json", { outputFile: "../../.cache/test/playwright.json" }]],
  forbidOnly: Boolean(process.env["CI"]),
  // A flaky test is a defect: it does not fail the check, but is listed at its end (scripts/test.mjs).
  retries: process.env["CI"] ? 2 : 0,
  workers: 2,
  // What a loaded machine needs for it; a test that waits in vain fails all the same.
  timeout: 240_000,
  expect: { timeout: 30_000 },
  use: {
    browserName: "chromium",
    launchOptions: browserOptions(),
    viewport: { width: 1280, height: 800 },
    locale: "en-US",
    timezoneId: "UTC",
    screenshot: "only-on-failure",
    trace: "on-first-retry",
  },
  projects: [
    { name: "browser", testDir: "browser" },
    { name: "desktop", testDir: "desktop", timeout: 360_000 },
  ],
});
