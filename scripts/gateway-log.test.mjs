// What `npm run real-model` takes from the gateway's log.
import assert from "node:assert/strict";
import { test } from "node:test";
import { brokeOff, finishedRequests, isAsCounted, lostAnAnswer, sinceRestart, summed, wasCutOff } from "./lib/gateway-log.mjs";

/** Lines as the gateway writes them: `cut` is who ended an answer early, and a stream keeps the status of its head. */
const line = (more) => JSON.stringify({ episode: "scenario_1", turn: 1, attempt: 1, at: "2026-11-29T12:00:00Z", route: "POST /v1/chat/completions", model: "m", tokens: { input: 100, cached: 60, output: 7 }, cost_usd: 0, seconds: 1.5, status: 200, retries: 0, number: 1, ...more });
const begun = JSON.stringify({ begun: 1, episode: "scenario_1", turn: 1, attempt: 1, at: "2026-11-29T12:00:00Z" });
const faulted = JSON.stringify({ fault: 0, episode: "scenario_1", turn: 1, attempt: 1, at: "2026-11-29T12:00:00Z", number: 1 });
const untold = { tokens: { input: null, cached: null, output: null }, cost_usd: null, unmetered: true };

const whole = line({});
const stoppedStream = line({ ...untold, cut: "agent" });
const closedStream = line({ ...untold, cut: "closed" });
const hungUp = line({ ...untold, status: 499, cut: "agent" });
const broken = line({ ...untold, faults: [0], cut: "endpoint" });
const triedAgain = line({ faults: [0], retries: 1 });

test("beginnings, tries that failed and a line that is still written are no requests", () => {
  assert.equal(finishedRequests("").length, 0);
  assert.equal(finishedRequests(`${begun}\n${faulted}\n${whole}\n${whole.slice(0, 80)}`).length, 1);
});

test("a stream that the agent left, or whose attempt was closed, is cut off, whatever its status", () => {
  const all = finishedRequests([whole, stoppedStream, closedStream, hungUp, broken, triedAgain].map((text) => `${text}\n`).join(""));
  assert.deepEqual(all.map(wasCutOff), [false, true, true, true, false, false]);
  assert.deepEqual(all.map(brokeOff), [false, false, false, false, true, false]);
  assert.deepEqual(all.map(lostAnAnswer), [false, false, false, false, true, true]);
});

test("a server that was started anew has worked on what was tried again, and not on what broke off", () => {
  const all = finishedRequests([whole, broken, triedAgain, whole].map((text) => `${text}\n`).join(""));
  const latest = sinceRestart(all, 1);
  assert.equal(latest.length, 2);
  assert.deepEqual(summed(latest), { reported: { read: 80, cached: 120, written: 14 }, unreported: 0 });
  assert.ok(isAsCounted({ read: 80, cached: 120, written: 14 }, summed(latest)));
  assert.ok(!isAsCounted({ read: 81, cached: 120, written: 14 }, summed(latest)));
});

test("requests that told no usage are in the server's sums only", () => {
  const all = finishedRequests([whole, stoppedStream].map((text) => `${text}\n`).join(""));
  assert.equal(summed(all).unreported, 1);
  assert.ok(isAsCounted({ read: 41, cached: 60, written: 9 }, summed(all)));
  assert.ok(!isAsCounted({ read: 39, cached: 60, written: 9 }, summed(all)));
});
