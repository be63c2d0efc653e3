/** Says that an effect depends on values that it does not otherwise use. */
export function dependsOn(..._values: readonly unknown[]): void {}

/** A set with one item more or, if it was there, one less. */
export function toggled<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}
