// A page of the app in a browser over `stamina serve`, with a library of its own. Whatever the test is about, it fails
// when the page throws, breaks its content security policy or asks another machine for something.
import { expect, test as base, type Locator, type Page } from "@playwright/test";
import { Lab, fixtures, type Served } from "../lab";

export { expect, fixtures, type Locator, type Page };

interface Fixtures {
  lab: Lab;
  served: Served;
  /** Goes to a page of the app: `library`, `run/x`. */
  go: (to?: string) => Promise<void>;
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
      // A refused command is an answer (422), not a fault of the page.
      if (message.type() === "error" && !/status of 422/.test(message.text())) faults.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) faults.push(`asked for ${request.url()}`);
    });
    page.on("dialog", (dialog) => {
      faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    let here = false;
    await use(async (to = "") => {
      if (here) await page.evaluate((hash) => (location.hash = hash), `#/${to}`);
      else await page.goto(`${served.url}${to === "" ? "" : `#/${to}`}`);
      here = true;
    });
    expect(faults).toEqual([]);
  },
});

/** Lines of the library's table, as text of their cells. */
export async function rows(page: Page): Promise<string[][]> {
  return page.getByRole("grid", { name: "Runs" }).locator("tbody tr:has(a)").evaluateAll((lines) => lines.map((line) => [...(line as HTMLTableRowElement).cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim())));
}

/** Names in the library's table, from top to bottom. */
export async function names(page: Page): Promise<string[]> {
  return (await rows(page)).map((cells) => cells[1]!.replace(/ baseline$/, ""));
}
