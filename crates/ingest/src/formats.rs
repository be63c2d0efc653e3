//! Every format that Stamina Lab reads. To add one: a file here, a line in [`all`], a section in `docs/formats.md`.

pub mod evocode;
pub mod harbor;
pub mod locobench;
pub mod pack;
pub mod staminabench;
pub mod table;
pub mod terminal_bench;

use crate::format::Format;

/// Every format, in the order in which they are asked.
pub fn all() -> &'static [&'static dyn Format] {
    &[
        &pack::Pack,
        &harbor::Harbor,
        &terminal_bench::TerminalBench,
        &evocode::EvoCode,
        &locobench::LocoBench,
        &staminabench::StaminaBench,
        // Last: a table beside results of another kind is of those.
        &table::TidyTable,
    ]
}
