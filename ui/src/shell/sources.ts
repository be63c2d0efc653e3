// How sources are doing, in words.
import type { SourceInfo } from "../host/bindings/SourceInfo";
import { counted } from "../parts/format";

/** The left of the status bar: `watching 3 of 4 sources`. */
export function sourcesInWords(sources: readonly SourceInfo[]): { words: string; watched: boolean } {
  if (sources.length === 0) return { words: "no source open", watched: false };
  const watched = sources.filter((s) => s.status !== "missing" && s.watch !== "off").length;
  if (watched === 0) return { words: counted(sources.length, "source"), watched: false };
  return {
    words:
      watched === sources.length
        ? `watching ${counted(watched, "source")}`
        : `watching ${String(watched)} of ${counted(sources.length, "source")}`,
    watched: true,
  };
}

/** What a reader must know of one source; `undefined` if all is well. */
export function sourceProblem(source: SourceInfo): string | undefined {
  switch (source.status) {
    case "missing":
      return "Not there any more; what was read stays";
    case "stopped":
      return source.message ?? "Reading was stopped; what was read stays";
    case "set_aside":
      return "Set aside: Stamina Lab ended while it read this source, so it is not read again unasked; what was read before stays";
    case "reading":
    case "ready":
      return undefined;
  }
}
