// Published numbers as a table: a row for each model, harness and retry budget of a source, a column for each number.
import type { PublishedNumber } from "../host/bindings/PublishedNumber";
import { decimals } from "../parts/format";

export interface PublishedRow {
  readonly model: string;
  readonly harness: string | null;
  readonly retries: number | null;
  /** One for each column; `undefined` = not published. */
  readonly values: readonly (number | undefined)[];
}

export interface PublishedSource {
  readonly source: string;
  readonly secondHand: boolean;
  readonly metrics: readonly string[];
  /** Whether any row says which harness, or how many retries. */
  readonly known: { readonly harness: boolean; readonly retries: boolean };
  readonly rows: readonly PublishedRow[];
}

const abbreviated: Readonly<Record<string, string>> = {
  mt4: "MT@4",
  sr: "SR",
  gap: "SR − MT@4",
  comp_tasks: "Tasks in Comp",
  avg_turns: "Average turns",
  output_tokens_k: "Output tokens, k",
};

/** A metric as a head of a column: `Mean turns passed`, `MT@4`. */
export const metricName = (metric: string): string =>
  abbreviated[metric] ?? metric.charAt(0).toUpperCase() + metric.slice(1).replaceAll("_", " ");

/** Digits after the point of the most exact number of a column: JSON has lost the zeros of 54.0. */
export const digitsOf = (values: readonly (number | undefined)[]): number =>
  Math.max(0, ...values.map((value) => String(value ?? 0).split(".")[1]?.length ?? 0));

/** A published number with the digits of its column, and a minus that is one. */
export const publishedValue = (value: number, digits: number): string => decimals(value, digits).replace("-", "\u2212");

const keyOf = (n: PublishedNumber): string => JSON.stringify([n.model, n.harness, n.retries]);

/** In the order in which they come. */
export function bySource(numbers: readonly PublishedNumber[]): PublishedSource[] {
  return [...new Set(numbers.map((n) => n.source))].map((source) => {
    const own = numbers.filter((n) => n.source === source);
    const metrics = [...new Set(own.map((n) => n.metric))];
    const rows = [...new Set(own.map(keyOf))].map((key) => {
      const rowNumbers = own.filter((n) => keyOf(n) === key);
      const [first] = rowNumbers;
      return {
        model: first?.model ?? "",
        harness: first?.harness ?? null,
        retries: first?.retries ?? null,
        values: metrics.map((metric) => rowNumbers.find((n) => n.metric === metric)?.value),
      };
    });
    return {
      source,
      secondHand: own.some((n) => n.second_hand),
      metrics,
      known: { harness: own.some((n) => n.harness !== null), retries: own.some((n) => n.retries !== null) },
      rows,
    };
  });
}
