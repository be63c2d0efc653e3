//! Whose failure an end was, in results of others: from what a runner recorded of it to an end reason.
//!
//! The tables of all formats, each listed in `docs/formats.md`:
//! - [`exception_table`]: exceptions of Python, which Harbor records, and trajectories of unknown origin. How its rules are
//!   applied stands in [`exception_rules`];
//! - [`terminal_bench_table`]: the `failure_mode` of a trial of `tb`;
//! - [`locobench_table`]: the `status` of a session of LoCoBench-Agent;
//! - [`label_table`]: the labels and sentences by which trajectories of unknown origin say why an attempt ended.
//!
//! The other formats have none: their files name one of our end reasons, or a verdict alone.

pub(crate) mod decision;
mod evidence;
pub(crate) mod exception_decisions;
mod exception_packages;
mod exception_row;
mod exception_rules;
mod exception_table;
mod frames;
pub(crate) mod label_table;
pub(crate) mod locobench_table;
mod message;
pub(crate) mod terminal_bench_table;
mod traceback;

pub(crate) use evidence::{Attribution, Cell, Evidence, Stage};
