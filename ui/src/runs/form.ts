// The form of a new run: which field stands where, how it is entered, and what of it differs from the defaults. Names,
// units, choices and what a field takes come from the workbench (crates/settings); the places are of this page. Pure.
import type { FieldNeed } from "../host/bindings/FieldNeed";
import type { FormField } from "../host/bindings/FormField";
import type { FormSettings } from "../host/bindings/FormSettings";
import type { Job } from "../host/bindings/Job";
import type { LaunchForm } from "../host/bindings/LaunchForm";
import { counted } from "../parts/format";
import { numberText } from "./number";

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
const choice = (field: TextField, ...choices: readonly (readonly [string, string])[]): Placed => ({
  kind: "choice",
  field,
  choices,
  span: 1,
});
const truth = (field: TruthField, no = "no", yes = "yes"): Placed => ({ kind: "truth", field, no, yes, span: 1 });

/** A harness that a TOML file describes. */
export const ownHarness = "custom";

/** What the harness speaks to the gateway, short enough for a column. */
const apis: Readonly<Record<string, string>> = { chat_completions: "chat", responses: "responses", messages: "messages" };

/** Controls whose choices come from the workbench. */
interface Offered {
  readonly pick: (field: TextField) => Placed;
  readonly flag: (field: TruthField) => Placed;
  readonly mode: (api: string | undefined) => Placed;
}

function offeredIn(fields: readonly FormField[]): Offered {
  const choicesOf = (field: FieldName): readonly (readonly [value: string, label: string])[] =>
    (fields.find((f) => f.field === field)?.choices ?? []).map((c) => [c.value, c.label] as const);
  return {
    pick: (field) => choice(field, ...choicesOf(field)),
    flag: (field) => {
      const labels = new Map(choicesOf(field));
      return truth(field, labels.get("false"), labels.get("true"));
    },
    mode: (api) =>
      choice(
        "endpoint_mode",
        ...choicesOf("endpoint_mode").map(
          ([value, label]) =>
            [value, value === "gateway" ? `${label} → ${api === undefined ? "endpoint" : (apis[api] ?? api)}` : label] as const,
        ),
      ),
  };
}

/** Players of tasks that ask no model. */
const PLAYERS = [
  ["oracle", "reference solutions (ORACLE)"],
  ["nop", "no agent (NOP)"],
] as const;
/** Whether tasks are played by their reference solutions or by nobody: no model is asked. */
export const isPlayer = (settings: Pick<FormSettings, "source" | "agent">): boolean =>
  settings.source === "tasks" && PLAYERS.some(([name]) => name === settings.agent);

/** Whether something that fields need is so. */
function isMet(need: FieldNeed, settings: FormSettings): boolean {
  switch (need) {
    case "scenarios":
      return settings.source === "scenarios";
    case "tasks":
      return settings.source === "tasks";
    case "no_protocol":
      return settings.source === "scenarios" || settings.protocol === "own";
    case "model":
      return !isPlayer(settings);
    case "containers":
      return settings.use_docker;
    case "paid_endpoint":
      return settings.endpoint_mode !== "oracle";
    case "sampler":
      return settings.use_llm_sampler;
  }
}

/**
 * Whether a field does anything under these settings: plain processes have no limits of a container, the simulated model no
 * price; a protocol sets its fields.
 */
export function holds(settings: FormSettings, field: FieldName, fields: readonly FormField[]): boolean {
  // This protocol has one attempt at each step, and a harness of one's own plays no tasks.
  if (settings.source === "tasks" && (field === "harness_file" || (field === "attempt_limit" && settings.protocol === "evocode")))
    return false;
  return (fields.find((f) => f.field === field)?.needs ?? []).every((need) => isMet(need, settings));
}

/** The model that fills in the scenarios, and its endpoint: one with the API of OpenAI, or Amazon Bedrock. */
const samplerOf = (settings: FormSettings): readonly Placed[] => [
  text("llm_sampler_model_id"),
  text("sampler_base_url", 2),
  settings.sampler_base_url.trim() === "" ? text("sampler_region") : text("sampler_key_variable"),
  number("sampler_seconds"),
];

