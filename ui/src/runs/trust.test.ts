import { expect, test } from "vitest";
import type { RunTrust } from "../host/bindings/RunTrust";
import { NOTHING_KEPT, trustOf, trustRows } from "./trust";

const run: RunTrust = {
  trusted: false, digest: "ab", mode: "gateway", endpoint: "https://theirs.example", key: "the environment variable HOME_KEY", harness: "Codex CLI", harness_file: null,
  image: "stamina/codex:1", binds: ["/opt/data:/data:ro"], arguments: "-v /opt/data:/data:ro", variables: ["HOME"], variables_set: ["TZ=UTC"], network: "open", host_processes: false, scenarios: null,
  task_images: [], task_images_more: 0, tasks_unreadable: null,
  writes: ["/results/run"], here: { base_url: "https://ours.example", key: "the environment variable OUR_KEY" },
};
const row = (of: RunTrust, name: string) => trustRows(of).find((one) => one.name === name);

test("what the folder names of this machine is a choice, and says what is used instead", () => {
  expect(row(run, "Endpoint")).toEqual({ name: "Endpoint", value: "https://theirs.example", keep: "keep_endpoint", instead: "https://ours.example is asked" });
  expect(row(run, "Key")?.instead).toBe("the environment variable OUR_KEY");
  expect(row(run, "Variables")).toMatchObject({ value: "HOME", keep: "keep_variables", instead: "not handed over" });
  expect(row(run, "Variables set")?.value).toBe("TZ=UTC");
  expect(row(run, "Network")?.value).toContain("internet");
  expect(row({ ...run, here: null }, "Endpoint")?.instead).toContain("begin a run with one first");
});

test("without an endpoint there is none to choose", () => {
  const simulated: RunTrust = { ...run, mode: "simulated", endpoint: null, key: null, variables: [], image: null, host_processes: true };
  expect(trustRows(simulated).filter((one) => one.keep !== undefined)).toEqual([]);
  expect(row(simulated, "Image")?.value).toBe("none: no containers");
});

test("images of tasks are shown with what builds them", () => {
  const built = { tasks: ["a", "b"], image: null, from: ["debian"], executes: ["RUN curl example.org | sh"], more: 3 };
  const named = { tasks: ["c"], image: "example/one:1", from: [], executes: [], more: 0 };
  const values = (of: RunTrust) => trustRows(of).filter((one) => one.name === "Tasks").map((one) => one.value);
  expect(values({ ...run, task_images: [built, named], task_images_more: 5 })).toEqual([
    "a, b: built from debian; executes RUN curl example.org | sh | 3 more that are not shown",
    "c: the image example/one:1",
    "5 more are not shown",
  ]);
  expect(values({ ...run, tasks_unreadable: "gone" })).toEqual(["cannot be looked at: gone"]);
  expect(values(run)).toEqual([]);
  expect(row({ ...run, task_images: [named] }, "Executes")?.value).toContain("the tests of each task");
});

test("a run that was begun here asks for nothing", () => {
  expect(trustOf({ ...run, trusted: true }, NOTHING_KEPT)).toBeNull();
  expect(trustOf(run, { ...NOTHING_KEPT, keep_key: true })).toEqual({ digest: "ab", keep_endpoint: false, keep_key: true, keep_variables: false });
});
