// A live run, in words and marks. Pure: made from what the workbench reports and from the clock that is handed in.
import type { EndReason } from "../host/bindings/EndReason";
import type { GridRow } from "../host/bindings/GridRow";
import type { LiveEpisode } from "../host/bindings/LiveEpisode";
import type { LiveRunDetail } from "../host/bindings/LiveRunDetail";
import type { LiveRunRow } from "../host/bindings/LiveRunRow";
import type { LiveState } from "../host/bindings/LiveState";
import type { PolicyTable } from "../host/bindings/PolicyTable";
import type { SmokeTestVerdict } from "../host/bindings/SmokeTestVerdict";
import type { TurnState } from "../host/bindings/TurnState";
import {
  UNKNOWN,
  costInWords,
  count,
  counted,
  dollars,
  duration,
  endLook,
  endReasonLabels,
  tokensPerSecond,
  compactCount,
  tokensTotal,
} from "../parts/format";
import { type Look, stateOfLetter, textClass } from "../parts/look";
import type { Stat } from "../parts/stat";
import { approximateDurationRange, dollarRange } from "./amounts";

const THIN = "\u202f";

/** Whether an end reason is censored, by the policy that counts elsewhere too. */
export type IsCensored = (reason: EndReason) => boolean;

/** The policy as a question. Before it is known only a passed run counts as censored (nobody failed). */
export function censoredBy(policy: PolicyTable | undefined): IsCensored {
  const censored = new Set((policy?.rows ?? []).filter((row) => row.ending === "censored").map((row) => row.reason));
  return (reason) => reason === "passed_all" || censored.has(reason);
}

/** Whether a process still runs it. */
export const isLive = (state: LiveState): boolean =>
  state === "starting" || state === "running" || state === "paused" || state === "stopping";
/** Whether it can be resumed. */
export const canResume = (state: LiveState): boolean => state === "stopped" || state === "budget" || state === "failed" || state === "lost";

/** Whether a run can be resumed: it did not finish, or something else than their agents ended episodes of it. */
export const canContinue = (state: LiveState, episodes: readonly Pick<LiveEpisode, "is_resumable">[]): boolean =>
  canResume(state) || (state === "finished" && episodes.some((episode) => episode.is_resumable));

/** Whether the attempt of an episode can be retried, or the episode continued; both work in a pause, too. */
export const canRetry = (state: LiveState, episode: Pick<LiveEpisode, "phase" | "is_resumable">): boolean =>
  (state === "running" || state === "paused") && (isInFlight(episode) || episode.is_resumable);

/** Why an episode that is over can continue, and how. */
export function retryInWords(episode: Pick<LiveEpisode, "end_reason">): string {
  const on = "the dropped attempt is retried from the snapshot before it, in the same session.";
  if (episode.end_reason === "budget")
    return "A budget ended it, not its agent. It continues in the same session. If that budget is still spent, it ends again at once: stop the run and resume it with a larger one.";
  if (episode.end_reason === "endpoint" || episode.end_reason === "environment")
    return `The endpoint or the containers ended it, not its agent. It continues: ${on}`;
  return `It was ended from outside, not by its agent. It continues: ${on}`;
}

/** Whether an attempt of the episode is in flight. */
export const isInFlight = (episode: Pick<LiveEpisode, "phase">): boolean =>
  episode.phase === "preparing" || episode.phase === "agent" || episode.phase === "waiting" || episode.phase === "testing";

/** The mark of a smoke test that is over. */
const verdictMark = (verdict: SmokeTestVerdict): { text: string; look: Look; class: string } =>
  verdict.works
    ? { text: "works", look: "passed", class: textClass.passed }
    : { text: "does not work", look: "failed", class: textClass.failed };

const stateWords: Readonly<Record<LiveState, { text: string; look: Look }>> = {
  starting: { text: "starting", look: "live" },
  running: { text: "running", look: "live" },
  paused: { text: "paused", look: "off" },
  stopping: { text: "stopping", look: "live" },
  finished: { text: "finished", look: "passed" },
  stopped: { text: "stopped", look: "censored" },
  budget: { text: "budget spent", look: "censored" },
  failed: { text: "failed", look: "error" },
  lost: { text: "lost", look: "error" },
  unreadable: { text: "unreadable", look: "error" },
};
export const stateInWords = (state: LiveState): { text: string; look: Look; class: string } => ({
  ...stateWords[state],
  class: textClass[stateWords[state].look],
});

