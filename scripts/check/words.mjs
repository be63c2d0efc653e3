// Finds words that STYLE.md replaces, in the crates whose words are done (scripts/check/words.json):
//
//   node scripts/check/words.mjs             the files of the crates that are done
//   node scripts/check/words.mjs FILE…       these files
//
// `words` is a list of { pattern, better, in? }. The pattern is a regular expression; `in` says where it counts: "text" (the
// default: comments, strings, Markdown and what a component shows, without case), "names" (identifiers in code), or "all". Where
// a word is right, the line, or the one above it, says so: `words: ok` and why. `exceptions` names whole files and folders, each
// with a reason; `except` of a word names those in which this word alone is right. What is text in TypeScript and Svelte: words-ui.mjs.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { splitScript, splitSvelte } from "./words-ui.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const LIST = path.join(root, "scripts/check/words.json");
const EXTENSIONS = new Set([".rs", ".md", ".toml", ".ts", ".mjs", ".svelte"]);
const OK = /words: ok/;

/** A string that is a key, an option or a file rather than words: `--grey`, `oracle.mischief.stall=1`, the end reason `cancelled`. */
const NAME = /^"(?:cancelled|unrecognised|colour|[\w./-]*[._=/-][\w.=/-]*)"$/;

/**
 * Splits a line of Rust into its code and its texts (comment and strings), without what stands in these as code. Strings over
 * several lines count as code.
 */
export function splitLine(line) {
  let code = "";
  let text = "";
  for (const [part] of line.matchAll(/\/\/.*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)'|[^"'/]+|./g)) {
    if (part.startsWith("//") || part.length > 1 && part.startsWith('"')) {
      text += NAME.test(part) ? "\n" : `${withoutCode(part)}\n`;
      code += " ";
    } else {
      code += part;
    }
  }
  return { code, text };
}

/** A line of Markdown without what stands in it as code: names of keys and commands are not words. */
export function withoutCode(line) {
  return line.replaceAll(/(`+)[^`]*\1/g, " ");
}

/** In which language a file is written, as far as it matters here. */
export function languageOf(file) {
  return { ".rs": "rust", ".ts": "script", ".mjs": "script", ".svelte": "svelte" }[path.extname(file)] ?? "markdown";
}

/** The lines of Markdown as texts, without its code (fenced or inline). */
function splitMarkdown(source) {
  let isFenced = false;
  return source.split("\n").map((line) => {
    const isFence = line.trimStart().startsWith("```");
    if (isFence) isFenced = !isFenced;
    return { code: "", text: isFence || isFenced ? "" : withoutCode(line) };
  });
}

const splitRust = (source) => source.split("\n").map(splitLine);
const SPLITS = { rust: splitRust, script: splitScript, svelte: splitSvelte, markdown: splitMarkdown };

/** The replaced words in a source: [{ line, found, better }]. */
export function findWords(source, words, language) {
  const found = [];
  const lines = source.split("\n");
  for (const [index, { code, text }] of SPLITS[language](source).entries()) {
    if (OK.test(lines[index]) || (index > 0 && OK.test(lines[index - 1]))) continue;
    for (const { regex, better, where } of words) {
      const place = where === "names" ? code : where === "all" ? code + text : text;
      const match = regex.exec(place);
      if (match) found.push({ line: index + 1, found: match[0].trim(), better });
    }
  }
  return found;
}

/** The word list, with compiled patterns. */
export function readList(file = LIST) {
  const { done, exceptions, words } = JSON.parse(readFileSync(file, "utf8"));
  const compiled = words.map(({ pattern, better, in: where = "text", except = {} }) => {
    return { regex: new RegExp(pattern, where === "names" ? "u" : "iu"), better, where, except };
  });
  return { done, exceptions, words: compiled };
}

function filesBelow(place) {
  const whole = path.join(root, place);
  if (!existsSync(whole)) return [];
  if (EXTENSIONS.has(path.extname(whole))) return [place];
  return readdirSync(whole, { recursive: true })
    .map((name) => path.join(place, name))
    .filter((name) => EXTENSIONS.has(path.extname(name)));
}

const isBelow = (file, places) => Object.keys(places).some((place) => file === place || file.startsWith(`${place}/`));

/** The words that are looked for in a file. */
export function wordsFor(file, words) {
  return words.filter(({ except }) => !isBelow(file, except));
}

/** Checks files: one line for each word that is found. */
export function checkFiles(files, { words, exceptions }) {
  return files
    .filter((file) => !isBelow(file, exceptions))
    .flatMap((file) => {
      const found = findWords(readFileSync(path.join(root, file), "utf8"), wordsFor(file, words), languageOf(file));
      return found.map((word) => `${file}:${word.line}: "${word.found}": write ${word.better}`);
    });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const list = readList();
  const given = process.argv.slice(2).map((file) => path.relative(root, path.resolve(file)));
  const files = given.length > 0 ? given : list.done.flatMap(filesBelow);
  const lines = checkFiles(files, list);
  if (files.length === 0) lines.push("scripts/check/words.json: no file to check");
  for (const line of lines) process.stderr.write(`${line}\n`);
  process.stdout.write(`${files.length} files, ${lines.length} replaced words\n`);
  process.exit(lines.length > 0 ? 1 : 0);
}
