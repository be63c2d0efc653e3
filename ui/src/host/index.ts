import type { Host } from "./host";
import { tauriHost } from "./tauri";
import { webHost } from "./web";

export * from "./host";

/** The host that runs this window. */
export const host: Host = "__TAURI_INTERNALS__" in globalThis ? tauriHost() : webHost();
/** Runs a command of the workbench. */
export const call: Host["call"] = (name, request, signal) => host.call(name, request, signal);
