// What is kept of a run of somebody else. Its page shows the lines of the core, in the words that the command line prints. Pure.
import type { RunTrust } from "../host/bindings/RunTrust";
import type { TrustChoice } from "../host/bindings/TrustChoice";
import type { TrustRun } from "../host/bindings/TrustRun";

export type Kept = Readonly<Record<TrustChoice, boolean>>;

export const NOTHING_KEPT: Kept = { endpoint: false, key: false, variables: false };

/** What a resume says of the trust in the run; nothing where it was begun here. */
export function trustOf(run: RunTrust, kept: Kept): TrustRun | null {
  return run.trusted ? null : { digest: run.digest, keep_endpoint: kept.endpoint, keep_key: kept.key, keep_variables: kept.variables };
}
