//! What is said before a run: wrong arguments, the preflight and a smoke test.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::app::{Served, TestHome, text};
use crate::run::{refs, small, with_args};

#[test]
fn wrong_arguments_are_reported_before_anything_is_created() {
    let home = TestHome::new();
    let message = |code: i32, args: &[&str]| {
        let output = home.stamina(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        text(&output.stderr)
    };
    let answer = message(2, &["run"]);
    assert!(
        answer.contains("The arguments name nothing to run") && answer.contains("--values agent=MOCK"),
        "{answer}"
    );
    let answer = message(2, &["run", "--values", "agent=MOCK", "output_dir=r", "limits.memry_gib=3"]);
    assert!(
        answer.contains("The nearest is \"limits.memory_gib\"") && answer.contains("docs/cli.md"),
        "{answer}"
    );
    let answer = message(2, &["run", "--values", "agent=MOCK"]);
    assert!(answer.contains("output_dir: it is not given"), "{answer}");
    let answer = message(
        2,
        &["run", "--values", "agent=CODEX", "output_dir=r", "endpoint.base_url=http://127.0.0.1:9"],
    );
    assert!(answer.contains("codex.model_id: it is not given"), "{answer}");
    let answer = message(1, &["run", "--values", "agent=MOCK", "output_dir=r", "scenarios_dir=nowhere"]);
    assert!(answer.contains("Pack: cannot be read"), "{answer}");
    let answer = message(2, &["run", "--configs", "absent.yaml"]);
    assert!(answer.contains("absent.yaml"), "{answer}");
    let answer = message(1, &["resume", "nowhere"]);
    assert!(answer.contains("no run") && answer.contains("hint"), "{answer}");
    assert!(!home.path("r").exists());
}

#[test]
fn a_preflight_says_what_a_run_will_take() {
    let home = TestHome::new();
    std::fs::write(home.path("c.yaml"), "agent: MOCK\noutput_dir: results\nquick_debug: true\n")
        .expect("a file");
    let found = home.json(&["preflight", "--configs", "c.yaml"]);
    assert_eq!(found["can_start"], true);
    let ids: Vec<&str> =
        found["checks"].as_array().expect("checks").iter().filter_map(|c| c["id"].as_str()).collect();
    assert_eq!(ids, ["engine", "pack", "endpoint", "folder", "disk"]);
    assert_eq!(
        (&found["estimate"]["turns"], &found["estimate"]["attempts_at_most"]),
        (&Value::from(4), &Value::from(40))
    );
    assert_eq!(found["estimate"]["seconds"], Value::Null, "there is no earlier run to go by");

    std::fs::create_dir(home.path("results")).expect("a folder");
    std::fs::write(home.path("results/x"), "x").expect("a file");
    let output = home.stamina(&["preflight", "--configs", "c.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("not empty"), "{}", text(&output.stdout));

    let ask = "endpoint.base_url=http://127.0.0.1:9";
    let output = home.stamina(&[
        "preflight",
        "--json",
        "--values",
        "agent=MINI_SWE",
        "output_dir=new",
        "mini_swe.model_id=m",
        ask,
        "endpoint.key_env=STAMINA_NO_SUCH_KEY",
    ]);
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let endpoint = found["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .find(|c| c["id"] == "endpoint")
        .cloned()
        .expect("it");
    assert_eq!(
        (&endpoint["state"], &endpoint["value"]),
        (&Value::from("fail"), &Value::from("STAMINA_NO_SUCH_KEY not set"))
    );
}

#[test]
fn scenarios_beyond_those_that_are_generated_are_refused() {
    let home = TestHome::new();
    let named = with_args(small(2, 1), &["restful_server_gen_iterative.execute_episodes=[5]"]);
    let output = home.stamina(&refs(&named));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("there is no scenario 5"), "{}", text(&output.stderr));
    assert!(!home.path("results").exists());
    let mut values = vec!["preflight", "--no-call"];
    values.extend_from_slice(&refs(&named)[1..]);
    let output = home.stamina(&values);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&found["estimate"], &found["can_start"]), (&Value::Null, &Value::from(false)), "{found}");
}

#[test]
fn nothing_is_estimated_of_a_pack_that_cannot_be_read() {
    let home = TestHome::new();
    std::fs::create_dir(home.path("empty")).expect("a folder");
    std::fs::write(home.path("no.zip"), "not a zip").expect("a file");
    std::fs::create_dir(home.path("hostile")).expect("a folder");
    let manifest =
        r#"{"format":"staminabench-pack","scenarios":[{"folder":"../../etc","turns":4294967295}]}"#;
    std::fs::write(home.path("hostile/manifest.json"), manifest).expect("a file");
    for pack in ["nowhere", "empty", "no.zip", "hostile"] {
        let pack = format!("scenarios_dir={pack}");
        let values = ["preflight", "--no-call", "--values", "agent=MOCK", "output_dir=r", &pack];
        let output = home.stamina(&[&values[..1], &["--json"], &values[1..]].concat());
        assert_eq!(output.status.code(), Some(1), "{pack}");
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!((&found["estimate"], &found["can_start"]), (&Value::Null, &Value::from(false)), "{pack}");
        let checks = found["checks"].as_array().expect("checks");
        let check_of = |id: &str| checks.iter().find(|check| check["id"] == id).expect("a check").clone();
        assert_eq!(check_of("pack")["state"], "fail", "{pack}");
        assert!(!check_of("disk").to_string().contains("turns need about"), "{}", check_of("disk"));
        let message = text(&home.stamina(&values).stdout);
        assert!(message.contains("There is no estimate") && !message.contains("1000000"), "{message}");
    }
}

#[test]
fn a_smoke_test_is_short_and_stays_out_of_the_library() {
    let home = TestHome::new();
    let app = Served::new(&home);
    let mut settings = app.get("launch_form", &json!({}))["defaults"].clone();
    settings["agent"] = json!("mock");
    settings["use_docker"] = json!(false);
    settings["oracle_stack"] = json!("native");
    // Nothing is said of an endpoint yet: none is needed.
    assert_eq!(settings["endpoint_mode"], "oracle");
    let begun = app.get("start_run", &json!({ "settings": settings, "shakedown": true }));
    let run_ref = json!({ "folder": begun["folder"] });
    let over = app.until("get_live_run", &run_ref, |run| run["row"]["state"] == "finished");
    assert_eq!((&over["row"]["shakedown"], &over["row"]["turns"]), (&json!(true), &json!([3, 3])));
    let verdict = &over["row"]["verdict"];
    assert_eq!(
        (&verdict["works"], &verdict["passed"], &verdict["turns"]),
        (&json!(true), &json!(3), &json!(3))
    );
    assert_eq!(app.get("list_runs", &json!({}))["total"], 0);

    // It is one after a restart of the app as well; when it is old it goes, and nothing else that lies there.
    drop(app);
    let folder = PathBuf::from(begun["folder"].as_str().expect("a path"));
    let beside = folder.with_file_name("mock-1-99");
    std::fs::create_dir(&beside).expect("a folder");
    let app = Served::new(&home);
    let listed = app.get("list_live_runs", &json!({}));
    assert_eq!(listed["runs"][0]["shakedown"], true, "{listed}");
    assert_eq!(listed["runs"][0]["verdict"]["works"], true, "{listed}");
    assert_eq!(listed["runs"].as_array().expect("a list").len(), 1, "{listed}");
    drop(app);
    let record =
        std::fs::File::options().write(true).open(folder.join(".stamina/run.json")).expect("a record");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(72);
    record.set_modified(long_ago).expect("a time");
    let app = Served::new(&home);
    app.until("list_live_runs", &json!({}), |list| {
        list["runs"].as_array().is_some_and(Vec::is_empty) && !folder.exists()
    });
    assert!(beside.exists());
}

/// A smoke test that fails names the turn and the reason.
#[test]
fn a_smoke_test_says_what_does_not_work() {
    let home = TestHome::new();
    // The mock agent is a Python script; here Python is out of order.
    std::fs::create_dir(home.path("bin")).expect("a folder");
    let python = home.path("bin/python3");
    std::fs::write(&python, "#!/bin/sh\necho 'no module named site' >&2\nexit 3\n").expect("a script");
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).expect("it can be run");
    let path = format!("{}:{}", home.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    let app = Served::with_command(&home, |command| {
        command.env("PATH", path);
    });
    let mut settings = app.get("launch_form", &json!({}))["defaults"].clone();
    settings["agent"] = json!("mock");
    settings["use_docker"] = json!(false);
    settings["oracle_stack"] = json!("native");
    settings["attempt_limit"] = json!(5);
    let begun = app.get("start_run", &json!({ "settings": settings, "shakedown": true }));
    let run_ref = json!({ "folder": begun["folder"] });
    let over = app.until("get_live_run", &run_ref, |run| run["row"]["state"] == "finished");
    let verdict = &over["row"]["verdict"];
    assert_eq!(
        (&verdict["works"], &verdict["passed"], &verdict["turn"]),
        (&json!(false), &json!(0), &json!(1))
    );
    assert_eq!(verdict["reason"], "agent_error");
    assert!(
        verdict["message"].as_str().is_some_and(|message| message.contains("no module named site")),
        "{verdict}"
    );
    // One attempt is enough to know.
    assert_eq!(over["episodes"][0]["attempt"], 1);
}
