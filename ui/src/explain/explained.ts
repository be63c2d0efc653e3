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
}

/** The head of the column in which a cell stands. */
function headOf(cell: HTMLTableCellElement): Element | null {
  const heads = cell.closest("table")?.tHead?.rows;
  const row = heads?.[heads.length - 1];
  const cells = cell.parentElement instanceof HTMLTableRowElement ? cell.parentElement.cells : undefined;
  if (!row || !cells) return null;
  let column = 0;
  for (const before of cells) {
    if (before === cell) break;
    column += before.colSpan;
  }
  for (const head of row.cells) {
    if (column < head.colSpan) return head;
    column -= head.colSpan;
  }
  return null;
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

/** A path as one word of a shell. */
const asWord = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`);

/** A command or code with what is known of the place in it. */
export function fillPlaceholders(text: string, at: Pick<Explained, "run" | "reference" | "tau" | "folder">): string {
  const names: Readonly<Record<string, string | null>> = {
    RUN: at.run,
    REFERENCE: at.reference,
    TAU: at.tau,
    FOLDER: at.folder == null ? null : asWord(at.folder),
  };
  return text.replace(/\b(?:RUN|REFERENCE|TAU|FOLDER)\b/g, (name) => names[name] ?? name);
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
