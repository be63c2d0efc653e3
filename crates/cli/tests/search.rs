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

/// The first search was silent while it read the transcripts and logs, which may take minutes.
#[test]
fn the_first_search_says_that_it_reads_transcripts_and_logs() {
    let notes = |home: &app::TestHome, args: &[&str]| {
        let output = home.stamina(&[&["search", "passed"][..], args].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let home = app::TestHome::new();
    ingest(&home, "tests/fixtures/staminabench/own");
    let first = notes(&home, &[]);
    assert!(first.contains("Reading transcripts and logs of 2 episodes…\n"), "{first}");
    assert!(!notes(&home, &[]).contains("Reading transcripts"), "nothing is left to read");
    let other_home = app::TestHome::new();
    ingest(&other_home, "tests/fixtures/staminabench/own");
    assert!(!notes(&other_home, &["--json"]).contains("Reading transcripts"));
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

/// Nothing asserted it, whoever pages or shows "more" relies on it.
#[test]
fn that_there_is_more_is_said_where_a_limit_cuts_places_off_and_only_there() {
    let home = app::TestHome::new();
    let results = home.path("own");
    copy(&repository().join("tests/fixtures/staminabench/own"), &results);
    for turn in [2, 3, 4] {
        let log = results.join(format!("scenario_1/server_logs/turn_{turn}_attempt_1.txt"));
        let text = std::fs::read_to_string(&log).expect("a log");
        std::fs::write(&log, format!("{text}\nzwiebelkuchen\n")).expect("a log");
    }
    home.ingest(&results);
    for (limit, shown, has_more) in [(2_u32, 2, true), (3, 3, false), (4, 3, false)] {
        let output = home.stamina(&["search", "zwiebelkuchen", "--limit", &limit.to_string(), "--json"]);
        let hits: Vec<Value> = serde_json::from_slice(&output.stdout).expect("a list of places");
        assert_eq!(hits.len(), shown, "{limit}: {hits:#?}");
        let notes = String::from_utf8_lossy(&output.stderr);
        assert_eq!(notes.contains("There may be more places than these"), has_more, "{limit}: {notes}");
        // The app asks so.
        let request = serde_json::json!({ "text": "zwiebelkuchen", "limit": limit });
        let output = home.stamina(&["rpc", "search_texts", &request.to_string()]);
        let found: Value = serde_json::from_slice(&output.stdout).expect("places");
        assert_eq!(found["hits"].as_array().map(Vec::len), Some(shown), "{limit}: {found}");
        assert_eq!(found["has_more"], has_more, "{limit}: {found}");
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
