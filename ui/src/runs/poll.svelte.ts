// Reading that goes on by itself: at once, again when the library changes, and every second while what is looked at is
// being played and the window is seen.
import { untrack } from "svelte";
import { asCallError, type CallError } from "../host";
import { appStatus } from "../shell/changes.svelte";

export const EVERY_MS = 1000;

export interface Polled<T> {
  readonly data: T | undefined;
  readonly error: CallError | undefined;
  /** Takes an answer that came by another way (what a command gave back). */
  setData(data: T): void;
  reload(): void;
}

/**
 * `key` names what is read (`undefined` = nothing); when it changes, the old answer goes. `read` gets the key and what
 * was read before. `playing` says whether to ask again in a second. Call during set-up.
 */
export function polled<T>(
  key: () => string | undefined,
  read: (key: string, before: T | undefined) => Promise<T>,
  playing: (data: T) => boolean,
): Polled<T> {
  let data = $state.raw<T | undefined>();
  let error = $state.raw<CallError | undefined>();
  let again = $state(0);
  let seen: string | undefined;
  // What the key is made of may be told anew without being another: only another key is read at once.
  const wanted = $derived(key());

  $effect(() => {
    const now = wanted;
    if (appStatus.revision < 0 || again < 0) return;
    let stopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    untrack(() => {
      if (now !== seen) {
        data = undefined;
        error = undefined;
        seen = now;
      }
    });
    const step = async (): Promise<void> => {
      if (now === undefined) return;
      let goOn = true;
      try {
        const answer = await read(
          now,
          untrack(() => data),
        );
        if (stopped) return;
        data = answer;
        error = undefined;
        goOn = playing(answer);
      } catch (thrown) {
        if (stopped) return;
        error = asCallError(thrown);
      }
      if (goOn) timer = setTimeout(next, EVERY_MS);
    };
    // A window that nobody sees asks nothing; it asks again when it is seen.
    const next = (): void => {
      if (document.hidden) document.addEventListener("visibilitychange", next, { once: true });
      else void step();
    };
    void step();
    return () => {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", next);
    };
  });

  return {
    get data() {
      return data;
    },
    get error() {
      return error;
    },
    setData(answer: T) {
      data = answer;
    },
    reload() {
      again += 1;
    },
  };
}
