import { expect, test } from "vitest";
import type { FormField } from "../host/bindings/FormField";
import type { FormSettings } from "../host/bindings/FormSettings";
import type { LaunchForm } from "../host/bindings/LaunchForm";
import {
  aboutOf,
  advancedInWords,
  choiceInWords,
  differInWords,
  emptyMeans,
  entered,
  isPlayer,
  labelOf,
  placesOf,
  sectionsOf,
  textOf,
  withAgent,
  withProtocol,
  withSource,
  wordsOf,
  isSampled,
  isSamplingOf,
} from "./form";
import { numberText, parseNumber } from "./number";

const defaults: FormSettings = {
  agent: "mock",
  harness_file: "",
  model: "",
  image: "",
  endpoint_mode: "oracle",
  base_url: "",
  key_place: "none",
  key_name: "",
  context_window: null,
  price_input: null,
  price_cached: null,
  price_cache_write: null,
  price_output: null,
  price_per_hour: null,
  source: "scenarios",
  tasks: "",
  protocol: "own",
  restore_before_try: false,
  task_timeout: "graded",
  task_background: "keep",
  task_session: "continue",
  task_snapshots: "none",
  iterative: true,
  scenarios_dir: "",
  n_scenarios: 10,
  n_turns: 3,
  num_changes_per_turn: 5,
  base_seed: "42",
  execute_episodes: "",
  use_llm_sampler: false,
  llm_sampler_model_id: "zai.glm-5",
  sampler_base_url: "",
  sampler_key_variable: "",
  sampler_region: "",
  sampler_endpoint_url: "",
  sampler_seconds: null,
  sampler_calls: null,
  attempt_limit: 10,
  feedback: "detailed",
  fail_stop: false,
  batch_size: 1,
  quick_debug: false,
  use_docker: true,
  attempt_minutes: 20,
  cpus: 2,
  memory_gib: 4,
  disk_gib: 4,
  pids: 512,
  network: "gateway",
  attempt_tokens: null,
  attempt_usd: null,
  attempt_wall_minutes: null,
  episode_tokens: null,
  episode_usd: null,
  episode_minutes: null,
  run_tokens: null,
  run_usd: null,
  run_minutes: null,
  output_dir: "",
  tags: [],
  keep_snapshots: null,
  env_vars: [],
  extra_docker_args: "",
  oracle_seed: "0",
  oracle_defect_rate: 0,
  oracle_most_defects: 3,
  oracle_repair: 1,
  oracle_carries_over: true,
  oracle_stack: "flask",
  oracle_stall: 0,
  oracle_overflow: 0,
  oracle_malformed: 0,
  oracle_kill: 0,
  oracle_give_up: 0,
  other: [],
};
const protocols: LaunchForm["protocols"] = [
  { protocol: "evocode", attempt_limit: 1, fail_stop: false, restore_before_try: false, task_timeout: "graded" },
  { protocol: "mt_at_k", attempt_limit: 4, fail_stop: true, restore_before_try: true, task_timeout: "stop" },
  { protocol: "sr", attempt_limit: 1, fail_stop: false, restore_before_try: true, task_timeout: "stop" },
  { protocol: "ours", attempt_limit: 10, fail_stop: false, restore_before_try: false, task_timeout: "graded" },
];
const fieldNamed = (field: string, more: Partial<FormField> = {}): FormField => ({
  field,
  key: field,
  section: "advanced",
  label: "",
  unit: "",
  about: "",
  takes: "",
  empty: "",
  needs: [],
  choices: [],
  ...more,
});
const form: Pick<LaunchForm, "harnesses" | "fields"> = {
  harnesses: [{ name: "mock", title: "Mock", version: "1", image: "stamina/base:1", api: "chat_completions" }],
  fields: [
    fieldNamed("endpoint_mode", {
      needs: ["model"],
      choices: [
        { value: "gateway", label: "gateway", about: "" },
        { value: "oracle", label: "simulated model, free", about: "" },
      ],
    }),
    fieldNamed("fail_stop", {
      needs: ["no_protocol"],
      choices: [
        { value: "false", label: "continue with next turn", about: "" },
        { value: "true", label: "stop the episode", about: "" },
      ],
    }),
    fieldNamed("protocol", {
      needs: ["tasks"],
      choices: [
        { value: "evocode", label: "EvoCode, present", about: "One attempt at each step." },
        { value: "own", label: "own settings", about: "" },
      ],
    }),
    fieldNamed("restore_before_try", { needs: ["no_protocol"] }),
    fieldNamed("task_timeout", { needs: ["tasks", "no_protocol"] }),
    fieldNamed("task_session", { needs: ["tasks", "model"] }),
    ...["tasks", "task_background", "task_snapshots"].map((field) => fieldNamed(field, { needs: ["tasks"] })),
    ...["scenarios_dir", "n_turns", "feedback", "use_docker"].map((field) => fieldNamed(field, { needs: ["scenarios"] })),
    ...["model", "base_url", "run_tokens", "oracle_defect_rate"].map((field) => fieldNamed(field, { needs: ["model"] })),
    ...["run_usd", "price_input"].map((field) => fieldNamed(field, { needs: ["model", "paid_endpoint"] })),
    ...["cpus", "memory_gib", "disk_gib", "pids", "network"].map((field) => fieldNamed(field, { needs: ["containers"] })),
    fieldNamed("image", { needs: ["scenarios", "containers"] }),
    ...[
      "llm_sampler_model_id",
      "sampler_base_url",
      "sampler_key_variable",
      "sampler_region",
      "sampler_endpoint_url",
      "sampler_seconds",
      "sampler_calls",
    ].map((field) => fieldNamed(field, { needs: ["scenarios", "sampler"] })),
  ],
};

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
      for (const who of [agent, "oracle"]) {
        const shown = placesOf({ ...defaults, agent: who, endpoint_mode, source: "tasks", protocol }, form).flatMap((s) =>
          s.fields.map((f) => f.field),
        );
        expect([...shown].sort(), `tasks ${endpoint_mode} ${who} ${protocol}`).toEqual(all);
      }
    }
  }
});

