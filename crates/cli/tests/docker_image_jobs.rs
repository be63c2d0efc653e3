//! Images that the app builds and tests in background jobs, and that the command line builds and tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::app::{Served, TestHome, text};

/// Of the images that the tests need: the smallest, and the one of a real harness.
const IMAGE: (&str, &str) = ("base", "stamina/base:1");
const HARNESS: (&str, &str) = ("mini-swe-agent", "mini_swe");

/// Starts a job.
fn start(app: &Served, command: &str, request: &Value) -> Value {
    json!({ "job": app.get(command, request)["job"] })
}

/// The job once it has ended.
fn ended(app: &Served, job: &Value) -> Value {
    until(app, job, |job| job["state"] != "running")
}

fn until(app: &Served, job: &Value, wanted: impl Fn(&Value) -> bool) -> Value {
    let begun = std::time::Instant::now();
    loop {
        let now = app.get("get_job", job);
        if wanted(&now) {
            return now;
        }
        assert!(begun.elapsed().as_secs() < 120, "it never was as wanted: {now}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn lines(job: &Value) -> Vec<&str> {
    job["log"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect()
}

/// The version that a harness is pinned to.
fn pinned(home: &TestHome, harness: &str) -> String {
    let all = home.json(&["harnesses"]);
    let found = all.as_array().unwrap().iter().find(|known| known["name"] == harness).unwrap();
    found["version"].as_str().unwrap().to_owned()
}

#[test]
#[ignore = "needs a container engine"]
fn a_build_reports_its_steps_and_the_result_of_each_image() {
    let home = TestHome::new();
    let app = Served::new(&home);
    let job = start(&app, "build_images", &json!({ "names": [IMAGE.0, HARNESS.1] }));
    let done = ended(&app, &job);
    assert_eq!((&done["state"], &done["error"]), (&json!("done"), &Value::Null), "{done}");
    assert_eq!((&done["kind"], &done["title"]), (&json!("image_build"), &json!("Build 2 images")));
    assert_eq!(done["progress"], json!([200, 200]), "hundredths of an image");
    let log = lines(&done);
    assert_eq!(log[0], "building stamina/base:1");
    let steps = |image: &str| {
        let step = format!("{image}: step ");
        log.iter().filter(|line| line.starts_with(&step)).count()
    };
    let own_image = format!("stamina/{}:{}", HARNESS.0, pinned(&home, HARNESS.1));
    assert!(steps(IMAGE.1) > 2 && steps(&own_image) > 2, "{log:#?}");
    assert!(log.iter().any(|line| line.starts_with(&format!("built {own_image} in "))), "{log:#?}");
    let outcome = |name: &str, image: &str| json!({ "name": name, "ok": true, "message": image });
    assert_eq!(done["images"], json!([outcome(IMAGE.0, IMAGE.1), outcome(HARNESS.0, &own_image)]));
    assert_eq!(app.get("list_jobs", &json!({}))["jobs"][0]["job"], job["job"]);

    // What the page and the command line list then.
    let list = app.get("list_images", &json!({}));
    assert!(list["engine"].as_str().is_some_and(|engine| engine.contains("unix://")), "{list}");
    assert_eq!(list, home.json(&["images", "list"]));
    let found = list["images"].as_array().unwrap().iter().find(|image| image["name"] == HARNESS.0).unwrap();
    assert_eq!((&found["built"], &found["current"]), (&json!(true), &json!(true)), "{found}");
    assert_eq!((&found["image"], &found["harnesses"]), (&json!(own_image), &json!([HARNESS.1])));
    assert!(found["id"].as_str().is_some_and(|id| id.starts_with("sha256:")), "{found}");
    assert!(found["size"].as_u64() > Some(100_000_000), "{found}");
    let table = text(&home.stamina(&["images", "list"]).stdout);
    let row = table.lines().find(|row| row.starts_with(HARNESS.0)).unwrap_or_else(|| panic!("{table}"));
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!((words[1], words[2], words.last()), (own_image.as_str(), "built", Some(&HARNESS.1)), "{row}");

    // The command line says the same, its steps beside the answer.
    let built = home.stamina(&["images", "build", IMAGE.0, "--json"]);
    assert_eq!(built.status.code(), Some(0), "{}", text(&built.stderr));
    let answer: Value = serde_json::from_slice(&built.stdout).unwrap();
    assert_eq!(answer, json!([outcome(IMAGE.0, IMAGE.1)]));
    assert!(text(&built.stderr).contains("stamina/base:1: step 1 of "), "{}", text(&built.stderr));
}

#[test]
#[ignore = "needs a container engine"]
fn a_build_that_is_stopped_ends_though_the_engine_says_nothing() {
    let home = TestHome::new();
    let socket = home.path("engine.sock");
    silent_at(&socket, b"/build?");
    let address = format!("unix://{}", socket.display());
    let app = Served::with_command(&home, |command| {
        command.env("DOCKER_HOST", address);
    });
    let job = start(&app, "build_images", &json!({ "names": [IMAGE.0] }));
    let now = until(&app, &job, |job| !lines(job).is_empty());
    assert_eq!((&now["state"], lines(&now)), (&json!("running"), vec!["building stamina/base:1"]), "{now}");
    app.get("stop_job", &job);
    let stopped = ended(&app, &job);
    assert_eq!((&stopped["state"], &stopped["error"]), (&json!("stopped"), &Value::Null), "{stopped}");
    assert_eq!(stopped["images"], json!([]), "{stopped}");
}

#[test]
#[ignore = "needs a container engine"]
fn an_image_is_tested_against_the_pinned_version_of_its_harness() {
    let home = TestHome::new();
    let version = pinned(&home, HARNESS.1);
    let good = json!({ "name": HARNESS.0, "ok": true, "message": format!("version {version}") });
    let app = Served::new(&home);
    let tried = ended(&app, &start(&app, "test_images", &json!({ "names": [HARNESS.0] })));
    assert_eq!((&tried["state"], &tried["kind"]), (&json!("done"), &json!("image_test")), "{tried}");
    assert_eq!((&tried["progress"], &tried["images"]), (&json!([1, 1]), &json!([good])), "{tried}");
    let log = lines(&tried);
    let first = format!("{}: version {version}: ok: ", HARNESS.0);
    assert!(log[0].starts_with(&first) && log[0].ends_with(&version), "{log:#?}");
    assert!(!log[0].contains('\\'), "what takes more lines is one here: {log:#?}");
    for requirement in ["Flask", "Express", "timeout"] {
        assert!(
            log.iter().any(|line| line.contains(requirement) && line.ends_with(": ok")),
            "{requirement}: {log:#?}"
        );
    }

    assert_eq!(home.json(&["images", "test", HARNESS.0]), json!([good]));
    let answer = home.stamina(&["images", "test", HARNESS.0]);
    assert_eq!(text(&answer.stdout), format!("{}: ok: version {version}\n", HARNESS.0));

    // Those that were not begun are not tried after a stop.
    let job = start(&app, "test_images", &json!({ "names": [IMAGE.0, HARNESS.0] }));
    app.get("stop_job", &job);
    let stopped = ended(&app, &job);
    assert_eq!((&stopped["state"], &stopped["error"]), (&json!("stopped"), &Value::Null), "{stopped}");
    assert!(stopped["images"].as_array().is_some_and(|images| images.len() < 2), "{stopped}");

    // An image that is not what it has to be fails its job, with a sentence.
    let wrong = json!({ "names": [IMAGE.1], "harness": HARNESS.1 });
    let failed = ended(&app, &start(&app, "test_images", &wrong));
    assert_eq!((&failed["state"], &failed["images"][0]["ok"]), (&json!("failed"), &json!(false)), "{failed}");
    let error = failed["error"].as_str().unwrap();
    assert!(error.starts_with("These images do not work: stamina/base:1. "), "{error}");
}

#[test]
fn an_unknown_name_is_reported_before_a_job_begins() {
    let home = TestHome::new();
    let app = Served::new(&home);
    for command in ["build_images", "test_images"] {
        let refused = app.ask(command, &json!({ "names": ["base", "no-such-image"] })).unwrap_err();
        assert_eq!(refused["code"], "image.unknown", "{refused}");
        assert!(refused["message"].as_str().unwrap().contains("no-such-image"), "{refused}");
        assert!(refused["hint"].as_str().unwrap().contains("mini-swe-agent"), "{refused}");
    }
    let refused =
        app.ask("test_images", &json!({ "names": ["x:1"], "harness": "no_such_harness" })).unwrap_err();
    assert_eq!(refused["code"], "image.harness", "{refused}");
    assert_eq!(app.get("list_jobs", &json!({}))["jobs"], json!([]));
    for command in ["build", "test"] {
        let answer = home.stamina(&["images", command, "no-such-image"]);
        assert_ne!(answer.status.code(), Some(0));
        assert!(
            text(&answer.stderr).contains("no recipe for an image no-such-image"),
            "{}",
            text(&answer.stderr)
        );
    }
}

#[test]
fn without_an_engine_jobs_say_where_it_was_looked_for() {
    let home = TestHome::new();
    let address = format!("unix://{}", home.path("no-engine.sock").display());
    let app = Served::with_command(&home, |command| {
        command.env("DOCKER_HOST", &address);
    });
    for command in ["build_images", "test_images"] {
        let failed = ended(&app, &start(&app, command, &json!({ "names": [HARNESS.0] })));
        assert_eq!(failed["state"], "failed", "{failed}");
        let error = failed["error"].as_str().unwrap();
        assert!(error.contains("no-engine.sock") && error.contains("DOCKER_HOST"), "{error}");
    }
    // A list is one without it, too: what there is to build.
    let listed = home.command(&["images", "list", "--json"]).env("DOCKER_HOST", &address).output().unwrap();
    let list: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!((listed.status.code(), &list["engine"]), (Some(0), &Value::Null), "{list}");
    assert!(list["problem"].as_str().unwrap().contains("no-engine.sock"), "{list}");
    let images = list["images"].as_array().unwrap();
    assert!(images.len() > 2 && images.iter().all(|image| image["built"].is_null()), "{list}");
    let shown = home.command(&["images", "list"]).env("DOCKER_HOST", &address).output().unwrap();
    assert!(text(&shown.stderr).contains("no-engine.sock") && text(&shown.stdout).contains("unknown"));
}

/// The engine as somebody else sees it, at a socket: it takes all, but is silent once it was sent these bytes.
fn silent_at(socket: &Path, bytes: &'static [u8]) {
    let address = std::env::var("DOCKER_HOST").unwrap_or_default();
    let real = PathBuf::from(address.strip_prefix("unix://").unwrap_or("/var/run/docker.sock"));
    let listener = UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            // Both may leave at any time, which ends one connection and not the next.
            let (Ok(mut client), Ok(mut engine)) = (client, UnixStream::connect(&real)) else { continue };
            let (Ok(mut from_engine), Ok(mut to_client)) = (engine.try_clone(), client.try_clone()) else {
                continue;
            };
            std::thread::spawn(move || std::io::copy(&mut from_engine, &mut to_client));
            std::thread::spawn(move || {
                let (mut part, mut silent) = (vec![0; 1 << 16], false);
                while let Ok(read @ 1..) = client.read(&mut part) {
                    silent |= part[..read].windows(bytes.len()).any(|window| window == bytes);
                    if !silent && engine.write_all(&part[..read]).is_err() {
                        break;
                    }
                }
                drop(engine.shutdown(std::net::Shutdown::Both));
            });
        }
    });
}
