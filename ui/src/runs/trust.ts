// What a run of somebody else would do here, as rows of its page. Pure.
import type { RunTrust } from "../host/bindings/RunTrust";
import type { TrustRun } from "../host/bindings/TrustRun";

export interface TrustRow {
  readonly name: string;
  readonly value: string;
  /** What is used instead, where this row is not kept. */
  readonly instead?: string;
  /** The choice that keeps it. */
  readonly keep?: "keep_endpoint" | "keep_key" | "keep_variables";
}

const listed = (items: readonly string[]): string => (items.length === 0 ? "none" : items.join(", "));

/** Everything that the folder decides, in the order in which it matters. */
export function trustRows(run: RunTrust): readonly TrustRow[] {
  const rows: TrustRow[] = [];
  if (run.mode === "gateway") {
    rows.push({
      name: "Endpoint",
      value: run.endpoint ?? "unknown",
      keep: "keep_endpoint",
      instead: run.here ? `${run.here.base_url} is asked` : "no endpoint is known on this machine: begin a run with one first",
    });
    if (run.key !== null) rows.push({ name: "Key", value: run.key, keep: "keep_key", instead: run.here ? (run.here.key ?? "no key is sent") : "no key is sent" });
  } else if (run.mode === "direct") {
    rows.push({ name: "Endpoint", value: "the one that the agent finds itself" });
    rows.push({ name: "Key", value: run.key ?? "none", keep: "keep_key", instead: "it cannot be resumed without them" });
  } else {
    rows.push({ name: "Model", value: "simulated, on this machine" });
  }
  rows.push({ name: "Harness", value: run.harness_file === null ? run.harness : `${run.harness}, described by ${run.harness_file}` });
  rows.push({ name: "Image", value: run.image ?? "none: no containers" });
  rows.push({ name: "Bound folders", value: listed(run.binds) });
  if (run.arguments !== "") rows.push({ name: "Arguments", value: run.arguments });
  if (run.variables.length > 0) rows.push({ name: "Variables", value: listed(run.variables), keep: "keep_variables", instead: "not handed over" });
  if (run.variables_set.length > 0) rows.push({ name: "Variables set", value: listed(run.variables_set) });
  rows.push({ name: "Network", value: run.network === "open" ? "open: agents reach the internet" : "the gateway only" });
  rows.push({ name: "Processes here", value: run.host_processes ? "yes: our own server and the mock agent, without containers" : "none" });
  rows.push({ name: "Scenarios", value: run.scenarios ?? "generated" });
  rows.push(...taskRows(run));
  rows.push({ name: "Writes in", value: listed(run.writes) });
  return rows;
}

/** What the images of tasks are built of. */
function taskRows(run: RunTrust): readonly TrustRow[] {
  const rows = run.task_images.map((images): TrustRow => {
    const tasks = images.tasks.join(", ");
    if (images.image !== null) return { name: "Tasks", value: `${tasks}: the image ${images.image}` };
    const executes = [...images.executes, ...(images.more > 0 ? [`${String(images.more)} more that are not shown`] : [])];
    const from = images.from.length === 0 ? "unknown" : images.from.join(", ");
    return { name: "Tasks", value: `${tasks}: built from ${from}; executes ${executes.length === 0 ? "nothing" : executes.join(" | ")}` };
  });
  if (run.task_images_more > 0) rows.push({ name: "Tasks", value: `${String(run.task_images_more)} more are not shown` });
  if (run.tasks_unreadable !== null) rows.push({ name: "Tasks", value: `cannot be looked at: ${run.tasks_unreadable}` });
  if (run.task_images.length > 0) rows.push({ name: "Executes", value: "the tests of each task in its container, as the user that its image names, often root" });
  return rows;
}

export type Kept = Readonly<Record<"keep_endpoint" | "keep_key" | "keep_variables", boolean>>;

export const NOTHING_KEPT: Kept = { keep_endpoint: false, keep_key: false, keep_variables: false };

/** What a resume says of the trust in the run; nothing where it was begun here. */
export function trustOf(run: RunTrust, kept: Kept): TrustRun | null {
  return run.trusted ? null : { digest: run.digest, ...kept };
}
