import { expect, test } from "vitest";
import { axisOf, meanInWords, partOf, planePoints } from "./sessions";

const mean = (name: string, value: number | null) => ({ name, mean: value, ci_low: null, ci_high: null, n: 1 });
const published = (model: string, metric: string, value: number) => ({ benchmark: "b", model, harness: null, retries: null, metric, turns: null, value, source: "s", second_hand: false });

test("a mean is in words with its interval, if it has one", () => {
  expect(meanInWords({ ...mean("a", 0.5), ci_low: 0.4, ci_high: 0.6 })).toBe("0.500 (0.400–0.600)");
  expect(meanInWords(mean("a", 0.5))).toBe("0.500");
  expect(meanInWords(mean("a", null))).toBe("unknown");
  expect(meanInWords(undefined)).toBe("unknown");
  expect(partOf([2, 3])).toBe("2 / 3");
  expect(partOf(null)).toBe("unknown");
});

test("the plane has this run, doing nothing, and models with both figures", () => {
  const own = { imported: [mean("comprehension", null), mean("efficiency", 0.6)], compat: [mean("comprehension", 0.7), mean("efficiency", 0.6)] };
  const points = planePoints(own, [0.78, 0.65], [published("A", "lcba_comprehension", 0.7), published("A", "lcba_efficiency", 0.6), published("B", "lcba_efficiency", 0.6)]);
  expect(points.map((p) => p.name)).toEqual(["this run, compat", "a session that does nothing", "A"]);
});

test("an axis ends at steps of 0.05 around its values", () => {
  const [low, high] = axisOf([0.6332, 0.78]);
  expect(low).toBeCloseTo(0.6, 9);
  expect(high).toBeCloseTo(0.8, 9);
});
