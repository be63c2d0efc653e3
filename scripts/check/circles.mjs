// Circles between the files of a crate: files of which each uses each other one, by itself or through others.
//
//   node scripts/check/circles.mjs    lists them
//
// A file may use the files of the folders in which it lies (`super::…`), so one type with its `impl` over several files is no circle.
// A name that a file passes on (`pub use`) counts as that of the file which declares it, but for those of `lib.rs`: they are the crate's.
// Tests do not count.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { inRoot } from "../lib/process.mjs";

/** The most circles in all crates together. */
export const MOST_CIRCLES = 1;

/** The paths of a `use`: `a::{b, c::{d}}` gives `a::b` and `a::c::d`. */
export function usedPaths(tree) {
  const group = /^(.*?)\{(.*)\}$/s.exec(tree.trim());
  if (!group) return tree.trim() ? [tree.trim().split(/\s+as\s+/)[0].replace(/\s/g, "")] : [];
  const [, before, inner] = group;
  const parts = [""];
  let depth = 0;
  for (const letter of inner) {
    if (letter === "{") depth += 1;
    if (letter === "}") depth -= 1;
    if (letter === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += letter;
  }
  return parts.filter((part) => part.trim()).flatMap((part) => usedPaths(before + part.trim()));
}

/** A source without its comments, its declarations of modules, and the tests at its end. */
const stripped = (source) => source.split(/#\[cfg\(test\)\]\s*mod tests/)[0].replace(/\/\/.*/g, "").replace(/^\s*(?:pub(?:\([^)]*\))? )?mod \w+;/gm, "");

/** The module of a file of `src`: `a/b.rs` and `a/b/mod.rs` are `a::b`, `lib.rs` is the empty one. */
const moduleOf = (file) => file.replace(/\.rs$/, "").split("/").filter((part) => !["mod", "lib", "main"].includes(part)).join("::");

/** Which modules each module of a crate uses; `sources` are its files in `src` with their texts. */
export function usesOf(sources) {
  const texts = new Map(Object.entries(sources).map(([file, text]) => [moduleOf(file), stripped(text)]));
  const passedOn = new Map([...texts].map(([module, text]) => [module, new Map(names(module, text, texts).filter(({ shown }) => shown).map(({ name, target }) => [name, target]))]));
  const uses = new Map();
  for (const [module, text] of texts) {
    const taken = names(module, text, texts).filter(({ only, target }) => !only && target !== "");
    const declared = taken.map(({ name, target }) => passedOn.get(target)?.get(name) ?? target);
    uses.set(module, new Set(declared.filter((other) => other !== module && !module.startsWith(`${other}::`))));
  }
  return uses;
}

/** The names that a module takes from other modules of its crate; `shown` = it passes this one on, `only` = and does not use it. */
function names(module, text, texts) {
  const rest = text.replace(/\buse [^;]+;/g, "");
  const found = [...text.matchAll(/\b(pub(?:\([^)]*\))? )?use ([^;]+);/g)].flatMap(([, shown, tree]) => usedPaths(tree).map((used) => ({ used, shown })));
  const inLine = [...rest.matchAll(/\b(?:crate|super)(?:::\w+)+/g)].map(([used]) => ({ used }));
  return [...found, ...inLine].flatMap(({ used, shown }) => {
    const segments = used.split("::");
    let at = segments[0] === "crate" ? [] : module.split("::").filter(Boolean);
    if (segments[0] === "crate") segments.shift();
    else if (!["self", "super"].includes(segments[0]) && !texts.has([...at, segments[0]].join("::"))) return [];
    while (["self", "super"].includes(segments[0])) if (segments.shift() === "super") at.pop();
    while (segments.length > 0 && texts.has([...at, segments[0]].join("::"))) at.push(segments.shift());
    const name = segments[0] ?? "";
    return [{ name, target: at.join("::"), shown: Boolean(shown), only: Boolean(shown) && name !== "*" && !new RegExp(`\\b${name || at.at(-1)}\\b`).test(rest) }];
  });
}

/** The circles of a graph, each as a sorted list of modules (Tarjan's strongly connected components). */
export function circles(uses) {
  const [order, lowest, stack, found] = [new Map(), new Map(), [], []];
  const visit = (module) => {
    order.set(module, order.size);
    lowest.set(module, order.get(module));
    stack.push(module);
    for (const next of uses.get(module) ?? []) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(module, Math.min(lowest.get(module), lowest.get(next)));
    }
    if (lowest.get(module) !== order.get(module)) return;
    const circle = stack.splice(stack.indexOf(module));
    if (circle.length > 1) found.push(circle.sort());
  };
  for (const module of uses.keys()) if (!order.has(module)) visit(module);
  return found;
}

/** The circles of every crate: `{ crate, files }`. */
export function circlesOfCrates() {
  return readdirSync(inRoot("crates")).flatMap((crate) => {
    const folder = inRoot("crates", crate, "src");
    const files = readdirSync(folder, { recursive: true }).map((file) => file.replaceAll("\\", "/"));
    const sources = files.filter((file) => file.endsWith(".rs") && !/(?:^|\/)tests(?:\/|\.rs$)/.test(file));
    const texts = Object.fromEntries(sources.map((file) => [file, readFileSync(path.join(folder, file), "utf8")]));
    return circles(usesOf(texts)).map((files) => ({ crate, files }));
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const { crate, files } of circlesOfCrates()) console.log(`${crate}: ${files.join(", ")}`);
}
