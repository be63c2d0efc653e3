// The requests of a run as the gateway's log records them, held against the sums of a model server.

/** The requests that have ended, in that order, without their beginnings and tries that failed. A line that is still written is left out. */
export function finishedRequests(log) {
  return log
    .slice(0, log.lastIndexOf("\n") + 1)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((line) => typeof line.seconds === "number");
}

/** Whether a try failed because the endpoint did not answer, or its answer broke off. */
export const lostAnAnswer = (request) => request.faults?.includes(0) ?? false;

/** Whether the answer broke off at the endpoint after the agent had its beginning: it is not tried again. */
export const brokeOff = (request) => request.cut === "endpoint";

/** Whether the agent hung up, or its attempt was closed, before the answer was whole. A stream has its status by then. */
export const wasCutOff = (request) => ["agent", "closed"].includes(request.cut) || request.status === 499 || request.status === 410;

/** The requests that a server has worked on which was started after the first `earlier` had ended, in place of one that was killed. */
export const sinceRestart = (requests, earlier) => requests.slice(earlier).filter((request) => !brokeOff(request));

/** The tokens of requests as a server sums them up, and how many of them told no usage. */
export function summed(requests) {
  const sum = (tokensOf) => requests.reduce((total, request) => total + (tokensOf(request.tokens) ?? 0), 0);
  return {
    reported: { read: sum((t) => (t.input === null ? 0 : t.input - (t.cached ?? 0))), cached: sum((t) => t.cached), written: sum((t) => t.output) },
    unreported: requests.filter((request) => request.unmetered).length,
  };
}

/** Whether a server has counted what the requests told. Those that told nothing are in its sums only. */
export const isAsCounted = (own, { reported, unreported }) => Object.keys(reported).every((part) => (unreported === 0 ? own[part] === reported[part] : own[part] >= reported[part]));
