// How a run is named: by its model; a run without one (a baseline, a source that does not say) by its place in its
// source, which is what its id ends with.
import type { RunRow } from "../host/bindings/RunRow";

/** As `crates/store/src/slugs.rs` makes the first part of a run's id. */
function slug(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
}

export function runName(row: Pick<RunRow, "id" | "model" | "source_name" | "baseline" | "harness">): string {
  if (row.model !== null && row.baseline === null) return row.model;
  // The id of a run in a zip begins without the ending of the zip; a folder may be called `c.zip`.
  const prefixes = [row.source_name, row.source_name.replace(/\.zip$/i, "")].map((name) => `${slug(name)}.`);
  const prefix = prefixes.find((start) => row.id.startsWith(start) && row.id.length > start.length) ?? "";
  const place = row.id.slice(prefix.length);
  // The harness has its own column: `oracle-k2`, not `oracle-k2-oracle`.
  const suffix = `-${slug(row.harness ?? "")}`;
  return row.harness !== null && place.endsWith(suffix) && place.length > suffix.length ? place.slice(0, -suffix.length) : place;
}

/** `terminus-2 2.0.0`; `unknown` */
export function harnessInWords(row: Pick<RunRow, "harness" | "harness_version">): string {
  return row.harness === null ? "unknown" : row.harness + (row.harness_version === null ? "" : ` ${row.harness_version}`);
}
