declare module "virtual:explained" {
  /** The entries of "Explain this number" in docs/metrics.md, read when the UI was built. */
  const entries: readonly import("./parse").Explanation[];
  export default entries;
}
