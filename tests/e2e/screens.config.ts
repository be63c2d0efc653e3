import { defineConfig } from "@playwright/test";
import { browserOptions } from "../../scripts/lib/browser.mjs";

// Not tests: the pictures in docs/screens, made by `npm run screens`.
export default defineConfig({
  testDir: "screens",
  outputDir: "../../.cache/screens/work",
  reporter: [["list"]],
  workers: 1,
  timeout: 600_000,
  expect: { timeout: 30_000 },
  use: { browserName: "chromium", launchOptions: browserOptions(), locale: "en-GB", timezoneId: "UTC" },
});
