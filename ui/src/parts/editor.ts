/**
 * The diff of two texts in CodeMirror: read-only, in our tokens. It lives in a shadow root, because there its style
 * sheets are adopted instead of written into the page, which the content security policy forbids.
 */
import { HighlightStyle, type LanguageSupport, syntaxHighlighting } from "@codemirror/language";
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, drawSelection, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export interface DiffOptions {
  readonly before: string;
  readonly after: string;
  readonly split: boolean;
  readonly path: string;
  readonly label: string;
  /** Unchanged lines are shown too: a file as it is, not what changed. */
  readonly whole?: boolean;
}

const theme = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--text)", height: "100%", fontSize: "12px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { font: "var(--m-12)", lineHeight: "20px", overflow: "auto" },
  ".cm-content": { padding: "0 0 24px", caretColor: "transparent" },
  ".cm-line": { padding: "0 12px 0 8px" },
  ".cm-gutters": { backgroundColor: "var(--surface-sunken)", color: "var(--text-tertiary)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { fontSize: "11px", minWidth: "36px", padding: "0 8px 0 4px" },
  ".cm-changedLine, .cm-insertedLine, &.cm-merge-b .cm-changedLine": { backgroundColor: "var(--diff-add)" },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk, .cm-deletedLine": { backgroundColor: "var(--diff-del)" },
  ".cm-deletedChunk": { paddingLeft: "8px", paddingRight: "12px" },
  ".cm-deletedChunk .cm-deletedText, &.cm-merge-a .cm-changedText": { background: "var(--diff-del-strong)", borderRadius: "2px" },
  "&.cm-merge-b .cm-changedText, .cm-changedText": { background: "var(--diff-add-strong)", borderRadius: "2px" },
  ".cm-changeGutter": { width: "4px", paddingLeft: "0" },
  "&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter": { background: "var(--diff-del-strong)" },
  "&.cm-merge-b .cm-changedLineGutter, .cm-changedLineGutter": { background: "var(--diff-add-strong)" },
  ".cm-collapsedLines": {
    background: "var(--surface-sunken)",
    color: "var(--text-secondary)",
    font: "var(--t-11)",
    lineHeight: "20px",
    padding: "0 0 0 8px",
  },
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: '"⋯"', marginInline: "4px" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { background: "var(--surface-selected) !important" },
});

const highlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.typeName, tags.controlKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-number)" },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--code-comment)" },
]);

/** The language of a file by its ending; null = shown without colors. */
export async function languageOf(path: string): Promise<LanguageSupport | null> {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const ending = name.includes(".") ? name.slice(name.lastIndexOf(".") + 1) : name;
  switch (ending) {
    case "py":
    case "pyi":
      return (await import("@codemirror/lang-python")).python();
    case "js":
    case "mjs":
    case "cjs":
    case "jsx":
      return (await import("@codemirror/lang-javascript")).javascript({ jsx: true });
    case "ts":
    case "tsx":
    case "mts":
      return (await import("@codemirror/lang-javascript")).javascript({ typescript: true, jsx: ending === "tsx" });
    case "go":
      return (await import("@codemirror/lang-go")).go();
    case "rs":
      return (await import("@codemirror/lang-rust")).rust();
    case "c":
    case "h":
    case "cc":
    case "cpp":
    case "hpp":
    case "java":
      return (await import("@codemirror/lang-cpp")).cpp();
    case "json":
      return (await import("@codemirror/lang-json")).json();
    case "yml":
    case "yaml":
      return (await import("@codemirror/lang-yaml")).yaml();
    case "md":
      return (await import("@codemirror/lang-markdown")).markdown();
    default:
      return null;
  }
}

/** Longer texts are not colored: parsing them would hold up the page. */
const COLORED = 400_000;
const collapse = { margin: 3, minSize: 6 };

/** Puts a diff into `host`'s shadow root and returns how to take it out again. */
export async function showDiff(host: HTMLElement, options: DiffOptions): Promise<() => void> {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  // A file without a difference is shown as it is: folded, nothing of it would be seen.
  const folded = options.whole === true || options.before === options.after ? {} : { collapseUnchanged: collapse };
  const language = options.before.length + options.after.length > COLORED ? null : await languageOf(options.path);
  const base = (label: string): Extension[] => [
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
    lineNumbers(),
    drawSelection(),
    theme,
    syntaxHighlighting(highlight),
    EditorState.phrases.of({ "$ unchanged lines": "$ unchanged lines, show" }),
    ...(language ? [language] : []),
  ];
  const box = document.createElement("div");
  box.style.height = "100%";
  root.replaceChildren(box);
  if (options.split) {
    const view = new MergeView({
      a: { doc: options.before, extensions: base(`${options.label}, before`) },
      b: { doc: options.after, extensions: base(`${options.label}, after`) },
      parent: box,
      root,
      ...folded,
      gutter: true,
      diffConfig: { scanLimit: 2_000, timeout: 300 },
    });
    view.dom.style.height = "100%";
    view.dom.style.overflow = "auto";
    if (view.dom.firstElementChild instanceof HTMLElement) view.dom.firstElementChild.style.minHeight = "100%";
    return () => {
      view.destroy();
      box.remove();
    };
  }
  const view = new EditorView({
    doc: options.after,
    parent: box,
    root,
    extensions: [
      base(options.label),
      unifiedMergeView({
        original: options.before,
        mergeControls: false,
        gutter: true,
        ...folded,
        diffConfig: { scanLimit: 2_000, timeout: 300 },
      }),
    ],
  });
  return () => {
    view.destroy();
    box.remove();
  };
}
