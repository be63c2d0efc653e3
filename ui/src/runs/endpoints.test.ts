import { expect, test } from "vitest";
import { choiceOf, contextInWords } from "./endpoints";

const endpoint = { base_url: "http://127.0.0.1:8080", server: "llama_cpp", title: "llama.cpp", models: [], slots: 1, problem: null };

test("the context as served and the one a model was made for are distinguished", () => {
  expect(contextInWords({ id: "m", context: 4096, model_context: 131072 })).toBe("serves 4,096 tokens, made for 131,072");
  expect(contextInWords({ id: "m", context: 4096, model_context: 4096 })).toBe("serves 4,096 tokens");
  expect(contextInWords({ id: "m", context: null, model_context: 8192 })).toMatch(/^context .+, made for 8,192$/);
});

test("a model that is chosen sets its endpoint, and its context where that is known", () => {
  expect(choiceOf(endpoint, { id: "m", context: 8192, model_context: null }, false, 200_000)).toEqual({
    endpoint_mode: "gateway",
    base_url: endpoint.base_url,
    model: "m",
    key_place: "none",
    key_name: "",
    context_window: 8192,
  });
  expect(choiceOf(endpoint, { id: "m", context: null, model_context: 131072 }, true, 32_000)).toEqual({
    endpoint_mode: "gateway",
    base_url: endpoint.base_url,
    model: "m",
  });
  expect(choiceOf(endpoint, { id: "m", context: 512, model_context: null }, true, 200_000)).not.toHaveProperty("context_window");
});

test("a context that is not known is no more than the model was made for", () => {
  const windowOf = (made: number | null, now: number | null): unknown =>
    choiceOf(endpoint, { id: "m", context: null, model_context: made }, true, now).context_window;
  expect([
    windowOf(40_960, 200_000),
    windowOf(40_960, null),
    windowOf(40_960, 8192),
    windowOf(null, 200_000),
    windowOf(512, 200_000),
  ]).toEqual([40_960, 40_960, undefined, undefined, undefined]);
});
