//! `stamina search`: what stands in requests, failing tests, transcripts and logs is found where it stands.

use std::path::{Path, PathBuf};

use serde_json::Value;
use test_folders::copy;

use crate::app;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository").to_path_buf()
}

fn json(home: &app::TestHome, args: &[&str]) -> Vec<Value> {
    let output = home.stamina(&[args, &["--json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let Value::Array(hits) = serde_json::from_slice(&output.stdout).expect("JSON on standard output") else {
        panic!("a list of places")
    };
    hits
}

fn ingest(home: &app::TestHome, path: &str) {
    let path = repository().join(path);
    let output = home.stamina(&["ingest", path.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn words_of_a_log_are_found_in_the_line_that_holds_them() {
    let home = app::TestHome::new();
    ingest(&home, "tests/fixtures/staminabench/own");
    let hits = json(&home, &["search", "failed", "passed"]);
    let logs: Vec<&Value> = hits.iter().filter(|hit| hit["kind"] == "log").collect();
    assert!(!logs.is_empty(), "{hits:#?}");
    for hit in logs {
        for key in ["run", "scenario", "where", "snippet"] {
            assert!(hit[key].as_str().is_some_and(|text| !text.is_empty()), "{key} of {hit}");
        }
        let (path, line) = (hit["log"].as_str().expect("a log"), hit["line"].as_u64().expect("a line"));
        let file = repository().join("tests/fixtures/staminabench/own").join(path);
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let low = text.lines().nth(line as usize - 1).expect("the line").to_lowercase();
        assert!(low.contains("failed") || low.contains("passed"), "{hit}: {low}");
        assert!(text.to_lowercase().contains("failed") && text.to_lowercase().contains("passed"));
    }
}

#[test]
fn words_of_a_transcript_are_found_in_the_step_that_holds_them() {
    let home = app::TestHome::new();
    ingest(&home, "tests/fixtures/harbor/jobs/terminus2-mock-priced");
    let hits = json(&home, &["search", "workspace", "--limit", "30"]);
    let hit = hits.iter().find(|hit| hit["kind"] == "transcript").expect("a step of a transcript");
    let place = format!("transcript, step {}", hit["step"]);
    assert_eq!(hit["where"], place);
    assert!(hit["snippet"].as_str().is_some_and(|text| text.to_lowercase().contains("workspace")), "{hit}");
    let request = serde_json::json!({
        "run": hit["run"], "episode": hit["episode"], "turn": hit["turn"], "attempt": hit["attempt"],
    });
    let output = home.stamina(&["rpc", "get_transcript", &request.to_string()]);
    let transcript: Value = serde_json::from_slice(&output.stdout).expect("a transcript");
    let step = &transcript["steps"][hit["step"].as_u64().expect("a step") as usize - 1];
    assert!(step.to_string().contains("workspace"), "{step}");
    // A second search finds the same and reads nothing into the index.
    assert_eq!(json(&home, &["search", "workspace", "--limit", "30"]), hits);
}

/// Each turn and run of one failing test was a place of its own, with its message twice.
#[test]
fn a_failing_test_of_many_runs_is_one_place_with_its_texts_once() {
    let home = app::TestHome::new();
    let results = home.path("evocode");
    copy(&repository().join("tests/fixtures/evocode"), &results);
    let path = results.join("tasks/task_one.json");
    let mut task: Value = serde_json::from_slice(&std::fs::read(&path).expect("a task")).expect("JSON");
    task["models"]["Tiny-1"]["2"] = task["models"]["Big-2-high"]["2"].clone();
    std::fs::write(&path, task.to_string()).expect("a task");
    let output = home.stamina(&["ingest", "evocode"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for words in ["empty list", "\"empty list\""] {
        let hits = json(&home, &["search", words]);
        let tests: Vec<&Value> = hits.iter().filter(|hit| hit["kind"] == "failure").collect();
        let [hit] = tests[..] else { panic!("one place: {hits:#?}") };
        assert_eq!(hit["where"], "test c007, the same in 1 more place");
        let snippet = hit["snippet"].as_str().expect("a snippet");
        assert_eq!(snippet.matches("exit 1").count(), 1, "{snippet}");
    }
}

#[test]
fn what_is_not_there_is_not_found_and_no_word_is_refused() {
    let home = app::TestHome::new();
    ingest(&home, "tests/fixtures/harbor/jobs/nop-k1");
    assert!(json(&home, &["search", "zwiebelkuchen"]).is_empty());
    let output = home.stamina(&["search", "…"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no letter or digit"));
}
