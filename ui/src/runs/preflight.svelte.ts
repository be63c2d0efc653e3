// Whether a run can start on this machine: asked anew as settings change, and once more before the start.
import { asCallError, call, type CallError } from "../host";
import type { FormSettings } from "../host/bindings/FormSettings";
import type { Preflight } from "../host/bindings/Preflight";
import { SeenWarnings, type HeldStart } from "./seenWarnings";

export class PreflightCheck {
  #answer = $state.raw<Preflight | undefined>();
  #settings = $state.raw<FormSettings | undefined>();
  #error = $state.raw<CallError | undefined>();
  #busy = $state(false);
  #latest = 0;
  readonly #seen = new SeenWarnings();

  /** The last answer. */
  get answer(): Preflight | undefined {
    return this.#answer;
  }
  /** Whether the last answer is of other settings. */
  isOfOthers(settings: FormSettings | undefined): boolean {
    return this.#answer !== undefined && this.#settings !== settings;
  }
  get error(): CallError | undefined {
    return this.#error;
  }
  get busy(): boolean {
    return this.#busy;
  }

  /** `callsEndpoint` lets the endpoint be asked something cheap, which costs a few tokens: only when somebody presses for it. With `anew`
   *  it is asked for all that it can do, whatever was found out before. Gives whether the run can start, and new warnings. */
  async run(
    settings: FormSettings,
    callsEndpoint: boolean,
    anew = false,
  ): Promise<{ canStart: boolean; unseen: HeldStart["checks"] } | undefined> {
    this.#latest += 1;
    const requestNumber = this.#latest;
    this.#busy = true;
    try {
      const answer = await call("preflight_run", { settings, call: callsEndpoint, anew });
      // A later one is what is shown; whoever asked still gets the answer to what they asked.
      if (requestNumber === this.#latest) {
        this.#answer = answer;
        this.#settings = settings;
        this.#error = undefined;
      }
      return {
        canStart: answer.can_start,
        unseen: requestNumber === this.#latest || callsEndpoint ? this.#seen.show(answer, settings) : [],
      };
    } catch (thrown) {
      // What somebody has asked for is shown in any case.
      if (requestNumber === this.#latest || callsEndpoint) this.#error = asCallError(thrown);
      return undefined;
    } finally {
      if (requestNumber === this.#latest) this.#busy = false;
    }
  }
}
