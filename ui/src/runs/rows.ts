// The keys of a list: j, k, g g, G, Enter. What a list page gives to `provide`.
import type { Meaning } from "../shell/keyboard.svelte";

/** `read` tells where the choice is and how many rows there are. */
export function listMoves(
  read: () => readonly [at: number, rows: number],
  choose: (to: number) => void,
  open: () => boolean,
): Record<"list.next" | "list.previous" | "list.first" | "list.last" | "list.open", Meaning> {
  const to = (place: number): boolean => {
    const [, rows] = read();
    if (rows === 0) return false;
    choose(Math.min(rows - 1, Math.max(0, place)));
    return true;
  };
  return {
    "list.next": () => to(read()[0] + 1),
    "list.previous": () => to(read()[0] - 1),
    "list.first": () => to(0),
    "list.last": () => to(read()[1] - 1),
    "list.open": open,
  };
}
