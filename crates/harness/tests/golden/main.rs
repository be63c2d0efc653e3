//! Recorded outputs of the real programs: steps, tokens and session of two turns, and the reason of each failure.

#![allow(clippy::unwrap_used, reason = "a recording that is not there is a failure")]

mod deciding_facts;
mod recorded_ends;
mod turns;

use harness::Harness;

use crate::common::{CommandResult, fixtures};

fn case(harness: &str, name: &str) -> CommandResult {
    CommandResult::case(&fixtures().join(harness), name)
}

fn fixture(harness: &str, name: &str) -> String {
    std::fs::read_to_string(fixtures().join(harness).join(name)).unwrap()
}

fn find(name: &str) -> &'static dyn Harness {
    harness::find(name).unwrap()
}
