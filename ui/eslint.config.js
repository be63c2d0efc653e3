// The rules of the house that a machine can keep:
// - `@tauri-apps/*` only in src/host, so that the UI runs unchanged in a browser;
// - colors only in tokens.css; no static style attributes (the content security policy forbids them);
// - no file of more than 400 lines: a page is split by what it shows;
// - no `any`, and no {@html} but in the one component that shows figures of our own.
import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import svelteParser from "svelte-eslint-parser";
import globals from "globals";
import ts from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

/** Reports every match of a pattern in the whole text of a file, whatever language it is in. */
const everywhere = (pattern, message) => ({
  meta: { type: "problem", schema: [], messages: { found: message } },
  create: (context) => ({
    Program() {
      const code = context.sourceCode;
      for (const match of code.text.matchAll(pattern)) {
        const from = code.getLocFromIndex(match.index);
        const to = code.getLocFromIndex(match.index + match[0].length);
        context.report({ loc: { start: from, end: to }, messageId: "found", data: { text: match[0] } });
      }
    },
  }),
});

const house = {
  rules: {
    "no-colors": everywhere(
      /(?<![\w&/{])#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3,4})\b(?!-)|\b(?:rgba?|hsla?|oklch)\(/g,
      "{{text}}: colors stand in tokens.css; use var(--…)",
    ),
    "no-static-style": everywhere(/\sstyle="/g, "Write a class, or a style: directive for a computed value"),
  },
};

/** CSS is only looked through by the rules above. */
const cssParser = {
  parseForESLint: (text) => {
    const lines = text.split("\n");
    const loc = { start: { line: 1, column: 0 }, end: { line: lines.length, column: lines.at(-1).length } };
    return { ast: { type: "Program", sourceType: "module", body: [], tokens: [], comments: [], range: [0, text.length], loc } };
  },
};

export default ts.config(
  { ignores: ["dist", "src/host/bindings"] },
  ...svelte.configs.recommended,
  {
    files: ["**/*.{ts,js,svelte}"],
    extends: [js.configs.recommended, ...ts.configs.strictTypeChecked],
    languageOptions: {
      globals: { ...globals.browser, ...globals.node },
      parserOptions: {
        projectService: { allowDefaultProject: ["eslint.config.js", "svelte.config.js"] },
        extraFileExtensions: [".svelte"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    plugins: { house },
    rules: {
      "house/no-colors": "error",
      "max-lines": ["error", { max: 400 }],
      "@typescript-eslint/no-explicit-any": "error",
      "no-restricted-imports": ["error", { patterns: [{ group: ["@tauri-apps/*"], message: "Only src/host knows the desktop." }] }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // Svelte's props and event attributes are written so.
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/no-misused-spread": "off",
      // `void value` names what an effect follows.
      "@typescript-eslint/no-meaningless-void-operator": "off",
      // Plain maps and sets stand in $state.raw and are replaced as a whole.
      "svelte/prefer-svelte-reactivity": "off",
      "prefer-const": "off",
      "svelte/prefer-const": ["error", { destructuring: "all" }],
      "svelte/no-at-html-tags": "error",
      // Addresses are made by hrefOf() of the router, not by SvelteKit.
      "svelte/no-navigation-without-resolve": "off",
    },
  },
  {
    files: ["**/*.svelte"],
    languageOptions: { parser: svelteParser, parserOptions: { parser: ts.parser, svelteConfig } },
  },
  {
    files: ["**/*.svelte"],
    rules: {
      "house/no-static-style": "error",
      // Typed lint sees callbacks of components as `any`; svelte-check, which is strict, sees their types.
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
    },
  },
  { files: ["**/FigureView.svelte"], rules: { "svelte/no-at-html-tags": "off" } },
  { files: ["src/host/**"], rules: { "no-restricted-imports": "off" } },
  { files: ["**/*.test.ts"], rules: { "@typescript-eslint/no-non-null-assertion": "off" } },
  { files: ["*.js"], extends: [ts.configs.disableTypeChecked] },
  {
    files: ["**/*.css"],
    ignores: ["src/shell/tokens.css"],
    languageOptions: { parser: cssParser },
    plugins: { house },
    rules: { "house/no-colors": "error" },
  },
);