/** The sections as they are shown for these settings; what stands in none of them stands under Advanced. */
export function sectionsOf(settings: FormSettings, form: Pick<LaunchForm, "harnesses" | "fields">): readonly Section[] {
  return placesOf(settings, form).map((section) => ({
    ...section,
    fields: section.fields.filter((f) => holds(settings, f.field, form.fields)),
  }));
}

/** The same with the fields that do nothing under these settings. */
export function placesOf(settings: FormSettings, form: Pick<LaunchForm, "harnesses" | "fields">): readonly Section[] {
  const offered = offeredIn(form.fields);
  const { pick, flag, mode } = offered;
  const isTasks = settings.source === "tasks";
  const harness = form.harnesses.find((h) => h.name === settings.agent);
  const others = harness || settings.agent === "" || settings.agent === ownHarness ? [] : [[settings.agent, settings.agent] as const];
  const harnesses = form.harnesses.map((h) => [h.name, h.title] as const);
  // The mock agent cannot run commands, and nothing says what of a harness of one's own starts in the image of a task.
  const agents = isTasks
    ? choice("agent", ...PLAYERS, ...harnesses.filter(([name]) => name !== "mock"), ...(isPlayer(settings) ? [] : others))
    : choice("agent", ...harnesses, ...others, [ownHarness, "another, from a TOML file…"]);
  const file = settings.agent === ownHarness ? [text("harness_file", 2)] : [];
  // The harnesses play tasks through the gateway.
  const endpoint: readonly Placed[] = isPlayer(settings)
    ? []
    : settings.endpoint_mode === "gateway"
      ? [
          mode(harness?.api),
          text("model"),
          text("base_url", 2),
          pick("key_place"),
          text("key_name"),
          number("price_input"),
          number("price_output"),
        ]
      : settings.endpoint_mode === "oracle"
        ? [mode(harness?.api), text("model"), number("oracle_defect_rate"), number("oracle_repair")]
        : [mode(harness?.api), text("model"), words("env_vars")];
  const generated: readonly Placed[] =
    settings.scenarios_dir === ""
      ? [
          ...(settings.iterative ? [number("num_changes_per_turn")] : []),
          text("base_seed"),
          flag("iterative"),
          flag("use_llm_sampler"),
          ...(settings.use_llm_sampler ? samplerOf(settings) : []),
        ]
      : [];
  const shown: readonly Section[] = [
    { id: "agent", title: "Agent", fields: [agents, ...file, text("image", 2), ...endpoint] },
    {
      id: "scenarios",
      title: "Scenarios",
      fields: isTasks
        ? [pick("source"), text("tasks", 2), pick("protocol"), text("execute_episodes")]
        : [pick("source"), text("scenarios_dir", 2), number("n_scenarios"), number("n_turns"), ...generated],
    },
    {
      id: "loop",
      title: "Loop",
      fields: [
        number("attempt_limit"),
        flag("restore_before_try"),
        ...(isTasks ? [pick("task_timeout"), pick("task_background"), pick("task_session"), pick("task_snapshots")] : []),
        pick("feedback"),
        flag("fail_stop"),
        number("batch_size"),
      ],
    },
    {
      id: "limits",
      title: "Limits",
      fields: [
        number("attempt_minutes"),
        number("attempt_tokens"),
        number("run_usd"),
        number("run_minutes"),
        number("cpus"),
        number("memory_gib"),
        pick("network"),
        number("run_tokens"),
      ],
    },
    { id: "results", title: "Results", fields: [text("output_dir", 2), words("tags")] },
  ];
  const taken = new Set(shown.flatMap((section) => section.fields.map((f) => f.field)));
  return [...shown, { id: "advanced", title: "Advanced", fields: advanced(offered).filter((f) => !taken.has(f.field)) }];
}

/** In the order of Advanced. Together with the sections above these are all fields; a test holds that. Keys of other
 *  programs that a loaded configuration brought are kept without a field: they do nothing here. */
