// A configuration as it is shown: pieces with the color of their kind. Made for what the workbench writes (nested keys,
// scalars, remarks with the defaults); any other text is shown as it is. Pure.
export type Hue = "key" | "string" | "number" | "word" | "comment";
export interface Piece {
  readonly text: string;
  readonly hue: Hue;
}

const LINE = /^(\s*(?:- )*)([A-Za-z0-9_.-]+)(:)(\s+(.*))?$/;

function valuePieces(value: string): Piece[] {
  const at = / #/.exec(value)?.index ?? value.length;
  const plain = value.slice(0, at);
  const hue: Hue = /^[-+]?[\d.]+(e[-+]?\d+)?$/i.test(plain.trim())
    ? "number"
    : /^(true|false|null|~)$/.test(plain.trim())
      ? "word"
      : "string";
  return [{ text: plain, hue }, ...(at < value.length ? [{ text: value.slice(at), hue: "comment" as const }] : [])];
}

/** Lines of a configuration. */
export function yamlLines(yaml: string): Piece[][] {
  return yaml
    .replace(/\n+$/, "")
    .split("\n")
    .map((line) => {
      if (line.trimStart().startsWith("#")) return [{ text: line, hue: "comment" }];
      const found = LINE.exec(line);
      if (!found) return [{ text: line, hue: "string" }];
      return [{ text: `${found[1] ?? ""}${found[2] ?? ""}:`, hue: "key" }, ...(found[4] === undefined ? [] : valuePieces(found[4]))];
    });
}
