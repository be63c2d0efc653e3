import { expect, test } from "vitest";
import { lineOf, priceOf } from "./prices";

test("a line of the price table means a price, or says why not", () => {
  const price = { model: "zai.glm-5", input: 0.6, cached: null, cache_write: null, output: 2.2 };
  expect(lineOf(price)).toEqual({ model: "zai.glm-5", input: "0.6", cached: "", cache_write: "", output: "2.2" });
  expect(priceOf(lineOf(price))).toEqual(price);
  expect(priceOf({ model: " m ", input: "0", cached: "0.1", cache_write: "0.2", output: ".5" })).toEqual({
    model: "m",
    input: 0,
    cached: 0.1,
    cache_write: 0.2,
    output: 0.5,
  });
  expect(priceOf({ model: "", input: "1", cached: "", cache_write: "", output: "1" })).toBe("name the model");
  expect(priceOf({ model: "m", input: "1", cached: "", cache_write: "", output: "" })).toBe("input and output need a price");
  expect(priceOf({ model: "m", input: "-1", cached: "", cache_write: "", output: "1" })).toBe("prices are numbers from 0 up");
  expect(priceOf({ model: "m", input: "a", cached: "", cache_write: "", output: "1" })).toBe("prices are numbers from 0 up");
});
