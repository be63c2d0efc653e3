//! A run that the app begins.

use serde_json::{Value, json};

use crate::app::{Gate, Served, TestHome};

#[test]
fn the_app_begins_a_run_shows_it_live_and_steers_it() {
    let home = TestHome::new();
    // Some of its sixty turns are played, and the others after it is resumed.
    let gate = Gate::new(&home, 20);
    let app = Served::with_command(&home, |command| {
        command.env("PATH", gate.path());
    });
    let form = app.get("launch_form", &json!({}));
    let mut settings = form["defaults"].clone();
    settings["agent"] = json!("mock");
    settings["endpoint_mode"] = json!("oracle");
    settings["oracle_stack"] = json!("native");
    settings["use_docker"] = json!(false);
    settings["n_scenarios"] = json!(2);
    settings["n_turns"] = json!(30);
    settings["num_changes_per_turn"] = json!(1);
    let folder = home.path("results");
    settings["output_dir"] = json!(folder);
    let check = app.get("check_settings", &settings);
    assert_eq!(check["errors"], json!([]));
    assert!(check["command_values"].as_str().is_some_and(|line| line.contains("agent=MOCK")), "{check}");
    let found = app.get("preflight_run", &json!({ "settings": settings, "call": false }));
    assert_eq!((&found["can_start"], &found["estimate"]["turns"]), (&json!(true), &json!(60)), "{found}");

    let mut wrong = settings.clone();
    wrong["output_dir"] = json!("relative");
    let error = app.ask("start_run", &json!({ "settings": wrong, "shakedown": false })).expect_err("refused");
    assert_eq!(error["code"], "settings.value");

    let begun = app.get("start_run", &json!({ "settings": settings, "shakedown": false }));
    assert_eq!(begun["folder"], json!(folder));
    let run_ref = json!({ "folder": folder });
    let live = app.until("get_live_run", &run_ref, |run| {
        run["row"]["turns"][0].as_u64() > Some(1) && !run["row"]["run"].is_null()
    });
    assert_eq!((&live["row"]["state"], &live["row"]["simulated"]), (&json!("running"), &json!(true)));
    assert_eq!(live["episodes"].as_array().map(Vec::len), Some(2));
    assert_eq!(app.get("list_live_runs", &json!({}))["live"], 1);
    let survival = app.get("run_survival", &json!({ "run": live["row"]["run"] }));
    assert!(survival["rows"].is_array());
    let again =
        app.ask("start_run", &json!({ "settings": settings, "shakedown": false })).expect_err("refused");
    assert_eq!(again["code"], "run.preflight");

    // One episode is played at a time, and either may be the first.
    let is_begun = |episode: &&Value| episode["cells"].as_array().is_some_and(|cells| !cells.is_empty());
    let episodes = live["episodes"].as_array().expect("episodes");
    let first = &episodes.iter().find(is_begun).expect("turns were played")["name"];
    let log = json!({ "folder": folder, "episode": first, "which": "gateway", "position": null });
    app.until("live_log", &log, |answer| {
        answer["lines"].as_array().is_some_and(|lines| lines.iter().any(|l| l["kind"] == "model"))
    });

    app.get("control_run", &json!({ "folder": folder, "action": { "do": "stop" } }));
    let ended = app.until("get_live_run", &run_ref, |run| run["row"]["state"] == "stopped");
    let error =
        app.ask("control_run", &json!({ "folder": folder, "action": { "do": "pause" } })).expect_err("over");
    assert_eq!(error["code"], "run.not_live");
    let decided = ended["row"]["turns"][0].as_u64().expect("a number");

    gate.allow(40);
    app.get("resume_run", &json!({ "folder": folder, "changes": [] }));
    app.until("get_live_run", &run_ref, |run| run["row"]["turns"][0].as_u64() > Some(decided));
    app.get("control_run", &json!({ "folder": folder, "action": { "do": "stop" } }));
    app.until("get_live_run", &run_ref, |run| run["row"]["state"] == "stopped");
    let changed =
        app.get("load_settings", &json!({ "yaml": null, "file": null, "run": null, "folder": folder }));
    assert_eq!(changed["settings"]["n_turns"], json!(30.0));
    assert_ne!(changed["settings"]["output_dir"], json!(folder), "that folder is taken");
}
