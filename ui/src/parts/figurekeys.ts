// The keys of a page that is about one figure and what is chosen in it: table, up.
import type { Meaning } from "../shell/keyboard.svelte";
import { router } from "../shell/router.svelte";

interface FigurePage {
  /** Shows the figure as a table, or as a figure again. */
  readonly table: () => void;
  /** Gives up what is chosen; whether anything was. */
  readonly clear: () => boolean;
}

/** What such a page gives to `provide`. Up leads from a choice to none, and from none to the library. */
export function figureKeys(page: FigurePage): Record<"go.up" | "run.table", Meaning> {
  return {
    "go.up": () => {
      if (!page.clear()) router.up({ page: "library", query: {} });
      return true;
    },
    "run.table": page.table,
  };
}
