// The form of a new run: which field stands where, how it is entered, and what of it differs from the defaults. Names,
// units and what a field takes come from the workbench; the places are ours. Pure.
import type { FormField } from "../host/bindings/FormField";
import type { FormSettings } from "../host/bindings/FormSettings";
import type { Job } from "../host/bindings/Job";
import type { LaunchForm } from "../host/bindings/LaunchForm";
import { counted } from "../parts/format";
import { numberText, parseNumber } from "./number";

export type FieldName = keyof FormSettings;
type Of<T> = { [K in FieldName]-?: FormSettings[K] extends T ? (T extends FormSettings[K] ? K : never) : never }[FieldName];
export type NumberField = Of<number | null>;
export type TruthField = Of<boolean>;
export type WordsField = Of<string[]>;
/** Texts and choices of one word. */
export type TextField = Exclude<FieldName, NumberField | TruthField | WordsField>;

export type Control =
  | { readonly kind: "text"; readonly field: TextField }
  | { readonly kind: "number"; readonly field: NumberField }
  | { readonly kind: "words"; readonly field: WordsField }
  | { readonly kind: "choice"; readonly field: TextField; readonly choices: readonly (readonly [value: string, label: string])[] }
  | { readonly kind: "truth"; readonly field: TruthField; readonly no: string; readonly yes: string };

/** A field at its place: how it is entered and how many of the four columns it takes. */
export type Placed = Control & { readonly span: 1 | 2 };

export interface Section {
  readonly id: "agent" | "scenarios" | "loop" | "limits" | "results" | "advanced";
  readonly title: string;
  readonly fields: readonly Placed[];
}

const text = (field: TextField, span: 1 | 2 = 1): Placed => ({ kind: "text", field, span });
const number = (field: NumberField): Placed => ({ kind: "number", field, span: 1 });
const words = (field: WordsField): Placed => ({ kind: "words", field, span: 2 });
const choice = (field: TextField, ...choices: readonly (readonly [string, string])[]): Placed => ({ kind: "choice", field, choices, span: 1 });
const truth = (field: TruthField, no = "no", yes = "yes"): Placed => ({ kind: "truth", field, no, yes, span: 1 });

/** A harness that a TOML file describes. */
const ownHarness = "custom";

/** What the harness speaks to the gateway, short enough for a column. */
const apis: Readonly<Record<string, string>> = { chat_completions: "chat", responses: "responses", messages: "messages" };
const mode = (api: string | undefined): Placed => choice("endpoint_mode", ["gateway", `gateway → ${api === undefined ? "endpoint" : (apis[api] ?? api)}`], ["direct", "direct, as the original"], ["oracle", "simulated model, free"]);
const keyPlace = choice("key_place", ["none", "none"], ["env", "environment variable"], ["keychain", "keychain"]);

/** What only holds for containers. */
const OF_CONTAINERS: readonly FieldName[] = ["image", "cpus", "memory_gib", "disk_gib", "pids", "network", "extra_docker_args"];
/** What only holds where an endpoint is paid. */
const OF_MONEY: readonly FieldName[] = ["run_usd", "episode_usd", "attempt_usd", "price_input", "price_output", "price_cached", "price_cache_write"];

/** Whether a field does anything under these settings: plain processes have no limits of a container, the simulated model no price. */
export function holds(settings: FormSettings, field: FieldName): boolean {
  if (!settings.use_docker && OF_CONTAINERS.includes(field)) return false;
  return settings.endpoint_mode !== "oracle" || !OF_MONEY.includes(field);
}

/** The sections as they are shown for these settings; what stands in none of them stands under Advanced. */
export function sectionsOf(settings: FormSettings, form: Pick<LaunchForm, "harnesses">): readonly Section[] {
  return placesOf(settings, form).map((section) => ({ ...section, fields: section.fields.filter((f) => holds(settings, f.field)) }));
}

