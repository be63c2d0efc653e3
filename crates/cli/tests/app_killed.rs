//! An app that is killed in the middle of a run: after a restart it lists the run as lost, continues it, and its results
//! are those of an undisturbed run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::app::{Gate, Served, TestHome};
use crate::results::normalized;

fn settings(app: &Served, folder: &Path) -> Value {
    let mut settings = app.get("launch_form", &json!({}))["defaults"].clone();
    for (field, value) in [
        ("agent", json!("mock")),
        ("endpoint_mode", json!("oracle")),
        ("oracle_stack", json!("native")),
        ("oracle_seed", json!("5")),
        ("oracle_defect_rate", json!(0.5)),
        ("oracle_repair", json!(0.6)),
        ("use_docker", json!(false)),
        ("batch_size", json!(2)),
        ("attempt_limit", json!(3)),
        ("n_scenarios", json!(2)),
        ("n_turns", json!(6)),
        ("num_changes_per_turn", json!(1)),
        ("output_dir", json!(folder)),
    ] {
        settings[field] = value;
    }
    settings
}

#[test]
fn an_app_that_is_killed_continues_its_run() {
    let home = TestHome::new();
    let is_over = |run: &Value| run["row"]["state"] == "finished";
    // Names of one length: what the model counts must not depend on them.
    let (calm, folder) = (home.path("calm-run-00"), home.path("killed-0001"));
    let app = Served::new(&home);
    app.get("start_run", &json!({ "settings": settings(&app, &calm), "shakedown": false }));
    app.until("get_live_run", &json!({ "folder": calm }), is_over);
    let expected = normalized(&calm);
    drop(app);

    let run_ref = json!({ "folder": folder });
    // A few attempts at a time: however late it is looked at, the run is not over before it was killed often enough.
    let gate = Gate::new(&home, 0);
    let begin = || {
        Served::with_command(&home, |command| {
            command.env("PATH", gate.path());
        })
    };
    let mut app = begin();
    app.get("start_run", &json!({ "settings": settings(&app, &folder), "shakedown": false }));
    let mut kills = 0;
    // Each time a little later in its part of the run.
    for pause in [5, 150, 300, 450, 80, 220] {
        gate.allow_more(2);
        let live_turns = app.get("get_live_run", &run_ref)["row"]["turns"][0].as_u64();
        let live_turns = app.until("get_live_run", &run_ref, |run| {
            is_over(run)
                || run["row"]["turns"][0].as_u64() > live_turns
                || run["episodes"][0]["phase"] == "agent"
        });
        std::thread::sleep(Duration::from_millis(pause));
        if is_over(&live_turns) {
            break;
        }
        // Dropping it is SIGKILL.
        drop(app);
        kills += 1;
        app = begin();
        let lost = app.get("get_live_run", &run_ref);
        if lost["row"]["state"] == "finished" {
            break;
        }
        assert_eq!(lost["row"]["state"], "lost", "{lost}");
        assert!(
            lost["row"]["turns"][0].as_u64() >= live_turns["row"]["turns"][0].as_u64(),
            "no finished turn is lost"
        );
        app.get("resume_run", &json!({ "folder": folder, "changes": [] }));
    }
    assert!(kills >= 3, "{kills} kills");
    gate.open();
    app.until("get_live_run", &run_ref, is_over);
    let found = normalized(&folder);
    let paths: Vec<&String> = found.keys().collect();
    assert_eq!(paths, expected.keys().collect::<Vec<_>>());
    for (path, text) in &expected {
        assert_eq!(&found[path], text, "{path}");
    }
}
