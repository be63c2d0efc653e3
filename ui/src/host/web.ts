// The browser: commands go to `stamina serve` over HTTP. The token comes with the address once and is then kept for
// this tab, so that it does not stand in the address bar or in the history.
import { asCallError, CallError, copyPicture, copyText, download, isApiError, isMac, type Host } from "./host";

const KEY = "stamina-token";
/** Chromium drops what is under way whenever a network of this machine comes or goes, as those of containers do all the time
 *  while a run is played. What only reads is asked once more. */
const READS =
  /^(get_|list_|run_|read_|check_|estimate_|compare_|code_|draw_|search$|app_state$|wait_for_changes$|launch_form$|preflight_run$|live_log$|key_known$|import_report$)/;
const AGAIN_MS = 250;

function takeToken(): string {
  const fromHash = /^#token=([^&/]+)/.exec(location.hash)?.[1];
  const query = new URLSearchParams(location.search);
  const given = fromHash ?? query.get("token");
  if (given) {
    sessionStorage.setItem(KEY, given);
    query.delete("token");
    const rest = query.toString();
    const hash = fromHash === undefined ? location.hash : location.hash.replace(/^#token=[^&]*&?/, "");
    history.replaceState(null, "", `${location.pathname}${rest ? `?${rest}` : ""}${hash ? `#${hash.replace(/^#/, "")}` : ""}`);
    return given;
  }
  const meta = document.querySelector<HTMLMetaElement>('meta[name="stamina-token"]')?.content;
  return meta ?? sessionStorage.getItem(KEY) ?? "";
}

export function webHost(): Host {
  const token = takeToken();
  return {
    kind: "browser",
    mac: isMac(),
    async call(name, request, signal) {
      const sendRequest = (): Promise<Response> =>
        fetch(`rpc/${name}`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-stamina-token": token },
          body: JSON.stringify(request),
          signal: signal ?? null,
        });
      let response: Response;
      try {
        try {
          response = await sendRequest();
        } catch (thrown) {
          if (signal?.aborted || !READS.test(name)) throw thrown;
          await new Promise((done) => setTimeout(done, AGAIN_MS));
          response = await sendRequest();
        }
      } catch (thrown) {
        if (signal?.aborted) throw asCallError(thrown);
        throw new CallError({
          code: "host.unreachable",
          message: "The server does not answer",
          hint: "Start `stamina serve` again, then reload this page.",
          path: null,
          not_recognised: null,
        });
      }
      const text = await response.text();
      let body: unknown;
      try {
        body = JSON.parse(text);
      } catch {
        body = undefined;
      }
      if (response.ok && body !== undefined) return body as never;
      if (isApiError(body)) throw new CallError(body);
      throw new CallError({
        code: response.status === 401 || response.status === 403 ? "host.token" : "host.failed",
        message:
          response.status === 401 || response.status === 403
            ? "This page has no valid token for the server"
            : `The server answered ${String(response.status)} to ${name}`,
        hint: "Open the address that `stamina serve` printed.",
        path: null,
        not_recognised: null,
      });
    },
    pickFolder: () => Promise.resolve(undefined),
    pickZip: () => Promise.resolve(undefined),
    onDrop(notify) {
      // A browser hides where a dropped folder lies, and the server reads it in place, so it can only be named.
      let depth = 0;
      const hasFiles = (e: DragEvent): boolean => e.dataTransfer?.types.includes("Files") ?? false;
      const enter = (e: DragEvent): void => {
        if (!hasFiles(e)) return;
        depth += 1;
        if (depth === 1) notify({ kind: "over", paths: null });
      };
      const leave = (e: DragEvent): void => {
        if (!hasFiles(e)) return;
        depth = Math.max(0, depth - 1);
        if (depth === 0) notify({ kind: "leave" });
      };
      const over = (e: DragEvent): void => {
        if (hasFiles(e)) e.preventDefault();
      };
      const drop = (e: DragEvent): void => {
        if (!hasFiles(e)) return;
        e.preventDefault();
        depth = 0;
        notify({ kind: "refused" });
      };
      const stop = new AbortController();
      const { signal } = stop;
      addEventListener("dragenter", enter, { signal });
      addEventListener("dragleave", leave, { signal });
      addEventListener("dragover", over, { signal });
      addEventListener("drop", drop, { signal });
      return () => {
        stop.abort();
      };
    },
    onOpened: () => () => undefined,
    // The server continues its runs when the page is closed.
    onQuitAsked: () => () => undefined,
    quit: () => Promise.resolve(),
    setMenu: () => Promise.resolve(),
    copy: copyText,
    copyPicture,
    pickSave: () => Promise.resolve(undefined),
    download,
  };
}
