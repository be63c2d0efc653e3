// What a preflight warns of about the model endpoint, and what of it stood on the page before. Pure.
import type { Check } from "../host/bindings/Check";
import type { FormSettings } from "../host/bindings/FormSettings";
import type { Preflight } from "../host/bindings/Preflight";

/** Checks that an endpoint answers only where it is asked. */
const ofEndpoint: ReadonlySet<string> = new Set(["endpoint", "model", "abilities"]);

type Place = Pick<FormSettings, "endpoint_mode" | "base_url">;

/** A start that was held because of what the endpoint was found to lack. */
export interface HeldStart {
  /** Of what it was asked, as {@link endpointRequestOf} has it. */
  readonly request: string;
  readonly checks: readonly Check[];
}

/** What of the settings decides what an endpoint is asked. */
export const endpointRequestOf = ({
  agent,
  model,
  endpoint_mode,
  base_url,
}: Pick<FormSettings, "agent" | "model" | "endpoint_mode" | "base_url">): string => JSON.stringify([agent, model, endpoint_mode, base_url]);

/** What holds a start: new warnings of its endpoint. Not twice: who presses again has read them, though their words may change each time
 *  ("try again in 1.53s"). */
export function holdStart(before: HeldStart | undefined, request: string, unseen: readonly Check[]): HeldStart {
  const isAgain = before?.request === request && before.checks.length > 0;
  return { request, checks: isAgain ? [] : unseen };
}

export class SeenWarnings {
  readonly #seen = new Set<string>();

  /** Notes what a preflight warns of, which is shown now. Gives the warnings that were not shown before of this endpoint. */
  show(preflight: Pick<Preflight, "checks">, { endpoint_mode, base_url }: Place): readonly Check[] {
    const isNew = (check: Check): boolean => {
      const warning = JSON.stringify([endpoint_mode, base_url, check.id, check.sentence ?? check.value]);
      const before = this.#seen.size;
      return this.#seen.add(warning).size > before;
    };
    return preflight.checks.filter((check) => check.state === "warn" && ofEndpoint.has(check.id)).filter(isNew);
  }
}
