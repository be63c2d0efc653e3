//! Results of which something is not known, through the program: what is unknown is so in every command.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

struct Library {
    folder: tempfile::TempDir,
}

impl Library {
    /// A library with one source of `tests/fixtures/world`.
    fn of(name: &str) -> Self {
        let repository: PathBuf =
            Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository").into();
        let source = repository.join("tests/fixtures/world").join(name);
        let library = Self { folder: tempfile::tempdir().expect("a folder for the library") };
        library.text(&["ingest", source.to_str().expect("UTF-8")]);
        library
    }

    fn text(&self, args: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_stamina"))
            .arg("--db")
            .arg(self.folder.path().join("library.sqlite"))
            .args(args)
            .output()
            .expect("stamina runs");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.text(&[args, &["--json"]].concat())).expect("JSON on standard output")
    }

    /// The ids of its runs.
    fn ids(&self) -> Vec<String> {
        let runs = self.json(&["runs"]);
        runs.as_array()
            .expect("runs")
            .iter()
            .filter_map(|run| run["id"].as_str().map(str::to_owned))
            .collect()
    }
}

#[test]
fn where_nobody_was_at_risk_nothing_is_known_in_any_command() {
    let library = Library::of("never-at-risk");
    let ids = library.ids();
    let id = ids[0].as_str();
    let run = &library.json(&["runs"])[0];
    assert_eq!((run["stamina"]["n"].as_u64(), run["stamina"]["censored"].as_u64()), (Some(3), Some(3)));
    for unknown in ["score", "dataset_score", "case_score", "perfect"] {
        assert!(run[unknown].is_null(), "{unknown}: {run}");
    }
    for unknown in ["mean", "ci_low", "ci_high", "median", "median_reached"] {
        assert!(run["stamina"][unknown].is_null(), "{unknown}: {run}");
    }

    let survival = library.json(&["survival", id]);
    assert_eq!(survival[0]["at_risk"], 0);
    assert!(survival[0]["survival"].is_null(), "{survival}");
    assert!(library.text(&["survival", id]).contains("unknown"));
    let shown = library.json(&["show", id]);
    assert!(
        shown["episodes"]
            .as_array()
            .is_some_and(|all| all.len() == 3 && all.iter().all(|e| e["score"].is_null()))
    );

    let compared = library.json(&["compare", id]);
    let member = &compared["runs"][0];
    for unknown in ["median", "median_reached", "score", "early_censored"] {
        assert!(member[unknown].is_null(), "{unknown}: {member}");
    }
    let cautions = compared["cautions"].to_string();
    assert!(cautions.contains("Nobody was at risk"), "{cautions}");
    for (args, wrong) in [
        (vec!["compare", id], "not reached"),
        (vec!["matrix", id], "not reached"),
        (vec!["table", "runs", id], "not reached"),
        (vec!["table", "library"], "not reached"),
        (vec!["table", "matrix", id], "not reached"),
        (vec!["table", "sensitivity", id], "not reached"),
        (vec!["table", "survival", id], "1.000"),
        (vec!["failures", id], "not reached"),
    ] {
        let text = library.text(&args);
        assert!(text.contains("unknown") && !text.contains(wrong), "{args:?}: {text}");
    }
    let report = library.folder.path().join("report");
    library.text(&["report", id, "--out", report.to_str().expect("UTF-8")]);
    let report = std::fs::read_to_string(report.join("report.html")).expect("the report");
    // Turns that were not reached are something else.
    assert!(report.contains("median unknown") && !report.contains("median not reached"));
}

#[test]
fn a_median_that_is_not_reached_is_not_unknown() {
    let library = Library::of("steps-unknown");
    let stamina = &library.json(&["runs"])[0]["stamina"];
    assert!(stamina["median"].is_null());
    assert_eq!(stamina["median_reached"], false);
    // The run is of one turn: a reader of the comparison sees its pass rate.
    let compared = &library.json(&["compare", &library.ids()[0]])["runs"][0];
    assert!(compared["median"].is_null());
    assert_eq!(compared["median_reached"], false);
}

#[test]
fn a_reported_score_of_nothing_is_unknown() {
    let library = Library::of("sweep-no-cases");
    let run = &library.json(&["runs"])[0];
    assert_eq!(run["case_score"].as_f64(), Some(62.5));
    assert!(run["reported"].get("evocode.case_score").is_none(), "{}", run["reported"]);
    assert_eq!(run["reported"]["evocode.dataset_score"].as_f64(), Some(50.0));
}

#[test]
fn steps_that_are_known_only_where_there_were_none_are_unknown() {
    let library = Library::of("steps-unknown");
    let id = library.ids().remove(0);
    let spent = &library.json(&["compare", &id])["runs"][0]["spent"];
    for unknown in ["steps_survived", "steps_per_turn", "cost_usd", "input_tokens", "tokens_per_turn"] {
        assert!(spent[unknown].is_null(), "{unknown}: {spent}");
    }
}

#[test]
fn the_note_beside_harbors_mean_names_the_cause_that_was_found() {
    let note = |name: &str| {
        let library = Library::of(name);
        let caveats = library.json(&["compare", &library.ids()[0]])["runs"][0]["caveats"].to_string();
        assert!(caveats.contains("mean reward") || name != "mean-note", "{caveats}");
        caveats
    };
    let partial = note("mean-note");
    assert!(partial.contains("1 reward is neither 0 nor 1"), "{partial}");
    assert!(!partial.contains("have no reward") && !partial.contains("trials"), "{partial}");
    // Nothing that is found here makes the difference: nothing is said.
    let unexplained = note("mean-unexplained");
    assert!(!unexplained.contains("Harbor reports"), "{unexplained}");
    let fewer = note("mean-of-fewer");
    assert!(fewer.contains("Harbor counts 1 trial, here are 2"), "{fewer}");
}

#[test]
fn what_was_stopped_from_outside_is_counted_apart() {
    let library = Library::of("cancelled");
    let id = library.ids().remove(0);
    let text = library.text(&["failures", &id]);
    assert!(text.contains("1 of 3 turns reached without a failed one before failed"), "{text}");
    let folder = library.folder.path().join("report");
    library.text(&["report", &id, "--out", folder.to_str().expect("UTF-8")]);
    let report = std::fs::read_to_string(folder.join("report.md")).expect("the report");
    assert!(report.contains("2 of 3 attempts did not pass; 1 of them is unfinished"), "{report}");
    let csv = std::fs::read_to_string(folder.join("tables/attempts.csv")).expect("attempts by their number");
    let (head, row) = csv.split_once("\r\n").expect("a heading line");
    let of = |name: &str| {
        let at = head.split(',').position(|column| column == name).expect("the column");
        row.trim_end().split(',').nth(at).map(str::to_owned)
    };
    let counts = ["made", "passed", "failed", "errors", "unfinished"].map(|name| of(name).expect("a count"));
    assert_eq!(counts, ["3", "1", "1", "0", "1"], "{csv}");
}

#[test]
fn settings_that_are_sets_are_the_same_in_any_order() {
    let library = Library::of("set-order");
    let ids = library.ids();
    let compared = library.json(&["compare", &ids[0], &ids[1]]);
    let named = compared["differences"].to_string();
    assert!(!named.contains("exclude_exceptions"), "{named}");
    assert_eq!(compared["comparability"], "no_effect");
}
