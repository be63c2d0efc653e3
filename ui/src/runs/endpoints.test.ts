import { expect, test } from "vitest";
import { choiceOf, contextInWords } from "./endpoints";

const endpoint = { base_url: "http://127.0.0.1:8080", server: "llama_cpp", title: "llama.cpp", models: [], slots: 1, problem: null };

test("the context as served and the one a model was made for are distinguished", () => {
  expect(contextInWords({ id: "m", context: 4096, model_context: 131072 })).toBe("serves 4,096 tokens, made for 131,072");
  expect(contextInWords({ id: "m", context: 4096, model_context: 4096 })).toBe("serves 4,096 tokens");
  expect(contextInWords({ id: "m", context: null, model_context: 8192 })).toMatch(/^context .+, made for 8,192$/);
});

test("a model that is chosen sets its endpoint, and its context where that is known", () => {
  expect(choiceOf(endpoint, { id: "m", context: 8192, model_context: null }, false)).toEqual({ endpoint_mode: "gateway", base_url: endpoint.base_url, model: "m", key_place: "none", key_name: "", context_window: 8192 });
  expect(choiceOf(endpoint, { id: "m", context: null, model_context: 131072 }, true)).toEqual({ endpoint_mode: "gateway", base_url: endpoint.base_url, model: "m" });
  expect(choiceOf(endpoint, { id: "m", context: 512, model_context: null }, true)).not.toHaveProperty("context_window");
});
