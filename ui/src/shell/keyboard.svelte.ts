// From a key stroke, a menu item or a line of the palette to what it does. Components say what a command means while
// they are there: `provide({ "list.next": () => … })` during set-up. Of several meanings the latest one counts.
import { getContext, onDestroy, setContext, untrack } from "svelte";
import { host } from "../host";
import { commandIds, commands, isCommandId, type CommandId } from "./commands";
import { isSingleKey, matches } from "./keys";
import { settings } from "./settings.svelte";

/** What a command does; `key` is the last key of the stroke. Returning `false` says "not now": the key is not taken. */
export type Meaning = (key?: string) => unknown;
type Meanings = Partial<Record<CommandId, Meaning>>;

const layers: Meanings[] = [];
/** Another one with every change of the layers, which are no state themselves: a component that goes would see them as they were
 *  before the one in its place came, and take that one's away. */
let stamp = $state.raw({});
/** Meanings that were given inside a dialog: their keys work while it is open. */
const inDialogs = new WeakSet<Meanings>();
const IN_DIALOG = Symbol("in a dialog");

/** Says that what is set up below lies in a dialog. Call during the dialog's set-up. */
export function markDialog(): void {
  setContext(IN_DIALOG, true);
}

/** Gives commands their meaning for as long as the component lives. Call during set-up: a page is set up before what
 *  lies in it, so the innermost meaning is the latest. */
export function provide(meanings: Meanings): void {
  if (getContext<boolean | undefined>(IN_DIALOG) === true) inDialogs.add(meanings);
  layers.push(meanings);
  untrack(() => {
    stamp = {};
  });
  onDestroy(() => {
    const at = layers.indexOf(meanings);
    if (at >= 0) layers.splice(at, 1);
    stamp = {};
  });
}

function meaning(id: CommandId): Meaning | undefined {
  void stamp;
  for (let i = layers.length - 1; i >= 0; i -= 1) {
    const found = layers[i]?.[id];
    if (found) return found;
  }
  return undefined;
}

/** Whether the command means something right now. */
export const available = (id: CommandId): boolean => meaning(id) !== undefined;

/** Runs a command, if it means something right now. */
export function run(id: CommandId, key?: string): boolean {
  const action = meaning(id);
  return action !== undefined && action(key) !== false;
}

export function runById(id: string): void {
  if (isCommandId(id)) run(id);
}

const TYPING = 'input:not([type="checkbox"],[type="radio"],[type="range"]),textarea,select,[contenteditable="true"],.cm-editor';
const OVERLAY = '[role="dialog"],[role="menu"],[role="listbox"]';
const ACTS_ITSELF = 'button,a[href],summary,input,[role="button"],[role="menuitem"],[role="tab"],[role="option"],[role="switch"]';
const HAS_ARROWS = '[role="grid"],[role="tablist"],[role="slider"],[role="separator"],[role="radiogroup"],[role="tree"]';

/** Whether the focused element needs this key for itself. */
function isTaken(event: KeyboardEvent): boolean {
  const target = event.target instanceof Element ? event.target : null;
  if (!target) return false;
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!plain) return false;
  if (target.closest(TYPING)) return true;
  if ((event.key === "Enter" || event.key === " ") && target.closest(ACTS_ITSELF)) return true;
  return event.key.startsWith("Arrow") && target.closest(HAS_ARROWS) !== null;
}

/** The pages' commands sleep while a dialog or menu is open; these do not, nor do the dialog's own. */
const THROUGH_OVERLAYS: readonly CommandId[] = ["palette", "search.text", "explain"];

const SEQUENCE_MS = 800;
let first: { key: string; at: number } | undefined;

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || isTaken(event)) return;
  const overlay = document.querySelector(OVERLAY) !== null;
  const before = first && performance.now() - first.at < SEQUENCE_MS ? first.key : undefined;
  first = undefined;

  const candidates: { id: CommandId; layer: number }[] = [];
  for (const id of commandIds) {
    const command = commands[id];
    if (command.widget) continue;
    const layer = layers.findLastIndex((meanings) => meanings[id] !== undefined);
    const meanings = layers[layer];
    if (meanings === undefined || (overlay && !THROUGH_OVERLAYS.includes(id) && !inDialogs.has(meanings))) continue;
    for (const keys of command.keys) {
      if (!settings.singleKeys && isSingleKey(keys)) continue;
      const [one = "", two] = keys.split(" ");
      if (two === undefined) {
        if (matches(one, event, host.mac)) candidates.push({ id, layer });
      } else if (before === one && matches(two, event, host.mac)) {
        candidates.push({ id, layer: Infinity });
      } else if (matches(one, event, host.mac)) {
        first = { key: one, at: performance.now() };
      }
    }
  }
  candidates.sort((a, b) => b.layer - a.layer);
  for (const { id } of candidates) {
    if (run(id, event.key)) {
      event.preventDefault();
      first = undefined;
      return;
    }
  }
}

/** Listens to the keyboard; returns how to stop. */
export function listen(): () => void {
  addEventListener("keydown", onKey);
  return () => {
    removeEventListener("keydown", onKey);
  };
}
