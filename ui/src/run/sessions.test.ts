import { expect, test } from "vitest";
import { axisOf, correctedOf, differOf, labelPlaces, meanInWords, partOf, planePoints, sessionLines } from "./sessions";

const mean = (name: string, value: number | null) => ({ name, mean: value, ci_low: null, ci_high: null, n: 1 });
const published = (model: string, metric: string, value: number) => ({
  benchmark: "b",
  model,
  harness: null,
  retries: null,
  metric,
  turns: null,
  value,
  source: "s",
  second_hand: false,
});

test("a mean is in words with its interval, if it has one", () => {
  expect(meanInWords({ ...mean("a", 0.5), ci_low: 0.4, ci_high: 0.6 }, 1)).toBe("0.500 (0.400–0.600)");
  expect(meanInWords({ ...mean("a", 0.5), ci_low: 0.4, ci_high: 0.6, n: 5 }, 7)).toBe("0.500 (0.400–0.600), known for 5");
  expect(meanInWords(mean("a", 0.5), 1)).toBe("0.500");
  expect(meanInWords({ ...mean("a", null), n: 0 }, 7)).toBe("unknown");
  expect(meanInWords(undefined, 7)).toBe("unknown");
  expect(partOf([2, 3])).toBe("2 / 3");
  expect(partOf(null)).toBe("unknown");
});

test("a figure is marked by the sessions that count of which it is another", () => {
  const differs = [
    ["comprehension", 1, 5],
    ["overall", 2, 5],
  ] as const;
  expect(differOf(differs, "comprehension")).toEqual([1, 5]);
  expect(differOf(differs, "efficiency")).toEqual([0, 0]);
});

test("a session has the nine in three columns, the third under names of its own", () => {
  const metrics = [
    "execution_success_rate",
    "multi_session_memory_retention",
    "cross_file_consistency",
    "dependency_traversal",
    "solution_usability",
    "runtime_efficiency",
    "memory_efficiency",
    "information_coverage",
    "long_range_dependency_resolution",
  ];
  const figures = {
    status: null,
    category: null,
    difficulty: null,
    language: null,
    completed_phases: null,
    planned_phases: null,
    turns: 2,
    answered: 2,
    tool_calls: 3,
    interventions: null,
    errors: null,
    imported: {
      metrics: [0.9, 1, 1, 0.7, 0.7, 0.65, 0.65, null, 0.65] as (number | null)[],
      comprehension: 0.86,
      efficiency: null,
      overall: null,
    },
    compat: [0.8, 1, 1, 0.7, 0.7, 0.65, 0.65, 0.5, 0.65],
    corrected: { tool_success: [2, 3] as [number, number], distinct_functions: null, files_written: ["a.py"], read_before_write: null },
  } as unknown as Parameters<typeof sessionLines>[0]["figures"];
  const lines = sessionLines({ figures, compat: [0.84, 0.6125, 0.749], differs: ["execution_success_rate", "comprehension"] }, metrics);
  expect(lines.map((l) => l.name)).toEqual([...metrics, "comprehension", "efficiency", "overall"]);
  expect(lines[0]).toEqual({
    name: metrics[0],
    imported: 0.9,
    compat: 0.8,
    differs: true,
    corrected: [
      ["tool success", "2 / 3"],
      ["distinct functions", "unknown"],
    ],
  });
  expect(lines[7]).toMatchObject({ imported: null, compat: 0.5, differs: false, corrected: [["files written", "1"]] });
  expect(lines[8]?.corrected).toEqual([["read before write", "unknown"]]);
  expect(lines[9]).toMatchObject({ imported: 0.86, compat: 0.84, differs: true, corrected: [] });
  expect(correctedOf("cross_file_consistency", () => 1)).toEqual([]);
});

test("the plane has this run, doing nothing, and models with both figures", () => {
  const own = {
    imported: [mean("comprehension", null), mean("efficiency", 0.6)],
    compat: [mean("comprehension", 0.7), mean("efficiency", 0.6)],
  };
  const points = planePoints(
    own,
    [0.78, 0.65],
    [published("A", "lcba_comprehension", 0.7), published("A", "lcba_efficiency", 0.6), published("B", "lcba_efficiency", 0.6)],
  );
  expect(points.map((p) => p.name)).toEqual(["this run, compat", "a session that does nothing", "A"]);
});

test("an axis ends at steps of 0.05 around its values", () => {
  const [low, high] = axisOf([0.6332, 0.78]);
  expect(low).toBeCloseTo(0.6, 9);
  expect(high).toBeCloseTo(0.8, 9);
});

test("names of marks that lie close together do not meet", () => {
  // The published models, in a picture of 380 × 240.
  const marks = [
    { name: "Claude Sonnet 4", x: 260, y: 130 },
    { name: "GPT-4o", x: 290, y: 134 },
    { name: "GPT-5", x: 212, y: 126 },
    { name: "Claude Sonnet 4.5", x: 295, y: 114 },
  ];
  const rects = labelPlaces(marks, [44, 12, 380, 206]).map((label, at) => {
    const width = marks[at]!.name.length * 5.4;
    const from = label.anchor === "start" ? label.x : label.anchor === "end" ? label.x - width : label.x - width / 2;
    return [from, label.y - 9, from + width, label.y + 1] as const;
  });
  rects.forEach((a, i) => {
    expect(a[0] >= 44 && a[2] <= 380).toBe(true);
    for (const b of rects.slice(i + 1)) expect(a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]).toBe(false);
  });
});