const advanced = ({ pick, flag, mode }: Offered): readonly Placed[] => [
  // Without a place of their own, these do nothing under the settings.
  mode(undefined),
  text("model"),
  text("scenarios_dir", 2),
  number("n_scenarios"),
  number("n_turns"),
  text("tasks", 2),
  pick("protocol"),
  flag("restore_before_try"),
  pick("task_timeout"),
  pick("task_background"),
  pick("task_session"),
  pick("task_snapshots"),
  flag("use_docker"),
  flag("quick_debug"),
  text("execute_episodes"),
  number("keep_snapshots"),
  flag("iterative"),
  number("num_changes_per_turn"),
  text("base_seed"),
  flag("use_llm_sampler"),
  text("llm_sampler_model_id"),
  text("sampler_base_url", 2),
  text("sampler_key_variable"),
  text("sampler_region"),
  text("sampler_endpoint_url", 2),
  number("sampler_seconds"),
  number("sampler_calls"),
  text("harness_file", 2),
  number("context_window"),
  words("env_vars"),
  text("extra_docker_args", 2),
  number("price_cached"),
  number("price_cache_write"),
  number("price_input"),
  number("price_output"),
  number("price_per_hour"),
  text("base_url", 2),
  pick("key_place"),
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
  flag("oracle_carries_over"),
  pick("oracle_stack"),
  text("oracle_seed"),
  number("oracle_stall"),
  number("oracle_overflow"),
  number("oracle_malformed"),
  number("oracle_kill"),
  number("oracle_give_up"),
];

export function labelOf(field: FieldName, about: FormField | undefined): string {
  return about?.label ?? field.replaceAll("_", " ");
}

/** What stands in an empty field: the default, or what an empty one means. */
export function emptyMeans(field: FieldName, defaults: FormSettings, about: FormField | undefined): string {
  const value = defaults[field];
  if (typeof value === "number") return String(value);
  if (typeof value === "string" && value !== "") return value;
  if (field === "tasks") return "/path/to/tasks, or a zip of them";
  if (field === "harness_file") return "/path/to/my_agent.toml";
  return about?.empty ?? "";
}

/** `4 fields differ from the defaults (marked)`; defaults depend on the harness, which is named where it is not the usual one. */
export function differInWords(n: number, harness: string | null): string {
  const defaultsText = harness === null ? "the defaults" : `the defaults of ${harness}`;
  return n === 0
    ? `all fields are at ${harness === null ? "their defaults" : defaultsText}`
    : `${counted(n, "field")} ${n === 1 ? "differs" : "differ"} from ${defaultsText} (marked)`;
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

/** What a choice means, in a sentence; empty where its label says it. */
export function choiceInWords(about: FormField | undefined, value: string): string {
  return about?.choices.find((choice) => choice.value === value)?.about ?? "";
}

/** What fields take in which any text may stand. */
const ANY_TEXT = "a text that is not empty";

/** What a field means and, where it is no choice and not any text, what it takes. */
export function aboutOf(control: Control, about: FormField | undefined): string | undefined {
  if (about === undefined) return undefined;
  const isTyped = control.kind === "number" || control.kind === "text" || control.kind === "words";
  const takes = isTyped && about.takes !== "" && about.takes !== ANY_TEXT ? `Takes ${about.takes}.` : "";
  return [about.about, takes].filter((words) => words !== "").join(" ") || undefined;
}

/** Whether a model fills in the scenarios of the run, which it does before it. */
export const isSampled = (settings: Pick<FormSettings, "source" | "scenarios_dir" | "use_llm_sampler">): boolean =>
  settings.source === "scenarios" && settings.use_llm_sampler && settings.scenarios_dir.trim() === "";

/** What is wrong, without the names of keys that the form does not show. */
export const shortMessage = (message: string): string => message.replace(/^endpoint\.mode=gateway needs it: /i, "Needed: ");

/** Whether a job samples the scenarios of this run: its pack lies beside the results. */
export const isSamplingOf = (job: Pick<Job, "kind" | "place">, settings: Pick<FormSettings, "output_dir">): boolean =>
  job.kind === "sampling" && job.place === `${settings.output_dir.trim().replace(/(.)\/+$/, "$1")}-pack`;
