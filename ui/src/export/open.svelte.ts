// Which export dialog is open. Whoever shows a figure or table calls `openExport`; the window shows the dialog.
import type { CompareRequest } from "../host/bindings/CompareRequest";
import type { FigureOf } from "../host/bindings/FigureOf";
import type { TableOf } from "../host/bindings/TableOf";

/** What can be exported from where the button stands. */
export interface ExportSubject {
  /** In words, for the dialog and the name of the file. */
  readonly title: string;
  readonly figure?: FigureOf;
  readonly table?: TableOf;
  readonly report?: CompareRequest;
}

let current = $state.raw<ExportSubject | undefined>();

export const exporting = {
  get subject(): ExportSubject | undefined {
    return current;
  },
};

export function openExport(subject: ExportSubject): void {
  current = subject;
}

export function closeExport(): void {
  current = undefined;
}
