import { defineConfig } from "@playwright/test";
import { browserOptions } from "../../scripts/lib/browser.mjs";

export default defineConfig({
  testDir: ".",
  outputDir: "../../.cache/e2e",
  reporter: [["list"]],
  forbidOnly: Boolean(process.env["CI"]),
  // A flaky test is a defect; it is not tried again.
  retries: 0,
  workers: 2,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  use: {
    browserName: "chromium",
    launchOptions: browserOptions(),
    viewport: { width: 1280, height: 800 },
    screenshot: "only-on-failure",
    trace: "retain-on-failure",
  },
  projects: [
    { name: "browser", testDir: "browser" },
    { name: "desktop", testDir: "desktop", timeout: 120_000 },
  ],
});
