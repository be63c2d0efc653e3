// The form that is being filled in. It outlives the page, so that looking at a run in between loses nothing; it is kept
// nowhere else.
import { asCallError, call, type CallError } from "../host";
import type { FormSettings } from "../host/bindings/FormSettings";
import type { LaunchForm } from "../host/bindings/LaunchForm";
import type { LoadSettings } from "../host/bindings/LoadSettings";
import { entered, withAgent, withProtocol, withSource } from "./edits";
import { type Control, type FieldName, type Typed, holds } from "./form";

let form = $state.raw<LaunchForm | undefined>();
let settings = $state.raw<FormSettings | undefined>();
let typed = $state.raw<Typed>({});
let problems = $state.raw<ReadonlyMap<FieldName, string>>(new Map());
let loaded = $state.raw<{ readonly origin: string; readonly notes: readonly string[] } | undefined>();
let error = $state.raw<CallError | undefined>();
/** The results folder that was proposed: it gives way to another one that is free, the reader's own does not. */
let proposed = "";

export const draft = {
  get form(): LaunchForm | undefined {
    return form;
  },
  get settings(): FormSettings | undefined {
    return settings;
  },
  get typed(): Typed {
    return typed;
  },
  /** What is not even a value: field by field, before anybody is asked. */
  get problems(): ReadonlyMap<FieldName, string> {
    return problems;
  },
  /** Where its settings were loaded from, and what could not be taken over. */
  get loaded(): { readonly origin: string; readonly notes: readonly string[] } | undefined {
    return loaded;
  },
  get error(): CallError | undefined {
    return error;
  },
  /** Reads what the form is built from; a new form begins with the defaults. */
  async open(): Promise<void> {
    try {
      form = await call("launch_form", {});
      if (settings === undefined) {
        settings = form.defaults;
        proposed = settings.output_dir;
      }
      error = undefined;
    } catch (thrown) {
      error = asCallError(thrown);
    }
  },
  enter(control: Control, input: string): void {
    if (!settings) return;
    const { change, problem } = entered(control, input);
    const isProposed = settings.output_dir === proposed;
    const { source, protocol } = settings;
    if (change.agent !== undefined) settings = withAgent(settings, change.agent);
    else if (change.source !== undefined) settings = withSource(settings, change.source, form ?? { defaults: settings, protocols: [] });
    else if (change.protocol !== undefined) settings = withProtocol(settings, change.protocol, form?.protocols ?? []);
    else settings = { ...settings, ...change };
    // A number that was set, or a field that does nothing any more, is no longer what was typed.
    if (settings.source !== source || settings.protocol !== protocol) {
      const changed = settings;
      const stays = (field: FieldName): boolean => field !== "attempt_limit" && holds(changed, field, form?.fields ?? []);
      typed = Object.fromEntries(Object.entries(typed).filter(([field]) => stays(field as FieldName)));
      problems = new Map([...problems].filter(([field]) => stays(field)));
    }
    if (isProposed && change.output_dir === undefined) proposed = settings.output_dir;
    // What was typed stays as it was typed, also where it means a number: `1,000`.
    typed = { ...typed, [control.field]: control.kind === "choice" || control.kind === "truth" ? undefined : input };
    const next = new Map(problems);
    if (problem === null) next.delete(control.field);
    else next.set(control.field, problem);
    problems = next;
  },
  /** Sets fields as a click on a fix does. */
  setFields(change: Partial<FormSettings>): void {
    if (settings) this.replaceSettings({ ...settings, ...change });
  },
  /** Takes a folder that is free in place of the proposed one, which may have been taken since. */
  propose(folder: string): void {
    if (!settings || settings.output_dir !== proposed || folder === proposed) return;
    proposed = folder;
    settings = { ...settings, output_dir: folder };
  },
  replaceSettings(next: FormSettings): void {
    settings = next;
    typed = {};
    problems = new Map();
  },
  reset(): void {
    loaded = undefined;
    if (!form) return;
    this.replaceSettings(form.defaults);
    proposed = form.defaults.output_dir;
  },
  /** Loads settings from elsewhere in place of the form's. Throws what the workbench says. */
  async load(from: Partial<LoadSettings>): Promise<void> {
    const answer = await call("load_settings", { yaml: null, file: null, run: null, folder: null, ...from });
    this.replaceSettings(answer.settings);
    loaded = { origin: answer.origin, notes: answer.notes };
  },
  dismissLoaded(): void {
    loaded = undefined;
  },
};