test("tasks show what they have, and a protocol sets its fields", () => {
  const codex = { ...defaults, agent: "codex", endpoint_mode: "gateway" as const };
  const shown = (settings: FormSettings): string[] => sectionsOf(settings, form).flatMap((s) => s.fields.map((f) => f.field));
  expect(shown(codex)).toEqual(expect.arrayContaining(["source", "scenarios_dir", "n_turns", "feedback"]));
  expect(shown(codex)).toContain("restore_before_try");
  for (const field of ["tasks", "protocol", "task_timeout", "task_background", "task_session", "task_snapshots"])
    expect(shown(codex), field).not.toContain(field);
  const tasks = withSource(codex, "tasks", { defaults, protocols });
  expect(tasks).toMatchObject({
    source: "tasks",
    agent: "codex",
    protocol: "evocode",
    attempt_limit: 1,
    fail_stop: false,
    restore_before_try: false,
    task_timeout: "graded",
  });
  expect(shown(tasks)).toEqual(
    expect.arrayContaining([
      "tasks",
      "protocol",
      "execute_episodes",
      "task_background",
      "task_session",
      "task_snapshots",
      "model",
      "run_usd",
    ]),
  );
  for (const field of [
    "attempt_limit",
    "fail_stop",
    "restore_before_try",
    "task_timeout",
    "scenarios_dir",
    "n_turns",
    "feedback",
    "image",
    "use_docker",
  ])
    expect(shown(tasks), field).not.toContain(field);
  const tries = withProtocol(tasks, "mt_at_k", protocols);
  expect(tries).toMatchObject({ attempt_limit: 4, fail_stop: true, restore_before_try: true, task_timeout: "stop" });
  expect(shown(tries)).toContain("attempt_limit");
  expect(shown(tries)).not.toContain("fail_stop");
  const own = withProtocol(tries, "own", protocols);
  expect(own).toEqual({ ...tries, protocol: "own" });
  expect(shown(own)).toEqual(expect.arrayContaining(["attempt_limit", "fail_stop", "restore_before_try", "task_timeout"]));
  expect(withProtocol(tries, "sr", protocols)).toMatchObject({
    protocol: "sr",
    attempt_limit: 1,
    fail_stop: false,
    restore_before_try: true,
    task_timeout: "stop",
  });
  expect(shown(withProtocol(tries, "sr", protocols))).toContain("attempt_limit");
  expect(withProtocol(tries, "ours", protocols)).toMatchObject({
    protocol: "ours",
    attempt_limit: 10,
    fail_stop: false,
    restore_before_try: false,
    task_timeout: "graded",
  });
  expect(
    withSource({ ...tries, task_background: "end", task_session: "fresh", task_snapshots: "each_step" }, "scenarios", {
      defaults,
      protocols,
    }),
  ).toEqual(codex);
});