/** The mark of a run; of a smoke test that finished, whether the harness works. */
export const rowMark = (row: Pick<LiveRunRow, "state" | "verdict">): { text: string; look: Look; class: string } =>
  row.verdict && row.state === "finished" ? verdictMark(row.verdict) : stateInWords(row.state);

/** What a smoke test came to: `3 of 3 turns passed: this harness works here.` */
export function verdictInWords(verdict: SmokeTestVerdict): string {
  if (verdict.works) return `${String(verdict.passed)} of ${counted(verdict.turns, "turn")} passed: this harness works here.`;
  const reason = [verdict.reason === null ? null : endReasonLabels[verdict.reason], verdict.message]
    .filter((part) => part !== null)
    .join(": ");
  const place = verdict.turn === null ? "Before the first turn" : `Turn ${String(verdict.turn)}`;
  return `${place}: ${reason === "" ? "it ended without a message" : reason.replace(/[.\s]+$/, "")}. See the log.`;
}

/** What can be said about a run that is not live any more, in one sentence. */
export function endInWords(
  row: Pick<LiveRunRow, "state" | "message" | "verdict"> & Partial<Pick<LiveRunRow, "endpoint_retried" | "endpoint_lost">>,
): string {
  const attempts = endpointAttempts({ endpoint_retried: row.endpoint_retried ?? null, endpoint_lost: row.endpoint_lost ?? null });
  return attempts === null ? endOf(row) : `${endOf(row)} Because of the endpoint: ${attempts}.`;
}

function endOf(row: Pick<LiveRunRow, "state" | "message" | "verdict">): string {
  // A smoke test has one question. Where something else ended it, that is said.
  if (row.verdict && (row.state === "finished" || row.verdict.turn !== null)) return verdictInWords(row.verdict);
  switch (row.state) {
    case "finished":
      return "All episodes are over.";
    case "stopped":
      return "Stopped. All finished turns are kept; resume continues in the same session.";
    case "budget":
      return "A budget of the run is spent. Raise it to continue in the same session.";
    case "failed":
      return `Ended by something outside the agents${row.message === null ? "" : `: ${row.message}`}. Resume continues from the last finished attempt.`;
    case "unreadable":
      return `Its record cannot be read${row.message === null ? "" : `: ${row.message}`}.`;
    case "lost":
      return "Its process ended without a message. At most the attempt in flight is lost; resume continues from there.";
    default:
      return "";
  }
}

export interface EpisodeMark {
  readonly look: Look;
  readonly text: string;
  readonly class: string;
}

/** State of an episode: shape, word, color. `paused` says whether the whole run is. */
export function episodeMark(episode: Pick<LiveEpisode, "phase" | "end_reason" | "stuck">, isCensored: IsCensored): EpisodeMark {
  const mark = (look: Look, text: string, cls = textClass[look]): EpisodeMark => ({ look, text, class: cls });
  if (episode.phase === "over") {
    const reason = episode.end_reason;
    if (reason === null) return mark("censored", UNKNOWN);
    const look = endLook(reason, isCensored(reason));
    return mark(look, look === "censored" ? "censored" : look === "error" ? "failed" : "finished");
  }
  // What waits for the endpoint is not stuck, and its sentence says how long it has.
  if (episode.stuck !== null && episode.phase !== "waiting") return mark("live", "stuck?", "warn");
  switch (episode.phase) {
    case "queued":
      return mark("off", "queued");
    case "unknown":
      return mark("off", UNKNOWN);
    case "paused":
      return mark("off", "paused");
    case "waiting":
      return mark("live", "waiting");
    case "testing":
      return mark("live", "testing");
    case "preparing":
      return mark("live", "preparing");
    case "agent":
      return mark("live", "running");
  }
}

const letterOfState = Object.fromEntries(Object.entries(stateOfLetter).map(([letter, state]) => [state, letter])) as Readonly<
  Record<TurnState, string>
