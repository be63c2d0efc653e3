import { expect, test } from "vitest";
import type { FormSettings } from "../host/bindings/FormSettings";
import { entered, withAgent, withProtocol, withSource, wordsOf } from "./edits";
import { isPlayer, sectionsOf, textOf } from "./form";
import { defaults, form, protocols } from "./form.fixture";

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
