// Names of members where there is little room for them. Pure.

/** What stands between the parts of a name: `model · agent (source)`. */
const BREAKS = / · | \(|, |[ /]/g;

/** Names shorter than this are shown whole. */
const SHORT = 16;

/** The names without what all of them begin with, which says nothing of what differs: `… (jobs-1)`, `… (jobs-2)`. */
export function apart(names: readonly string[]): string[] {
  const first = names[0];
  if (first === undefined || names.length < 2 || names.every((name) => name.length <= SHORT)) return [...names];
  let common = 0;
  while (common < first.length && names.every((name) => name[common] === first[common])) common += 1;
  // Only whole parts are left out.
  let cut = 0;
  for (const found of first.matchAll(BREAKS)) {
    const end = found.index + found[0].length;
    if (end > common) break;
    // A bracket stays with what it holds.
    cut = found[0] === " (" ? end - 1 : end;
  }
  if (cut === 0 || names.some((name) => name.length <= cut)) return [...names];
  return names.map((name) => `… ${name.slice(cut)}`);
}
