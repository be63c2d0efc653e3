// Splits the sources of the web UI into code and texts, line by line, for the word list (words.mjs). TypeScript: comments,
// strings and the literal parts of templates are texts. Svelte: also what stands between tags, and the attributes that people
// read (titles, labels, placeholders); of a style only its comments. It reads no grammar: what it cannot place is code.

/** Attributes whose values people read. */
const READ = new Set(["title", "placeholder", "alt", "label", "sentence", "named", "quiet", "text", "act", "data-tip"]);
const isRead = (name) => READ.has(name) || name.startsWith("aria-label") || name === "aria-description" || name === "aria-valuetext";
/** Behind these a `/` begins a regular expression; behind all else it divides. */
const BEFORE_REGEX = /(?:^|[([{,;:=!&|?+*%^~<>-]|\b(?:return|typeof|case|in|of|await|void))\s*$/;

/** Collects code and texts; both have as many lines as the source. */
class Split {
  code = "";
  text = "";

  add(part, isText) {
    const gap = part.replaceAll(/[^\n]/g, " ");
    // One space keeps words apart; the rest of a gap says nothing.
    const short = gap.replaceAll(/ +/g, " ");
    this.code += isText ? short : part;
    this.text += isText ? part : short;
  }

  lines() {
    const code = this.code.split("\n");
    return this.text.split("\n").map((text, at) => ({ code: code[at], text }));
  }
}

/** Reads script from `from`; with `ends` up to the brace that closes the expression. Returns where it stopped. */
function script(source, from, split, ends) {
  let at = from;
  let depth = 0;
  let before = "";
  const addUpTo = (to, isText) => {
    const part = source.slice(at, to);
    split.add(part, isText);
    before = isText ? "x" : (before + part).slice(-40);
    at = to;
  };
  const until = (mark, start) => {
    const end = source.indexOf(mark, start);
    return end < 0 ? source.length : end;
  };
  while (at < source.length) {
    const rest = source.slice(at, at + 2);
    const letter = rest[0];
    if (rest === "//") {
      const was = before;
      addUpTo(until("\n", at), true);
      before = was;
    } else if (rest === "/*") {
      const was = before;
      addUpTo(Math.min(source.length, until("*/", at + 2) + 2), true);
      before = was;
    } else if (letter === '"' || letter === "'") {
      const found = (letter === '"' ? /"(?:[^"\\\n]|\\.)*"/y : /'(?:[^'\\\n]|\\.)*'/y);
      found.lastIndex = at;
      const string = found.exec(source);
      addUpTo(at + (string?.[0].length ?? 1), string !== null);
    } else if (letter === "`") {
      addUpTo(at + 1, false);
      while (at < source.length && source[at] !== "`") {
        if (source.startsWith("${", at)) {
          addUpTo(at + 2, false);
          at = script(source, at, split, true);
          addUpTo(at + 1, false);
        } else {
          let to = at;
          while (to < source.length && source[to] !== "`" && !source.startsWith("${", to)) to += source[to] === "\\" ? 2 : 1;
          addUpTo(Math.min(to, source.length), true);
        }
      }
      addUpTo(Math.min(at + 1, source.length), false);
      before = "x";
    } else if (letter === "/" && BEFORE_REGEX.test(before)) {
      const found = /\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
      found.lastIndex = at;
      addUpTo(at + (found.exec(source)?.[0].length ?? 1), false);
      before = "x";
    } else {
      if (ends && letter === "}" && depth === 0) return at;
      if (letter === "{") depth += 1;
      if (letter === "}") depth -= 1;
      addUpTo(at + 1, false);
    }
  }
  return at;
}

/** The lines of a TypeScript file: [{ code, text }]. */
export function splitScript(source) {
  const split = new Split();
  script(source, 0, split, false);
  return split.lines();
}

/** Reads a tag from its `<`, with its attributes. Returns the place behind its `>`. */
function tag(source, from, split) {
  const name = /^<\/?[\w:.-]*/.exec(source.slice(from, from + 80))[0];
  split.add(name, false);
  let at = from + name.length;
  let attribute = "";
  while (at < source.length && source[at] !== ">") {
    const letter = source[at];
    if (letter === "{") {
      split.add("{", false);
      at = script(source, at + 1, split, true);
      split.add("}", false);
      at += 1;
    } else if (letter === '"' || letter === "'") {
      split.add(letter, false);
      at += 1;
      while (at < source.length && source[at] !== letter) {
        if (source[at] === "{") {
          split.add("{", false);
          at = script(source, at + 1, split, true);
          split.add("}", false);
          at += 1;
        } else {
          split.add(source[at], isRead(attribute));
          at += 1;
        }
      }
      split.add(letter, false);
      at += 1;
    } else {
      const word = /^[\w:.-]+/.exec(source.slice(at, at + 80))?.[0] ?? letter;
      if (word.length > 1 || /\w/.test(word)) attribute = word;
      split.add(word, false);
      at += word.length;
    }
  }
  split.add(">", false);
  return at + 1;
}

/** The lines of a Svelte component: [{ code, text }]. */
export function splitSvelte(source) {
  const split = new Split();
  let at = 0;
  while (at < source.length) {
    if (source.startsWith("<!--", at)) {
      const end = source.indexOf("-->", at);
      const to = end < 0 ? source.length : end + 3;
      split.add(source.slice(at, to), true);
      at = to;
    } else if (/^<(?:script|style)\b/.test(source.slice(at, at + 8))) {
      const isScript = source.startsWith("<script", at);
      const begin = source.indexOf(">", at) + 1;
      const end = source.indexOf(isScript ? "</script>" : "</style>", begin);
      const to = end < 0 ? source.length : end;
      split.add(source.slice(at, begin), false);
      if (isScript) script(source.slice(begin, to), 0, split, false);
      else for (const part of source.slice(begin, to).split(/(\/\*[^]*?\*\/)/)) split.add(part, part.startsWith("/*"));
      at = to;
      if (end >= 0) {
        const closing = isScript ? "</script>" : "</style>";
        split.add(closing, false);
        at += closing.length;
      }
    } else if (/^<[/a-zA-Z]/.test(source.slice(at, at + 2))) {
      at = tag(source, at, split);
    } else if (source.startsWith("{/", at)) {
      // The end of a block: no regular expression.
      const to = source.indexOf("}", at) + 1 || source.length;
      split.add(source.slice(at, to), false);
      at = to;
    } else if (source[at] === "{") {
      split.add("{", false);
      at = script(source, at + 1, split, true);
      split.add("}", false);
      at += 1;
    } else {
      split.add(source[at], true);
      at += 1;
    }
  }
  return split.lines();
}
