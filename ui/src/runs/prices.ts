// The price table as it is edited: texts of a line, and what they mean. Pure.
import type { ModelPrice } from "../host/bindings/ModelPrice";
import { numberText, parseNumber } from "./number";

export interface PriceLine {
  readonly model: string;
  readonly input: string;
  readonly cached: string;
  readonly output: string;
}

export const lineOf = (price: ModelPrice): PriceLine => ({ model: price.model, input: numberText(price.input), cached: numberText(price.cached), output: numberText(price.output) });

/** The price that a line means; a sentence if it means none. */
export function priceOf(line: PriceLine): ModelPrice | string {
  const model = line.model.trim();
  if (model === "") return "name the model";
  const [input, cached, output] = [line.input, line.cached, line.output].map(parseNumber);
  for (const value of [input, cached, output]) if (value === undefined || (value !== null && value < 0)) return "prices are numbers from 0 up";
  if (input == null || output == null) return "input and output need a price";
  return { model, input, cached: cached ?? null, output };
}
