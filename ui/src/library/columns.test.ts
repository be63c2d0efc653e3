import { expect, test } from "vitest";
import type { RunRow } from "../host/bindings/RunRow";
import { namedColumns, shownColumns, unknownForAll } from "./columns";

const run = (more: Partial<RunRow>): RunRow => ({ harness: "codex", planned_turns: [5, 15], score: 59, tokens: { input: null, cached: null, output: null }, cost_usd: null, simulated: false, started_at: null, ...more }) as RunRow;

test("a column that is unknown for all is hidden, unless it was asked for", () => {
  const unknown = unknownForAll([run({}), run({ score: null })]);
  expect([...unknown]).toEqual(["tokens", "cost", "date"]);
  expect(shownColumns(null, true, unknown).map((column) => column.id)).toEqual(["harness", "episodes", "turns", "stamina", "ci", "score", "ends"]);
  expect(shownColumns(["cost"], true, unknown).map((column) => column.id)).toEqual(["cost"]);
  expect(unknownForAll([run({}), run({ simulated: true })]).has("cost")).toBe(false);
  expect(unknownForAll([])).toEqual(new Set());
});

test("the column of mean stamina says what stands in it", () => {
  const shown = shownColumns(null, false, new Set());
  const title = (measured: Parameters<typeof namedColumns>[1]): string | undefined => namedColumns(shown, measured).find((column) => column.id === "stamina")?.title;
  expect([title("stamina"), title("rates"), title("both")]).toEqual(["Stamina", "Pass rate", "Stamina or pass rate"]);
});
