// What the UI needs from whatever runs it. Only this folder knows whether that is the desktop app or a browser;
// everything else calls `host.call(name, request)` and is the same in both.
import type { ApiError } from "./bindings/ApiError";
import type { Commands } from "./bindings/Commands";

export type CommandName = keyof Commands;
export type RequestOf<K extends CommandName> = Commands[K]["request"];
export type ResponseOf<K extends CommandName> = Commands[K]["response"];

/** A failed command. `code` decides, `message` is for people. */
export class CallError extends Error {
  readonly code: string;
  readonly hint: string | null;
  readonly path: string | null;
  readonly detail: ApiError;
  constructor(detail: ApiError) {
    super(detail.message);
    this.name = "CallError";
    this.detail = detail;
    this.code = detail.code;
    this.hint = detail.hint;
    this.path = detail.path;
  }
}

/** What happens to files that are dragged over the window. */
export type DropEvent =
  | { kind: "over"; paths: readonly string[] | null }
  | { kind: "leave" }
  | { kind: "drop"; paths: readonly string[] }
  /** The platform gives no paths (a browser). */
  | { kind: "refused" };

/** What ends with the process that runs this window: runs that it plays, and running attempts of them. */
export interface InFlight {
  readonly runs: number;
  readonly attempts: number;
}

/** One menu of the native menu bar; ids are commands of `shell/commands.ts`. */
export interface MenuSpec {
  readonly title: string;
  readonly items: readonly ({ readonly id: string; readonly label: string; readonly keys: string | null } | "separator")[];
}

export interface Host {
  readonly kind: "desktop" | "browser";
  readonly mac: boolean;
  /** Runs a command of the workbench. Throws [`CallError`]. */
  call<K extends CommandName>(name: K, request: RequestOf<K>, signal?: AbortSignal): Promise<ResponseOf<K>>;
  /** Asks for a folder with a native dialog; `undefined` = this host has none, `null` = canceled. */
  pickFolder(): Promise<string | null | undefined>;
  /** Asks for a zip with a native dialog; see `pickFolder`. */
  pickZip(): Promise<string | null | undefined>;
  /** Tells of files dragged over the window. Returns how to stop listening. */
  onDrop(notify: (event: DropEvent) => void): () => void;
  /** Tells of paths and `stamina://` links that the system hands over (`stamina open`, a second start). */
  onOpened(notify: (pathOrLink: string) => void): () => void;
  /** Tells that the window is to be closed while its process plays runs. Returns how to stop listening. */
  onQuitAsked(notify: (inFlight: InFlight) => void): () => void;
  /** Closes the window as its button does; `undefined` = this host has none. */
  close?(): Promise<void>;
  /** Ends the app, once its runs have stopped or at once. */
  quit(atOnce: boolean): Promise<void>;
  /** Builds the native menu bar, where there is one. */
  setMenu(menus: readonly MenuSpec[], run: (id: string) => void): Promise<void>;
  /** Copies text to the clipboard. What is still to be made is handed over as a promise, within the click that asks for it. */
  copy(text: string | Promise<string>): Promise<void>;
  /** Copies a PNG to the clipboard; see `copy`. */
  copyPicture(png: Promise<Blob>): Promise<void>;
  /** Asks with a native dialog where to save a file; `undefined` = this host has none (then `download`), `null` = canceled. */
  pickSave(fileName: string): Promise<string | null | undefined>;
  /** Hands a file to the browser, which saves it where it saves files. */
  download(fileName: string, content: Blob): void;
}

export function isApiError(value: unknown): value is ApiError {
  return typeof value === "object" && value !== null && "code" in value && "message" in value;
}

/** Whatever was thrown, as the one error type of the UI. */
export function asCallError(thrown: unknown): CallError {
  if (thrown instanceof CallError) return thrown;
  if (isApiError(thrown)) return new CallError(thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new CallError({ code: "host.failed", message, hint: null, path: null, not_recognised: null });
}

/** Whether ⌘ takes the place of Ctrl. */
export const isMac = (): boolean => /\bMac OS X\b/.test(navigator.userAgent);

/** The right to write to the clipboard ends soon after the click; a promise that is handed over within it may take longer. */
async function writeLater(type: string, content: Promise<Blob>): Promise<void> {
  await navigator.clipboard.write([new ClipboardItem({ [type]: content })]);
}

/** Copies text; where the clipboard may not be written directly (older WebKit), through a selection. */
export async function copyText(text: string | Promise<string>): Promise<void> {
  try {
    if (typeof text === "string") await navigator.clipboard.writeText(text);
    else
      await writeLater(
        "text/plain",
        text.then((t) => new Blob([t], { type: "text/plain" })),
      );
  } catch (thrown) {
    // If there is nothing to copy, that is what is wrong.
    const ready = await text;
    const area = document.createElement("textarea");
    area.value = ready;
    area.className = "sr";
    // Inside an open dialog, which would take the focus back.
    (document.querySelector('[role="dialog"]') ?? document.body).append(area);
    area.select();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way left here
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw asCallError(thrown);
  }
}

/** Copies a picture; the clipboard of an older WebKit takes none. */
export async function copyPicture(png: Promise<Blob>): Promise<void> {
  if (!("ClipboardItem" in globalThis))
    throw new CallError({
      code: "host.failed",
      message: "This window cannot put pictures on the clipboard",
      hint: "Save the file instead.",
      path: null,
      not_recognised: null,
    });
  try {
    await writeLater("image/png", png);
  } catch (thrown) {
    // If there is nothing to copy, that is what is wrong.
    await png;
    throw asCallError(thrown);
  }
}

/** Offers a file for download. */
export function download(fileName: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName;
  link.click();
  // The download has its own hold on the content once the click was handled.
  setTimeout(() => {
    URL.revokeObjectURL(address);
  }, 60_000);
}
