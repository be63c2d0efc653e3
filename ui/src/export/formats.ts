// What can be made of what, in the words of the dialog. Pure.
import type { ExportFormat } from "../host/bindings/ExportFormat";
import type { ExportSubject } from "../host/bindings/ExportSubject";
import type { Exported } from "../host/bindings/Exported";
import { counted } from "../parts/format";

export type ExportKind = ExportSubject["what"] | "attempts";

export interface Format {
  readonly format: ExportFormat;
  readonly name: string;
  readonly about: string;
  /** Whether a person can read it as text: then it is shown, and copied as text. */
  readonly text?: true;
}

const figure: readonly Format[] = [
  { format: "pdf", name: "PDF", about: "vector, page = figure, fonts embedded" },
  { format: "svg", name: "SVG", about: "vector, text as text" },
  { format: "png", name: "PNG", about: "300 dpi, physical size set" },
  { format: "tex", name: "LaTeX", about: "pgf picture, text in the paper's fonts", text: true },
  { format: "csv", name: "CSV", about: "underlying data", text: true },
  { format: "parquet", name: "Parquet", about: "underlying data, in columns" },
  { format: "toml", name: "Spec", about: "reproduces this file exactly", text: true },
];
const table: readonly Format[] = [
  { format: "tex", name: "LaTeX", about: "booktabs table", text: true },
  { format: "pdf", name: "PDF", about: "drawn: vector, fonts embedded" },
  { format: "svg", name: "SVG", about: "drawn: vector, text as text" },
  { format: "png", name: "PNG", about: "drawn: 300 dpi, physical size set" },
  { format: "csv", name: "CSV", about: "full precision", text: true },
  { format: "parquet", name: "Parquet", about: "in columns" },
  { format: "md", name: "Markdown", about: "for notes and issues", text: true },
  { format: "html", name: "HTML", about: "for pages", text: true },
  { format: "toml", name: "Spec", about: "reproduces this file exactly", text: true },
];
/** What is drawn, for a venue. */
const pictures: readonly ExportFormat[] = ["pdf", "svg", "png"];
export const isPicture = (format: ExportFormat): boolean => pictures.includes(format);
const attempts: readonly Format[] = [
  { format: "csv", name: "CSV", about: "for pandas, polars, R, and back" },
  { format: "parquet", name: "Parquet", about: "the same in columns" },
  { format: "jsonl", name: "JSON Lines", about: "the same, an object a line" },
];
const report: readonly Format[] = [
  { format: "html", name: "HTML", about: "one self-contained page", text: true },
  { format: "md", name: "Markdown", about: "text, tables and figures", text: true },
];
const bundle: readonly Format[] = [{ format: "zip", name: "Zip", about: "figures, tables, specs, settings, hashes of the inputs" }];

export const formats: Readonly<Record<ExportKind, readonly Format[]>> = { figure, table, attempts, report, bundle };

export const kindNames: Readonly<Record<ExportKind, string>> = {
  figure: "Figure",
  table: "Table",
  attempts: "Attempts",
  report: "Report",
  bundle: "Bundle",
};

/** The bytes of a base64 answer. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const raw = atob(base64);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** The text of a base64 answer. */
export const textOf = (base64: string): string => new TextDecoder().decode(bytesOf(base64));

/** At most `most` letters of a text. */
export const shortened = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}\n…` : text);

/** `3.25 × 2.01 in` */
export const inInches = ([width, height]: readonly [number, number]): string => `${width.toFixed(2)} × ${height.toFixed(2)} in`;

/** Whether a caption has a short form that says less. */
export const hasShort = (exported: Pick<Exported, "caption" | "short_caption">): boolean =>
  exported.short_caption !== "" && exported.short_caption !== exported.caption;

/** The caption, short where it is wanted and there is such a one. */
export const captionOf = (exported: Pick<Exported, "caption" | "short_caption">, short: boolean): string =>
  short && hasShort(exported) ? exported.short_caption : exported.caption;

/** A text as it is looked at: the spec that it carries in its comments is one line, so that what is made of it is seen. */
export function withoutSpec(text: string): string {
  return text.replace(
    /^.*Stamina Lab figure spec: begin\n([^]*?)^.*Stamina Lab figure spec: end$/m,
    (_, inside: string) => `% (${counted(inside.split("\n").length - 1, "line")}: the spec that makes it again)`,
  );
}

/** A part of a report as it is looked at before it is saved. */
export type ReportPart =
  { readonly kind: "text"; readonly text: string } | { readonly kind: "figure"; readonly name: string; readonly address: string };

/** The parts of a Markdown report that has its figures inside, in their order: at most `most` letters of text. */
export function reportParts(markdown: string, most: number): readonly ReportPart[] {
  const parts: ReportPart[] = [];
  let left = most;
  const add = (text: string): void => {
    const trimmed = text.trim();
    if (trimmed === "" || left <= 0) return;
    parts.push({ kind: "text", text: shortened(trimmed, left) });
    left -= trimmed.length;
  };
  let from = 0;
  for (const found of markdown.matchAll(/^!\[([^\]\n]*)\]\((data:image\/svg\+xml;base64,[A-Za-z0-9+/=]+)\)$/gm)) {
    add(markdown.slice(from, found.index));
    from = found.index + found[0].length;
    const [, name = "", address = ""] = found;
    if (left > 0) parts.push({ kind: "figure", name, address });
  }
  add(markdown.slice(from));
  return parts;
}
