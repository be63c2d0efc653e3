import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import entries from "virtual:explained";
import { fillPlaceholders, inputsRoute } from "./explained";
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

test("every number of Run, Compare, Matrix, Failures, Library, Runs and the prices says which one it is", () => {
  const unmarked: string[] = [];
  for (const file of [
    "compare/RunNumbers.svelte",
    "compare/SpentNumbers.svelte",
    "compare/SensitivityNumbers.svelte",
    "compare/TestNumbers.svelte",
    "compare/PairsTable.svelte",
    "compare/ScoresTable.svelte",
    "matrix/RetryTable.svelte",
    "matrix/SpreadTable.svelte",
    "matrix/GainTable.svelte",
    "run/RunAsTables.svelte",
    "failures/ShareTable.svelte",
    "failures/RepairView.svelte",
    "failures/FlipList.svelte",
    "run/SessionsPane.svelte",
    "matrix/PublishedTable.svelte",
    "runs/PricesDialog.svelte",
    "runs/EpisodeTable.svelte",
    "runs/FinishedRuns.svelte",
  ]) {
    const heads = source(file).match(/<th(?=[^>]*class="num")(?:"[^"]*"|\{[^}]*\}|[^>"])*>/g) ?? [];
    unmarked.push(...heads.filter((head) => !head.includes("data-explain")).map((head) => `${file}: ${head}`));
  }
  expect(unmarked).toEqual([]);
  const further = [
    "failures/FlipList.svelte",
    "run/SessionsPane.svelte",
    "matrix/PublishedTable.svelte",
    "runs/PricesDialog.svelte",
    "runs/EpisodeTable.svelte",
    "runs/FinishedRuns.svelte",
    "runs/live.ts",
    "runs/PreflightPane.svelte",
    "report/ReportDialog.svelte",
  ];
  const used = [
    "compare/RunNumbers.svelte",
    "compare/SpentNumbers.svelte",
    "compare/SensitivityNumbers.svelte",
    "compare/TestNumbers.svelte",
    "compare/PairsTable.svelte",
    "compare/ScoresTable.svelte",
    "matrix/MatrixPage.svelte",
    "matrix/SpreadTable.svelte",
    "matrix/GainTable.svelte",
    "matrix/MatrixTable.svelte",
    "matrix/RetryTable.svelte",
    "run/RunPage.svelte",
    "run/RunAsTables.svelte",
    "run/summary.ts",
    "library/columns.ts",
    "failures/ShareTable.svelte",
    "failures/RepairView.svelte",
    "failures/FailuresPage.svelte",
    "failures/FailuresStrip.svelte",
    "compare/Disagreements.svelte",
    "compare/FigureTable.svelte",
    ...further,
  ].flatMap((file) =>
    [...source(file).matchAll(/(?:data-explain="|explain: "|data-explain=\{[^}]*\? "[a-z_]+" : ")([a-z_]+)"/g)].map((found) => found[1]),
  );
  expect(used.length).toBeGreaterThan(40);
  expect(used.filter((key) => !isExplainKey(key))).toEqual([]);
  // Every explanation can be met.
  const met = new Set(
    [
      "library/columns.ts",
      "run/summary.ts",
      "run/RunPage.svelte",
      "run/RunAsTables.svelte",
      "compare/RunNumbers.svelte",
      "compare/SpentNumbers.svelte",
      "compare/SensitivityNumbers.svelte",
      "compare/TestNumbers.svelte",
      "compare/PairsTable.svelte",
      "compare/ScoresTable.svelte",
      "matrix/MatrixPage.svelte",
      "matrix/SpreadTable.svelte",
      "matrix/GainTable.svelte",
      "matrix/MatrixTable.svelte",
      "matrix/RetryTable.svelte",
      "failures/ShareTable.svelte",
      "failures/RepairView.svelte",
      "failures/FailuresPage.svelte",
      "failures/FailuresStrip.svelte",
      "compare/Disagreements.svelte",
      ...further,
    ]
      .flatMap((file) => source(file).match(/"[a-z_]+"/g) ?? [])
      .map((word) => word.slice(1, -1)),
  );
  expect(explainKeys.filter((key) => !met.has(key))).toEqual([]);
});

test("every number in the strip of Run, Live, Failures and the import report says which one it is", () => {
  for (const file of ["run/summary.ts", "runs/live.ts", "failures/FailuresStrip.svelte", "report/ReportDialog.svelte"]) {
    const numbers = source(file).match(/\{(?=\s[^{}]*\bkey: (?!string))[^{}]*/g) ?? [];
    // What ran the tests, and what a source was recognized as, are names.
    const unmarked = numbers.filter(
      (one) =>
        one.includes("value:") && !one.includes("explain:") && !one.includes('key: "Runner"') && !one.includes('key: "Recognized as"'),
    );
    expect(numbers.length, file).toBeGreaterThan(2);
    expect(unmarked, file).toEqual([]);
  }
});

test("commands and code have the run, the reference and τ of the place", () => {
  const at = { key: "difference" as const, run: "sweep.a", reference: "sweep.b", tau: "9" };
  expect(fillPlaceholders("stamina table episodes RUN REFERENCE --out episodes.csv", at)).toBe(
    "stamina table episodes sweep.a sweep.b --out episodes.csv",
  );
  expect(fillPlaceholders('S("RUN", TAU + 1)', { ...at, run: null })).toBe('S("RUN", 9 + 1)');
  const command = "stamina table progress FOLDER --out progress.csv";
  expect(fillPlaceholders(command, { ...at, folder: "/home/me/runs/glm-5" })).toBe(
    "stamina table progress /home/me/runs/glm-5 --out progress.csv",
  );
  expect(fillPlaceholders(command, { ...at, folder: "/home/me/it's here; $(x)" })).toBe(
    String.raw`stamina table progress '/home/me/it'\''s here; $(x)' --out progress.csv`,
  );
  expect(fillPlaceholders(command, at)).toBe(command);
  // A command is not told a horizon of nobody.
  expect(fillPlaceholders("stamina compare RUN --tau TAU", { ...at, tau: null })).toBe("stamina compare sweep.a --tau TAU");
  const entry = entries.find((one) => one.key === "mean_stamina");
  if (!entry) throw new Error("mean stamina is explained");
  expect(inputsRoute(entry, at, { page: "library", query: {} })).toEqual({ page: "run", run: "sweep.a", query: { view: "table" } });
  expect(inputsRoute(entry, { run: "harness:codex@evocode" }, { page: "compare", query: {} })).toEqual({ page: "compare", query: {} });
  const [live, sessions] = ["time_left", "tool_success"].map((key) => entries.find((one) => one.key === key));
  if (!live || !sessions) throw new Error("time left and tool success are explained");
  const finished = { page: "runs", view: "finished", query: {} } as const;
  expect([inputsRoute(live, at, finished), inputsRoute(live, at, { page: "library", query: {} })]).toEqual([
    finished,
    { page: "runs", view: "live", query: {} },
  ]);
  expect(inputsRoute(sessions, at, { page: "library", query: {} })).toEqual({ page: "run", run: "sweep.a", query: {} });
});
