import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// Relative paths, because the same build is served by the desktop host and by `stamina serve` at any prefix.
// Nothing is inlined, so that a strict content security policy holds.
export default defineConfig({
  base: "./",
  plugins: [svelte()],
  build: { target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 900, modulePreload: { polyfill: false } },
  server: { port: 5199, strictPort: true },
  test: { include: ["src/**/*.test.ts"], environment: "node", retry: process.env["CI"] ? 2 : 0 },
});
