import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { FormSettings } from "../host/bindings/FormSettings";
import {
  aboutOf,
  advancedInWords,
  choiceInWords,
  differInWords,
  emptyMeans,
  labelOf,
  placesOf,
  sectionsOf,
  isSampled,
  isSamplingOf,
} from "./form";
import { defaults, fieldNamed, form } from "./form.fixture";
import { withAgent } from "./edits";
import { numberText, parseNumber } from "./number";

test("what may be chosen comes with the form", () => {
  const controls = new Map(
    placesOf({ ...defaults, agent: "mock", source: "tasks" }, form)
      .flatMap((s) => s.fields)
      .map((control) => [control.field, control]),
  );
  expect(controls.get("endpoint_mode")).toMatchObject({
    kind: "choice",
    choices: [
      ["gateway", "gateway → chat"],
      ["oracle", "simulated model, free"],
    ],
  });
  expect(controls.get("fail_stop")).toMatchObject({ kind: "truth", no: "continue with next turn", yes: "stop the episode" });
  expect(controls.get("use_docker")).toMatchObject({ kind: "truth", no: "no", yes: "yes" });
  expect(controls.get("protocol")).toMatchObject({
    kind: "choice",
    choices: [
      ["evocode", "EvoCode, present"],
      ["own", "own settings"],
    ],
  });
  const protocol = form.fields.find((f) => f.field === "protocol");
  expect([choiceInWords(protocol, "evocode"), choiceInWords(protocol, "own"), choiceInWords(undefined, "own")]).toEqual([
    "One attempt at each step.",
    "",
    "",
  ]);
});

test("every field has exactly one place, whatever the settings are", () => {
  // Keys of other programs are kept, and have no field.
  const all = Object.keys(defaults)
    .filter((field) => field !== "other")
    .sort();
  for (const [endpoint_mode, agent] of [
    ["gateway", "mock"],
    ["direct", "mimo"],
    ["oracle", "custom"],
  ] as const) {
    for (const scenarios_dir of ["", "/packs/a.zip"]) {
      for (const iterative of [true, false]) {
        for (const sampler of [{}, { use_llm_sampler: true }, { use_llm_sampler: true, sampler_base_url: "http://localhost:1/v1" }]) {
          const shown = placesOf({ ...defaults, agent, endpoint_mode, scenarios_dir, iterative, ...sampler }, form).flatMap((s) =>
            s.fields.map((f) => f.field),
          );
          expect([...shown].sort(), `${endpoint_mode} ${scenarios_dir} ${String(iterative)}`).toEqual(all);
        }
      }
    }
    for (const protocol of ["own", "evocode", "mt_at_k", "sr", "ours"] as const) {
      for (const player of [agent, "oracle"]) {
        const shown = placesOf({ ...defaults, agent: player, endpoint_mode, source: "tasks", protocol }, form).flatMap((s) =>
          s.fields.map((f) => f.field),
        );
        expect([...shown].sort(), `tasks ${endpoint_mode} ${player} ${protocol}`).toEqual(all);
      }
    }
  }
});

test("limits that do not hold are not shown", () => {
  const shown = (change: Partial<FormSettings>): string[] =>
    sectionsOf({ ...defaults, ...change }, form).flatMap((s) => s.fields.map((f) => f.field));
  const mock = shown({ agent: "mock", use_docker: false, endpoint_mode: "oracle" });
  for (const field of ["cpus", "memory_gib", "disk_gib", "pids", "network", "image", "run_usd", "price_input"])
    expect(mock, field).not.toContain(field);
  for (const field of ["attempt_minutes", "attempt_tokens", "run_minutes", "run_tokens"]) expect(mock, field).toContain(field);
  expect(shown({ agent: "opencode", use_docker: true, endpoint_mode: "gateway" })).toEqual(
    expect.arrayContaining(["cpus", "network", "run_usd", "price_input"]),
  );
});

test("a field into which numbers or words are typed as text says what it takes, and one of any text does not", () => {
  const about = (field: "execute_episodes" | "base_seed" | "image", takes: string): string | undefined =>
    aboutOf({ kind: "text", field }, fieldNamed(field, { about: "What it means.", takes }));
  expect(about("execute_episodes", "numbers with commas between, such as 1,5,10")).toBe(
    "What it means. Takes numbers with commas between, such as 1,5,10.",
  );
  expect(about("base_seed", "a whole number from 0 to 9007199254740991")).toBe(
    "What it means. Takes a whole number from 0 to 9007199254740991.",
  );
  expect(about("image", "a text that is not empty")).toBe("What it means.");
  const tags = fieldNamed("tags", { about: "What it means.", takes: "words with commas between" });
  expect(aboutOf({ kind: "words", field: "tags" }, tags)).toBe("What it means. Takes words with commas between.");
  const kind = readFileSync(path.resolve(import.meta.dirname, "../../../crates/settings/src/value_kind.rs"), "utf8");
  expect(kind).toContain('"a text that is not empty"');
});

test("a field explains itself in words, a number with its range", () => {
  const about = fieldNamed("n_turns", {
    label: "Turns",
    about: "How many turns an episode has at most.",
    takes: "a whole number from 1 to 1000",
  });
  expect(aboutOf({ kind: "number", field: "n_turns" }, about)).toBe(
    "How many turns an episode has at most. Takes a whole number from 1 to 1000.",
  );
  expect(
    aboutOf(
      { kind: "truth", field: "fail_stop", no: "go on", yes: "stop" },
      { ...about, about: "Whether it stops.", takes: "true or false" },
    ),
  ).toBe("Whether it stops.");
  expect(aboutOf({ kind: "text", field: "model" }, undefined)).toBeUndefined();
});

