//! The kinds of `stamina figure` and `stamina table`, as the program lists them: tests over all kinds include a new one
//! without naming it.
#![allow(dead_code, reason = "each test file uses its part of it")]

use std::process::Command;

/// Tables that take something else than runs.
pub(crate) const OF_NO_RUN: [&str; 10] = [
    "library", "played", "progress", "attempts", "tests", "joined", "warnings", "suite", "findings",
    "mutants",
];

/// Tables of runs of one turn.
pub(crate) const OF_ONE_TURN: [&str; 4] = ["tasks", "task-grid", "per-task", "pass-at-k"];

/// The error about a kind that the program does not have.
fn refused(command: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_stamina"))
        .args(["--db", "library.sqlite", command, "no-such-kind"])
        .current_dir(folder.path())
        .output()
        .expect("stamina runs");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn listed(message: &str, begin: &str, end: char) -> Vec<String> {
    let list = message.split(begin).nth(1).unwrap_or_else(|| panic!("no kinds in: {message}"));
    let list = list.split(end).next().unwrap_or_default();
    list.split(", ").map(|kind| kind.trim().to_owned()).collect()
}

/// The kind of figure of runs without tests.
pub(crate) const OF_NO_TESTS: &str = "plane";

/// The kinds of figures that `stamina figure` makes of runs with tests.
pub(crate) fn figures() -> Vec<String> {
    let mut all = listed(&refused("figure"), "Kinds: ", '\n');
    assert!(all.len() > 10 && all.iter().any(|kind| kind == OF_NO_TESTS), "{all:?}");
    all.retain(|kind| kind != OF_NO_TESTS);
    all
}

/// The kinds of tables that `stamina table` makes.
pub(crate) fn tables() -> Vec<String> {
    let all = listed(&refused("table"), "[possible values: ", ']');
    assert!(all.len() > 26 && OF_NO_RUN.iter().all(|kind| all.iter().any(|k| k == kind)), "{all:?}");
    all
}

/// The kinds of tables that take any runs.
pub(crate) fn tables_of_runs() -> Vec<String> {
    let all = tables().into_iter();
    all.filter(|kind| !OF_NO_RUN.contains(&kind.as_str()) && !OF_ONE_TURN.contains(&kind.as_str())).collect()
}
