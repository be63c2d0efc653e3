// Features of crates that only the dependencies of tests ask for, by what `cargo tree -f "{p} [{f}]"` prints.

/** `name version [features]` of what the programs need, too, but with other features. */
export function featuresOfTests(programs, tests) {
  const lines = (tree) => new Set(tree.split("\n").map((line) => line.replace(/ \((?:\*|proc-macro|\/[^)]*|[A-Z]:[^)]*)\)/g, "").trim()).filter((line) => line.includes(" ")));
  const crate = (line) => line.split(" ").slice(0, 2).join(" ");
  const known = lines(programs);
  const needed = new Set([...known].map(crate));
  return [...lines(tests)].filter((line) => !known.has(line) && needed.has(crate(line))).sort();
}
