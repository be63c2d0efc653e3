// Entries of an import report in words: warnings, which may make a number wrong, apart from repairs and notes. Pure.
import type { Severity } from "../host/bindings/Severity";
import type { WarningCounts } from "../host/bindings/WarningCounts";
import { counted } from "./format";

/** The gravest first. */
export const severities: readonly Severity[] = ["warning", "repair", "note"];
export const severityLabels: Readonly<Record<Severity, string>> = { warning: "Warnings", repair: "Repairs", note: "Notes" };
/** Of one entry. */
export const severityNames: Readonly<Record<Severity, string>> = { warning: "Warning", repair: "Repair", note: "Note" };
export const severityAbout: Readonly<Record<Severity, string>> = {
  warning: "A number may be wrong, or lacks what could not be read",
  repair: "Put right or completed with certainty; the numbers hold",
  note: "Good to know; every number is as the source gives it",
};

export function countOf(counts: WarningCounts, severity: Severity): number {
  return severity === "warning" ? counts.warnings : severity === "repair" ? counts.repairs : counts.notes;
}

/** `4 warnings, 704 notes`; `no warnings` */
export function countsInWords(counts: WarningCounts): string {
  return (
    severities
      .map((severity) => (countOf(counts, severity) > 0 ? counted(countOf(counts, severity), severity) : ""))
      .filter((words) => words !== "")
      .join(", ") || "no warnings"
  );
}
