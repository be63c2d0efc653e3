// What the export dialog is about. Whoever has a figure, a table or a report to give opens the dialog with it.
import type { CompareRequest } from "../host/bindings/CompareRequest";
import type { FigureSubject } from "../host/bindings/FigureSubject";
import type { TableSubject } from "../host/bindings/TableSubject";

export interface Exportable {
  /** As on the screen: `Survival`. */
  readonly title: string;
  readonly figure?: FigureSubject | undefined;
  readonly table?: TableSubject | undefined;
  /** Runs of which a report, or a bundle of everything, is made. */
  readonly report?: CompareRequest | undefined;
  /** What the dialog opens on; without it the first of figure, table and report that there is. */
  readonly first?: "figure" | "table" | "report" | undefined;
}

let subject = $state.raw<Exportable | undefined>();

export const exporting = {
  /** While it is set the dialog is open. */
  get subject(): Exportable | undefined {
    return subject;
  },
};

export function openExport(newSubject: Exportable): void {
  subject = newSubject;
}
export function closeExport(): void {
  subject = undefined;
}
