// The browser that tests and pictures use: Debian's Chromium, without windows where it is there, or another that CHROMIUM names.
import { existsSync } from "node:fs";
import { stop } from "./process.mjs";

/**
 * Options for Playwright's `chromium.launch`.
 * @returns {{ executablePath: string, args: string[] }}
 */
export function browserOptions() {
  const executablePath = [process.env.CHROMIUM, "/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((at) => at && existsSync(at)) ?? "";
  if (executablePath === "") stop("No Chromium was found. Run `npm run setup`, or name one in CHROMIUM.");
  return {
    executablePath,
    // The sandbox needs user namespaces, which containers and root often do not have.
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--font-render-hinting=none"],
  };
}
