import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import entries from "virtual:explained";
import { filled, inputsRoute } from "./explained";
import { explainKeys, isExplainKey } from "./keys";
import { parse } from "./parse";

const ui = path.resolve(import.meta.dirname, "..");
const source = (file: string): string => readFileSync(path.join(ui, file), "utf8");

test("what the app says of numbers is what docs/metrics.md says", () => {
  const documented = parse(readFileSync(path.resolve(ui, "../../docs/metrics.md"), "utf8"));
  expect(entries).toEqual(documented);
  expect(documented.map((entry) => entry.key).sort()).toEqual([...explainKeys].sort());
  for (const entry of documented) {
    expect(entry.words, entry.key).toMatch(/^[A-Z].*\.$/);
    expect(entry.not, entry.key).toMatch(/\.$/);
    expect(entry.code.split("\n").length, entry.key).toBeLessThanOrEqual(3);
  }
});

test("an entry without one of its parts is refused", () => {
  const whole = readFileSync(path.resolve(ui, "../../docs/metrics.md"), "utf8");
  expect(() => parse(whole.replace(/^Does not say: .*$/m, ""))).toThrow("five parts");
  expect(() => parse("# Metrics\n")).toThrow("no section");
});

test("every number of Run, Compare, Matrix, Failures and Library says which one it is", () => {
  const unmarked: string[] = [];
  for (const file of ["compare/NumbersPane.svelte", "compare/PairsTable.svelte", "compare/ScoresTable.svelte", "matrix/RetryTable.svelte", "run/RunTable.svelte", "failures/ShareTable.svelte", "failures/RepairView.svelte"]) {
    const heads = source(file).match(/<th(?=[^>]*class="num")(?:"[^"]*"|\{[^}]*\}|[^>"])*>/g) ?? [];
    unmarked.push(...heads.filter((head) => !head.includes("data-explain")).map((head) => `${file}: ${head}`));
  }
  expect(unmarked).toEqual([]);
  const used = ["compare/NumbersPane.svelte", "compare/PairsTable.svelte", "compare/ScoresTable.svelte", "matrix/MatrixPage.svelte", "matrix/MatrixTable.svelte", "matrix/RetryTable.svelte", "run/RunPage.svelte", "run/RunTable.svelte", "run/summary.ts", "library/columns.ts", "failures/ShareTable.svelte", "failures/RepairView.svelte", "failures/FailuresPage.svelte", "compare/Disagreements.svelte", "compare/FigureTable.svelte"]
    .flatMap((file) => [...source(file).matchAll(/(?:data-explain="|explain: "|data-explain=\{[^}]*\? "[a-z_]+" : ")([a-z_]+)"/g)].map((found) => found[1]));
  expect(used.length).toBeGreaterThan(40);
  expect(used.filter((key) => !isExplainKey(key))).toEqual([]);
  // Every explanation can be met.
  const met = new Set(["library/columns.ts", "run/summary.ts", "run/RunPage.svelte", "run/RunTable.svelte", "compare/NumbersPane.svelte", "compare/PairsTable.svelte", "compare/ScoresTable.svelte", "matrix/MatrixPage.svelte", "matrix/MatrixTable.svelte", "matrix/RetryTable.svelte", "failures/ShareTable.svelte", "failures/RepairView.svelte", "compare/Disagreements.svelte"].flatMap((file) => source(file).match(/"[a-z_]+"/g) ?? []).map((word) => word.slice(1, -1)));
  expect(explainKeys.filter((key) => !met.has(key))).toEqual([]);
});

test("commands and code have the run, the reference and τ of the place", () => {
  const at = { key: "difference" as const, run: "sweep.a", reference: "sweep.b", tau: "9" };
  expect(filled("stamina table episodes RUN REFERENCE --out episodes.csv", at)).toBe("stamina table episodes sweep.a sweep.b --out episodes.csv");
  expect(filled('S("RUN", TAU + 1)', { ...at, run: null })).toBe('S("RUN", 9 + 1)');
  const entry = entries.find((one) => one.key === "mean_stamina");
  if (!entry) throw new Error("mean stamina is explained");
  expect(inputsRoute(entry, at, { page: "library", query: {} })).toEqual({ page: "run", run: "sweep.a", query: { view: "table" } });
  expect(inputsRoute(entry, { run: "harness:codex@evocode" }, { page: "compare", query: {} })).toEqual({ page: "compare", query: {} });
});
