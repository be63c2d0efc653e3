// Where a Rust test stands. Most crates have one test program, whose modules are the files in `tests/`; so a test is counted, timed
// and chosen by its file, not by its program.

/** How the name of that program ends, after the name of its package: cargo chooses programs of a whole workspace by their names. */
const INTEGRATION = "_integration";

/** `crate::file` of a test in `tests/`, `crate` of a unit test; of a test's binary id and name, as cargo-nextest has them. */
export function fileOf({ binary, test }) {
  const [crate, program = ""] = binary.split("::");
  return program.endsWith(INTEGRATION) ? `${crate}::${test.split("::")[0]}` : binary;
}
