/**
 * Markdown of a request as a small tree that `Markdown.svelte` turns into text nodes. `marked` only reads it; its HTML
 * is never used. Raw HTML stays visible as text, links are shown but lead nowhere, pictures are named and not loaded.
 */
import { type Token, type Tokens, lexer } from "marked";
import { soughtWords, weightIn } from "./words";

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong"; readonly children: readonly Inline[] }
  | { readonly kind: "em"; readonly children: readonly Inline[] }
  | { readonly kind: "del"; readonly children: readonly Inline[] }
  | { readonly kind: "link"; readonly children: readonly Inline[]; readonly href: string }
  | { readonly kind: "br" };

export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly inline: readonly Inline[] }
  | { readonly kind: "paragraph"; readonly inline: readonly Inline[] }
  | { readonly kind: "code"; readonly text: string; readonly lang: string }
  | { readonly kind: "list"; readonly ordered: boolean; readonly start: number; readonly items: readonly ListItem[] }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | { readonly kind: "table"; readonly head: readonly (readonly Inline[])[]; readonly rows: readonly (readonly (readonly Inline[])[])[] }
  | { readonly kind: "rule" };

export interface ListItem {
  readonly checked: boolean | null;
  readonly blocks: readonly Block[];
}

/** Longer texts are shown as they are: nobody writes a request of this size by hand. */
export const LONGEST = 200_000;
const DEEPEST = 24;

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: "\u00a0" };

function unescape(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

function inlines(tokens: readonly Token[] | undefined, depth: number): Inline[] {
  const out: Inline[] = [];
  const text = (t: string): void => {
    const last = out[out.length - 1];
    if (last?.kind === "text") out[out.length - 1] = { kind: "text", text: last.text + t };
    else if (t !== "") out.push({ kind: "text", text: t });
  };
  for (const token of tokens ?? []) {
    const t = token as Tokens.Generic;
    const children = (): Inline[] => (depth < DEEPEST ? inlines(t.tokens, depth + 1) : [{ kind: "text", text: t.raw }]);
    switch (t.type) {
      case "strong":
      case "em":
      case "del":
        out.push({ kind: t.type, children: children() });
        break;
      case "codespan":
        out.push({ kind: "code", text: String(t["text"]) });
        break;
      case "br":
        out.push({ kind: "br" });
        break;
      case "link":
        out.push({ kind: "link", children: children(), href: String(t["href"]) });
        break;
      case "image":
        text(`[image: ${String(t["text"] || t["href"])}]`);
        break;
      case "text":
        if (t.tokens && t.tokens.length > 0 && depth < DEEPEST) out.push(...inlines(t.tokens, depth + 1));
        else text(unescape(String(t["text"])));
        break;
      case "escape":
        text(String(t["text"]));
        break;
      default:
        text(t.raw);
    }
  }
  return out;
}

function blocks(tokens: readonly Token[], depth: number): Block[] {
  const out: Block[] = [];
  for (const token of tokens) {
    const t = token as Tokens.Generic;
    switch (t.type) {
      case "space":
      case "def":
        break;
      case "heading":
        out.push({ kind: "heading", level: Number(t["depth"]), inline: inlines(t.tokens, depth) });
        break;
      case "code":
        out.push({ kind: "code", text: String(t["text"]), lang: String(t["lang"] ?? "") });
        break;
      case "blockquote":
        if (depth >= DEEPEST) out.push({ kind: "code", text: t.raw, lang: "" });
        else out.push({ kind: "quote", blocks: blocks(t.tokens ?? [], depth + 1) });
        break;
      case "list": {
        const list = token as Tokens.List;
        if (depth >= DEEPEST) {
          out.push({ kind: "code", text: t.raw, lang: "" });
          break;
        }
        const items = list.items.map((item) => ({
          checked: item.task ? item.checked === true : null,
          blocks: blocks(
            item.tokens.filter((i) => i.type !== "checkbox"),
            depth + 1,
          ),
        }));
        out.push({ kind: "list", ordered: list.ordered, start: Number(list.start) || 1, items });
        break;
      }
      case "table": {
        const table = token as Tokens.Table;
        out.push({
          kind: "table",
          head: table.header.map((cell) => inlines(cell.tokens, depth)),
          rows: table.rows.map((row) => row.map((cell) => inlines(cell.tokens, depth))),
        });
        break;
      }
      case "hr":
        out.push({ kind: "rule" });
        break;
      case "paragraph":
      case "text":
        out.push({
          kind: "paragraph",
          inline: t.tokens ? inlines(t.tokens, depth) : [{ kind: "text", text: unescape(String(t["text"])) }],
        });
        break;
      default:
        out.push({ kind: "paragraph", inline: [{ kind: "text", text: t.raw.trimEnd() }] });
    }
  }
  return out;
}

/** The blocks of a Markdown text. Never throws: what cannot be read is one block of plain text. */
export function parse(text: string): Block[] {
  if (text.length > LONGEST) return [{ kind: "code", text, lang: "" }];
  try {
    return blocks(lexer(text, { gfm: true }), 0);
  } catch {
    return [{ kind: "code", text, lang: "" }];
  }
}

function inlineText(inline: readonly Inline[]): string {
  return inline.map((i) => ("text" in i ? i.text : "children" in i ? inlineText(i.children) : "\n")).join("");
}

/** The plain text of a block, for searching: a line may end within a phrase. */
export const blockText = (block: Block): string => linesOf(block).replace(/\s+/g, " ").trim();

function linesOf(block: Block): string {
  switch (block.kind) {
    case "heading":
    case "paragraph":
      return inlineText(block.inline);
    case "code":
      return block.text;
    case "list":
      return block.items.map((i) => i.blocks.map(linesOf).join("\n")).join("\n");
    case "quote":
      return block.blocks.map(linesOf).join("\n");
    case "table":
      return [block.head, ...block.rows].map((r) => r.map(inlineText).join(" ")).join("\n");
    case "rule":
      return "";
  }
}

/** Words of a requirement by which its place in the request is recognized: `prioritize.components` → itself, `components`. */
export function requirementTerms(requirement: string | null): string[] {
  if (!requirement) return [];
  const whole = requirement.trim().toLowerCase();
  const parts = whole.split(/[.:/\s]+/).filter((p) => p.length >= 4);
  const last = parts.at(-1);
  const terms = [whole];
  for (const t of [last, last?.replaceAll(/[-_]/g, " "), last?.replaceAll("-", "_")]) if (t && !terms.includes(t)) terms.push(t);
  return terms.filter((t) => t.length >= 3);
}

/**
 * Index of the block that speaks of a requirement, or -1. The whole name is looked for first, then its parts; a heading
 * wins over text.
 */
export function findRequirement(list: readonly Block[], requirement: string | null): number {
  const texts = list.map((b) => blockText(b).toLowerCase());
  for (const term of requirementTerms(requirement)) {
    const found = texts.map((t, i) => ({ t, i })).filter(({ t }) => t.includes(term));
    const heading = found.find(({ i }) => list[i]?.kind === "heading");
    const best = heading ?? found[0];
    if (best) return best.i;
  }
  return -1;
}

/** Index of the first block that has words of a search as they stand, else all of them, else the most of them; -1 = none of them. */
export function findWords(list: readonly Block[], words: string): number {
  const sought = soughtWords(words);
  if (!sought) return -1;
  let best = { at: -1, weight: 0 };
  for (const [at, block] of list.entries()) {
    const weight = weightIn(blockText(block), sought);
    if (weight > best.weight) best = { at, weight };
  }
  return best.at;
}
