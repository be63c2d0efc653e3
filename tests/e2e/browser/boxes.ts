// Where things lie on a page: what lies on top of something else. In whole pixels.
import type { Locator, Page } from "@playwright/test";

/** Sizes of the window at which layouts are looked at. */
export const WINDOWS = [{ width: 1280, height: 800 }, { width: 1440, height: 900 }, { width: 1600, height: 900 }, { width: 1920, height: 1080 }] as const;

interface Box {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Pairs of these elements of which one lies on the other. */
export async function overlaps(page: Page, elements: readonly Locator[]): Promise<string[]> {
  const boxes: Box[] = [];
  for (const list of elements) {
    for (const one of await list.all()) {
      const box = await one.boundingBox();
      const name = await one.evaluate((node) => `${node.tagName.toLowerCase()} ${node.getAttribute("aria-label") ?? node.textContent ?? ""}`.slice(0, 48));
      if (box) boxes.push({ ...box, name });
    }
  }
  const window = page.viewportSize();
  return boxes.flatMap((a, i) =>
    boxes.slice(i + 1).flatMap((b) => {
      const across = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
      const down = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
      return across > 1 && down > 1 ? [`${String(window?.width)}: ${a.name} × ${b.name}: ${String(Math.round(across))} × ${String(Math.round(down))}`] : [];
    }),
  );
}
