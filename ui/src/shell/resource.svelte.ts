// Reading for pages. `resource("get_run", () => ({ run }))` reads when its request changes and again when something
// in the library changes; until the new answer is there, the old one stays.
import { untrack } from "svelte";
import { asCallError, call, type CallError, type CommandName, type RequestOf, type ResponseOf } from "../host";
import type { Changes } from "../host/bindings/Changes";
import { appStatus } from "./changes.svelte";

/** Old content is dimmed only when the answer takes longer than this. */
const SLOW_MS = 150;

export interface ResourceOptions {
  /** Which changes matter; all, if not said. */
  concerns?: (changes: Changes) => boolean;
  /** While this stays the same, the old answer stays in view; when it changes, it goes (another run, for instance). */
  identity?: () => string;
  /** Do not read again when the library changes. */
  still?: boolean;
}

export interface Resource<T> {
  readonly data: T | undefined;
  readonly error: CallError | undefined;
  readonly loading: boolean;
  /** The old answer is shown and the new one is late: dim it. */
  readonly stale: boolean;
  reload(): void;
}

/** Must be called while a component is set up. `request` may return `undefined`: nothing to read yet. */
export function resource<K extends CommandName>(
  name: K,
  request: () => RequestOf<K> | undefined,
  options: ResourceOptions = {},
): Resource<ResponseOf<K>> {
  let data = $state.raw<ResponseOf<K> | undefined>();
  let error = $state.raw<CallError | undefined>();
  let loading = $state(false);
  let stale = $state(false);
  let again = $state(0);
  let lastRead: { requestText: string; identity: string; revision: number; again: number } | undefined;
  let latest = 0;
  /** The library changed while an answer was under way: read once more after it, do not start over. */
  let outdated = false;
  const isOutdated = (): boolean => outdated;

  async function read(current: RequestOf<K>): Promise<void> {
    latest += 1;
    const mine = latest;
    loading = true;
    outdated = false;
    const timer = setTimeout(() => {
      if (mine === latest) stale = true;
    }, SLOW_MS);
    try {
      const answer = await call(name, current);
      if (mine !== latest) return;
      data = answer;
      error = undefined;
    } catch (thrown) {
      if (mine !== latest) return;
      error = asCallError(thrown);
    } finally {
      clearTimeout(timer);
      if (mine === latest) {
        loading = false;
        stale = false;
        if (isOutdated()) void read(current);
      }
    }
  }

  $effect(() => {
    const current = request();
    const revision = appStatus.revision;
    const identity = options.identity?.() ?? "";
    const requestText = current === undefined ? "" : JSON.stringify(current);
    const now = { requestText, identity, revision, again };
    untrack(() => {
      const before = lastRead;
      lastRead = now;
      if (before?.identity !== identity && before !== undefined) {
        data = undefined;
        error = undefined;
      }
      if (current === undefined) {
        latest += 1;
        loading = false;
        return;
      }
      const isOther = before?.requestText !== requestText || before.identity !== identity || before.again !== again;
      const concerned =
        before !== undefined &&
        before.revision !== revision &&
        options.still !== true &&
        (options.concerns === undefined ||
          appStatus.changes === undefined ||
          appStatus.changes.everything ||
          options.concerns(appStatus.changes));
      if (isOther) void read(current);
      else if (concerned && loading) outdated = true;
      else if (concerned) void read(current);
    });
  });

  return {
    get data() {
      return data;
    },
    get error() {
      return error;
    },
    get loading() {
      return loading;
    },
    get stale() {
      return stale && data !== undefined;
    },
    reload() {
      again += 1;
    },
  };
}
