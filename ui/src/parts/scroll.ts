// Scrolling inside a pane: `scrollIntoView` also scrolls what is around it.

/** Where something lies along one axis, in px. */
interface Extent {
  readonly start: number;
  readonly size: number;
}

/** How far a pane scrolls so that a place is in its middle, in px. Of a place that is larger than the pane the start is shown. */
export function toMiddle(place: Extent, box: Extent): number {
  return place.start - box.start - Math.max(0, (box.size - place.size) / 2);
}

/** How far a pane scrolls so that a place is in its middle, in px; 0 where the pane shows all of it already. */
export function toMiddleIfHidden(place: Extent, box: Extent): number {
  const isShown = place.start >= box.start && place.start + place.size <= box.start + box.size;
  return isShown ? 0 : toMiddle(place, box);
}

/** Brings a place to the middle of a pane, and of each text in the pane that scrolls by itself. */
export function scrollToMiddle(place: Element, pane: Element): void {
  if (!pane.contains(place)) return;
  // From the innermost, as each moves the place.
  for (let box = place.parentElement; box !== null; box = box.parentElement) {
    if (box === pane || ["auto", "scroll"].includes(getComputedStyle(box).overflowY)) {
      const [own, frame] = [place.getBoundingClientRect(), box.getBoundingClientRect()];
      const [top, left] = [frame.top + box.clientTop, frame.left + box.clientLeft];
      box.scrollTop += toMiddle({ start: own.top, size: own.height }, { start: top, size: box.clientHeight });
      box.scrollLeft += toMiddleIfHidden({ start: own.left, size: own.width }, { start: left, size: box.clientWidth });
    }
    if (box === pane) return;
  }
}
