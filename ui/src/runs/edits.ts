// What entering something into the form of a new run makes of its settings. Pure.
import type { FormSettings } from "../host/bindings/FormSettings";
import type { LaunchForm } from "../host/bindings/LaunchForm";
import { type Control, isPlayer, ownHarness } from "./form";
import { parseNumber } from "./number";

/** Words with commas between; what was typed twice counts once. */
export function wordsOf(typed: string): string[] {
  return [
    ...new Set(
      typed
        .split(",")
        .map((word) => word.trim())
        .filter((word) => word !== ""),
    ),
  ];
}

/** What typing into a field makes of the settings. A text that is no number leaves the last number and is a problem. */
export function entered(control: Control, input: string): { readonly change: Partial<FormSettings>; readonly problem: string | null } {
  switch (control.kind) {
    case "number": {
      const value = parseNumber(input);
      return value === undefined ? { change: {}, problem: "must be a number" } : { change: { [control.field]: value }, problem: null };
    }
    case "words":
      return { change: { [control.field]: wordsOf(input) }, problem: null };
    case "truth":
      return { change: { [control.field]: input === "yes" }, problem: null };
    default:
      return { change: { [control.field]: input }, problem: null };
  }
}

/** `flask-test` of `/data/results/flask-test`: for short texts. */
export const lastPart = (path: string): string =>
  path
    .replace(/[\\/]+$/, "")
    .split(/[\\/]/)
    .at(-1) ?? path;

/**
 * Settings with another harness. The mock agent plays against the simulated model without containers, which no other
 * harness does; a folder that is named by the harness takes the new name.
 */
export function withAgent(settings: FormSettings, agent: string): FormSettings {
  if (agent === settings.agent) return settings;
  const dashed = (name: string): string => name.replaceAll("_", "-");
  const before = dashed(settings.agent);
  const part = lastPart(settings.output_dir);
  const named = before !== "" && part.startsWith(`${before}-`) && /^\d+$/.test(part.slice(before.length + 1));
  const output_dir = named
    ? `${settings.output_dir.slice(0, settings.output_dir.lastIndexOf(part))}${dashed(agent)}${part.slice(before.length)}`
    : settings.output_dir;
  // A file describes the harness of one's own and no other.
  const harness_file = agent === ownHarness ? settings.harness_file : "";
  const next: FormSettings = { ...settings, agent, harness_file, output_dir };
  if (agent === "mock") return { ...next, endpoint_mode: "oracle", use_docker: false, oracle_stack: "native" };
  return settings.agent === "mock" ? { ...next, use_docker: true, oracle_stack: "flask" } : next;
}

/** Settings with another kind of scenarios. Tasks begin with the protocol of EvoCode-Bench at present; an agent that cannot play the kind gives way. */
export function withSource(
  settings: FormSettings,
  source: FormSettings["source"],
  { defaults, protocols }: Pick<LaunchForm, "defaults" | "protocols">,
): FormSettings {
  if (source === settings.source) return settings;
  if (source === "tasks") {
    const agent = settings.agent === "mock" || settings.agent === ownHarness ? "oracle" : settings.agent;
    return withProtocol(
      { ...withAgent(settings, agent), source, endpoint_mode: settings.endpoint_mode === "direct" ? "oracle" : settings.endpoint_mode },
      "evocode",
      protocols,
    );
  }
  const { attempt_limit, fail_stop, restore_before_try, task_timeout, task_background, task_session, task_snapshots, protocol } = defaults;
  return {
    ...withAgent(settings, isPlayer(settings) ? defaults.agent : settings.agent),
    source,
    attempt_limit,
    fail_stop,
    restore_before_try,
    task_timeout,
    task_background,
    task_session,
    task_snapshots,
    protocol,
  };
}

/** Settings with another protocol, and what it sets; settings of one's own begin with those of the last one. */
export function withProtocol(settings: FormSettings, protocol: FormSettings["protocol"], protocols: LaunchForm["protocols"]): FormSettings {
  return { ...settings, ...protocols.find((sets) => sets.protocol === protocol), protocol };
}
