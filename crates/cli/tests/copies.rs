//! The same trials in two sources count once wherever runs are taken together, and say where.

mod app;
mod folders;

use std::path::PathBuf;

use app::Room;
use serde_json::Value;

fn fixture() -> PathBuf {
    folders::fixtures().join("world/same-trial/job-a")
}

/// A library with a job and a copy of it in another source.
fn with_a_copy() -> Room {
    let library = Room::new();
    let copied = library.path("job-b");
    folders::copy(&fixture(), &copied);
    library.ingest(&fixture());
    library.ingest(&copied);
    library
}

fn sorted_runs(library: &Room) -> Vec<String> {
    let mut ids = library.run_ids();
    ids.sort_unstable();
    ids
}

#[test]
fn a_job_and_its_copy_are_one() {
    let library = with_a_copy();
    let runs = sorted_runs(&library);
    assert_eq!(runs.len(), 2);
    for run in library.json(&["runs"]).as_array().expect("runs") {
        assert_eq!(run["stamina"]["n"], 2, "each is whole by itself");
    }
    let survival = library.json(&["survival", &runs[0]]);
    assert_eq!((&survival[0]["at_risk"], &survival[0]["events"]), (&2.into(), &1.into()));

    let matrix = library.json(&["matrix"]);
    let cells = matrix["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 1);
    assert_eq!(cells[0]["n"], 2, "{matrix}");
    assert_eq!(cells[0]["runs"].as_array().map(Vec::len), Some(1));
    let said = |value: &Value| value["cautions"].to_string().contains("the same trials as in");
    assert!(said(&matrix), "{matrix}");

    let failures = library.json(&["failures"]);
    assert_eq!(failures["attempts"], 1, "{failures}");
    assert!(said(&failures), "{failures}");

    let group = library.json(&["compare", "harness:agent-a"]);
    assert_eq!(group["runs"][0]["n"], 2, "{group}");
    assert!(group["runs"][0]["caveats"].to_string().contains("the same trials as in"), "{group}");
}

#[test]
fn a_run_is_not_tested_against_its_copy() {
    let library = with_a_copy();
    let runs = sorted_runs(&library);
    let compared = library.json(&["compare", &runs[0], &runs[1]]);
    assert_eq!(compared["pairs"][0]["in_both"], 1, "{compared}");
    assert!(compared["pairs"][0]["logrank"].is_null(), "{compared}");
    assert_eq!(compared["overlaps"].as_array().map(Vec::len), Some(1));
}

#[test]
fn which_one_counts_is_shown_and_can_be_chosen() {
    let library = with_a_copy();
    let counted = |run: &str| {
        let copies = library.json(&["copies", run]);
        assert_eq!(copies["copies"][0]["trials"], 2, "{copies}");
        copies["copies"][0]["counted_in"].as_str().expect("a run").to_owned()
    };
    let in_matrix = || library.json(&["matrix"])["cells"][0]["runs"][0].as_str().expect("a run").to_owned();
    let runs = sorted_runs(&library);
    let first = counted(&runs[0]);
    assert!(first.starts_with("job-a"), "that of the source that was opened first: {first}");
    assert_eq!(in_matrix(), first);
    let other = runs.iter().find(|run| **run != first).expect("the copy").clone();
    library.json(&["copies", &other, "--count-here"]);
    let all = [counted(&runs[0]), counted(&runs[1]), in_matrix()];
    assert_eq!(all, [other.as_str(); 3]);
    library.json(&["copies", &first, "--count-here"]);
    assert_eq!(in_matrix(), first);
    // What is closed counts nowhere.
    library.json(&["close", fixture().to_str().expect("UTF-8")]);
    assert_eq!(in_matrix(), other);
    assert_eq!(library.json(&["copies", &other])["copies"].as_array().map(Vec::len), Some(0));
}

/// One library of two jobs, the second with the trials of the first and one more.
#[test]
fn files_of_a_group_have_each_trial_once() {
    let library = Room::new();
    let larger = library.path("job-b");
    folders::copy(&fixture(), &larger);
    let further = larger.join("y__EEEEEE3");
    folders::copy(&larger.join("y__EEEEEE2"), &further);
    for file in ["result.json", "config.json"] {
        let text = std::fs::read_to_string(further.join(file)).expect("a file of the trial");
        std::fs::write(
            further.join(file),
            text.replace("EEEEEE2", "EEEEEE3").replace("\"id-y\"", "\"id-z\""),
        )
        .expect("to change it");
    }
    library.ingest(&fixture());
    library.ingest(&larger);

    let group = library.json(&["compare", "harness:agent-a"]);
    assert_eq!(group["runs"][0]["n"], 3, "{group}");
    let table = library.path("episodes.csv");
    let file = table.to_str().expect("a name");
    library.text(&["table", "episodes", "harness:agent-a", "--out", file]);
    let rows = std::fs::read_to_string(&table).expect("the table");
    let of_trials = rows.lines().filter(|line| line.contains("job-")).count();
    assert_eq!(of_trials, 3, "{rows}");

    let report = library.path("report");
    library.text(&["report", "harness:agent-a", "--out", report.to_str().expect("a name")]);
    let attempts = std::fs::read_to_string(report.join("tables/attempts.csv")).expect("the table");
    assert!(attempts.contains("\nagent-a,1,3,"), "three attempts were made: {attempts}");
}