/** The same with the fields that do nothing under these settings. */
export function placesOf(settings: FormSettings, form: Pick<LaunchForm, "harnesses">): readonly Section[] {
  const harness = form.harnesses.find((h) => h.name === settings.agent);
  const others = harness || settings.agent === "" || settings.agent === ownHarness ? [] : [[settings.agent, settings.agent] as const];
  const agents = choice("agent", ...form.harnesses.map((h) => [h.name, h.title] as const), ...others, [ownHarness, "another, from a TOML file…"]);
  const file = settings.agent === ownHarness ? [text("harness_file", 2)] : [];
  const endpoint: readonly Placed[] =
    settings.endpoint_mode === "gateway"
      ? [mode(harness?.api), text("model"), text("base_url", 2), keyPlace, text("key_name"), number("price_input"), number("price_output")]
      : settings.endpoint_mode === "oracle"
        ? [mode(harness?.api), text("model"), number("oracle_defect_rate"), number("oracle_repair")]
        : [mode(harness?.api), text("model"), words("env_vars")];
  const generated: readonly Placed[] = settings.scenarios_dir === "" ? [...(settings.iterative ? [number("num_changes_per_turn")] : []), text("base_seed"), truth("iterative", "one turn", "many turns"), truth("use_llm_sampler", "generated from the seed", "filled in by a model")] : [];
  const shown: readonly Section[] = [
    { id: "agent", title: "Agent", fields: [agents, ...file, text("image", 2), ...endpoint] },
    { id: "scenarios", title: "Scenarios", fields: [text("scenarios_dir", 2), number("n_scenarios"), number("n_turns"), ...generated] },
    { id: "loop", title: "Loop", fields: [number("attempt_limit"), choice("feedback", ["detailed", "detailed"], ["medium", "medium"], ["minimal", "minimal"], ["none", "none"]), truth("fail_stop", "continue with next turn", "stop the episode"), number("batch_size")] },
    { id: "limits", title: "Limits", fields: [number("attempt_minutes"), number("attempt_tokens"), number("run_usd"), number("run_minutes"), number("cpus"), number("memory_gib"), choice("network", ["gateway", "gateway only"], ["open", "open"]), number("run_tokens")] },
    { id: "results", title: "Results", fields: [text("output_dir", 2), words("tags")] },
  ];
  const taken = new Set(shown.flatMap((section) => section.fields.map((f) => f.field)));
  return [...shown, { id: "advanced", title: "Advanced", fields: advanced.filter((f) => !taken.has(f.field)) }];
}

/** In the order of Advanced. Together with the sections above these are all fields; a test holds that. Keys of other
 *  programs that a loaded configuration brought are kept without a field: they do nothing here. */
const advanced: readonly Placed[] = [
  truth("use_docker", "plain processes", "containers"),
  truth("quick_debug", "no", "2 episodes × 2 turns"),
  text("execute_episodes"),
  number("keep_snapshots"),
  truth("iterative", "one turn", "many turns"),
  number("num_changes_per_turn"),
  text("base_seed"),
  truth("use_llm_sampler", "generated from the seed", "filled in by a model"),
  text("llm_sampler_model_id"),
  text("harness_file", 2),
  number("context_window"),
  words("env_vars"),
  text("extra_docker_args", 2),
  number("price_cached"),
  number("price_cache_write"),
  number("price_input"),
  number("price_output"),
  text("base_url", 2),
  keyPlace,
  text("key_name"),
  number("disk_gib"),
  number("pids"),
  number("attempt_usd"),
  number("attempt_wall_minutes"),
  number("episode_tokens"),
  number("episode_usd"),
  number("episode_minutes"),
  number("oracle_defect_rate"),
  number("oracle_repair"),
  number("oracle_most_defects"),
  truth("oracle_carries_over", "gone in the next turn", "stay"),
  choice("oracle_stack", ["flask", "Flask"], ["native", "served by Stamina Lab"]),
  text("oracle_seed"),
  number("oracle_stall"),
  number("oracle_overflow"),
  number("oracle_malformed"),
  number("oracle_kill"),
  number("oracle_give_up"),
];

/** Names for what the workbench does not name, and in place of longer ones where four columns are narrow. */
const ownLabels: Partial<Readonly<Record<FieldName, string>>> = {
  agent: "Harness",
  endpoint_mode: "Model endpoint",
  key_place: "Key",
  scenarios_dir: "Pack",
  n_scenarios: "Episodes",
  n_turns: "Turns",
  fail_stop: "After a failed turn",
  batch_size: "Parallel episodes",
  output_dir: "Folder",
  iterative: "Benchmark",
  use_llm_sampler: "Names and details",
  use_docker: "Boxes",
  quick_debug: "Smoke test",
  price_cached: "Price, cached input",
  price_cache_write: "Price, written to cache",
};

