// How the sources of the UI are laid out: `npm run format -w ui` writes it, `npm run format:check -w ui` checks it. At a width of
// 110, as in Rust, the files would have a tenth more lines. Double quotes and trailing commas are the defaults.
export default {
  printWidth: 140,
  plugins: ["prettier-plugin-svelte"],
  overrides: [{ files: "*.svelte", options: { parser: "svelte" } }],
};
