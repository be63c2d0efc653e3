// The import report in words. Pure.
import type { ImportReport } from "../host/bindings/ImportReport";
import type { Severity } from "../host/bindings/Severity";
import type { Treatment } from "../host/bindings/Treatment";
import type { Warning } from "../host/bindings/Warning";
import { count, counted } from "../parts/format";
import { countsInWords, severities } from "../parts/severity";

/** What was done, in words that name no severity: a note may have been completed, a warning corrected as far as it could be. */
export const treatmentLabels: Readonly<Record<Treatment, string>> = {
  repaired: "Corrected or completed",
  skipped: "Left out",
  read_differently: "Read differently",
};

/** Where an entry stands; one without a path is of the source as a whole. */
export const placeInWords = (warning: Pick<Warning, "path">): string => (warning.path === "" ? "the whole source" : warning.path);

/** The gravest first, else in the order that they have. */
export const gravestFirst = <T>(entries: readonly T[], severityOf: (entry: T) => Severity): T[] =>
  severities.flatMap((severity) => entries.filter((entry) => severityOf(entry) === severity));

/** The report for a mail or a file; `warnings` are all of them, or as many as are copied; of one run where `run` names it. */
export function reportAsText(report: ImportReport, warnings: readonly Warning[], run: string | null): string {
  const severityByCode = new Map(report.by_code.map((rule) => [rule.code, rule.severity]));
  const severityOf = (warning: Warning): Severity => severityByCode.get(warning.code) ?? "warning";
  const countOf = (wanted: Severity): number => warnings.filter((warning) => severityOf(warning) === wanted).length;
  const more = Math.max(0, report.matching - warnings.length);
  // Of the whole source all are counted, also those that are not copied.
  const counts =
    run === null
      ? countsInWords(report.source.severities)
      : more > 0
        ? counted(report.matching, "entry", "entries")
        : countsInWords({ notes: countOf("note"), repairs: countOf("repair"), warnings: countOf("warning") });
  const lines = [
    `Import report: ${report.source.name}`,
    report.source.path,
    `Recognized as ${report.source.format}`,
    `${counted(report.runs, "run")}, ${counted(report.episodes, "episode")}, ${counted(report.turns, "turn")} (${count(report.not_reached)} more not reached), ${counted(report.attempts, "attempt")}, ${counted(report.files_read, "file")} read`,
    `${run === null ? "" : `Run ${run}: `}${counts}; nothing in the source was changed`,
  ];
  const byRule = new Map<string, Warning[]>();
  for (const warning of gravestFirst(warnings, severityOf)) {
    const rule = `${warning.code} (${severityOf(warning)}, ${treatmentLabels[warning.treatment].toLowerCase()})`;
    const places = byRule.get(rule);
    if (places) places.push(warning);
    else byRule.set(rule, [warning]);
  }
  for (const [rule, places] of byRule) {
    lines.push("", rule);
    for (const warning of places) lines.push(`  ${placeInWords(warning)}: ${warning.message}`);
  }
  if (more > 0) lines.push("", `… ${counted(more, "more entry", "more entries")}`);
  return `${lines.join("\n")}\n`;
}