test("players of tasks ask no model, and what cannot play tasks gives way to one", () => {
  const played = withSource(withAgent({ ...defaults, agent: "codex" }, "mock"), "tasks", {
    defaults: { ...defaults, agent: "codex" },
    protocols,
  });
  expect(played).toMatchObject({ agent: "oracle", use_docker: true });
  expect(isPlayer(played)).toBe(true);
  expect(isPlayer({ source: "scenarios", agent: "oracle" })).toBe(false);
  const sections = sectionsOf(played, {
    ...form,
    harnesses: [...form.harnesses, { name: "codex", title: "Codex", version: "1", image: "i", api: "responses" }],
  });
  const agents = sections[0]?.fields[0];
  expect(agents?.kind === "choice" ? agents.choices.map(([value]) => value) : []).toEqual(["oracle", "nop", "codex"]);
  const shown = sections.flatMap((s) => s.fields.map((f) => f.field));
  for (const field of ["endpoint_mode", "model", "base_url", "price_input", "run_usd", "run_tokens", "oracle_defect_rate"])
    expect(shown, field).not.toContain(field);
  expect(shown).toEqual(expect.arrayContaining(["attempt_minutes", "cpus", "run_minutes", "network"]));
  expect(withSource(played, "scenarios", { defaults: { ...defaults, agent: "codex" }, protocols })).toMatchObject({
    agent: "codex",
    source: "scenarios",
    attempt_limit: 10,
  });
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

test("typing keeps what was typed, and what is no number is a problem and not a value", () => {
  const turns = { kind: "number", field: "n_turns" } as const;
  expect(entered(turns, "1,000")).toEqual({ change: { n_turns: 1000 }, problem: null });
  expect(entered(turns, "")).toEqual({ change: { n_turns: null }, problem: null });
  expect(entered(turns, "4x")).toEqual({ change: {}, problem: "must be a number" });
  expect(entered({ kind: "words", field: "tags" }, " glm-5, r10,, glm-5 ")).toEqual({ change: { tags: ["glm-5", "r10"] }, problem: null });
  expect(entered({ kind: "truth", field: "fail_stop", no: "go on", yes: "stop" }, "yes")).toEqual({
    change: { fail_stop: true },
    problem: null,
  });
  expect(textOf(defaults, { n_turns: "4x" }, "n_turns")).toBe("4x");
  expect(textOf(defaults, {}, "n_turns")).toBe("3");
  expect(textOf(defaults, {}, "run_usd")).toBe("");
  expect(wordsOf("")).toEqual([]);
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

test("the mock agent plays against the simulated model, and a folder named by the harness follows it", () => {
  const codex = { ...defaults, agent: "opencode", endpoint_mode: "gateway" as const, output_dir: "/home/x/stamina-results/opencode-12" };
  const mock = withAgent(codex, "mock");
  expect(mock).toMatchObject({
    agent: "mock",
    endpoint_mode: "oracle",
    use_docker: false,
    oracle_stack: "native",
    output_dir: "/home/x/stamina-results/mock-12",
  });
  expect(withAgent(mock, "mini_swe")).toMatchObject({
    endpoint_mode: "oracle",
    use_docker: true,
    oracle_stack: "flask",
    output_dir: "/home/x/stamina-results/mini-swe-12",
  });
  expect(withAgent({ ...codex, output_dir: "/data/opencode-final" }, "mini_swe").output_dir).toBe("/data/opencode-final");
  // A choice of the reader's own stays.
  expect(withAgent({ ...codex, use_docker: false }, "mini_swe")).toMatchObject({ endpoint_mode: "gateway", use_docker: false });
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
