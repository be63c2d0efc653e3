import { beforeEach, expect, test, vi } from "vitest";
import type { Preflight } from "../host/bindings/Preflight";
import { defaults } from "./form.fixture";
import { PreflightCheck } from "./preflight.svelte";

const { call } = vi.hoisted(() => ({ call: vi.fn<(name: string, request: unknown) => Promise<Preflight>>() }));
vi.mock("../host", () => ({ call, asCallError: (thrown: unknown) => thrown }));

beforeEach(() => {
  call.mockReset();
  call.mockResolvedValue({ checks: [], can_start: true, estimate: null, at: "2026-01-01T00:00:00Z" } as unknown as Preflight);
});

test("an answer says whether it is of the settings that stand in the form", async () => {
  const preflight = new PreflightCheck();
  const before = { ...defaults, n_turns: 3 };
  expect(preflight.isOfOthers(before)).toBe(false);
  await preflight.run(before, false);
  expect(preflight.isOfOthers(before)).toBe(false);
  const now = { ...defaults, n_turns: 30 };
  expect(preflight.isOfOthers(now)).toBe(true);
  await preflight.run(now, false);
  expect(preflight.isOfOthers(now)).toBe(false);
});

test("a check that fails leaves the answer of the settings before", async () => {
  const preflight = new PreflightCheck();
  await preflight.run(defaults, false);
  call.mockRejectedValueOnce(new Error("no"));
  const now = { ...defaults, n_turns: 30 };
  await preflight.run(now, false);
  expect(preflight.isOfOthers(now)).toBe(true);
});
