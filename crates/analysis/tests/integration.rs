//! The tests of this crate in one program: what they need is linked once, not once a file. Each test runs in a process of its own.
//! A file that has no line here is not compiled; `scripts/check/check.test.mjs` looks for such files.

mod calibration;
mod comparison;
mod comparison_properties;
mod documentation;
mod failure_history;
mod failures;
mod locobench;
mod pass_rate;
mod retries_matrix_cost;
mod scores;
mod survival;
