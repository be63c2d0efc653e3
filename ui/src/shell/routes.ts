// Addresses of pages. One text form in two clothes: `#/run/a/b/3?attempt=2` in the address bar and
// `stamina://run/a/b/3?attempt=2` for people. Pure, so that tests cover every page both ways.

/** What a page keeps in its address besides its names: selection, filters, tabs. */
export type Query = Readonly<Record<string, string>>;

export type Route =
  | { readonly page: "library"; readonly query: Query }
  | { readonly page: "scenarios"; readonly query: Query }
  | { readonly page: "compare"; readonly query: Query }
  /** One turn in two episodes, side by side. */
  | { readonly page: "side-by-side"; readonly query: Query }
  | { readonly page: "matrix"; readonly query: Query }
  | { readonly page: "failures"; readonly query: Query }
  | { readonly page: "start"; readonly query: Query }
  | { readonly page: "open-failed"; readonly query: Query }
  | { readonly page: "run"; readonly run: string; readonly query: Query }
  | { readonly page: "turn"; readonly run: string; readonly episode: string; readonly turn: number; readonly query: Query }
  /** Starting, watching and finding again the runs of this machine; `at` is the live run that is watched. */
  | { readonly page: "runs"; readonly view: RunsView; readonly at?: string; readonly query: Query }
  | { readonly page: "report"; readonly source: number; readonly query: Query }
  | { readonly page: "policy"; readonly query: Query };

export type Page = Route["page"];

export const runsViews = ["new", "live", "finished"] as const;
export type RunsView = (typeof runsViews)[number];

const SCHEME = "stamina://";

/** `run/x/y/3?test=c003`: what both clothes share. */
export function pathOf(route: Route): string {
  const words: string[] = ((): string[] => {
    switch (route.page) {
      case "run":
        return ["run", route.run];
      case "turn":
        return ["run", route.run, route.episode, String(route.turn)];
      case "runs":
        return ["runs", route.view, ...(route.at === undefined ? [] : [route.at])];
      case "report":
        return ["report", String(route.source)];
      default:
        return [route.page];
    }
  })();
  const query = new URLSearchParams(Object.entries(route.query).filter(([, value]) => value !== "")).toString();
  return words.map(encodeURIComponent).join("/") + (query ? `?${query}` : "");
}

export const hrefOf = (route: Route): string => `#/${pathOf(route)}`;
export const linkOf = (route: Route): string => SCHEME + pathOf(route);

function decode(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

function wholeNumber(word: string | undefined): number | undefined {
  return word !== undefined && /^\d{1,9}$/.test(word) ? Number(word) : undefined;
}

/** Reads `#/…`, `stamina://…` or the bare path; `undefined` if it names no page. */
export function parseRoute(text: string): Route | undefined {
  let rest = text.trim();
  if (rest.startsWith(SCHEME)) rest = rest.slice(SCHEME.length);
  rest = rest.replace(/^#/, "").replace(/^\/+/, "");
  const [path = "", ...queries] = rest.split("?");
  const query: Query = Object.fromEntries(new URLSearchParams(queries.join("?")));
  const words = path
    .split("/")
    .filter((word) => word !== "")
    .map(decode);
  const [page, first, second, third] = words;
  switch (page) {
    case undefined:
      return { page: "library", query };
    case "library":
    case "scenarios":
    case "compare":
    case "side-by-side":
    case "matrix":
    case "failures":
    case "start":
    case "open-failed":
    case "policy":
      return words.length === 1 ? { page, query } : undefined;
    case "run": {
      if (first === undefined) return undefined;
      if (second === undefined) return { page: "run", run: first, query };
      // `stamina://run/<run>/<episode>/turn/8`, as people write it, is understood too.
      const turn = wholeNumber(third === "turn" ? words[4] : third);
      if (third === undefined) return { page: "run", run: first, query: { ...query, episode: second } };
      return turn === undefined || turn < 1 ? undefined : { page: "turn", run: first, episode: second, turn, query };
    }
    case "runs": {
      const view = first === undefined ? "new" : runsViews.find((known) => known === first);
      if (view === undefined || words.length > 3 || (second !== undefined && view !== "live")) return undefined;
      return second === undefined ? { page: "runs", view, query } : { page: "runs", view, at: second, query };
    }
    case "report": {
      const source = wholeNumber(first);
      return source === undefined ? undefined : { page: "report", source, query };
    }
    default:
      return undefined;
  }
}

/** Whether two addresses name one page, whatever is chosen on it. */
export function isSamePage(a: Route, b: Route): boolean {
  return pathOf({ ...a, query: {} }) === pathOf({ ...b, query: {} });
}

/** Whether it is a list that leads to runs and turns, besides the library. */
const leadsDown = (route: Route): boolean =>
  route.page === "compare" ||
  route.page === "side-by-side" ||
  route.page === "matrix" ||
  route.page === "failures" ||
  (route.page === "runs" && route.view !== "new");

/**
 * Where Esc leads from a run, a turn, a comparison or the details of a run: to the list from which the reader came to it, as they
 * left it. `undefined` = they came from the page above. `before` are the pages before this one, the latest first.
 */
export function listBefore(current: Route, before: readonly Route[]): Route | undefined {
  const below: readonly Page[] = ["turn", "run"];
  if (current.page === "compare") {
    const from = before.find((route) => route.page !== "compare" && route.page !== "side-by-side" && !below.includes(route.page));
    return from?.page === "matrix" ? from : undefined;
  }
  if (current.page === "runs") {
    const from = before.find((route) => !isSamePage(route, current) && !below.includes(route.page));
    return current.at !== undefined && from?.page === "runs" && from.view === "finished" ? from : undefined;
  }
  if (current.page !== "turn" && current.page !== "run") return undefined;
  const from = before.find((route) => route.page !== "turn" && !(route.page === "run" && current.page === "run"));
  return from !== undefined && leadsDown(from) ? from : undefined;
}

/** Of several links the place of the one that leads nearest to a page: the same place, the same attempt, the same page, its episode, its run. -1 = none does. */
export function nearestLink(hrefs: readonly string[], to: Route): number {
  const near = hrefs.map((href) => nearness(parseRoute(href), to));
  const nearest = Math.max(0, ...near);
  return nearest === 0 ? -1 : near.indexOf(nearest);
}

function nearness(link: Route | undefined, to: Route): number {
  if (link?.page === "compare" && to.page === "compare") return hrefOf(link) === hrefOf(to) ? 5 : 1;
  if ((link?.page !== "run" && link?.page !== "turn") || (to.page !== "run" && to.page !== "turn") || link.run !== to.run) return 0;
  if (hrefOf(link) === hrefOf(to)) return 5;
  if (isSamePage(link, to)) return link.query["attempt"] === to.query["attempt"] ? 4 : 3;
  return link.page === "turn" && to.page === "turn" && link.episode === to.episode ? 2 : 1;
}

/** The same page with some of its query changed; `null` takes a name away. */
export function withQuery<R extends Route>(route: R, changes: Readonly<Record<string, string | null>>): R {
  const query: Record<string, string> = { ...route.query };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") Reflect.deleteProperty(query, name);
    else query[name] = value;
  }
  return { ...route, query };
}
