import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { parse } from "./src/explain/parse";

/** `virtual:explained`: what docs/metrics.md says of each number. */
function explained(): Plugin {
  const name = "virtual:explained";
  const file = fileURLToPath(new URL("../docs/metrics.md", import.meta.url));
  return {
    name: "explained",
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load(id) {
      if (id !== `\0${name}`) return undefined;
      this.addWatchFile(file);
      return `export default ${JSON.stringify(parse(readFileSync(file, "utf8")))};`;
    },
  };
}

// Relative paths, because the same build is served by the desktop host and by `stamina serve` at any prefix.
// Nothing is inlined, so that a strict content security policy holds.
export default defineConfig({
  base: "./",
  plugins: [svelte(), explained()],
  build: { target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 900, modulePreload: { polyfill: false } },
  server: { port: 5199, strictPort: true },
  test: { include: ["src/**/*.test.ts"], environment: "node", retry: process.env["CI"] ? 2 : 0 },
});
