// Clippy as the compiler of the project's code: it is compiled once, and other people's code is not checked as well as compiled.
import { output } from "../lib/process.mjs";

/** Makes every cargo that this program starts lint what it compiles. Gives clippy's program, or `null` where there is none. */
export function lintWhileBuilding() {
  const driver = output("rustup", ["which", "clippy-driver"]) ?? (output("clippy-driver", ["--version"]) === null ? null : "clippy-driver");
  // What a lint forbids is a warning here, and fails the stage of lints: the tests run all the same.
  if (driver !== null) Object.assign(process.env, { RUSTC_WORKSPACE_WRAPPER: driver, CLIPPY_ARGS: "--cap-lints__CLIPPY_HACKERY__warn__CLIPPY_HACKERY__" });
  return driver;
}
