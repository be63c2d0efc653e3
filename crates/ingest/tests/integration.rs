//! The tests of this crate in one program: what they need is linked once, not once a file. Each test runs in a process of its own.
//! A file that has no line here is not compiled; `scripts/check/check.test.mjs` looks for such files.

mod cached_input;
mod copies;
mod documented;
mod evocode;
mod failure_attribution;
mod grader_places;
#[path = "harbor/main.rs"]
mod harbor;
#[path = "hostile_formats/main.rs"]
mod hostile_formats;
mod hostile_kit;
mod hostile_numbers;
mod hostile_tables;
mod hostile_tree;
mod locobench;
mod not_strict;
mod pack;
mod pytest_logs;
mod resumed;
mod sample;
#[path = "staminabench/main.rs"]
mod staminabench;
#[path = "table/main.rs"]
mod table;
mod terminal_bench;
mod unread;
#[path = "values_that_cannot_be/main.rs"]
mod values_that_cannot_be;
