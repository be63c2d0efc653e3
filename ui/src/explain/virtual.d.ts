declare module "virtual:explained" {
  import type { Explanation } from "./parse";
  /** The entries of "Explain this number" in docs/metrics.md, read when the UI was built. */
  const entries: readonly Explanation[];
  export default entries;
}
