/** Marks, once, the moment at which the first page stands on the screen with its data; `npm run bench` measures it. */
export function markUsable(): void {
  if (performance.getEntriesByName("usable").length > 0) return;
  // The task after the next frame: by then it is painted.
  requestAnimationFrame(() => setTimeout(() => performance.mark("usable")));
}
