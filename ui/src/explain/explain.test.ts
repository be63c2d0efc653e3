import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import entries from "virtual:explained";
import { fillPlaceholders, inputsRoute } from "./explained";
import { explainKeys, isExplainKey } from "./keys";
import { parse } from "./parse";

const ui = path.resolve(import.meta.dirname, "..");
const source = (file: string): string => readFileSync(path.join(ui, file), "utf8");
/** Every component and module of the app, without those of explanations themselves. */
const files = readdirSync(ui, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => /\.(?:svelte|ts)$/.test(file) && !/\.test\.ts$|\.d\.ts$|^(?:explain|host)\//.test(file))
  .sort();
const components = files.filter((file) => file.endsWith(".svelte"));

/** What `parts/format.ts` gives that is no number by itself. */
const NO_NUMBERS: ReadonlySet<string> = new Set([
  "UNKNOWN",
  "ago",
  "bytes",
  "counted",
  "date",
  "dateTime",
  "endLook",
  "endReasonLabels",
  "plannedOfMissing",
  "rangeOf",
  "rateIntervals",
  "whyNoInterval",
]);
/** What writes a number: all else of `parts/format.ts`, results of attempts, rates of mutants. */
const writers: ReadonlySet<string> = new Set([
  ...[...source("parts/format.ts").matchAll(/^export (?:const|function) (\w+)/gm)].flatMap((found) => found[1] ?? []),
  "attemptResult",
  "attemptTime",
  "rate",
]);
const writesNumbers = (text: string): boolean =>
  [...text.matchAll(/import (?:type )?\{([^}]*)\} from/g)]
    .flatMap((found) => (found[1] ?? "").split(","))
    .map((name) => name.trim().split(" ")[0] ?? "")
    .some((name) => writers.has(name) && !NO_NUMBERS.has(name));

/** Components that write numbers and say nothing of them, each with the reason. */
const WITHOUT_EXPLANATION: Readonly<Record<string, string>> = {
  "compare/MeanCells.svelte": "cells of tables whose heads say it",
  "compare/TurnNav.svelte": "a place in a list",
  "library/LibraryBar.svelte": "progress of reading",
  "library/RunCell.svelte": "cells of a table whose heads say it",
  "library/SidePanel.svelte": "lengths of lists that a click shows",
  "parts/Whisker.svelte": "drawn in cells of tables whose heads say it",
  "runs/ImagesDialog.svelte": "progress of the app's own work",
  "runs/ResumeDialog.svelte": "limits that a user enters",
  "scenarios/GenerateDialog.svelte": "an estimate and progress of the app's own work",
  "scenarios/JobProgress.svelte": "progress of the app's own work",
  "scenarios/ScenariosPage.svelte": "what a schema and a suite have, counted",
  "scenarios/SuiteView.svelte": "cases that are listed, counted",
  "turn/CodePane.svelte": "files that are listed, counted",
  "turn/LogsPane.svelte": "lines that are shown, counted",
  "turn/RequestPane.svelte": "letters of the text that is shown",
};

/** Heads of columns of numbers that are no measure: a place, a name, a size on disk. So many in each file. */
const PLAIN_HEADS: Readonly<Record<string, number>> = {
  "compare/Disagreements.svelte": 1,
  "compare/FigureTable.svelte": 2,
  "compare/SettingsDiff.svelte": 1,
  "failures/CaseList.svelte": 2,
  "matrix/MatrixTable.svelte": 1,
  "run/TaskList.svelte": 2,
  "runs/ImagesDialog.svelte": 1,
};

/** The keys that a file names: in marks, in what makes them, and in what is called `explain`. */
function keysIn(text: string): string[] {
  const literal = [...text.matchAll(/(?:data-explain=|\bexplain=|\bexplain: )"([a-z_]+)"/g)].map((found) => found[1] ?? "");
  const chosen = [...text.matchAll(/(?:data-explain|explain)=\{([^}]*)\}/g)].flatMap((found) =>
    [...(found[1] ?? "").matchAll(/[?:] "([a-z_]+)"/g)].map((word) => word[1] ?? ""),
  );
  return [...literal, ...chosen];
}

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

test("every component that writes numbers says which ones they are", () => {
  const silent = components.filter((file) => writesNumbers(source(file)) && !/\bexplain[=:}]/.test(source(file)));
  expect(silent).toEqual(Object.keys(WITHOUT_EXPLANATION).sort());
});

