// A configuration as it is shown: pieces with the colour of their kind, and the default beside what differs from it.
// Made for what the workbench writes (nested keys, scalars, lists in brackets or dashes); any other text is shown as it
// is. Pure.
import type { FormField } from "../host/bindings/FormField";
import type { FormSettings } from "../host/bindings/FormSettings";

export type Hue = "key" | "string" | "number" | "word" | "comment";
export interface Piece {
  readonly text: string;
  readonly hue: Hue;
}

const LINE = /^(\s*(?:- )*)([A-Za-z0-9_.-]+)(:)(\s+(.*))?$/;

/** Dotted key of every line; `null` where a line has none. */
export function keysOf(yaml: string): (string | null)[] {
  const open: { indent: number; key: string }[] = [];
  return yaml.split("\n").map((line) => {
    const found = LINE.exec(line);
    if (!found || line.trimStart().startsWith("#")) return null;
    const indent = (found[1] ?? "").length;
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    open.push({ indent, key: found[2] ?? "" });
    return open.map((part) => part.key).join(".");
  });
}

function valuePieces(value: string): Piece[] {
  const at = / #/.exec(value)?.index ?? value.length;
  const plain = value.slice(0, at);
  const hue: Hue = /^[-+]?[\d.]+(e[-+]?\d+)?$/i.test(plain.trim()) ? "number" : /^(true|false|null|~)$/.test(plain.trim()) ? "word" : "string";
  return [{ text: plain, hue }, ...(at < value.length ? [{ text: value.slice(at), hue: "comment" as const }] : [])];
}

/** Lines of a configuration; `notes` are words behind the line of a key. */
export function yamlLines(yaml: string, notes: ReadonlyMap<string, string>): Piece[][] {
  const keys = keysOf(yaml);
  const lines = yaml.replace(/\n+$/, "").split("\n");
  const column = Math.min(38, Math.max(0, ...lines.map((line, i) => (notes.has(keys[i] ?? "") ? line.length : 0))) + 2);
  return lines.map((line, i) => {
    if (line.trimStart().startsWith("#")) return [{ text: line, hue: "comment" }];
    const found = LINE.exec(line);
    const pieces: Piece[] = found ? [{ text: `${found[1] ?? ""}${found[2] ?? ""}:`, hue: "key" }, ...(found[4] === undefined ? [] : valuePieces(found[4]))] : [{ text: line, hue: "string" }];
    const note = notes.get(keys[i] ?? "");
    return note === undefined ? pieces : [...pieces, { text: `${" ".repeat(Math.max(2, column - line.length))}# ${note}`, hue: "comment" }];
  });
}

/** `default 3` for every key that differs. */
export function defaultNotes(fields: readonly FormField[], differ: ReadonlySet<string>, defaults: FormSettings, agent: string): ReadonlyMap<string, string> {
  const notes = new Map<string, string>();
  for (const field of fields) {
    if (!differ.has(field.field) || !Object.hasOwn(defaults, field.field)) continue;
    const value = defaults[field.field as keyof FormSettings];
    const text = value === null || value === "" || (Array.isArray(value) && value.length === 0) ? null : Array.isArray(value) ? value.join(", ") : String(value);
    if (text !== null) notes.set(field.key.replace(/^AGENT\./, `${agent}.`), `default ${text}`);
  }
  return notes;
}
