// Saved views: pages with their filters and choices, under a name. They are kept in the library, not on this machine.
import { call } from "../host";
import type { SavedView } from "../host/bindings/SavedView";
import { showFailure } from "../open/opening.svelte";
import { refreshApp } from "../shell/changes.svelte";
import type { Route } from "../shell/routes";
import { toasts } from "../shell/toasts.svelte";

let wanted = $state.raw<Route | undefined>();

export const savingView = {
  /** While it is set the dialog asks for a name of it. */
  get route(): Route | undefined {
    return wanted;
  },
};

/** Whether this page is more than a place that every library has. */
export const canBeView = (route: Route): boolean =>
  (route.page === "compare" && route.query["members"] !== undefined) ||
  ((route.page === "library" || route.page === "matrix" || route.page === "failures") && Object.keys(route.query).length > 0);

/** Asks for a name for a page; whether there is anything to keep. */
export function askForView(route: Route): boolean {
  if (!canBeView(route)) return false;
  wanted = route;
  return true;
}
export function closeView(): void {
  wanted = undefined;
}

/** Forgets a view; the notice takes it back. */
export async function removeView(view: SavedView): Promise<void> {
  try {
    await call("remove_view", { name: view.name });
    await refreshApp();
    toasts.show({
      kind: "done",
      title: `View “${view.name}” removed`,
      detail: "The runs that it showed stay.",
      ms: 10_000,
      action: { label: "Undo", run: () => void call("save_view", view).then(refreshApp, showFailure("It could not be restored")) },
    });
  } catch (thrown) {
    showFailure("The view could not be removed")(thrown);
  }
}