export function labelOf(field: FieldName, about: FormField | undefined): string {
  return ownLabels[field] ?? about?.label ?? field.replaceAll("_", " ");
}

/** What stands in an empty field: the default, or what an empty one means. */
export function emptyMeans(field: FieldName, defaults: FormSettings): string {
  const value = defaults[field];
  if (typeof value === "number") return String(value);
  if (typeof value === "string" && value !== "") return value;
  if (field.startsWith("price_")) return "unknown";
  if (/_(tokens|usd|minutes)$/.test(field)) return "no limit";
  switch (field) {
    case "keep_snapshots":
    case "execute_episodes":
      return "all";
    case "tags":
    case "env_vars":
    case "extra_docker_args":
      return "none";
    case "harness_file":
      return "/path/to/my_agent.toml";
    default:
      return "";
  }
}

/** `4 fields differ from the defaults (marked)`; defaults depend on the harness, which is named where it is not the usual one. */
export function differInWords(n: number, harness: string | null): string {
  const whose = harness === null ? "the defaults" : `the defaults of ${harness}`;
  return n === 0 ? `all fields are at ${harness === null ? "their defaults" : whose}` : `${counted(n, "field")} ${n === 1 ? "differs" : "differ"} from ${whose} (marked)`;
}

/** The folded line of Advanced. */
export function advancedInWords(fields: readonly Placed[], differ: ReadonlySet<FieldName>): string {
  const n = fields.filter((f) => differ.has(f.field)).length;
  const rest = n === 0 ? "all at their defaults" : `${String(n)} ${n === 1 ? "differs" : "differ"} from the default`;
  return `Snapshots, own harness, container arguments, further budgets, simulated model: ${counted(fields.length, "field")}, ${rest}`;
}

/** What is typed into number fields until it is a number, by field. */
export type Typed = Readonly<Partial<Record<FieldName, string>>>;

/** The text of a field. */
export function textOf(settings: FormSettings, typed: Typed, field: FieldName): string {
  const raw = typed[field];
  if (raw !== undefined) return raw;
  const value = settings[field];
  return value === null ? "" : typeof value === "number" ? numberText(value) : Array.isArray(value) ? value.join(", ") : String(value);
}

/** Words with commas between; what was typed twice counts once. */
export function wordsOf(typed: string): string[] {
  return [...new Set(typed.split(",").map((word) => word.trim()).filter((word) => word !== ""))];
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
export const lastPart = (path: string): string => path.replace(/[\\/]+$/, "").split(/[\\/]/).at(-1) ?? path;

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
  const output_dir = named ? `${settings.output_dir.slice(0, settings.output_dir.lastIndexOf(part))}${dashed(agent)}${part.slice(before.length)}` : settings.output_dir;
  // A file describes the harness of one's own and no other.
  const harness_file = agent === ownHarness ? settings.harness_file : "";
  const next: FormSettings = { ...settings, agent, harness_file, output_dir };
  if (agent === "mock") return { ...next, endpoint_mode: "oracle", use_docker: false, oracle_stack: "native" };
  return settings.agent === "mock" ? { ...next, use_docker: true, oracle_stack: "flask" } : next;
}

/** What a field means and, where that is no choice of words, what it takes. */
export function aboutOf(control: Control, about: FormField | undefined): string | undefined {
  if (about === undefined) return undefined;
  const takes = control.kind === "number" && about.takes !== "" ? `Takes ${about.takes}.` : "";
  return [about.about, takes].filter((words) => words !== "").join(" ") || undefined;
}

/** Whether a model fills in the scenarios of the run, which it does before it. */
export const isSampled = (settings: Pick<FormSettings, "scenarios_dir" | "use_llm_sampler">): boolean => settings.use_llm_sampler && settings.scenarios_dir.trim() === "";

/** What is wrong, without the names of keys that the form does not show. */
export const plainly = (message: string): string => message.replace(/^endpoint\.mode=gateway needs it: /i, "Needed: ");

/** Whether a job samples the scenarios of this run: its pack lies beside the results. */
export const isSamplingOf = (job: Pick<Job, "kind" | "place">, settings: Pick<FormSettings, "output_dir">): boolean => job.kind === "sampling" && job.place === `${settings.output_dir.trim().replace(/(.)\/+$/, "$1")}-pack`;
