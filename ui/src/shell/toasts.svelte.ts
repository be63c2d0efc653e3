// One short notice at a time, bottom right. Never the only place of a fact.

export interface Toast {
  readonly kind: "done" | "warning" | "error";
  readonly title: string;
  readonly detail?: string;
  readonly action?: { readonly label: string; readonly run: () => void };
  /** How long it stays; 6 s if not said. */
  readonly ms?: number;
}

let current = $state.raw<Toast | undefined>();

export const toasts = {
  get current(): Toast | undefined {
    return current;
  },
  show(toast: Toast): void {
    current = toast;
  },
  dismiss(): void {
    current = undefined;
  },
};
