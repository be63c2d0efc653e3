// Places of a figure that stand for data: which one is pointed at, and where an arrow key leads. Pure.
import type { FigureMark } from "../host/bindings/FigureMark";

/** How far beside a mark still means it, in px. */
const REACH = 14;

const centerX = (m: FigureMark): number => (m.x0 + m.x1) / 2;
const centerY = (m: FigureMark): number => (m.y0 + m.y1) / 2;

/** How far a point lies outside a mark; 0 inside. */
function outside(m: FigureMark, x: number, y: number): number {
  const dx = Math.max(m.x0 - x, 0, x - m.x1);
  const dy = Math.max(m.y0 - y, 0, y - m.y1);
  return Math.hypot(dx, dy);
}

/** The mark at a point. If several contain the point, the one with the nearest center. If none does, the nearest within `REACH`. */
export function markAt(marks: readonly FigureMark[], x: number, y: number): number | null {
  let best: number | null = null;
  let bestOff = REACH;
  let bestMiddle = Infinity;
  marks.forEach((mark, i) => {
    const off = outside(mark, x, y);
    if (off > bestOff) return;
    const middle = Math.hypot(centerX(mark) - x, centerY(mark) - y);
    if (off < bestOff || middle < bestMiddle) {
      best = i;
      bestOff = off;
      bestMiddle = middle;
    }
  });
  return best;
}

/** What an arrow key of a figure means where every series stands upright, as a harness does in a turned matrix. */
const turnedKeys: Readonly<Record<string, string>> = {
  ArrowRight: "ArrowDown",
  ArrowLeft: "ArrowUp",
  ArrowDown: "ArrowRight",
  ArrowUp: "ArrowLeft",
};

/** Whether the marks of every series stand one below the other. */
function upright(marks: readonly FigureMark[]): boolean {
  const firsts = new Map<number, FigureMark>();
  for (const mark of marks) if (!firsts.has(mark.series)) firsts.set(mark.series, mark);
  if (firsts.size < 2 || firsts.size === marks.length) return false;
  return marks.every((mark) => {
    const first = firsts.get(mark.series) ?? mark;
    const below = centerY(mark) < first.y0 || centerY(mark) > first.y1;
    return mark === first || (below && Math.abs(centerX(mark) - centerX(first)) < (first.x1 - first.x0) / 2);
  });
}

/** Where an arrow key leads from a mark: left and right along its series, up and down to the next series; the other way
 *  round where a series stands upright. Where every series has one mark, all four go through the series. `null` = the key
 *  means nothing here. */
export function markStep(marks: readonly FigureMark[], at: number | null, key: string): number | null {
  if (marks.length === 0) return null;
  const order = marks.map((_, i) => i).sort((a, b) => compare(marks[a], marks[b]));
  const from = at === null ? undefined : marks[at];
  const forward = key === "ArrowRight" || key === "ArrowDown";
  const along = upright(marks) ? (turnedKeys[key] ?? key) : key;
  const turn = along === "ArrowRight" || along === "ArrowLeft";
  if (key === "Home") return order[0] ?? null;
  if (key === "End") return order.at(-1) ?? null;
  if (!turn && along !== "ArrowUp" && along !== "ArrowDown") return null;
  if (from === undefined || at === null) return (forward ? order[0] : order.at(-1)) ?? null;
  const seriesOf = [...new Set(order.map((i) => marks[i]?.series ?? 0))];
  const single = seriesOf.length === marks.length;
  if (turn || single || seriesOf.length === 1) {
    const places = single ? order : order.filter((i) => marks[i]?.series === from.series);
    const place = places.indexOf(at) + (forward ? 1 : -1);
    return places[Math.min(places.length - 1, Math.max(0, place))] ?? at;
  }
  const place = seriesOf.indexOf(from.series) + (forward ? 1 : -1);
  const series = seriesOf[Math.min(seriesOf.length - 1, Math.max(0, place))];
  if (series === from.series) return at;
  let best = at;
  let bestOff = Infinity;
  for (const i of order) {
    const mark = marks[i];
    if (!mark || mark.series !== series) continue;
    const off = from.item !== null && mark.item !== null ? Math.abs(from.item - mark.item) : Math.abs(centerX(mark) - centerX(from));
    if (off < bestOff) {
      best = i;
      bestOff = off;
    }
  }
  return best;
}

function compare(a: FigureMark | undefined, b: FigureMark | undefined): number {
  if (!a || !b) return 0;
  return a.series - b.series || (a.item ?? 0) - (b.item ?? 0) || a.x0 - b.x0 || a.y0 - b.y0;
}
