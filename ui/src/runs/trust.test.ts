import { expect, test } from "vitest";
import type { RunTrust } from "../host/bindings/RunTrust";
import { NOTHING_KEPT, trustOf } from "./trust";

const run: RunTrust = {
  trusted: false,
  digest: "ab",
  mode: "gateway",
  endpoint: "https://theirs.example",
  key: "the environment variable HOME_KEY",
  model: "acme/new",
  budget: "no limit",
  harness: "Codex CLI",
  harness_file: null,
  image: "stamina/codex:1",
  binds: [],
  arguments: "",
  variables: [],
  variables_set: [],
  network: "open",
  host_processes: false,
  limits: "20 m 00 s an attempt",
  scenarios: null,
  plays: "4 turns",
  task_images: [],
  task_images_more: 0,
  tasks_unreadable: null,
  writes: ["/results/run"],
  here: null,
  rows: [{ name: "Endpoint", value: "https://theirs.example", instead: "https://ours.example is asked", keep: "endpoint" }],
};

test("a run that was begun here asks for nothing, and of another one only what is ticked is kept", () => {
  expect(trustOf({ ...run, trusted: true }, NOTHING_KEPT)).toBeNull();
  expect(trustOf(run, NOTHING_KEPT)).toEqual({ digest: "ab", keep_endpoint: false, keep_key: false, keep_variables: false });
  expect(trustOf(run, { ...NOTHING_KEPT, key: true })).toEqual({
    digest: "ab",
    keep_endpoint: false,
    keep_key: true,
    keep_variables: false,
  });
});
