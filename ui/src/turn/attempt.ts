// An attempt in few words, wherever attempts stand side by side. Pure.
import type { AttemptDetail } from "../host/bindings/AttemptDetail";
import type { GraderPlace } from "../host/bindings/GraderPlace";
import type { Tokens } from "../host/bindings/Tokens";
import { UNKNOWN, count, counted, duration, endReasonLabels } from "../parts/format";

/** `34 / 47`; the end or the verdict where tests are not counted. */
export function attemptResult(a: AttemptDetail): string {
  if (a.passed !== null && a.total !== null) return `${count(a.passed)} / ${count(a.total)}`;
  if (a.verdict === "error" || a.verdict === "unfinished") return a.end_reason ? endReasonLabels[a.end_reason] : a.verdict;
  if (a.verdict === "not_tested") return "not tested";
  return a.reward === null ? a.verdict : `${a.verdict}, reward ${String(a.reward)}`;
}

/** `4,200, of that cached 1,000`; `unknown` once where neither is known. */
export function tokensInInWords({ input, cached }: Pick<Tokens, "input" | "cached">): string {
  if (input === null && cached === null) return UNKNOWN;
  const amount = (value: number | null): string => (value === null ? UNKNOWN : count(value));
  return `${amount(input)}, of that cached ${amount(cached)}`;
}

/** How often something outside its agent ended an attempt before, so that it was retried; 0 where its source says nothing of it. */
export function repeatsOf(extra: Readonly<Record<string, unknown>>): number {
  const repeats = extra["repeats"];
  return typeof repeats === "number" && Number.isInteger(repeats) && repeats > 0 ? repeats : 0;
}

/** What of its workspace or container its results lack, and how many more there are; `null` where its source does not say. */
export function leftOutOf(extra: Readonly<Record<string, unknown>>): { readonly names: readonly string[]; readonly more: number } | null {
  const names: unknown = extra["left_out"];
  const more: unknown = extra["left_out_more"] ?? 0;
  if (!Array.isArray(names) || !names.every((name: unknown): name is string => typeof name === "string")) return null;
  return typeof more === "number" && Number.isInteger(more) && more >= 0 ? { names, more } : null;
}

/** `link, big/ and 3 more`; empty where nothing is lacking or nobody says so. */
export function leftOutInWords(extra: Readonly<Record<string, unknown>>): string {
  const left = leftOutOf(extra);
  if (left === null || left.names.length === 0) return "";
  return left.names.join(", ") + (left.more > 0 ? ` and ${count(left.more)} more` : "");
}

const placeLabels: Record<GraderPlace, string> = { tests: "/tests", verifier_logs: "/logs/verifier", reward_file: "a reward file" };

/** Which places of its task's verifier the agent's tool calls name; `null` where that is no question. */
export function graderPlacesInWords(places: readonly GraderPlace[] | null, isTask: boolean): string | null {
  if (places === null) return isTask ? UNKNOWN : null;
  return places.length === 0 ? "none" : places.map((place) => placeLabels[place]).join(", ");
}

function numbersOf(map: unknown): readonly (readonly [string, number])[] {
  if (typeof map !== "object" || map === null) return [];
  const entries: readonly (readonly [string, unknown])[] = Object.entries(map);
  return entries.filter((entry): entry is readonly [string, number] => typeof entry[1] === "number");
}

/** What a second verification came to where processes that the agent of a task left could not write the verdict; `null` where there was none. */
export function processesLeftInWords(extra: Readonly<Record<string, unknown>>, isTask: boolean): string | null {
  if (!isTask) return null;
  const rewards = numbersOf(extra["rewards_with_processes"]).map(([name, reward]) => `${name} ${String(reward)}`);
  const withThem = rewards.length === 0 ? "" : `; with them: ${rewards.join(", ")}`;
  switch (extra["processes_left"]) {
    case "same_verdict":
      return "the agent left some, and a second verification without them confirmed the verdict";
    case "other_verdict":
      return `the agent left some, and a second verification without them came to other results, which count${withThem}`;
    case "unconfirmed":
      return "the agent left some, and the verdict may be theirs: no second verification without them could be carried out";
    default:
      return null;
  }
}

/** How long it took and why it ended; the limit of attempts at the last one made. */
export function attemptTime(a: AttemptDetail, limit: number | null, made: number): string {
  const { agent_seconds, test_seconds } = a.timing;
  const known = agent_seconds === null && test_seconds === null ? null : (agent_seconds ?? 0) + (test_seconds ?? 0);
  const words = [known === null ? "time unknown" : duration(known)];
  if (a.end_reason !== null && (a.end_reason !== "tests_failed" || a.passed === null)) words.push(endReasonLabels[a.end_reason]);
  if (a.exception && a.end_reason === null) words.push(a.exception[0]);
  if (limit !== null && limit > 1 && a.number === made) words.push(`of ${String(limit)} allowed`);
  const repeats = repeatsOf(a.extra);
  if (repeats > 0) words.push(`retried ${counted(repeats, "time")}`);
  return words.join(" · ");
}
