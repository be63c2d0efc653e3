// Live refresh: one loop waits for the workbench to say that something changed; pages that read through `resource`
// then read again, in place.
import { asCallError, call, type CallError } from "../host";
import type { AppState } from "../host/bindings/AppState";
import type { Changes } from "../host/bindings/Changes";

const CALM_MS = 300;

let app = $state.raw<AppState | undefined>();
let changes = $state.raw<Changes | undefined>();
let revision = $state(0);
let lost = $state.raw<CallError | undefined>();

/** The state of the app and what changed last. */
export const appStatus = {
  /** `undefined` until the first answer. */
  get app(): AppState | undefined {
    return app;
  },
  /** Goes up by one with every change. */
  get revision(): number {
    return revision;
  },
  /** What the last change was about. */
  get changes(): Changes | undefined {
    return changes;
  },
  /** Why the workbench cannot be reached, while it cannot. */
  get lost(): CallError | undefined {
    return lost;
  },
};

/** Reads the state of the app now; for after an action of ones own. */
export async function refreshApp(): Promise<void> {
  app = await call("app_state", {});
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Runs until the window closes. */
export async function follow(): Promise<never> {
  let known: number | undefined;
  let waited = 250;
  for (;;) {
    try {
      if (known === undefined) {
        await refreshApp();
        known = app?.change ?? 0;
        if (lost) revision += 1;
      } else {
        // words: ok, a key of the command
        const answer: Changes = await call("wait_for_changes", { since: known, timeout_ms: 20_000 });
        if (answer.change !== known) {
          known = answer.change;
          await refreshApp();
          changes = answer;
          revision += 1;
          // While a folder is being read changes never stop coming; pages follow them at a calm pace.
          await pause(CALM_MS);
        }
      }
      lost = undefined;
      waited = 250;
    } catch (thrown) {
      lost = asCallError(thrown);
      known = undefined;
      await pause(waited);
      waited = Math.min(waited * 2, 4000);
    }
  }
}
