// The runs that are played on this machine, for the tab, the pages of runs and the palette: asked for again whenever
// something changed, and by whoever just changed something.
import { asCallError, call, type CallError } from "../host";
import type { LiveRuns } from "../host/bindings/LiveRuns";
import { appStatus } from "./changes.svelte";

let data = $state.raw<LiveRuns | undefined>();
let error = $state.raw<CallError | undefined>();
let latest = 0;

export const localRuns = {
  /** `undefined` until the first answer. */
  get data(): LiveRuns | undefined {
    return data;
  },
  get error(): CallError | undefined {
    return error;
  },
  /** How many are being played right now. */
  get live(): number {
    return data?.live ?? 0;
  },
};

/** Asks now. */
export async function refreshRuns(): Promise<void> {
  latest += 1;
  const mine = latest;
  try {
    const answer = await call("list_live_runs", {});
    if (mine !== latest) return;
    data = answer;
    error = undefined;
  } catch (thrown) {
    if (mine === latest) error = asCallError(thrown);
  }
}

/** Follows the changes of the workbench while the component lives. Call during set-up. */
export function followRuns(): void {
  $effect(() => {
    if (appStatus.app === undefined || appStatus.revision < 0) return;
    void refreshRuns();
  });
}
