// What the export dialog is about. Whoever has a figure, a table or a report to give opens the dialog with it.
import type { CompareRequest } from "../host/bindings/CompareRequest";
import type { FigureOf } from "../host/bindings/FigureOf";
import type { TableOf } from "../host/bindings/TableOf";

export interface ExportSubject {
  /** As on the screen: `Survival`. */
  readonly title: string;
  readonly figure?: FigureOf | undefined;
  readonly table?: TableOf | undefined;
  /** Runs of which a report, or a bundle of everything, is made. */
  readonly report?: CompareRequest | undefined;
  /** What the dialog opens on; without it the first of figure, table and report that there is. */
  readonly first?: "figure" | "table" | "report" | undefined;
}

let subject = $state.raw<ExportSubject | undefined>();

export const exporting = {
  /** While it is set the dialog is open. */
  get subject(): ExportSubject | undefined {
    return subject;
  },
};

export function openExport(newSubject: ExportSubject): void {
  subject = newSubject;
}
export function closeExport(): void {
  subject = undefined;
}
