// Where the reader is. The address bar is the truth; `router.route` follows it, so back, forward, reload and pasted
// links all take the same way.
import { hrefOf, isSamePage, listBefore, parseRoute, withQuery, type Route } from "./routes";

export * from "./routes";

/** The window was opened without an address. */
export const openedBare = /^#?\/?$/.test(location.hash);

const start: Route = { page: "library", query: {} };
const now = (): Route => parseRoute(location.hash) ?? start;

let route = $state.raw<Route>(now());
/** The page under a dialog that has its own address (report, policy). */
let under = $state.raw<Route>(isDialog(now()) ? start : now());
let position = $state(historyPosition());
let last = $state(historyPosition());
/** Where the reader was at each position of the history, as far as this window knows. */
const trail = new Map<number, Route>([[historyPosition(), now()]]);
/** Each page of the trail as the reader came to it: what they choose on it later does not change which row led there. */
const entries = new Map<number, Route>();
/** The reader came up to the page, by key, from this one: the page puts the focus where they left it. */
let left: Route | undefined;

function isDialog(candidate: Route): boolean {
  return candidate.page === "report" || candidate.page === "policy";
}

function historyPosition(): number {
  const state = history.state as unknown;
  return typeof state === "object" && state !== null && "at" in state && typeof state.at === "number" ? state.at : 0;
}

function follow(): void {
  route = now();
  if (!isDialog(route)) {
    under = route;
    trail.set(position, route);
  }
}

const LATE_MS = 1000;
let late: ReturnType<typeof setTimeout> | undefined;

/**
 * Writes the address. Browsers take only so many changes in a short time (WebKit 100 in 30 s; a held arrow key makes
 * more) and then throw or do nothing: the page works all the same, and the address follows when it may.
 */
function write(to: Route, step: boolean): void {
  clearTimeout(late);
  const at = step ? position + 1 : position;
  try {
    if (step) history.pushState({ at }, "", hrefOf(to));
    else history.replaceState({ at }, "", hrefOf(to));
  } catch {
    // Said by the comparison below.
  }
  if (hrefOf(now()) === hrefOf(to)) {
    position = at;
    if (step) last = at;
    follow();
    if (step) entries.set(at, to);
    return;
  }
  route = to;
  if (!isDialog(to)) under = to;
  late = setTimeout(() => {
    write(route, step);
  }, LATE_MS);
}

addEventListener("popstate", () => {
  clearTimeout(late);
  // A link: what follows is `hashchange`, which knows that this is a step forward.
  if (history.state === null) return;
  position = historyPosition();
  last = Math.max(last, position);
  follow();
});
// A link with `href="#/…"` arrives here, without a state of the router.
addEventListener("hashchange", () => {
  if (history.state === null) {
    position += 1;
    last = position;
    history.replaceState({ at: position }, "");
    entries.set(position, now());
  }
  follow();
});
if (history.state === null) history.replaceState({ at: 0 }, "");

export const router = {
  get route(): Route {
    return route;
  },
  /** The page to show: the route, or what lies under a dialog. */
  get page(): Route {
    return under;
  },
  get canGoBack(): boolean {
    return position > 0;
  },
  get canGoForward(): boolean {
    return position < last;
  },
  /** Goes to a page; it becomes a step in the history. */
  go(to: Route): void {
    left = undefined;
    if (hrefOf(to) === hrefOf(route)) return;
    // What was marked on this page is no mark on the next one.
    document.getSelection()?.removeAllRanges();
    write(to, true);
  },
  /** Changes the address without a step in the history: for a selection, a filter, a tab. */
  replace(to: Route): void {
    write(to, false);
  },
  back(): void {
    if (position > 0) history.back();
  },
  forward(): void {
    if (position < last) history.forward();
  },
  /**
   * Goes up to a page. Where the reader came from it, it is shown as they left it (filter, order, what was folded into its
   * address), with what `to` names; else it is `to`. Who came to a run, a turn or a comparison from a list (failures, a comparison,
   * the matrix) goes back to that list, and to the row that led away from it.
   */
  up(to: Route): void {
    const from = under;
    const before: Route[] = [];
    for (let at = position - 1; at >= 0; at -= 1) {
      const route = trail.get(at);
      if (route === undefined) break;
      before.push(route);
    }
    const list = listBefore(from, before);
    const led = list === undefined ? undefined : entries.get(position - before.indexOf(list));
    const known = list ?? before.find((route) => isSamePage(route, to));
    const as = list ?? (known === undefined ? to : withQuery(known, to.query));
    if (known !== undefined && known === before[0] && hrefOf(as) === hrefOf(known)) history.back();
    else this.go(as);
    left = led !== undefined && isSamePage(led, from) ? led : from;
  },
  /** The page from which the reader came up to this one; says so once. */
  arrived(): Route | undefined {
    const from = left;
    left = undefined;
    return from;
  },
  /** Leaves a dialog that has its own address. */
  closeDialog(): void {
    if (!isDialog(route)) return;
    if (position > 0) history.back();
    else this.replace(under);
  },
};
