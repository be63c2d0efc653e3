// One turn in several members: which two are looked at side by side. Pure.
import type { DisagreementCell } from "../host/bindings/DisagreementCell";
import type { DisagreementRow } from "../host/bindings/DisagreementRow";
import { count, counted } from "../parts/format";
import type { Look } from "../parts/look";
import { lookOfState } from "../parts/look";
import type { Query, Route } from "../shell/routes";

const passed = (cell: DisagreementCell): boolean => cell.state === "passed" || cell.state === "passed_after_retries";

/** How far two members lie apart on a turn: a pass against a failure most (by the tests, or by an end that counts as one),
 *  then an end that says nothing of the agent, then other counts of tests; who never reached the turn says least. */
function apart(a: DisagreementCell, b: DisagreementCell): number {
  if ((passed(a) && b.failed) || (a.failed && passed(b))) return 4;
  if (b.state === "not_reached") return 0;
  if (passed(a) !== passed(b) || a.failed !== b.failed) return 3;
  return a.passed === b.passed ? 1 : 2;
}

/** Two members of a row, left and right: the reference (or else the first that played it) and `requestedMember`, or else the one
 *  that differs most from it. `null` = fewer than two played it. */
export function pairOf(row: DisagreementRow, reference: number, requestedMember: number | null): readonly [number, number] | null {
  const played = row.cells.flatMap((cell, i) => (cell === null ? [] : [i]));
  if (played.length < 2) return null;
  const left = played.includes(reference) ? reference : (played[0] ?? 0);
  const others = played.filter((i) => i !== left);
  if (requestedMember !== null && others.includes(requestedMember)) return [left, requestedMember];
  const from = row.cells[left];
  let best = others[0] ?? left;
  for (const i of others) {
    const [cell, bestCell] = [row.cells[i], row.cells[best]];
    if (from && cell && bestCell && apart(from, cell) > apart(from, bestCell)) best = i;
  }
  return [left, best];
}

/** The page on which two members stand side by side at a row's turn; what the list was showing goes along. */
export function sideBySide(row: DisagreementRow, pair: readonly [number, number], list: Query): Route | null {
  const [left, right] = [row.cells[pair[0]], row.cells[pair[1]]];
  if (!left || !right) return null;
  return {
    page: "side-by-side",
    query: { ...list, left: refOf(left), right: refOf(right), turn: String(row.turn), pair: `${String(pair[0])}.${String(pair[1])}` },
  };
}
const refOf = (cell: DisagreementCell): string => `${encodeURIComponent(cell.run)}/${encodeURIComponent(cell.episode)}`;

/** `145 / 151`; the state in a word where tests are not counted. */
export function cellText(cell: DisagreementCell): string {
  if (cell.state === "not_reached") return "not reached";
  if (cell.passed === null || cell.total === null || cell.total === 0)
    return cell.state === "passed" || cell.state === "passed_after_retries"
      ? "passed"
      : cell.state === "censored"
        ? "censored"
        : cell.state;
  return `${cell.passed.toLocaleString("en-US")} / ${cell.total.toLocaleString("en-US")}`;
}

export function cellLook(cell: DisagreementCell): Look {
  return lookOfState[cell.state];
}

/** What stands in a cell, for its title and aloud. */
export function cellInWords(name: string, cell: DisagreementCell | null): string {
  if (cell === null) return `${name} did not play this scenario`;
  const [episodes, passed] = cell.episodes;
  return [
    `${name}: ${cell.state.replaceAll("_", " ")}`,
    ...(cell.passed !== null && cell.total !== null ? [`${count(cell.passed)} of ${counted(cell.total, "test")}`] : []),
    ...(cell.after_failure ? ["after an earlier failure, does not count for stamina"] : []),
    ...(episodes > 1 ? [`${String(passed)} of ${String(episodes)} episodes passed; the worst is shown`] : []),
  ].join(", ");
}
