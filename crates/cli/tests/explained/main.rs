//! Each number that `docs/metrics.md` explains with lines of Python or R is what these lines give.

mod library;
mod played;
mod runs;
mod runs_in_r;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use library::Library;

use crate::app::{self, TestHome};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository").to_path_buf()
}

/// An entry of "Explain this number".
struct Entry {
    key: String,
    /// Where its inputs are looked at.
    inputs: String,
    command: String,
    language: String,
    code: String,
}

fn entries() -> Vec<Entry> {
    let text = std::fs::read_to_string(repository().join("docs/metrics.md")).expect("docs/metrics.md");
    let (_, section) = text.split_once("\n## Explain this number\n").expect("the section");
    let (section, _) = section.split_once("\n## ").expect("a section after it");
    let between = |text: &str, start_text: &str, end_text: &str| {
        let (_, rest) = text.split_once(start_text).unwrap_or_else(|| panic!("no {start_text:?} in {text}"));
        rest.split_once(end_text).unwrap_or_else(|| panic!("no {end_text:?} in {text}")).0.to_owned()
    };
    section
        .split("#### `")
        .skip(1)
        .map(|entry| {
            let code = between(entry, "\n```", "\n```");
            let (language, code) = code.split_once('\n').expect("a language");
            Entry {
                key: entry.split('`').next().unwrap_or_default().to_owned(),
                inputs: between(entry, "\nInputs: ", ","),
                command: between(&between(entry, "\nInputs: ", "\n"), ", `", "`"),
                language: language.to_owned(),
                code: code.to_owned(),
            }
        })
        .collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The numbers of a name in several objects, without unknown ones.
fn known(rows: &[Value], name: &str) -> Vec<f64> {
    rows.iter().map(|row| &row[name]).filter(|value| !value.is_null()).map(number).collect()
}

/// Whether numbers are the same but for the last digits.
fn are_near(computed: &[f64], expected: &[f64]) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9 * b.abs().max(1.0);
    computed.len() == expected.len() && computed.iter().zip(expected).all(near)
}

