import type { ExplainKey } from "../explain/keys";

/** One number of the strip at the top of a run or report. */
export interface Stat {
  readonly key: string;
  readonly value: string;
  /** Smaller words behind the value. */
  readonly small?: string | undefined;
  /** Only on wide windows. */
  readonly wide?: boolean;
  readonly unknown?: boolean;
  /** A bar behind the value: share that is filled, 0 to 1; `accent` for what is live. */
  readonly bar?: { readonly share: number; readonly accent: boolean; readonly label: string } | undefined;
  /** The whole thing in words, where the strip is too short for it. */
  readonly title?: string | undefined;
  /** Which number it is, for its explanation. */
  readonly explain?: ExplainKey | undefined;
  /** Where it leads: what it counts. */
  readonly onclick?: (() => void) | undefined;
}
