// What is said before the app exits while it has live runs. Pure.
import type { InFlight } from "../host";
import { counted } from "../parts/format";

/** What is in flight, what is kept, what to do afterwards. */
export function quitSentences({ runs, attempts }: InFlight): readonly string[] {
  const are = attempts === 1 ? "is" : "are";
  const dropped =
    attempts === 0 ? "No attempt is in flight" : `${counted(attempts, "attempt")} in flight ${are} dropped and retried after a resume`;
  return [
    `This window runs ${counted(runs, "live run")}, and ${runs === 1 ? "it stops" : "they stop"} with it. ${dropped}; finished turns are kept.`,
    `Resume ${runs === 1 ? "it" : "them"} under Runs, or with stamina resume.`,
  ];
}
