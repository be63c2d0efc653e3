//! `stamina serve` that is asked to end while it plays a run: nothing that was paid for is thrown away without a word.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::app::{Served, TestHome};

/// A run whose agent waits for a model that never answers.
fn begin(app: &Served, folder: &std::path::Path) -> Value {
    let mut settings = app.get("launch_form", &json!({}))["defaults"].clone();
    for (field, value) in [
        ("agent", json!("mock")),
        ("endpoint_mode", json!("oracle")),
        ("oracle_stack", json!("native")),
        ("use_docker", json!(false)),
        ("n_scenarios", json!(1)),
        ("n_turns", json!(2)),
        ("num_changes_per_turn", json!(1)),
        ("output_dir", json!(folder)),
        ("oracle_stall", json!(1)),
    ] {
        assert!(settings.get(field).is_some(), "{field}");
        settings[field] = value;
    }
    app.get("start_run", &json!({ "settings": settings, "shakedown": false }));
    let run_ref = json!({ "folder": folder });
    app.until("get_live_run", &run_ref, |run| run["episodes"][0]["phase"] == "agent")
}

#[test]
fn a_signal_stops_the_runs_before_it_ends() {
    let home = TestHome::new();
    let mut app = Served::with_command(&home, |command| {
        command.stderr(Stdio::piped());
    });
    let folder = home.path("results");
    begin(&app, &folder);
    app.signal("INT");
    assert_eq!(app.wait().code(), Some(0));
    let mut errors = String::new();
    app.stderr().read_to_string(&mut errors).expect("text");
    assert!(errors.contains("stopping 1 run with 1 attempt in flight"), "{errors}");
    let status = home.json(&["status", "results"]);
    assert_eq!(status["state"], json!({ "state": "ended", "finish": { "how": "stopped" } }), "{status}");

    // Without a run there is nothing to wait for.
    let mut app = Served::new(&home);
    app.signal("TERM");
    assert_eq!(app.wait().code(), Some(0));
}

/// A stop takes long if the control request cannot be written. A second signal does not wait for it.
#[test]
fn a_second_signal_ends_it_at_once() {
    let home = TestHome::new();
    let mut app = Served::with_command(&home, |command| {
        command.stderr(Stdio::piped());
    });
    let folder = home.path("results");
    begin(&app, &folder);
    // No control request can be written there, so the run continues and the program waits for it.
    let control = folder.join(".stamina/control.json");
    drop(std::fs::remove_file(&control));
    std::fs::create_dir_all(control.join("in the way")).expect("a folder");
    app.signal("INT");
    let errors = BufReader::new(app.stderr()).lines().map(|line| line.expect("a line"));
    let mut errors = errors.skip_while(|line| !line.contains("a second signal exits at once"));
    assert!(errors.next().is_some_and(|line| line.contains("stopping 1 run with 1 attempt in flight")));
    app.signal("INT");
    assert_eq!(app.wait().code(), Some(130));
    let status = home.json(&["status", "results"]);
    assert_eq!(status["state"]["state"], "lost", "as by a kill, which it survives: {status}");
}
