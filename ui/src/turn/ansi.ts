/**
 * ANSI color codes of logs as styled pieces of text. Only the meaning is taken (red, green, bold …) and mapped to our
 * own tokens, which are readable in both themes; a log cannot choose its colors, move a cursor or hide text.
 */

export type Hue = "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";

export interface Piece {
  readonly text: string;
  readonly hue?: Hue;
  readonly bold?: boolean;
  readonly dim?: boolean;
}

interface Style {
  hue: Hue | undefined;
  bold: boolean;
  dim: boolean;
}

export type AnsiState = Readonly<Style>;
export const PLAIN: AnsiState = { hue: undefined, bold: false, dim: false };

const BASIC: readonly (Hue | undefined)[] = [undefined, "red", "green", "yellow", "blue", "magenta", "cyan", undefined];

// Text pages keep the codes of colors; other control characters arrive escaped and are shown as they are.
// eslint-disable-next-line no-control-regex -- the control character is what is looked for
const SEQUENCE = /\u001b(?:\[([0-9;:]*)([@-~])|\][^\u0007\u001b\n]{0,256}?\u0007|[()][0-9A-B])/g;

function hueOf(r: number, g: number, b: number): Hue | undefined {
  const most = Math.max(r, g, b);
  const least = Math.min(r, g, b);
  if (most - least < 40) return undefined;
  const high = (v: number): boolean => v >= (most + least) / 2;
  if (high(r)) {
    if (high(g)) return "yellow";
    return high(b) ? "magenta" : "red";
  }
  if (high(g)) return high(b) ? "cyan" : "green";
  return "blue";
}

function hueOfIndex(index: number): Hue | undefined {
  if (index < 16) return BASIC[index % 8];
  if (index >= 232) return undefined;
  const i = index - 16;
  return hueOf(Math.floor(i / 36) * 51, (Math.floor(i / 6) % 6) * 51, (i % 6) * 51);
}

function apply(style: Style, parameters: string): void {
  const codes = parameters === "" ? [0] : parameters.split(/[;:]/).map((c) => (c === "" ? 0 : Number(c)));
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i] ?? 0;
    if (code === 0) Object.assign(style, PLAIN);
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 22) style.bold = style.dim = false;
    else if (code >= 30 && code <= 37) style.hue = BASIC[code - 30];
    else if (code >= 90 && code <= 97) style.hue = BASIC[code - 90];
    else if (code === 39) style.hue = undefined;
    else if (code === 38 || code === 48) {
      const set = (hue: Hue | undefined): void => {
        if (code === 38) style.hue = hue;
      };
      if (codes[i + 1] === 5) {
        set(hueOfIndex(codes[i + 2] ?? 0));
        i += 2;
      } else if (codes[i + 1] === 2) {
        set(hueOf(codes[i + 2] ?? 0, codes[i + 3] ?? 0, codes[i + 4] ?? 0));
        i += 4;
      }
    }
  }
}

/** The pieces of one line and the style in which the next line begins. */
export function parseLine(line: string, begin: AnsiState = PLAIN): { pieces: Piece[]; end: AnsiState } {
  const style: Style = { ...begin };
  const pieces: Piece[] = [];
  let at = 0;
  const push = (text: string): void => {
    if (text === "") return;
    const piece: { text: string; hue?: Hue; bold?: boolean; dim?: boolean } = { text };
    if (style.hue) piece.hue = style.hue;
    if (style.bold) piece.bold = true;
    if (style.dim) piece.dim = true;
    pieces.push(piece);
  };
  for (const match of line.matchAll(SEQUENCE)) {
    push(line.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") apply(style, match[1] ?? "");
  }
  push(line.slice(at));
  return { pieces, end: style };
}

/** A text without its color codes, as for searching. */
export function withoutAnsi(text: string): string {
  return text.replaceAll(SEQUENCE, "");
}
