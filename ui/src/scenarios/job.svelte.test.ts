import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Job } from "../host/bindings/Job";
import { Following } from "./job.svelte";

const { call } = vi.hoisted(() => ({ call: vi.fn<(name: string, request: { job?: number }) => Promise<unknown>>() }));
vi.mock("../host", () => ({ call, asCallError: (thrown: unknown) => thrown }));

function job(number: number, state: Job["state"], kind: Job["kind"] = "generation"): Job {
  return {
    job: number,
    kind,
    title: "Generate p",
    source: null,
    place: "/p",
    state,
    progress: [1, 2],
    seconds: 1,
    seconds_left: 1,
    error: null,
    validation: null,
    generated: null,
    answers: null,
    images: [],
    log: [],
  };
}
let jobs: Job[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  call.mockReset();
  call.mockImplementation((name, request) => {
    if (name === "list_jobs") return Promise.resolve({ jobs });
    if (name === "stop_job") jobs = jobs.map((one) => (one.job === request.job ? { ...one, state: "stopped" } : one));
    return Promise.resolve(jobs.find((one) => one.job === request.job));
  });
});
afterEach(() => {
  vi.useRealTimers();
});

const generation = (one: Job): boolean => one.kind === "generation";

it("follows the job that continues in the background until it is stopped", async () => {
  jobs = [job(4, "done"), job(3, "running", "validation"), job(2, "running")];
  const following = new Following();
  const ended = vi.fn();
  expect(await following.resume(generation, ended)).toBe(true);
  expect([following.job?.job, following.running]).toEqual([2, true]);
  following.stop();
  await vi.advanceTimersByTimeAsync(1000);
  expect([following.job?.state, following.running, ended.mock.calls.length]).toEqual(["stopped", false, 1]);
});

it("follows nothing where nothing runs, where the list fails, and for a dialog that was closed", async () => {
  jobs = [job(1, "done")];
  expect(await new Following().resume(generation)).toBe(false);
  call.mockRejectedValueOnce(new Error("gone"));
  expect(await new Following().resume(generation)).toBe(false);
  jobs = [job(1, "running")];
  const closed = new Following();
  const resumed = closed.resume(generation);
  closed.leave();
  expect([await resumed, closed.job]).toEqual([false, undefined]);
});

it("gives way to what is started while the list is asked for", async () => {
  jobs = [job(1, "running")];
  const following = new Following();
  const resumed = following.resume(generation);
  jobs = [job(2, "done"), ...jobs];
  await following.start(() => Promise.resolve({ job: 2 }));
  expect([await resumed, following.job?.job]).toEqual([false, 2]);
});
