// What a page writes into the bars that all pages share: the window's title and the status bar.
import type { Route } from "./routes";

export interface PageStatus {
  /** At the left: what the page shows and how it is doing. */
  readonly text?: string;
  /** Import warnings that concern the page, and where to read them. */
  readonly warnings?: { readonly count: number; readonly text: string; readonly to: Route } | undefined;
}

let status = $state.raw<PageStatus | undefined>();

export const chrome = {
  get status(): PageStatus | undefined {
    return status;
  },
};

/** Sets the status bar while the component lives. Call during set-up. */
export function pageStatus(read: () => PageStatus): void {
  $effect(() => {
    status = read();
    return () => {
      status = undefined;
    };
  });
}

/** Sets the window's title while the component lives. Call during set-up. */
export function pageTitle(read: () => string): void {
  $effect(() => {
    document.title = `${read()} · Stamina Lab`;
  });
}
