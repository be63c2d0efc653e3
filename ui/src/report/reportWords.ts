// The import report in words. Pure.
import type { ImportReport } from "../host/bindings/ImportReport";
import type { Severity } from "../host/bindings/Severity";
import type { Treatment } from "../host/bindings/Treatment";
import type { Warning } from "../host/bindings/Warning";
import { count, counted } from "../parts/format";
import { countsInWords } from "../parts/severity";

/** What was done, in words that name no severity: a note may have been completed, a warning corrected as far as it could be. */
export const treatmentLabels: Readonly<Record<Treatment, string>> = {
  repaired: "Corrected or completed",
  skipped: "Left out",
  read_differently: "Read differently",
};

/** Where an entry stands; one without a path is of the source as a whole. */
export const placeInWords = (warning: Pick<Warning, "path">): string => (warning.path === "" ? "the whole source" : warning.path);

/** The whole report for a mail or a file; `warnings` are all of them, not one page. */
export function reportAsText(report: ImportReport, warnings: readonly Warning[]): string {
  const severity = new Map(report.by_code.map((rule) => [rule.code, rule.severity]));
  const countOf = (wanted: Severity): number => warnings.filter((warning) => (severity.get(warning.code) ?? "warning") === wanted).length;
  const lines = [
    `Import report: ${report.source.name}`,
    report.source.path,
    `Recognized as ${report.source.format}`,
    `${counted(report.runs, "run")}, ${counted(report.episodes, "episode")}, ${counted(report.turns, "turn")} (${count(report.not_reached)} more not reached), ${counted(report.attempts, "attempt")}, ${counted(report.files_read, "file")} read`,
    `${countsInWords({ notes: countOf("note"), repairs: countOf("repair"), warnings: countOf("warning") })}; nothing in the source was changed`,
  ];
  let code = "";
  for (const warning of warnings) {
    if (warning.code !== code) {
      code = warning.code;
      lines.push("", `${code} (${severity.get(code) ?? "warning"}, ${treatmentLabels[warning.treatment].toLowerCase()})`);
    }
    lines.push(`  ${placeInWords(warning)}: ${warning.message}`);
  }
  return `${lines.join("\n")}\n`;
}
