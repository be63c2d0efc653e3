//! Images as the app builds and tries them, as jobs in the background, and as the command line does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use app::{Room, Served, text};
use serde_json::{Value, json};

mod app;

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
fn pinned(room: &Room, harness: &str) -> String {
    let all = room.json(&["harnesses"]);
    let found = all.as_array().unwrap().iter().find(|known| known["name"] == harness).unwrap();
    found["version"].as_str().unwrap().to_owned()
}

#[test]
#[ignore = "needs a container engine"]
fn a_build_tells_its_steps_and_how_each_image_came_out() {
    let room = Room::new();
    let app = Served::new(&room);
    let job = start(&app, "build_images", &json!({ "names": [IMAGE.0, HARNESS.1] }));
    let done = ended(&app, &job);
    assert_eq!((&done["state"], &done["error"]), (&json!("done"), &Value::Null), "{done}");
    assert_eq!((&done["kind"], &done["title"]), (&json!("image_build"), &json!("Build 2 images")));
    assert_eq!(done["progress"], json!([200, 200]), "hundredths of an image");
    let said = lines(&done);
    assert_eq!(said[0], "building stamina/base:1");
    let steps = |image: &str| {
        let step = format!("{image}: step ");
        said.iter().filter(|line| line.starts_with(&step)).count()
    };
    let own = format!("stamina/{}:{}", HARNESS.0, pinned(&room, HARNESS.1));
    assert!(steps(IMAGE.1) > 2 && steps(&own) > 2, "{said:#?}");
    assert!(said.iter().any(|line| line.starts_with(&format!("built {own} in "))), "{said:#?}");
    let outcome = |name: &str, image: &str| json!({ "name": name, "ok": true, "message": image });
    assert_eq!(done["images"], json!([outcome(IMAGE.0, IMAGE.1), outcome(HARNESS.0, &own)]));
    assert_eq!(app.get("list_jobs", &json!({}))["jobs"][0]["job"], job["job"]);

    // What the page and the command line list then.
    let list = app.get("list_images", &json!({}));
    assert!(list["engine"].as_str().is_some_and(|engine| engine.contains("unix://")), "{list}");
    assert_eq!(list, room.json(&["images", "list"]));
    let found = list["images"].as_array().unwrap().iter().find(|image| image["name"] == HARNESS.0).unwrap();
    assert_eq!((&found["built"], &found["current"]), (&json!(true), &json!(true)), "{found}");
    assert_eq!((&found["image"], &found["harnesses"]), (&json!(own), &json!([HARNESS.1])));
    assert!(found["id"].as_str().is_some_and(|id| id.starts_with("sha256:")), "{found}");
    assert!(found["size"].as_u64() > Some(100_000_000), "{found}");
    let table = text(&room.stamina(&["images", "list"]).stdout);
    let row = table.lines().find(|row| row.starts_with(HARNESS.0)).unwrap_or_else(|| panic!("{table}"));
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!((words[1], words[2], words.last()), (own.as_str(), "built", Some(&HARNESS.1)), "{row}");

    // The command line says the same, its steps beside the answer.
    let built = room.stamina(&["images", "build", IMAGE.0, "--json"]);
    assert_eq!(built.status.code(), Some(0), "{}", text(&built.stderr));
    let told: Value = serde_json::from_slice(&built.stdout).unwrap();
    assert_eq!(told, json!([outcome(IMAGE.0, IMAGE.1)]));
    assert!(text(&built.stderr).contains("stamina/base:1: step 1 of "), "{}", text(&built.stderr));
}

#[test]
#[ignore = "needs a container engine"]
fn a_build_that_is_stopped_ends_though_the_engine_says_nothing() {
    let room = Room::new();
    let socket = room.path("engine.sock");
    silent_at(&socket, b"/build?");
    let address = format!("unix://{}", socket.display());
    let app = Served::of(&room, |command| {
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
fn an_image_is_tried_against_the_version_that_its_harness_is_pinned_to() {
    let room = Room::new();
    let version = pinned(&room, HARNESS.1);
    let good = json!({ "name": HARNESS.0, "ok": true, "message": format!("version {version}") });
    let app = Served::new(&room);
    let tried = ended(&app, &start(&app, "test_images", &json!({ "names": [HARNESS.0] })));
    assert_eq!((&tried["state"], &tried["kind"]), (&json!("done"), &json!("image_test")), "{tried}");
    assert_eq!((&tried["progress"], &tried["images"]), (&json!([1, 1]), &json!([good])), "{tried}");
    let said = lines(&tried);
    let first = format!("{}: version {version}: ok: ", HARNESS.0);
    assert!(said[0].starts_with(&first) && said[0].ends_with(&version), "{said:#?}");
    assert!(!said[0].contains('\\'), "what takes more lines is one here: {said:#?}");
    for what in ["Flask", "Express", "timeout"] {
        assert!(said.iter().any(|line| line.contains(what) && line.ends_with(": ok")), "{what}: {said:#?}");
    }

    assert_eq!(room.json(&["images", "test", HARNESS.0]), json!([good]));
    let told = room.stamina(&["images", "test", HARNESS.0]);
    assert_eq!(text(&told.stdout), format!("{}: ok: version {version}\n", HARNESS.0));

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
fn a_name_that_is_not_there_is_told_before_a_job_begins() {
    let room = Room::new();
    let app = Served::new(&room);
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
        let told = room.stamina(&["images", command, "no-such-image"]);
        assert_ne!(told.status.code(), Some(0));
        assert!(
            text(&told.stderr).contains("no recipe for an image no-such-image"),
            "{}",
            text(&told.stderr)
        );
    }
}

#[test]
fn without_an_engine_jobs_say_where_it_was_looked_for() {
    let room = Room::new();
    let address = format!("unix://{}", room.path("no-engine.sock").display());
    let app = Served::of(&room, |command| {
        command.env("DOCKER_HOST", &address);
    });
    for command in ["build_images", "test_images"] {
        let failed = ended(&app, &start(&app, command, &json!({ "names": [HARNESS.0] })));
        assert_eq!(failed["state"], "failed", "{failed}");
        let error = failed["error"].as_str().unwrap();
        assert!(error.contains("no-engine.sock") && error.contains("DOCKER_HOST"), "{error}");
    }
    // A list is one without it, too: what there is to build.
    let listed = room.command(&["images", "list", "--json"]).env("DOCKER_HOST", &address).output().unwrap();
    let list: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!((listed.status.code(), &list["engine"]), (Some(0), &Value::Null), "{list}");
    assert!(list["problem"].as_str().unwrap().contains("no-engine.sock"), "{list}");
    let images = list["images"].as_array().unwrap();
    assert!(images.len() > 2 && images.iter().all(|image| image["built"].is_null()), "{list}");
    let shown = room.command(&["images", "list"]).env("DOCKER_HOST", &address).output().unwrap();
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
