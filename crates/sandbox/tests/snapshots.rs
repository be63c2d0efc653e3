//! What an engine is asked, by an engine that only writes that down.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use sandbox::{Engine, Owner};
use serde_json::{Value, json};

/// Method and target of each request, with the escapes of JSON undone.
type Requests = Arc<Mutex<Vec<String>>>;

/// An engine with these images, which removes none of them.
fn engine(socket: &Path, images: Value) -> Requests {
    let listener = UnixListener::bind(socket).unwrap();
    let requests = Requests::default();
    let kept = Arc::clone(&requests);
    std::thread::spawn(move || {
        // Who asks may leave at any time.
        for stream in listener.incoming().flatten() {
            answer(stream, &images, &kept);
        }
    });
    requests
}

/// Answers one request. `None` = whoever asked has left before its end.
fn answer(mut stream: UnixStream, images: &Value, requests: &Mutex<Vec<String>>) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines().map_while(Result::ok);
    let first = lines.next()?;
    // No request of these tests has a body.
    if !lines.any(|line| line.is_empty()) {
        return None;
    }
    let mut words = first.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let target = target.replace("%3D", "=").replace("%22", "\"").replace("%3A", ":");
    requests.lock().unwrap().push(format!("{method} {target}"));
    let path = target.split('?').next().unwrap();
    let body = match (method, path.rsplit('/').next().unwrap()) {
        ("GET", "_ping") => "OK".to_owned(),
        ("GET", "version") => json!({ "Version": "1", "ApiVersion": "1.44", "Arch": "amd64" }).to_string(),
        ("GET", "info") => json!({}).to_string(),
        ("GET", "volumes") => json!({ "Volumes": [] }).to_string(),
        ("GET", "json") if path.ends_with("/images/json") => images.to_string(),
        _ => json!([]).to_string(),
    };
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
    write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).ok()
}

fn snapshot(run: &str, id: &str, kept_by: &Path) -> Value {
    let labels = json!({
        "org.stamina-lab.run": run,
        "org.stamina-lab.episode": "scenario_0",
        "org.stamina-lab.kept_by": kept_by,
    });
    json!({
        "Id": id, "ParentId": "", "RepoTags": [format!("stamina-snapshot:{run}-scenario_0-2")], "RepoDigests": [],
        "Created": 0, "Size": 1, "SharedSize": -1, "Labels": labels, "Containers": -1,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_snapshots_of_a_trial_are_removed_without_a_question_about_other_runs() {
    let room = tempfile::tempdir().unwrap();
    let kept_by = room.path().join("snapshot.json");
    let socket = room.path().join("engine.sock");
    // As an engine that does not filter would answer: only what is the trial's goes all the same.
    let images = json!([
        snapshot("0f3a5c77", "sha256:ours", &kept_by),
        snapshot("0f3a5c77", "sha256:copy", &room.path().join("copy.json")),
        snapshot("11111111", "sha256:other", &kept_by),
    ]);
    let requests = engine(&socket, images);
    let engine = Engine::connect_to(&format!("unix://{}", socket.display())).await.unwrap();
    requests.lock().unwrap().clear();
    for run in ["0f3a5c77", "0f3a5c77x00c0ffee"] {
        let owner = Owner { run: run.to_owned(), episode: "scenario_0".to_owned() };
        engine.remove_snapshots(&owner, &kept_by).await.unwrap();
        let requests = std::mem::take(&mut *requests.lock().unwrap());
        let (listings, others): (Vec<_>, Vec<_>) =
            requests.iter().partition(|request| request.contains("filters="));
        assert_eq!(listings.len(), 4, "containers, images, networks and volumes: {requests:?}");
        for listing in listings {
            assert!(listing.contains("\"org.stamina-lab.run=0f3a5c77\""), "{listing}");
        }
        assert!(others.len() == 1 && others[0].starts_with("DELETE "), "{others:?}");
        assert!(others[0].contains("/images/sha256:ours"), "{others:?}");
    }
}
