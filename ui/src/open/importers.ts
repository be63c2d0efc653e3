// Importers of others, in words: which one is chosen, where it comes from, and what would be executed. Pure.
import type { ImporterArgument } from "../host/bindings/ImporterArgument";
import type { ImporterInfo } from "../host/bindings/ImporterInfo";
import type { ImporterState } from "../host/bindings/ImporterState";

const PROBLEMS: Readonly<Record<ImporterState, string | undefined>> = {
  ready: undefined,
  missing: "missing",
  not_executable: "not an executable file",
  no_answer: "its file system does not answer",
};

/** Why it cannot be run; `undefined` = it can. */
export const problemOf = (importer: ImporterInfo): string | undefined => PROBLEMS[importer.state];

/** What tells it from the others: the settings may give one program two names. */
export const keyOf = (importer: ImporterInfo): string => JSON.stringify([importer.name, importer.path]);

/** Where it is named. */
export const placeOf = (importer: ImporterInfo): string => (importer.in_settings ? "in the settings" : "on the PATH");

/** The importer at the wanted path if it can be run, else the only one that can: of several a person chooses. */
export function chosenOf(importers: readonly ImporterInfo[], wanted: string | undefined): ImporterInfo | undefined {
  const ready = importers.filter((importer) => problemOf(importer) === undefined);
  return ready.find((importer) => importer.path === wanted) ?? (ready.length === 1 ? ready[0] : undefined);
}

/** A word as a shell reads it: every other character than those of plain paths makes it quoted. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`);

/** What the importer gets of a path: where its links lead, once that is known. */
export const argumentOf = (path: string, known: ImporterArgument | undefined): string =>
  (known?.asked === path ? known.real : null) ?? path;

/** What is executed, as one would type it. */
export const commandOf = (importer: ImporterInfo, path: string): string =>
  `${quoted(importer.path)} ${path === "" ? "FOLDER" : quoted(path)}`;
