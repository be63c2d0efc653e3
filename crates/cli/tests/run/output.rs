//! What a run prints, and what of it is in the library.

use serde_json::{Value, json};

use crate::app::{TestHome, path_with, replace_python, text};
use crate::run::{events, named, refs, small, with_args};

#[test]
fn a_run_prints_its_events_and_is_in_the_library() {
    let home = TestHome::new();
    let output = home.stamina(&refs(&with_args(small(2, 2), &["batch_size=2", "tags=smoke,for the paper"])));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let answer = events(&output.stdout);
    assert_eq!(answer[0]["event"], "started");
    assert_eq!((&answer[0]["episodes"], &answer[0]["turns"]), (&Value::from(2), &Value::from(2)));
    assert_eq!(answer[0]["simulated"], true);
    assert_eq!(named(&answer, "turn").len(), 4);
    let attempts = named(&answer, "attempt");
    assert_eq!(attempts.len(), 4);
    assert!(attempts.iter().all(|a| a["verdict"] == "passed" && a["passed"] == a["total"]), "{attempts:?}");
    let episodes = named(&answer, "episode");
    assert!(episodes.len() == 2 && episodes.iter().all(|e| e["stamina"] == 2));
    let last = answer.last().expect("events");
    assert_eq!((&last["event"], &last["how"]["how"]), (&Value::from("finished"), &Value::from("finished")));
    assert_eq!(last["average_score"], 1.0);

    let results = home.path("results");
    home.json(&["ingest", results.to_str().expect("UTF-8")]);
    let runs = home.json(&["runs"]);
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
    assert_eq!((&runs[0]["harness"], &runs[0]["simulated"]), (&Value::from("mock"), &Value::from(true)));
    assert_eq!((&runs[0]["episodes"], &runs[0]["stamina"]["mean"]), (&Value::from(2), &Value::from(2.0)));
    assert_eq!(runs[0]["tags"], json!(["for the paper", "smoke"]));
    assert_eq!(runs[0]["warnings"], 0, "what the runner writes is read without a warning");
    let live = home.json(&["rpc", "list_live_runs"]);
    assert_eq!((&live["live"], &live["runs"][0]["state"]), (&Value::from(0), &Value::from("finished")));
    assert_eq!(live["runs"][0]["run"], runs[0]["id"]);
    // What the pages of runs list is a table, too.
    let played = home.json(&["table", "played"]);
    assert_eq!(
        (&played["rows"][0]["state"], &played["rows"][0]["episodes_over"]),
        (&json!("finished"), &json!(2))
    );
    let progress = home.json(&["table", "progress", results.to_str().expect("UTF-8")]);
    assert_eq!(progress["rows"].as_array().map(Vec::len), Some(2), "{progress}");
    for table in [&played, &progress] {
        let notes = table["notes"].as_array().expect("notes");
        let made_by = notes.last().and_then(Value::as_str).expect("how it was made");
        assert!(made_by.contains("played on this machine") && made_by.contains("Stamina Lab"), "{made_by}");
    }
    assert_eq!(
        (&progress["rows"][0]["stamina"], &progress["rows"][0]["outcomes"]),
        (&json!(2), &json!("pp"))
    );

    // The folder is taken now.
    let again = home.stamina(&refs(&small(2, 2)));
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("Resume it, or choose another folder"), "{}", text(&again.stderr));
    // Its settings fill the form again.
    let run = format!("{{\"run\": {}}}", runs[0]["id"]);
    let loaded = home.json(&["rpc", "load_settings", &run]);
    assert_eq!(
        (&loaded["settings"]["agent"], &loaded["settings"]["n_turns"]),
        (&Value::from("mock"), &Value::from(2.0))
    );
}

/// A mock agent that leaves a link, a pipe, what a tool installs and a large file in its workspace before it begins.
const LEAVES: &str = r#"#!/bin/sh
for workspace; do :; done
if [ -d "$workspace" ]; then
  ln -sfn /etc/passwd "$workspace/link"
  mkdir -p "$workspace/data" "$workspace/node_modules"
  [ -e "$workspace/data/pipe" ] || mkfifo "$workspace/data/pipe"
  truncate -s 9M "$workspace/data/large.bin"
