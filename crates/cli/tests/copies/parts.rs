//! Parts of one run of `tb`, or of Stamina Lab, in two sources. Those of a job of Harbor have `jobs_in_part.rs`.

use std::path::Path;

use serde_json::{Value, json};

use super::while_played::own_run;
use crate::app::TestHome;
use crate::folders;

/// A run of `tb` without the results of the whole run, which have every trial.
fn run_of_tb(folder: &Path) {
    folders::copy(&folders::fixtures().join("terminal_bench/run-a"), folder);
    std::fs::remove_file(folder.join("results.json")).expect("removed");
}

/// A library of a run in one source, and one with these folders of it in another source than the rest.
fn whole_and_in_parts(write: fn(&Path), apart: &[&str]) -> [TestHome; 2] {
    let whole = TestHome::new();
    write(&whole.path("all").join("run-a"));
    whole.ingest(&whole.path("all"));
    let in_parts = TestHome::new();
    for (source, has_apart) in [("one", false), ("other", true)] {
        let run = in_parts.path(source).join("run-a");
        write(&run);
        for entry in std::fs::read_dir(&run).expect("the run") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            if path.is_dir() && apart.contains(&name) != has_apart {
                std::fs::remove_dir_all(&path).expect("removed");
            }
        }
        in_parts.ingest(&in_parts.path(source));
    }
    [whole, in_parts]
}

#[test]
fn what_another_part_of_a_run_has_is_not_missing() {
    type WrittenRun = (fn(&Path), &'static [&'static str], &'static str);
    let runs: [WrittenRun; 2] = [
        (run_of_tb, &["task-c", "task-d"], "harness:agent-a"),
        (own_run, &["scenario_1"], "harness:mini_swe"),
    ];
    for (write, apart, harness) in runs {
        let libraries = whole_and_in_parts(write, apart);
        let [whole, in_parts] = &libraries;
        let missing =
            |library: &TestHome, run: &str| library.json(&["rerun-list", run, "--missing"])["trials"].clone();
        let whole_missing = missing(whole, &whole.run_ids()[0]);
        let parts = in_parts.run_ids();
        assert_eq!(parts.len(), 2, "{harness}");
        for part in &parts {
            assert_eq!(missing(in_parts, part), whole_missing, "{part}");
        }
        let cells = [whole, in_parts].map(|library| library.json(&["matrix"])["cells"][0].clone());
        for same in ["n", "events", "mean_stamina"] {
            assert_eq!(cells[1][same], cells[0][same], "{same}: {harness}");
        }
        assert_eq!(cells[1]["mixed"], json!([]), "{harness}");
        let scores = [whole, in_parts].map(|library| {
            let score: &Value = &library.json(&["compare", harness])["runs"][0]["score"];
            score.as_f64().expect("a score")
        });
        assert!((scores[1] - scores[0]).abs() < 1e-9, "{harness}: {scores:?}");
    }
}