/// Runs every entry whose inputs are looked at in one place, with what its placeholders stand for, and compares it with what
/// the app says.
fn check_all_of(
    inputs: &str,
    library: &Library,
    filled: &dyn Fn(&str) -> Vec<(&'static str, &'static str)>,
    mut expected: BTreeMap<&str, Vec<f64>>,
) {
    let mut wrong = Vec::new();
    for entry in entries().into_iter().filter(|entry| entry.inputs == inputs) {
        let key = entry.key.as_str();
        let expected =
            expected.remove(key).unwrap_or_else(|| panic!("{key} is explained, and nothing here runs it"));
        let computed = library.computed(&entry, &filled(key));
        if expected.is_empty() || !are_near(&computed, &expected) {
            wrong.push(format!("{key}: {computed:?}, and the app says {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(expected.is_empty(), "no longer explained: {:?}", expected.keys());
}

/// A library with a run of two episodes of three turns by the simulated model, played into the folder `results`.
fn home_with_a_played_run() -> TestHome {
    let home = TestHome::new();
    let output = home.stamina(&[
        "run",
        "--json",
        "--values",
        "agent=MOCK",
        "output_dir=results",
        "restful_server_gen_iterative.n_scenarios=2",
        "restful_server_gen_iterative.num_changes_per_turn=1",
        "restful_server_gen_iterative.n_turns=3",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", app::text(&output.stderr));
    home
}

#[test]
fn numbers_of_sessions_are_what_the_lines_of_their_explanations_give() {
    let recorded = repository().join("tests/fixtures/locobench/recorded");
    let library = Library::new(&recorded, "gpt-4o", "gpt-4.1");
    let all = library.home.json(&["locobench", &library.run]);
    let means = &all["means"]["all"];
    let mean = |kind: &str, name: &str| vec![number(&means[kind][name]["mean"])];
    let mut sessions = all["sessions"].as_array().expect("sessions").clone();
    sessions.retain(|session| session["counts"] == true);
    let running = all["running"].as_array().expect("steps");
    let expected = BTreeMap::from([
        ("session_count", vec![number(&means["scenarios"])]),
        ("session_imported", mean("imported", "execution_success_rate")),
        ("session_compat", mean("compat", "execution_success_rate")),
        ("session_corrected", mean("corrected", "files_written")),
        ("comprehension", mean("imported", "comprehension")),
        ("efficiency", mean("imported", "efficiency")),
        ("tool_success", mean("corrected", "tool_success")),
        ("read_before_write", mean("corrected", "read_before_write")),
        ("session_phases", known(&sessions, "phases")),
        ("session_turns", known(&sessions, "turns")),
        ("session_answered", known(&sessions, "answered")),
        ("session_calls", known(&sessions, "tool_calls")),
        ("still_running", known(running, "share")),
    ]);
    let metric =
        |key: &str| if key == "session_corrected" { "files_written" } else { "execution_success_rate" };
    check_all_of("sessions", &library, &|key| vec![("METRIC", metric(key))], expected);
}

#[test]
fn prices_are_what_the_lines_of_their_explanation_give() {
    let library = Library::new(&repository().join("data/sample-table.csv"), "m-large", "m-small");
    let prices = r#"{"put": [{"model": "acme-one", "input": 1.25, "cached": 0.125, "cache_write": null, "output": 10}], "remove": []}"#;
    library.home.json(&["rpc", "set_prices", prices]);
    let expected = BTreeMap::from([("price", vec![1.25, 0.125, 1.25, 10.0])]);
    check_all_of("prices", &library, &|_| vec![("MODEL", "acme-one")], expected);
}

#[test]
fn findings_of_a_validation_are_what_the_lines_of_their_explanations_give() {
    let library = Library::new(&repository().join("data/sample-table.csv"), "m-large", "m-small");
    let pack = library.home.path("pack").to_str().expect("UTF-8").to_owned();
    library.home.json(&[
        "generate",
        "--out",
        &pack,
        "--values",
        "restful_server_gen_iterative.n_scenarios=1",
        "restful_server_gen_iterative.n_turns=2",
        "restful_server_gen_iterative.base_seed=0",
    ]);
    let report = library.home.json(&["validate", &pack]);
    let operators = report["operators"].as_object().expect("operators");
    let sum = |name: &str| operators.values().map(|operator| number(&operator[name])).sum::<f64>();
    let (tried, noticed) = (sum("mutants"), sum("killed"));
    assert!(tried > 0.0, "{report}");
    let expected = BTreeMap::from([
        ("mutants", vec![noticed / tried, noticed, tried]),
        ("validation", vec![2.0, 0.0, 0.0, 0.0, 0.0]),
    ]);
    check_all_of("validation", &library, &|_| vec![("FOLDER", "pack")], expected);
}

#[test]
fn counts_of_an_import_report_are_what_the_lines_of_their_explanations_give() {
    let library = Library::new(&repository().join("tests/fixtures/staminabench"), "own", "nested_folders");
    let state = library.home.json(&["rpc", "app_state", "{}"]);
    let request = serde_json::json!({
        "source": state["sources"][0]["id"], "treatment": null, "code": null, "run": null, "offset": 0, "limit": 1
    });
    let report = library.home.json(&["rpc", "import_report", &request.to_string()]);
    let all_of =
        |value: &Value, names: &[&str]| names.iter().map(|name| number(&value[name])).collect::<Vec<_>>();
    let counts = all_of(&report, &["runs", "episodes", "turns", "not_reached", "files_read"]);
    let runs = library.home.json(&["runs"]).as_array().expect("runs").len();
    assert!(are_near(&counts[..1], &[runs as f64]) && counts[1] > 0.0 && counts[4] > 0.0, "{counts:?}");
    let expected = BTreeMap::from([
        ("source_counts", counts),
        ("source_warnings", all_of(&report["source"]["severities"], &["notes", "repairs", "warnings"])),
    ]);
    check_all_of("report", &library, &|_| vec![("FOLDER", "staminabench")], expected);
}
