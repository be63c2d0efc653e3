// The page "not recognized" as text, for a bug report or a colleague. Pure.
import type { NotRecognized } from "../host/bindings/NotRecognized";
import { counted } from "../parts/format";

export function lookedAt(report: NotRecognized): string {
  return `${counted(report.files, "file")} in ${counted(report.folders, "folder")} ${report.files === 1 ? "was" : "were"} looked at, ${counted(report.depth, "level")} deep. Nothing was imported and nothing was changed.`;
}

export function asText(path: string, message: string, report: NotRecognized): string {
  const width = (pick: (row: NotRecognized["formats"][number]) => string): number =>
    Math.max(...report.formats.map((row) => pick(row).length), 0);
  const first = width((row) => row.format);
  const second = width((row) => row.looked_for);
  return [
    message,
    path,
    lookedAt(report),
    ...report.found.map(
      (thing) => `Found: ${thing.name}${thing.at === "" ? "" : `, ${thing.count > 1 ? "the first at" : "at"} ${thing.at}`}`,
    ),
    "",
    ...report.formats.map((row) => `${row.format.padEnd(first)}  looked for ${row.looked_for.padEnd(second)}  found ${row.found}`),
    ...(report.closest ? ["", `Closest: ${report.closest[0]}`] : []),
    "",
  ].join("\n");
}
