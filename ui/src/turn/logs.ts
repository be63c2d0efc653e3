/** Finding a test in a log, and putting pages of a log together. */
import type { LogInfo } from "../host/bindings/LogInfo";
import { withoutAnsi } from "./ansi";
import { splitId } from "./failing";

/** A log with where it is read from. */
export interface LogPlace {
  readonly log: LogInfo;
  readonly turn: number | null;
  readonly attempt: number | null;
}

/**
 * Index of the line at which a reader wants to be for a failing test, or -1: the heading of its failure section, else
 * a line that names it and tells of a failure, else the first line that names it.
 */
export function findTest(lines: readonly string[], id: string): number {
  const { name } = splitId(id);
  if (name.trim() === "") return -1;
  let failure = -1;
  let whole = -1;
  let part = -1;
  for (let i = 0; i < lines.length; i += 1) {
    const raw = lines[i];
    if (raw === undefined || !raw.includes(name)) continue;
    const line = withoutAnsi(raw);
    if (/^_{3,} .* _{3,}\s*$/.test(line) && namesAs(line, sectionName(id))) return i;
    const exact = line.includes(id) && namesAs(line, id);
    if (failure < 0 && (exact || namesAs(line, name)) && /\b(FAIL(ED|URE)?|fail|ERROR|Error|assert|expected)\b/.test(line)) failure = i;
    if (whole < 0 && exact) whole = i;
    if (part < 0 && namesAs(line, name)) part = i;
  }
  return failure >= 0 ? failure : whole >= 0 ? whole : part;
}

/** How pytest heads the section of a failure: `TestX.test_b[v]`. */
function sectionName(id: string): string {
  const parts = id.split("::");
  return parts.length > 2 ? parts.slice(1).join(".") : splitId(id).name;
}

/** Whether a word stands in a line and not as a part of a longer one. */
function namesAs(line: string, word: string): boolean {
  for (let at = line.indexOf(word); at >= 0; at = line.indexOf(word, at + 1)) {
    const before = line[at - 1];
    const after = line[at + word.length];
    if (!isWord(before) && !isWord(after)) return true;
  }
  return false;
}

function isWord(c: string | undefined): boolean {
  return c !== undefined && /[\p{L}\p{N}_]/u.test(c);
}

/** Lines of a text; a line feed at the end does not begin another line. */
export function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((l) => (l.endsWith("\r") ? l.slice(0, -1) : l));
}

const ORDER: readonly LogInfo["kind"][] = ["test_output", "server_log", "agent_log", "log"];

/** Logs in the order of their tabs: test output, server, agent, others. */
export function sortLogs(logs: readonly LogInfo[]): LogInfo[] {
  const rank = (kind: LogInfo["kind"]): number => {
    const at = ORDER.indexOf(kind);
    return at < 0 ? ORDER.length : at;
  };
  return logs.filter((l) => l.kind !== "transcript" && l.kind !== "code").sort((a, b) => rank(a.kind) - rank(b.kind));
}
