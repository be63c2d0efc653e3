// What is said of the number at a place of the page. An element says which number it is (`data-explain`); a cell of a table is
// what the head of its column is. Around it stand the run, the reference and τ.
import entries from "virtual:explained";
import type { Route } from "../shell/routes";
import { type ExplainKey, isExplainKey } from "./keys";
import type { Explanation } from "./parse";

const byKey = new Map(entries.map((entry) => [entry.key, entry]));

export const explanationOf = (key: ExplainKey): Explanation | undefined => byKey.get(key);

/** A number of a page. */
export interface Explained {
  readonly key: ExplainKey;
  readonly run: string | null;
  readonly reference: string | null;
  readonly tau: string | null;
  /** Results folder of a run that is or was played here. */
  readonly folder?: string | null;
  /** The turn at whose numbers one looks, and its episode. */
  readonly episode?: string | null;
  readonly turn?: string | null;
}

/** The lowest head over each column. A head that spans rows stands over the ones below, too. */
function lowestHeads(rows: Iterable<HTMLTableRowElement>): Element[] {
  const lowest: Element[] = [];
  /** Of each column the first row that no head from above reaches into. */
  const free: number[] = [];
  for (const [y, row] of [...rows].entries()) {
    let column = 0;
    for (const head of row.cells) {
      while ((free[column] ?? 0) > y) column += 1;
      for (const end = column + head.colSpan; column < end; column += 1) {
        lowest[column] = head;
        free[column] = y + head.rowSpan;
      }
    }
  }
  return lowest;
}

/** The head of the column in which a cell stands. */
function headOf(cell: HTMLTableCellElement): Element | null {
  const heads = cell.closest("table")?.tHead?.rows;
  const cells = cell.parentElement instanceof HTMLTableRowElement ? cell.parentElement.cells : undefined;
  if (!heads || !cells) return null;
  // A head is what it says itself.
  if (cell.closest("thead") !== null) return cell;
  let column = 0;
  for (const before of cells) {
    if (before === cell) break;
    column += before.colSpan;
  }
  return lowestHeads(heads)[column] ?? null;
}

/** The number to which an element belongs. */
export function explainedAt(from: Element | null): Explained | undefined {
  const cell = from?.closest<HTMLTableCellElement>("td,th") ?? null;
  const own = from?.closest("[data-explain]") ?? null;
  // What stands around a table says nothing of its single columns.
  const element = cell === null || (own !== null && cell.contains(own)) ? own : headOf(cell);
  const key = element?.getAttribute("data-explain");
  if (!isExplainKey(key)) return undefined;
  const near = (name: string): string | null => (from?.closest(`[${name}]`) ?? element?.closest(`[${name}]`))?.getAttribute(name) ?? null;
  return {
    key,
    run: near("data-explain-run"),
    reference: near("data-explain-reference"),
    tau: near("data-explain-tau"),
    folder: near("data-explain-folder"),
    episode: near("data-explain-episode"),
    turn: near("data-explain-turn"),
  };
}

/** Every number of the page, each once, in the order in which they stand. */
export function explainedOn(page: ParentNode): Explained[] {
  const found = new Map<ExplainKey, Explained>();
  for (const element of page.querySelectorAll("[data-explain]")) {
    const one = explainedAt(element);
    if (one && !found.has(one.key)) found.set(one.key, one);
  }
  return [...found.values()];
}

/** A path or id as one word of a shell. */
const asWord = (text: string): string => (/^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);

/** A command or code with what is known of the place in it. */
export function fillPlaceholders(text: string, at: Omit<Explained, "key">): string {
  const names: Readonly<Record<string, string | null | undefined>> = {
    RUN: at.run,
    REFERENCE: at.reference,
    TAU: at.tau,
    FOLDER: at.folder,
    EPISODE: at.episode,
    TURN: at.turn,
  };
  return text.replace(/("?)\b(RUN|REFERENCE|TAU|FOLDER|EPISODE|TURN)\b/g, (whole: string, quote: string, name: string) => {
    const known = names[name];
    if (known == null) return whole;
    // Code has names in quotation marks, a command has words.
    return quote === "" ? asWord(known) : quote + known;
  });
}

/** Where the inputs of a number are looked at. */
export function inputsRoute(entry: Explanation, at: Pick<Explained, "run">, current: Route): Route {
  switch (entry.inputs) {
    case "runs":
      return { page: "library", query: {} };
    case "matrix":
      return current.page === "matrix" ? current : { page: "matrix", query: {} };
    case "prices":
    case "report":
    case "validation":
      return current;
    case "live":
      return current.page === "runs" ? current : { page: "runs", view: "live", query: {} };
    case "sessions":
      return at.run === null ? current : { page: "run", run: at.run, query: {} };
    case "pairs":
      return current.page === "compare" ? { ...current, query: { ...current.query, numbers: "tests" } } : { page: "compare", query: {} };
    default:
      // Members of a comparison that are groups have no page of their own.
      return at.run === null || /[:@]/.test(at.run) ? current : { page: "run", run: at.run, query: { view: "table" } };
  }
}
