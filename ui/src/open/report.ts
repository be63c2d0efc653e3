// The page "not recognized" as text, for a bug report or a colleague. Pure.
import type { NotRecognized } from "../host/bindings/NotRecognized";
import { counted } from "../parts/format";

export function lookedAt(what: NotRecognized): string {
  return `${counted(what.files, "file")} in ${counted(what.folders, "folder")} ${what.files === 1 ? "was" : "were"} looked at, ${counted(what.depth, "level")} deep. Nothing was imported and nothing was changed.`;
}

export function asText(path: string, message: string, what: NotRecognized): string {
  const width = (pick: (row: NotRecognized["formats"][number]) => string): number =>
    Math.max(...what.formats.map((row) => pick(row).length), 0);
  const first = width((row) => row.format);
  const second = width((row) => row.looked_for);
  return [
    message,
    path,
    lookedAt(what),
    ...what.found.map(
      (thing) => `Found: ${thing.name}${thing.at === "" ? "" : `, ${thing.count > 1 ? "the first at" : "at"} ${thing.at}`}`,
    ),
    "",
    ...what.formats.map((row) => `${row.format.padEnd(first)}  looked for ${row.looked_for.padEnd(second)}  found ${row.found}`),
    ...(what.closest ? ["", `Closest: ${what.closest[0]}`] : []),
    "",
  ].join("\n");
}
