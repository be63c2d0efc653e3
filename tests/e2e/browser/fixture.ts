// A page of the app in a browser over `stamina serve`, with a library of its own. Whatever the test is about, it fails
// when the page throws, breaks its content security policy or asks another machine for something.
import { AxeBuilder } from "@axe-core/playwright";
import { expect, test as base, type Locator, type Page } from "@playwright/test";
import { Lab, fixtures, type Served } from "../lab";

export { expect, fixtures, type Locator, type Page };

interface Fixtures {
  lab: Lab;
  served: Served;
  /** Goes to a page of the app: `library`, `run/x`. */
  go: (to?: string) => Promise<void>;
}

/** Until the server has read what lies in the library, and watches it: what it is still reading changes its lines, their order and
 *  the notices of every page. A run that is played is read again all the time. */
async function hasRead(served: Served): Promise<void> {
  const settled = async (): Promise<boolean> => {
    const { sources } = (await served.rpc("app_state")) as { sources: { path: string; status: string; watch: string }[] };
    const { runs } = (await served.rpc("list_live_runs")) as { runs: { folder: string }[] };
    return sources.every((source) => runs.some((run) => run.folder === source.path) || (source.status === "ready" && source.watch !== "off"));
  };
  await expect.poll(settled, { timeout: 60_000 }).toBe(true);
}

export const test = base.extend<Fixtures>({
  lab: async ({}, use) => {
    const lab = new Lab();
    await use(lab);
    await lab.close();
  },
  served: async ({ lab }, use) => {
    const served = await lab.serve();
    await use(served);
    await served.stop();
  },
  go: async ({ page, served }, use) => {
    const faults: string[] = [];
    const origin = new URL(served.url).origin;
    page.on("pageerror", (error) => faults.push(`thrown: ${error.message}`));
    page.on("console", (message) => {
      // A refused command is an answer (422), not a fault of the page; nor is that a network of this machine came or went, after
      // which the page asks again.
      if (message.type() === "error" && !/status of 422|net::ERR_NETWORK_CHANGED/.test(message.text())) faults.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) faults.push(`asked for ${request.url()}`);
    });
    page.on("dialog", (dialog) => {
      faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    let isOpen = false;
    await use(async (to = "") => {
      if (isOpen) {
        await page.evaluate((hash) => (location.hash = hash), `#/${to}`);
        return;
      }
      await hasRead(served);
      await page.goto(`${served.url}${to === "" ? "" : `#/${to}`}`);
      // It is there, hears keys, and knows what is open.
      await expect(page.locator("footer.foot")).toContainText(/stamina \d/);
      isOpen = true;
    });
    // What a test put in the way of requests ends with it.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    expect(faults).toEqual([]);
  },
});

/** An old answer that waits for the new one is dimmed, and has too little contrast. */
const BUSY = '.dim, [aria-busy="true"]';
const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
export const BEST = [...WCAG, "best-practice"];

/** What axe finds serious on the page, in light and in dark. */
export async function serious(page: Page, tags: readonly string[] = WCAG): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await expect(page.locator(`html[data-theme="${colorScheme}"]`)).toHaveCount(1);
    found.push(...(await seriousNow(page, tags)).map((violation) => `${colorScheme}: ${violation}`));
  }
  return found;
}

/** What axe finds serious once the page stands still. A look during which something was awaited counts for nothing. */
async function seriousNow(page: Page, tags: readonly string[]): Promise<string[]> {
  for (;;) {
    await expect(page.locator(BUSY)).toHaveCount(0);
    await page.evaluate(async (busy) => {
      await document.fonts.ready;
      await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
      const seen = globalThis as unknown as { moved: boolean; watched: MutationObserver };
      const look = (): void => {
        seen.moved ||= document.querySelector(busy) !== null;
      };
      seen.moved = false;
      seen.watched = new MutationObserver(look);
      seen.watched.observe(document.body, { subtree: true, childList: true, attributes: true });
      look();
    }, BUSY);
    // In one page: its other mode opens a second one for each look, which is for frames of other origins. There are no frames here.
    const axe = new AxeBuilder({ page }).options({ resultTypes: ["violations"] }).setLegacyMode(true).withTags([...tags]);
    const { violations } = await axe.analyze();
    const moved = await page.evaluate(() => {
      const seen = globalThis as unknown as { moved: boolean; watched: MutationObserver };
      seen.watched.disconnect();
      return seen.moved;
    });
    if (!moved) return violations.filter((v) => v.impact === "serious" || v.impact === "critical").flatMap((v) => v.nodes.map((node) => `${v.id}: ${v.help}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`));
  }
}

/** Lines of the library's table, as text of their cells. */
export async function rows(page: Page): Promise<string[][]> {
  return page.getByRole("grid", { name: "Runs" }).locator("tbody tr:has(a)").evaluateAll((lines) => lines.map((line) => [...(line as HTMLTableRowElement).cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim())));
}

/** Names in the library's table, from top to bottom. */
export async function names(page: Page): Promise<string[]> {
  return (await rows(page)).map((cells) => cells[1]!.replace(/ baseline$/, ""));
}
