// Only `npm run bench` runs these: they measure, and need the release build and a library that was read before.
import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: ".",
  outputDir: "../../../.cache/e2e-bench",
  reporter: [["dot"]],
  workers: 1,
  retries: 0,
  timeout: 180_000,
});
