// Opening a folder or zip, from wherever it was asked: dialog, drop, recent list, command line, link.
import { asCallError, call, host, type CallError } from "../host";
import type { SourceInfo } from "../host/bindings/SourceInfo";
import { counted } from "../parts/format";
import { countsInWords } from "../parts/severity";
import { appStatus, refreshApp } from "../shell/changes.svelte";
import { parseRoute, router } from "../shell/router.svelte";
import { localRuns } from "../shell/runs.svelte";
import { toasts } from "../shell/toasts.svelte";
import { beginTour, tour } from "../tour/tour.svelte";

/** Why the last thing could not be opened, and what it was. */
export interface Failure {
  readonly path: string;
  readonly error: CallError;
  /** The path of the importer that it was to be opened with; `undefined` = without one. */
  readonly importer?: string | undefined;
}

let looking = $state.raw<string | undefined>();
let failure = $state.raw<Failure | undefined>();
/** What the dialog for a typed path should say; `undefined` = closed. */
let asking = $state.raw<{ kind: "folder" | "zip"; because?: string } | undefined>();
/** The path that the dialog for an importer begins with; `undefined` = closed. */
let importing = $state.raw<string | undefined>();

export const opening = {
  /** The path that is being looked at right now. */
  get looking(): string | undefined {
    return looking;
  },
  get failure(): Failure | undefined {
    return failure;
  },
  get asking(): { kind: "folder" | "zip"; because?: string } | undefined {
    return asking;
  },
  askPath(kind: "folder" | "zip", because?: string): void {
    asking = because === undefined ? { kind } : { kind, because };
  },
  stopAsking(): void {
    asking = undefined;
  },
  get importing(): string | undefined {
    return importing;
  },
  askImporter(path = ""): void {
    importing = path;
  },
  stopAskingImporter(): void {
    importing = undefined;
  },
};

/** Sources that are being read, as far as this window knows. */
let reading = new Set<number>();
/** The sample while it is read for the first time: the tour begins when it has been. */
let tourOf: number | undefined;

/** What a scenario pack is recognized as; it has a page of its own. */
export const PACK = "Scenario pack";

export const baseName = (path: string): string =>
  path
    .replace(/[/\\]+$/, "")
    .split(/[/\\]/)
    .at(-1) ?? path;

/** Opens a path and goes to what it holds, or to the page that says why not. */
export function openPath(path: string): Promise<SourceInfo | undefined> {
  return opened(path, undefined, () => call("open_source", { path }));
}

/** The same through the table that an importer makes of it now. Only for what a person opens with that importer: it is executed. */
export function openWithImporter(
  path: string,
  importer: string,
  columns: Readonly<Record<string, string>> = {},
): Promise<SourceInfo | undefined> {
  return opened(path, importer, () => call("open_with_importer", { path, importer, columns }));
}

async function opened(path: string, importer: string | undefined, open: () => Promise<SourceInfo>): Promise<SourceInfo | undefined> {
  looking = path;
  try {
    const source = await open();
    // A small folder has been read before its state is asked for the first time.
    reading.add(source.id);
    await refreshApp();
    router.go({ page: source.format === PACK ? "scenarios" : "library", query: { source: String(source.id) } });
    return source;
  } catch (thrown) {
    failure = { path, error: asCallError(thrown), importer };
    router.go({ page: "open-failed", query: { path } });
    return undefined;
  } finally {
    looking = undefined;
  }
}

/** Opens several, one after the other; the last one is shown. */
export async function openPaths(paths: readonly string[]): Promise<void> {
  for (const path of paths) await openPath(path);
}

/** What the system handed over: a path, or a link of Stamina Lab. */
export async function openAny(pathOrLink: string): Promise<void> {
  const route = pathOrLink.startsWith("stamina://") ? parseRoute(pathOrLink) : undefined;
  if (route) router.go(route);
  else await openPath(pathOrLink);
}

/** Asks for a folder or a zip, with the system's dialog where there is one. */
export async function pick(kind: "folder" | "zip"): Promise<void> {
  const path = await (kind === "folder" ? host.pickFolder() : host.pickZip());
  if (path === undefined) opening.askPath(kind);
  else if (path !== null) await openPath(path);
}

/** Opens the sample. The first look at it begins the tour of the page of a run; later looks do where `withTour` asks for it. */
export async function openSample(withTour = false): Promise<void> {
  const sample = appStatus.app?.sample;
  if (sample === null || sample === undefined) return;
  const loaded = appStatus.app?.sources.find((source) => source.path === sample && source.status === "ready");
  const wanted = withTour || !tour.seen;
  if (loaded) {
    if (wanted && (await beginTour(loaded.id).catch(() => false))) return;
    router.go({ page: "library", query: { source: String(loaded.id) } });
    return;
  }
  const opened = await openPath(sample);
  if (!wanted || !opened) return;
  tourOf = opened.id;
  noticeRead(appStatus.app?.sources ?? []);
}

/** Takes a source out of the library; for 10 s the notice offers to take that back. */
export async function removeSource(source: SourceInfo): Promise<void> {
  try {
    await call("close_source", { source: source.id });
    await refreshApp();
    if (router.page.query["source"] === String(source.id)) router.replace({ page: "library", query: {} });
    toasts.show({
      kind: "done",
      title: `${source.name} removed from the library`,
      detail: "The folder itself was not touched.",
      ms: 10_000,
      action: {
        label: "Undo",
        run: () => {
          void call("restore_source", { source: source.id }).then(refreshApp, showFailure("It could not be restored"));
        },
      },
    });
  } catch (thrown) {
    showFailure("It could not be removed")(thrown);
  }
}

export function showFailure(title: string): (thrown: unknown) => void {
  return (thrown) => {
    const error = asCallError(thrown);
    toasts.show({ kind: "error", title, detail: [error.message, error.hint].filter(Boolean).join(" ") });
  };
}

/** Tells when a source has been read. Call in an effect that follows `appStatus.app`. */
export function noticeRead(sources: readonly SourceInfo[]): void {
  // A run that is played here is read again after every attempt: that is no news.
  const own = new Set((localRuns.data?.runs ?? []).map((run) => run.folder));
  for (const source of sources) {
    if (source.id === tourOf && source.status !== "reading") {
      tourOf = undefined;
      // Whoever went on meanwhile is not called back.
      if (source.status === "ready" && router.page.query["source"] === String(source.id))
        void beginTour(source.id).catch(showFailure("The tour could not begin"));
    }
    if (!reading.has(source.id) || source.status === "reading" || own.has(source.path)) continue;
    const report = { label: "Report", run: () => router.go({ page: "report", source: source.id, query: {} }) };
    const detail = `${counted(source.runs, "run")}, ${countsInWords(source.severities)}`;
    if (source.status === "ready") toasts.show({ kind: "done", title: `${source.name} read`, detail, action: report });
    else toasts.show({ kind: "warning", title: `${source.name}: reading stopped`, detail: source.message ?? detail, action: report });
  }
  reading = new Set(sources.filter((source) => source.status === "reading").map((source) => source.id));
}
