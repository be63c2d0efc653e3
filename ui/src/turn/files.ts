/** The last part of a path. */
export const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** How files are called in a row of tabs: by their last part, and in full where two share it. */
export function namesOf(paths: readonly string[]): (path: string) => string {
  const seen = new Map<string, number>();
  for (const path of paths) seen.set(fileName(path), (seen.get(fileName(path)) ?? 0) + 1);
  return (path) => ((seen.get(fileName(path)) ?? 0) > 1 ? path : fileName(path));
}

/** `Nothing changed since attempt 2.` */
export function nothingChanged(current: { readonly turn: number }, against: readonly [turn: number, attempt: number] | null): string {
  if (against === null) return "Nothing changed.";
  const [turn, attempt] = against;
  return `Nothing changed since ${turn === current.turn ? "" : `turn ${String(turn)}, `}attempt ${String(attempt)}.`;
}