>;

/** The episode as a line of the grid; turns that were not decided yet are dots. */
export function rowOf(
  episode: Pick<LiveEpisode, "phase" | "cells" | "stamina" | "end_reason">,
  turns: number,
  isCensored: IsCensored,
): Pick<GridRow, "cells" | "failing" | "stamina" | "censored" | "end_reason"> {
  const decided = episode.cells.map((state) => letterOfState[state]).join("");
  const over = episode.phase === "over";
  const end_reason = episode.end_reason ?? "unfinished";
  return {
    cells: decided.padEnd(turns, "n"),
    failing: [],
    stamina: episode.stamina,
    censored: over && isCensored(end_reason),
    end_reason: over ? end_reason : "passed_all",
  };
}

/** Cells in words: `12 of 40 turns decided, stamina 9`. */
export function cellsInWords(episode: Pick<LiveEpisode, "cells" | "stamina" | "phase">, turns: number): string {
  if (episode.phase === "unknown") return `${UNKNOWN}: its record cannot be read`;
  return `${String(episode.cells.length)} of ${counted(turns, "turn")} decided, stamina so far ${String(episode.stamina)}`;
}

/** What an episode that is over came to, in a few words. */
export function outcome(
  episode: Pick<LiveEpisode, "phase" | "end_reason" | "stamina" | "cells" | "now">,
  turns: number,
  isCensored: IsCensored,
): string | null {
  if (episode.phase !== "over") return episode.now;
  const reason = episode.end_reason;
  if (reason === null) return episode.now;
  if (reason === "passed_all") return `passed all ${String(turns)}`;
  const label = endReasonLabels[reason];
  return isCensored(reason)
    ? `censored (${label}) after turn ${String(episode.stamina)}`
    : `failed at turn ${String(episode.stamina + 1)}: ${label}`;
}

/** Faults of the endpoint: `4 × 429, 1 × no answer`. */
export function faultsInWords(faults: readonly (readonly [number, number])[]): string {
  return faults.map(([status, n]) => `${count(n)} × ${status === 0 ? "no answer" : String(status)}`).join(", ");
}

/** Attempts that the endpoint cost: `3 attempts retried, 1 lost`; nothing where it cost none, or where nobody counted them. */
export function endpointAttempts(row: Pick<LiveRunRow, "endpoint_retried" | "endpoint_lost">): string | null {
  const { endpoint_retried: retried, endpoint_lost: lost } = row;
  if (retried === null || lost === null) return null;
  if (retried === 0) return lost === 0 ? null : `${counted(lost, "attempt")} lost`;
  return `${counted(retried, "attempt")} retried${lost === 0 ? "" : `, ${count(lost)} lost`}`;
}

/** How much is done, without what the records of some episodes would say, which cannot be read: `12`, `≥ 12`, `unknown`. */
export function atLeast(done: number, row: Pick<LiveRunRow, "state" | "unread">): string {
  if (row.state === "unreadable" || (row.unread > 0 && done === 0)) return UNKNOWN;
  return row.unread > 0 ? `≥${THIN}${count(done)}` : count(done);
}

