// Model endpoints that answered: what is shown of a model, and what choosing one makes of the settings. Pure.
import type { FormSettings } from "../host/bindings/FormSettings";
import type { ListedEndpoint } from "../host/bindings/ListedEndpoint";
import type { OfferedModel } from "../host/bindings/OfferedModel";
import { UNKNOWN, count } from "../parts/format";

/** Fewest tokens that the field of the context takes. */
const LEAST_CONTEXT = 1000;

/** `serves 4,096 tokens, made for 131,072`. */
export function contextInWords(model: OfferedModel): string {
  const served = model.context === null ? `context ${UNKNOWN}` : `serves ${count(model.context)} tokens`;
  return model.model_context === null || model.model_context === model.context
    ? served
    : `${served}, made for ${count(model.model_context)}`;
}

/** The context with which a model is served; where that is not known, no more than it was made for. Nothing where the field may stay. */
function contextOf(model: OfferedModel, now: number | null): number | undefined {
  if (model.context !== null) return model.context < LEAST_CONTEXT ? undefined : model.context;
  const most = model.model_context;
  return most === null || most < LEAST_CONTEXT || (now !== null && now <= most) ? undefined : most;
}

/** The fields that a model sets in a form whose context is `now`. An endpoint that was asked without a key is used without one. */
export function choiceOf(endpoint: ListedEndpoint, model: OfferedModel, askedWithKey: boolean, now: number | null): Partial<FormSettings> {
  const context = contextOf(model, now);
  const keyless: Partial<FormSettings> = askedWithKey ? {} : { key_place: "none", key_name: "" };
  return {
    endpoint_mode: "gateway",
    base_url: endpoint.base_url,
    model: model.id,
    ...keyless,
    ...(context === undefined ? {} : { context_window: context }),
  };
}
