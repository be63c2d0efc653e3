// Reading chords. Pure: `matches(chord, event)` and the text of a chord for people.

/** What of a keyboard event a chord is compared with. */
export interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

interface Chord {
  ctrl: boolean;
  alt: boolean;
  shift: boolean;
  key: string;
}

function parse(chord: string): Chord {
  const parts = chord.split("+");
  const key = parts.at(-1) ?? "";
  return {
    ctrl: parts.includes("Ctrl"),
    alt: parts.includes("Alt"),
    shift: parts.includes("Shift"),
    key: key === "Space" ? " " : key,
  };
}

/** Whether one key stroke is this chord. A printable key alone is compared as typed, so `G` and `?` need no `Shift`. */
export function matches(chord: string, event: Pressed, mac: boolean): boolean {
  const want = parse(chord);
  const ctrl = mac ? event.metaKey : event.ctrlKey;
  const other = mac ? event.ctrlKey : event.metaKey;
  if (ctrl !== want.ctrl || other || event.altKey !== want.alt) return false;
  if (want.key.length === 1 && !want.ctrl && !want.alt && want.key !== " ") return event.key === want.key;
  return event.shiftKey === want.shift && event.key.toLowerCase() === want.key.toLowerCase();
}

/** A single printable key without modifiers: what WCAG 2.1.4 wants to be switchable. */
export function isSingleKey(keys: string): boolean {
  return keys.split(" ").every((chord) => {
    const { ctrl, alt, key } = parse(chord);
    return !ctrl && !alt && key.length === 1 && key !== " ";
  });
}

const NAMES: Readonly<Record<string, string>> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Enter: "↵",
  Escape: "Esc",
  " ": "Space",
};

/** The key caps of a chord or sequence: `Ctrl+Shift+F` → Ctrl ⇧ F. */
export function caps(keys: string, mac: boolean): string[] {
  return keys.split(" ").flatMap((chord) => {
    const { ctrl, alt, shift, key } = parse(chord);
    return [
      ...(ctrl ? [mac ? "⌘" : "Ctrl"] : []),
      ...(alt ? [mac ? "⌥" : "Alt"] : []),
      ...(shift ? ["⇧"] : []),
      NAMES[key] ?? (ctrl || alt ? key.toUpperCase() : key),
    ];
  });
}

/** Tauri's notation of a chord; `null` for what a menu cannot carry (sequences, single keys). */
export function accelerator(keys: string | undefined): string | null {
  if (keys === undefined || keys.includes(" ") || isSingleKey(keys) || keys === "Escape") return null;
  return keys.replace("Ctrl", "CmdOrCtrl").replace("Arrow", "");
}
