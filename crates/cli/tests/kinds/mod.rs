//! What `stamina figure` and `stamina table` can be asked for, as the program itself says it: a new kind is in the tests that
//! go through all of them without being named there.
#![allow(dead_code, reason = "each test file uses its part of it")]

use std::process::Command;

/// Tables that are about no run: their names stand here because they take something else.
pub(crate) const OF_NO_RUN: [&str; 10] = [
    "library", "played", "progress", "attempts", "tests", "joined", "warnings", "suite", "findings",
    "mutants",
];

/// Tables of runs of one turn.
pub(crate) const OF_ONE_TURN: [&str; 4] = ["tasks", "task-grid", "per-task", "pass-at-k"];

/// What the program says of a kind that it does not have.
fn refused(what: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_stamina"))
        .args(["--db", "library.sqlite", what, "no-such-kind"])
        .current_dir(folder.path())
        .output()
        .expect("stamina runs");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn listed(said: &str, begin: &str, end: char) -> Vec<String> {
    let list = said.split(begin).nth(1).unwrap_or_else(|| panic!("no kinds in: {said}"));
    let list = list.split(end).next().unwrap_or_default();
    list.split(", ").map(|kind| kind.trim().to_owned()).collect()
}

/// The kinds of figures that `stamina figure` makes.
pub(crate) fn figures() -> Vec<String> {
    let all = listed(&refused("figure"), "Kinds: ", '\n');
    assert!(all.len() > 9, "{all:?}");
    all
}

/// The kinds of tables that `stamina table` makes.
pub(crate) fn tables() -> Vec<String> {
    let all = listed(&refused("table"), "[possible values: ", ']');
    assert!(all.len() > 26 && OF_NO_RUN.iter().all(|kind| all.iter().any(|k| k == kind)), "{all:?}");
    all
}

/// Those of them that are of any runs.
pub(crate) fn tables_of_runs() -> Vec<String> {
    let all = tables().into_iter();
    all.filter(|kind| !OF_NO_RUN.contains(&kind.as_str()) && !OF_ONE_TURN.contains(&kind.as_str())).collect()
}
