// The import report in words. Pure.
import type { ImportReport } from "../host/bindings/ImportReport";
import type { Treatment } from "../host/bindings/Treatment";
import type { Warning } from "../host/bindings/Warning";
import { count, counted } from "../parts/format";

export const treatments: readonly Treatment[] = ["repaired", "skipped", "read_differently"];
export const treatmentLabels: Readonly<Record<Treatment, string>> = { repaired: "Repaired", skipped: "Skipped", read_differently: "Read differently" };

/** The whole report for a mail or a file; `warnings` are all of them, not one page. */
export function reportAsText(report: ImportReport, warnings: readonly Warning[]): string {
  const lines = [
    `Import report: ${report.source.name}`,
    report.source.path,
    `Recognised as ${report.source.format}`,
    `${counted(report.runs, "run")}, ${counted(report.episodes, "episode")}, ${counted(report.turns, "turn")} (${count(report.not_reached)} more not reached), ${counted(report.attempts, "attempt")}, ${counted(report.files_read, "file")} read`,
    `${counted(warnings.length, "warning")}; nothing in the source was changed`,
  ];
  let code = "";
  for (const warning of warnings) {
    if (warning.code !== code) {
      code = warning.code;
      lines.push("", `${code} (${treatmentLabels[warning.treatment].toLowerCase()})`);
    }
    lines.push(`  ${warning.path || "."}: ${warning.message}`);
  }
  return `${lines.join("\n")}\n`;
}