fi
exec 'PYTHON' "$@"
"#;

#[test]
fn what_a_snapshot_leaves_out_stands_in_its_attempt() {
    let home = TestHome::new();
    let folder = home.path("programs");
    std::fs::create_dir(&folder).expect("a folder");
    replace_python(&folder, LEAVES);
    let output = home.command(&refs(&small(1, 1))).env("PATH", path_with(&folder)).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let snapshot = home.path("results/scenario_0/agent_code/turn_1_attempt_1");
    assert!(snapshot.join("data").is_dir() && !snapshot.join("data/large.bin").exists());
    let id = home.run_ids().remove(0);
    let shown = home.json(&["show", &id]);
    let left_out = &shown["episodes"][0]["turns"][0]["attempts"][0]["left_out"];
    assert_eq!(left_out, &json!({ "names": ["data/large.bin", "data/pipe", "link"], "more": 0 }));
    // The text had none of it.
    let note = "1 attempt was not kept whole, and files of the workspace or container are missing in the results: scenario_0, turn 1 \
                (without data/large.bin, data/pipe, link).";
    let shown = home.text(&["show", &id]);
    assert!(shown.contains(note) && !shown.contains("retried because"), "{shown}");
    // An empty list says that all is there, and is none of a source that does not say.
    let whole = home.stamina(&refs(&with_args(small(1, 1), &["output_dir=whole"])));
    assert_eq!(whole.status.code(), Some(0), "{}", text(&whole.stderr));
    let other = home.run_ids().into_iter().find(|run| *run != id).expect("another run");
    let shown = home.json(&["show", &other]);
    let attempt = &shown["episodes"][0]["turns"][0]["attempts"][0];
    assert_eq!(attempt["left_out"], json!({ "names": [], "more": 0 }));
    assert_eq!(attempt["repeats"], json!(0), "{attempt}");
    let shown = home.text(&["show", &other]);
    assert!(!shown.contains("kept whole") && !shown.contains("retried because"), "{shown}");

    // As if its endpoint had been away twice.
    let file = home.path("whole/scenario_0/trajectory.json");
    let trajectory = std::fs::read_to_string(&file).expect("a trajectory");
    let retried = trajectory.replacen(r#""left_out""#, r#""repeats":2,"left_out""#, 1);
    assert_ne!(trajectory, retried);
    std::fs::write(&file, retried).expect("written");
    home.ingest(&home.path("whole"));
    let shown = home.json(&["show", &other]);
    assert_eq!(shown["episodes"][0]["turns"][0]["attempts"][0]["repeats"], json!(2), "{shown}");
    let note = "1 attempt was retried because of something outside the agent, such as the endpoint: scenario_0, turn 1 (2 times).";
    let shown = home.text(&["show", &other]);
    assert!(shown.contains(note), "{shown}");
}

#[test]
fn without_json_every_event_is_a_line() {
    let home = TestHome::new();
    let args: Vec<String> = small(1, 1).into_iter().filter(|arg| arg != "--json").collect();
    let output = home.stamina(&refs(&args));
    let answer = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{answer}");
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    for message in [
        "started: mock",
        "scenario_0: turn 1 of 1",
        "attempt 1: passed",
        "stamina 1",
        "finished: 1 episode over",
    ] {
        assert!(answer.contains(message), "{message}: {answer}");
    }
    assert!(!answer.contains('\u{1b}'));
}

#[test]
fn the_help_says_what_exit_codes_mean_and_gives_examples() {
    let home = TestHome::new();
    let help = |args: &[&str]| {
        let output = home.stamina(args);
        assert!(output.status.success());
        // Lines are wrapped to the terminal's width.
        text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let run = help(&["run", "--help"]);
    for message in [
        "0 when finished, 130 when stopped, 3 when a budget ended it",
        "--configs <FILE>...",
        "stamina resume",
        "Examples:",
    ] {
        assert!(run.contains(message), "{message}: {run}");
    }
    assert!(help(&["images", "build", "--help"]).contains("proxy that inspects TLS"));
    assert!(help(&["clean", "--help"]).contains("Results are never changed"));
    assert!(help(&["harnesses"]).contains("CLAUDE_CODE"));
}
