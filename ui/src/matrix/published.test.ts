import { expect, test } from "vitest";
import type { PublishedNumber } from "../host/bindings/PublishedNumber";
import { bySource, digitsOf, metricName, publishedValue } from "./published";

const number = (model: string, metric: string, value: number, source = "paper", retries: number | null = null): PublishedNumber => ({
  benchmark: "b",
  model,
  harness: null,
  retries,
  metric,
  turns: null,
  value,
  source,
  second_hand: source !== "paper",
});

test("numbers of a model stand in one row, what is not published stays open", () => {
  const [paper, article] = bySource([
    number("A", "x", 1),
    number("A", "y", 2),
    number("B", "x", 3),
    number("A", "x", 4, "article", 2),
    number("A", "x", 5, "article", 0),
  ]);
  expect(paper).toMatchObject({ secondHand: false, metrics: ["x", "y"], known: { harness: false, retries: false } });
  expect(paper?.rows.map((row) => [row.model, ...row.values])).toEqual([
    ["A", 1, 2],
    ["B", 3, undefined],
  ]);
  expect(article).toMatchObject({ secondHand: true, known: { retries: true } });
  expect(article?.rows.map((row) => row.retries)).toEqual([2, 0]);
});

test("metrics are named as their sources name them", () => {
  expect(["mean_turns_passed", "mt4", "sr"].map(metricName)).toEqual(["Mean turns passed", "MT@4", "SR"]);
  const column = [54, undefined, -9.4];
  expect(digitsOf(column)).toBe(1);
  expect([54, -9.4].map((value) => publishedValue(value, digitsOf(column)))).toEqual(["54.0", "\u22129.4"]);
  expect(publishedValue(11, digitsOf([11, 9]))).toBe("11");
});