test("every column of numbers says which number it is", () => {
  const unmarked = new Map<string, string[]>();
  for (const file of components) {
    const heads = source(file).match(/<th(?=[^>]*class="num)(?:"[^"]*"|\{[^}]*\}|[^>"])*>/g) ?? [];
    const without = heads.filter((head) => !head.includes("data-explain"));
    if (without.length > 0) unmarked.set(file, without);
  }
  expect(Object.fromEntries([...unmarked].map(([file, heads]) => [file, heads.length]))).toEqual(PLAIN_HEADS);
});

test("every mark is of an explanation, and every explanation can be met", () => {
  const used = files.flatMap((file) => keysIn(source(file)));
  expect(used.length).toBeGreaterThan(100);
  expect(used.filter((key) => !isExplainKey(key))).toEqual([]);
  // Some keys stand in lists and tables of names.
  const met = new Set(
    files
      .map(source)
      .filter((text) => /\bexplain\b|\bExplainKey\b/.test(text))
      .flatMap((text) => text.match(/"[a-z_]+"/g) ?? [])
      .map((word) => word.slice(1, -1)),
  );
  expect(explainKeys.filter((key) => !met.has(key))).toEqual([]);
});

test("the facts, attempts and tests of a turn, and both sides of a comparison, can be explained", () => {
  const wanted: Readonly<Record<string, readonly string[]>> = {
    "turn/TurnStrip.svelte": ["attempt_tests", "attempt_tokens", "attempt_cost", "attempt_steps"],
    "turn/FailingTests.svelte": ["attempt_tests", "failure_history"],
    "compare/SideHead.svelte": ["attempt_tests", "attempt_time"],
    "compare/JoinedTests.svelte": ["joined_tests", "attempt_tests"],
    "compare/CompareBar.svelte": ["tau"],
    "compare/NumbersPane.svelte": ["tau"],
    "matrix/MatrixBar.svelte": ["tau"],
    "compare/FigureTable.svelte": ["at_risk", "band", "paired"],
    "run/RunAsTables.svelte": ["at_risk", "band"],
    "scenarios/ValidateDialog.svelte": ["mutants", "validation"],
  };
  for (const [file, keys] of Object.entries(wanted)) {
    const found = new Set(keysIn(source(file)));
    expect(
      keys.filter((key) => !found.has(key)),
      file,
    ).toEqual([]);
  }
  const facts = source("turn/AttemptFacts.svelte");
  for (const key of ["attempt_steps", "reward"]) expect(facts, key).toContain(`"${key}"]`);
  expect(facts).toContain('{ agent: "attempt_time", tests: "attempt_time", tokens: "attempt_tokens", cost: "attempt_cost" }');
  expect(facts).toContain('{ agent: "agent_time", tokens: "tokens", cost: "cost" }');
});

test("every number in the strip of Run, Live, Failures, the import report and a validation says which one it is", () => {
  const strips = [
    "run/summary.ts",
    "runs/live.ts",
    "failures/FailuresStrip.svelte",
    "report/ReportDialog.svelte",
    "scenarios/ValidateDialog.svelte",
  ];
  for (const file of strips) {
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
  // A turn side by side. Ids of others are words of a shell, too, and in code they stand in quotation marks already.
  const joined = "stamina table joined REFERENCE RUN --episode EPISODE --turn TURN --out joined.csv";
  expect(fillPlaceholders(joined, { ...at, episode: "notes_cli", turn: "2" })).toBe(
    "stamina table joined sweep.b sweep.a --episode notes_cli --turn 2 --out joined.csv",
  );
  expect(fillPlaceholders(joined, { ...at, run: "harness:codex@evocode", episode: "todo list; $(x)", turn: "12" })).toBe(
    "stamina table joined sweep.b harness:codex@evocode --episode 'todo list; $(x)' --turn 12 --out joined.csv",
  );
  expect(fillPlaceholders(joined, at)).toBe("stamina table joined sweep.b sweep.a --episode EPISODE --turn TURN --out joined.csv");
  expect(fillPlaceholders('== ("SCENARIO", "TURN")', { ...at, turn: "2" })).toBe('== ("SCENARIO", "2")');
  expect(fillPlaceholders('S("RUN", TAU)', { ...at, run: "gpt 4" })).toBe('S("gpt 4", 9)');
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
  const validated = { page: "scenarios", query: { turn: "2" } } as const;
  const mutants = entries.find((one) => one.key === "mutants");
  if (!mutants) throw new Error("mutants are explained");
  expect(inputsRoute(mutants, { run: null }, validated)).toEqual(validated);
});