test("an unknown harness stays selectable", () => {
  const agents = sectionsOf({ ...defaults, agent: "mimo" }, form)[0]?.fields[0];
  expect(agents?.kind === "choice" ? agents.choices.map(([value]) => value) : []).toEqual(["mock", "mimo", "custom"]);
});

test("a harness of a TOML file can be chosen, and its file stands beside it", () => {
  const own = withAgent({ ...defaults, agent: "opencode", endpoint_mode: "gateway", harness_file: "" }, "custom");
  const fields = sectionsOf(own, form)[0]?.fields ?? [];
  expect(fields.slice(0, 2).map((f) => f.field)).toEqual(["agent", "harness_file"]);
  expect(fields[0]?.kind === "choice" ? fields[0].choices.map(([value]) => value) : []).toEqual(["mock", "custom"]);
  const named = { ...own, harness_file: "/agents/mine.toml" };
  expect(withAgent(named, "custom").harness_file).toBe("/agents/mine.toml");
  expect(withAgent(named, "opencode").harness_file).toBe("");
});

test("what differs is counted", () => {
  expect([0, 1, 4].map((n) => differInWords(n, null))).toEqual([
    "all fields are at their defaults",
    "1 field differs from the defaults (marked)",
    "4 fields differ from the defaults (marked)",
  ]);
  expect([0, 2].map((n) => differInWords(n, "Mock agent"))).toEqual([
    "all fields are at the defaults of Mock agent",
    "2 fields differ from the defaults of Mock agent (marked)",
  ]);
  const advanced = sectionsOf(defaults, form).at(-1)?.fields ?? [];
  expect(advancedInWords(advanced, new Set())).toContain(`${String(advanced.length)} fields, all at their defaults`);
  expect(advancedInWords(advanced, new Set(["pids"]))).toContain(", 1 differs from the default");
});

test("numbers are read as people write them and never guessed", () => {
  expect(["20", " 1,000 ", "1 000 000", "0.25", ".5", "1e3", ""].map(parseNumber)).toEqual([20, 1000, 1_000_000, 0.25, 0.5, 1000, null]);
  for (const text of ["1,00", "1.2.3", "0x10", "--1", "Infinity", "ten", "1e999"]) expect(parseNumber(text), text).toBeUndefined();
  expect([null, 0, 0.5].map(numberText)).toEqual(["", "0", "0.5"]);
});

test("an empty field says what it means", () => {
  expect([
    emptyMeans("n_turns", defaults, undefined),
    emptyMeans("run_usd", defaults, fieldNamed("run_usd", { empty: "no limit" })),
    emptyMeans("keep_snapshots", defaults, undefined),
    emptyMeans("llm_sampler_model_id", defaults, undefined),
  ]).toEqual(["3", "no limit", "", "zai.glm-5"]);
  expect(labelOf("scenarios_dir", undefined)).toBe("scenarios dir");
  expect(labelOf("pids", fieldNamed("pids", { label: "Processes" }))).toBe("Processes");
});

test("a model samples before the run only where no pack is named", () => {
  expect(isSampled({ source: "scenarios", use_llm_sampler: true, scenarios_dir: " " })).toBe(true);
  expect(isSampled({ source: "tasks", use_llm_sampler: true, scenarios_dir: "" })).toBe(false);
  expect(isSampled({ source: "scenarios", use_llm_sampler: true, scenarios_dir: "/r/a-pack" })).toBe(false);
  expect(isSampled({ source: "scenarios", use_llm_sampler: false, scenarios_dir: "" })).toBe(false);
});

test("the model that fills in scenarios and its endpoint stand beside the switch, and only where it is on", () => {
  const shown = (change: Partial<FormSettings>): string[][] =>
    sectionsOf({ ...defaults, ...change }, form).map((s) => s.fields.map((f) => f.field));
  const isOfSampler = (field: string): boolean => field === "llm_sampler_model_id" || field.startsWith("sampler_");
  expect(shown({}).flat().filter(isOfSampler)).toEqual([]);
  expect(shown({ source: "tasks", use_llm_sampler: true }).flat().filter(isOfSampler)).toEqual([]);
  const beside = (change: Partial<FormSettings>): string[] =>
    shown({ use_llm_sampler: true, ...change })[1]?.filter((field) => field === "use_llm_sampler" || isOfSampler(field)) ?? [];
  expect(beside({})).toEqual(["use_llm_sampler", "llm_sampler_model_id", "sampler_base_url", "sampler_region", "sampler_seconds"]);
  expect(beside({ sampler_base_url: "http://localhost:11434/v1" })).toEqual([
    "use_llm_sampler",
    "llm_sampler_model_id",
    "sampler_base_url",
    "sampler_key_variable",
    "sampler_seconds",
  ]);
});

test("the sampling of a run is known again by where its pack goes", () => {
  const job = { kind: "sampling", place: "/runs/a-pack" } as const;
  for (const output_dir of ["/runs/a", " /runs/a/ "]) expect(isSamplingOf(job, { output_dir })).toBe(true);
  expect(isSamplingOf(job, { output_dir: "/runs/b" })).toBe(false);
  expect(isSamplingOf({ ...job, kind: "generation" }, { output_dir: "/runs/a" })).toBe(false);
});
