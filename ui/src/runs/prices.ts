// The price table as it is edited: texts of a line, and what they mean. Pure.
import type { ModelPrice } from "../host/bindings/ModelPrice";
import { numberText, parseNumber } from "./number";

export interface PriceLine {
  readonly model: string;
  readonly input: string;
  readonly cached: string;
  readonly cache_write: string;
  readonly output: string;
}

export const emptyLine: PriceLine = { model: "", input: "", cached: "", cache_write: "", output: "" };

export const lineOf = (price: ModelPrice): PriceLine => ({
  model: price.model,
  input: numberText(price.input),
  cached: numberText(price.cached),
  cache_write: numberText(price.cache_write),
  output: numberText(price.output),
});

/** The price that a line means; a sentence if it means none. */
export function priceOf(line: PriceLine): ModelPrice | string {
  const model = line.model.trim();
  if (model === "") return "name the model";
  const [input, cached, cache_write, output] = [line.input, line.cached, line.cache_write, line.output].map(parseNumber);
  for (const value of [input, cached, cache_write, output])
    if (value === undefined || (value !== null && value < 0)) return "prices are numbers from 0 up";
  if (input == null || output == null) return "input and output need a price";
  return { model, input, cached: cached ?? null, cache_write: cache_write ?? null, output };
}
