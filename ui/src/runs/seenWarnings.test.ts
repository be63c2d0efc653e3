import { expect, test } from "vitest";
import type { Check } from "../host/bindings/Check";
import { SeenWarnings, holdStart } from "./seenWarnings";

const check = (id: string, state: Check["state"], sentence: string | null): Check => ({
  id,
  title: id,
  state,
  value: "",
  sentence,
  fix: null,
});
const local = { endpoint_mode: "gateway", base_url: "http://127.0.0.1:8080" } as const;
const unlisted = check("model", "warn", "The endpoint does not list the model m. It lists n.");
const noTools = check("abilities", "warn", "OpenCode works by tool calls, which the endpoint refuses.");

test("a warning of the endpoint is new once, and then again with other words or at another address", () => {
  const seen = new SeenWarnings();
  expect(seen.show({ checks: [noTools] }, local)).toEqual([noTools]);
  expect(seen.show({ checks: [unlisted, noTools] }, local)).toEqual([unlisted]);
  // Edited without asking, the list is not known: what was shown of it counts.
  expect(seen.show({ checks: [noTools] }, local)).toEqual([]);
  expect(seen.show({ checks: [unlisted, noTools] }, local)).toEqual([]);
  const another = { ...unlisted, sentence: "The endpoint does not list the model o. It lists n." };
  expect(seen.show({ checks: [another] }, local)).toEqual([another]);
  expect(seen.show({ checks: [unlisted] }, { ...local, base_url: "http://127.0.0.1:9090" })).toEqual([unlisted]);
});

test("what is well, unknown, a failure or of something else holds no start", () => {
  const seen = new SeenWarnings();
  const checks = [
    check("model", "ok", null),
    check("abilities", "unknown", "Whether it calls tools is unknown."),
    check("endpoint", "fail", "Nothing listens."),
    check("price", "warn", "The price is not known."),
    check("pack", "warn", "A model samples first."),
  ];
  expect(seen.show({ checks }, local)).toEqual([]);
});

test("a start is held once, though the words of the endpoint change", () => {
  const seen = new SeenWarnings();
  const limited = (seconds: string): Check => check("endpoint", "warn", `The endpoint is limited: try again in ${seconds}.`);
  const first = holdStart(undefined, "a", seen.show({ checks: [limited("1.53s")] }, local));
  expect(first.checks).toEqual([limited("1.53s")]);
  const unseen = seen.show({ checks: [limited("1.21s")] }, local);
  expect(unseen).toEqual([limited("1.21s")]);
  expect(holdStart(first, "a", unseen).checks).toEqual([]);
  // Of another endpoint it is held again.
  expect(holdStart(first, "b", unseen).checks).toEqual(unseen);
});
