// After Esc the focus goes back to what led to the page that was left. Library and Run do so themselves: their rows are chosen.
import { nearestLink, type Route } from "./routes";

/** The row of a list that leads to a page, else the list, else another link that does. */
function placeOf(left: Route): HTMLElement | null {
  const nearest = (links: readonly HTMLAnchorElement[]): HTMLAnchorElement | undefined =>
    links[
      nearestLink(
        links.map((one) => one.getAttribute("href") ?? ""),
        left,
      )
    ];
  const inRow = nearest([...document.querySelectorAll<HTMLAnchorElement>("main td a[href]")]);
  const list = inRow?.closest<HTMLElement>('[role="grid"]') ?? inRow ?? document.querySelector<HTMLElement>('main [role="grid"]');
  return list ?? nearest([...document.querySelectorAll<HTMLAnchorElement>("main a[href]")]) ?? null;
}

/** Focuses what led to a page, as soon as it is there. Gives up when the reader acts; returns how to stop. */
export function landOn(left: Route): () => void {
  const land = (): boolean => {
    const target = placeOf(left);
    target?.focus();
    return target !== null && target === document.activeElement;
  };
  const watched = new MutationObserver(() => {
    if (land()) stop();
  });
  const acts = ["keydown", "pointerdown"] as const;
  const stop = (): void => {
    watched.disconnect();
    for (const act of acts) removeEventListener(act, stop, true);
  };
  if (land()) return stop;
  watched.observe(document.body, { subtree: true, childList: true });
  for (const act of acts) addEventListener(act, stop, true);
  return stop;
}
