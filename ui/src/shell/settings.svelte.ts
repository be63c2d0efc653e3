// What a person sets once, for this machine: theme, single-key shortcuts, sizes of panes, columns. Kept in the
// browser's own storage; a missing or broken value is the default.

export type Theme = "system" | "light" | "dark";

function read(key: string): unknown {
  try {
    const text = localStorage.getItem(`stamina.${key}`);
    return text === null ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function write(key: string, value: unknown): void {
  try {
    localStorage.setItem(`stamina.${key}`, JSON.stringify(value));
  } catch {
    // Full or forbidden storage costs only that the setting is forgotten.
  }
}

/** A remembered value. `check` says whether what was stored is still a value of this kind. */
export class Remembered<T> {
  readonly #key: string;
  #value: T = $state() as T;
  constructor(key: string, initial: T, check: (value: unknown) => value is T) {
    this.#key = key;
    const stored = read(key);
    this.#value = check(stored) ? stored : initial;
  }
  get value(): T {
    return this.#value;
  }
  set value(value: T) {
    this.#value = value;
    write(this.#key, value);
  }
}

export const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
export const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
export const isStrings = (value: unknown): value is string[] => Array.isArray(value) && value.every((item) => typeof item === "string");
const isTheme = (value: unknown): value is Theme => value === "system" || value === "light" || value === "dark";

const theme = new Remembered<Theme>("theme", "system", isTheme);
const singleKeys = new Remembered("singleKeys", true, isBoolean);
const systemDark = matchMedia("(prefers-color-scheme: dark)");
let dark = $state(false);

export const settings = {
  get theme(): Theme {
    return theme.value;
  },
  set theme(value: Theme) {
    theme.value = value;
    applyTheme();
  },
  /** Whether the page is dark now, whoever decided that; for figures. */
  get dark(): boolean {
    return dark;
  },
  /** Shortcuts of a single key can be turned off (WCAG 2.1.4). */
  get singleKeys(): boolean {
    return singleKeys.value;
  },
  set singleKeys(value: boolean) {
    singleKeys.value = value;
  },
};

/** Writes the theme onto the document. */
export function applyTheme(): void {
  dark = theme.value === "dark" || (theme.value === "system" && systemDark.matches);
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
}
systemDark.addEventListener("change", applyTheme);
