/** The columns of a table that can be chosen by name, each once: a header may have a name twice, or a column without one. */
export function columnChoices(columns: readonly string[]): string[] {
  return [...new Set(columns.filter((column) => column.trim() !== ""))];
}