/** The strip above the episodes. */
export function strip(run: LiveRunDetail): Stat[] {
  const { row, budget, forecast } = run;
  const [done, planned] = row.turns;
  const playing = isLive(row.state);
  const tokens = tokensTotal(row.tokens);
  const part = (n: number | null): string => (n === null ? UNKNOWN : compactCount(n));
  const partial = run.unmetered > 0 ? `${counted(run.unmetered, "answer")} reported no usage: tokens and cost are too low` : undefined;
  const spent = costInWords(row.cost_usd, row.simulated);
  const cost = row.simulated ? null : row.cost_usd;
  const stats: Stat[] = [
    {
      explain: "turns_done",
      key: "Turns done",
      value: atLeast(done, row),
      unknown: atLeast(done, row) === UNKNOWN,
      small: `of ${count(planned)}`,
      bar:
        row.unread > 0
          ? undefined
          : { share: planned === 0 ? 0 : done / planned, accent: playing, label: `${count(done)} of ${counted(planned, "turn")}` },
      title: row.unread > 0 ? `The records of ${counted(row.unread, "episode")} cannot be read` : undefined,
    },
    {
      explain: "live_cost",
      key: "Spend",
      value: spent.text,
      unknown: spent.unknown,
      small: row.simulated
        ? "simulated"
        : budget.usd !== null
          ? `of ${dollars(budget.usd)}`
          : cost === null
            ? "no price for this model"
            : "no budget",
      bar:
        cost === null || budget.usd === null || budget.usd === 0
          ? undefined
          : { share: cost / budget.usd, accent: false, label: `${dollars(cost)} of ${dollars(budget.usd)}` },
      title: partial,
    },
  ];
  if (playing && !row.simulated) {
    const at = forecast?.cost_usd ?? null;
    stats.push({
      explain: "pace_cost",
      key: "At this pace",
      value: at === null ? UNKNOWN : dollarRange(at),
      unknown: at === null,
      small:
        at === null
          ? forecast === null
            ? "too early to say"
            : undefined
          : budget.usd !== null && at[1] >= budget.usd
            ? `may hit ${dollars(budget.usd)}`
            : "at the end",
      title: "If every episode reaches its last turn",
    });
  }
  stats.push({
    explain: "elapsed",
    key: playing ? "Elapsed, left" : "Elapsed",
    value: duration(row.seconds),
    small: !playing ? undefined : forecast === null ? "time left unknown" : `${approximateDurationRange(forecast.seconds_left)} left`,
    title: budget.seconds === null ? undefined : `Wall time of the run: at most ${duration(budget.seconds)}`,
  });
  stats.push({
    explain: "live_tokens",
    key: "Tokens in, cached, out",
    value: part(row.tokens.input),
    unknown: row.tokens.input === null,
    small: tokens === null ? undefined : `${part(row.tokens.cached)} cached, ${part(row.tokens.output)} out`,
    wide: true,
    title: [
      budget.tokens === null ? null : `Budget: ${compactCount(budget.tokens)} in and out`,
      partial ?? null,
      counted(run.requests, "model request"),
    ]
      .filter((t) => t !== null)
      .join(". "),
  });
  const attempts = endpointAttempts(row);
  stats.push({
    explain: "endpoint_faults",
    key: "Endpoint",
    value: run.faults.length === 0 ? "no faults" : faultsInWords(run.faults),
    small: attempts === null ? "last 10 min" : `last 10 min; ${attempts}`,
    title:
      attempts === null
        ? undefined
        : "Attempts that the endpoint ended are retried from their snapshot, three times. After that they are lost and not counted.",
  });
  if (!row.simulated) {
    const { prompt, answer } = run.tokens_per_second;
    const known = [
      answer === null ? null : `answer, p10 ${tokensPerSecond(answer.p10)}`,
      prompt === null ? null : `prompt ${tokensPerSecond(prompt.median)}, p10 ${tokensPerSecond(prompt.p10)}`,
    ].filter((part) => part !== null);
    stats.push({
      explain: "tokens_per_second",
      key: "Tokens a second",
      value: answer === null ? UNKNOWN : tokensPerSecond(answer.median),
      unknown: answer === null,
      small: known.length === 0 ? undefined : known.join("; "),
      title: "Of the answers that tell it, at the end of the gateway's log: the median and the 10th percentile",
    });
  }
  return stats;
}

/** `opencode · glm-5`; a run with the simulated model is named by it. */
export function liveName(row: Pick<LiveRunRow, "agent" | "model" | "simulated">): string {
  return `${row.agent} · ${row.model ?? (row.simulated ? "oracle" : UNKNOWN)}`;
}

/** What a stop keeps, before it is asked for. */
export function stopKeeps(run: LiveRunDetail): string {
  const flight = run.episodes.filter(isInFlight).length;
  const kept =
    run.row.unread > 0
      ? "Finished turns are kept."
      : `${count(run.row.turns[0])} finished ${run.row.turns[0] === 1 ? "turn is" : "turns are"} kept.`;
  if (flight === 0) return `${kept} No attempt is in flight.`;
  return `${kept} ${counted(flight, "attempt")} in flight ${flight === 1 ? "is" : "are"} dropped and retried after a resume.`;
}
