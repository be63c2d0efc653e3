//! Attempts that the endpoint ends, those whose harness reports success among them, and kills between their retries; without
//! containers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use runner::settings::{EndpointSettings, RunSettings};
use runner::{EndpointAttempts, Finish};
use scenario::ir::Schema;
use serde_json::Value;

use crate::common;
use crate::kept::KeptIfFailed;

/// The test that starts itself again.
const LEAVES_A_SERVER: &str =
    "finished_on_fault::a_passed_attempt_whose_harness_ends_on_a_broken_answer_stays_passed";
/// The same, and is killed.
const LOSES: &str =
    "finished_on_fault::an_attempt_that_is_killed_before_its_record_is_not_counted_as_lost_to_the_endpoint";
/// The same.
const RETRIES: &str = "finished_on_fault::a_killed_attempt_keeps_how_often_it_was_retried";
/// Where the process plays that has a stand-in for the command line.
const PLAYS: &str = "STAMINA_TEST_PLAYS";
/// Set in the stand-in for the command line: it serves what the simulated model leaves.
const SERVES: &str = "STAMINA_TEST_SERVES";
/// What the harness leaves.
const LEAVES_NOTES: &str = r#"open(os.path.join(sys.argv[2], "notes.txt"), "w").close()"#;

/// It asks twice, whatever comes, leaves a file and reports success.
const ASKS_TWICE: &str = r#"
name = "my_agent"
title = "My agent"
version = "1"
image = "example/my-agent:1"
api = "chat_completions"
probe = ["true"]

[commands]
first = ["python3", "-c", '''
import json, os, sys, urllib.request
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Do it."}]}).encode()
headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["MY_AGENT_KEY"]}
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
for _ in range(2):
    try:
        opener.open(urllib.request.Request(sys.argv[1] + "/v1/chat/completions", body, headers)).read()
    except Exception as error:
        print(repr(error), file=sys.stderr)
open(os.path.join(sys.argv[2], "notes.txt"), "w").close()
print(json.dumps({"event": "end"}))
''', "{base_url}", "{workspace}", "{prompt_file}"]

[env]
MY_AGENT_KEY = "{key}"

[session]
from = "none"

[success]
exit_code = 0
last_line = { event = "end" }
"#;

/// An endpoint that answers the first of two requests and breaks the answer to the second off after its first word.
fn breaks_every_second() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut requests = 0_u32;
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            if common::read(&mut stream).is_none() {
                continue;
            }
            requests += 1;
            let word = r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"I"},"finish_reason":null}]}"#;
            let (kind, length, body) = if requests % 2 == 1 {
                let body = common::first_call();
                ("application/json", body.len(), body)
            } else {
                // A length that is not reached: the client sees a broken connection.
                ("text/event-stream", 100_000, format!("data: {word}\n\n"))
            };
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
        }
    });
    format!("http://{address}")
}

/// A run with one attempt of this harness, whose second request is answered with a broken answer.
fn settings(room: &Path, harness: &str) -> RunSettings {
    let (folder, file) = (room.join("run"), room.join("my.toml"));
    std::fs::write(&file, harness).unwrap();
    let mut settings = common::settings(&folder, &["restful_server_gen_iterative.attempt_limit=1"]);
    let base_url = breaks_every_second();
    settings.endpoint = EndpointSettings::Gateway { base_url, key: gateway::keys::KeySource::None };
    settings.model = Some("m".to_owned());
    "custom".clone_into(&mut settings.agent);
    settings.harness_file = Some(file);
    settings
}

/// The first attempt that a run records.
fn first_attempt(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("scenario_0/trajectory.json")).unwrap();
    let trajectory: Value = serde_json::from_str(&text).unwrap();
    trajectory["turns"][0]["attempts"][0].clone()
}

/// It may be a request beside the work, such as one for a title. So the attempt is retried a few times, and then counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_attempt_whose_harness_reports_success_after_a_broken_answer_is_retried() {
    let room = tempfile::tempdir().unwrap();
    let finish =
        Box::pin(common::run_without_waits(settings(room.path(), ASKS_TWICE), Arc::new(|_| {}))).await;
    assert_eq!(finish, Finish::Finished);
    let folder = room.path().join("run");
    let counts = runner::live::read(&folder).unwrap().endpoint;
    assert_eq!(counts, Some(EndpointAttempts { retried: 3, lost: 0 }));
    let attempt = first_attempt(&folder);
    // It left no server.
    assert_eq!(attempt["repeats"], 3, "{attempt}");
    assert_eq!(attempt["end_reason"], "build_failed", "{attempt}");
    assert_eq!(attempt["verdict"], "error", "{attempt}");
}

/// Serves the schema of the workspace on the socket that is standard input.
fn serve() {
    let schema = Schema::from_yaml(&std::fs::read_to_string("schema.yaml").unwrap()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let world = scenario::reference::World::new(Arc::new(schema));
        let _serving = scenario::reference::serve_on_stdin(world).unwrap();
        std::future::pending::<()>().await;
    });
}

/// Plays a run of the simulated model, and then one whose harness leaves the same server.
async fn play(room: &Path) {
    let solved = room.join("solved");
    let finish = Box::pin(runner::run(common::settings(&solved, &[]), Arc::new(|_| {}))).await.unwrap();
    assert_eq!(finish, Finish::Finished);
    let attempt = first_attempt(&solved);
    assert_eq!(attempt["verdict"], "passed", "{attempt}");
    let code = solved.join("scenario_0/agent_code/turn_1_attempt_1");
    let source = code.to_string_lossy();
    let leaves_server =
        format!("import shutil; shutil.copytree({source:?}, sys.argv[2], dirs_exist_ok=True)");
    let harness = ASKS_TWICE.replace(LEAVES_NOTES, &leaves_server);
    assert_ne!(harness, ASKS_TWICE);
    let finish = Box::pin(common::run_without_waits(settings(room, &harness), Arc::new(|_| {}))).await;
    assert_eq!(finish, Finish::Finished);
}

/// Its tests come first. The processes that play and that serve are this test again: without containers the command line starts a
/// server.
#[test]
fn a_passed_attempt_whose_harness_ends_on_a_broken_answer_stays_passed() {
    if std::env::var_os(SERVES).is_some() {
        return serve();
    }
    if let Some(room) = std::env::var_os(PLAYS) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        return runtime.unwrap().block_on(play(Path::new(&room)));
    }
    let room = tempfile::tempdir().unwrap();
    let command_line = room.path().join("stamina");
    let executable = std::env::current_exe().unwrap();
    let script = format!(
        "#!/bin/sh\nexport {SERVES}=yes\nexec '{}' {LEAVES_A_SERVER} --exact --nocapture\n",
        executable.display()
    );
    std::fs::write(&command_line, script).unwrap();
    std::fs::set_permissions(&command_line, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(executable);
    command.args([LEAVES_A_SERVER, "--exact", "--nocapture"]).stdin(Stdio::null());
    let output = command.env(PLAYS, room.path()).env("STAMINA_BIN", &command_line).output().unwrap();
    let printed =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");

    let folder = room.path().join("run");
    let counts = runner::live::read(&folder).unwrap().endpoint;
    assert_eq!(counts, Some(EndpointAttempts { retried: 0, lost: 0 }));
    let attempt = first_attempt(&folder);
    assert_eq!(attempt["verdict"], "passed", "{attempt}");
    assert!(attempt["repeats"].is_null(), "{attempt}");
}

/// Plays in this process, which is the test again.
fn play_here(settings: RunSettings) -> Finish {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(common::run_without_waits(settings, Arc::new(|_| {})))
}

/// Starts the process that plays for a test, and waits until it is killed at a point (`src/kill_points.rs`).
fn play_until_killed(test: &str, room: &Path, point: &str) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).stdin(Stdio::null());
    let output = command.env(PLAYS, room).env("STAMINA_KILL_AT", point).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), None, "it ended; a release build has no such points: {printed}");
}

/// Its harness reports that it failed, so each attempt is the endpoint's. A resume plays the last one again.
#[test]
fn an_attempt_that_is_killed_before_its_record_is_not_counted_as_lost_to_the_endpoint() {
    let harness = ASKS_TWICE.replace(r#"print(json.dumps({"event": "end"}))"#, "sys.exit(1)");
    assert_ne!(harness, ASKS_TWICE);
    if let Some(room) = std::env::var_os(PLAYS) {
        play_here(settings(Path::new(&room), &harness));
        return;
    }
    let counts = |room: &Path| runner::live::read(&room.join("run")).unwrap().endpoint;
    let calm = tempfile::tempdir().unwrap();
    // Nothing else was played, so no episode was ended by its agent.
    let finish = play_here(settings(calm.path(), &harness));
    assert!(matches!(finish, Finish::Failed { .. }), "{finish:?}");
    let attempt = first_attempt(&calm.path().join("run"));
    assert_eq!((&attempt["end_reason"], &attempt["repeats"]), (&"endpoint".into(), &3.into()), "{attempt}");
    assert_eq!(counts(calm.path()), Some(EndpointAttempts { retried: 3, lost: 1 }));

    let killed = KeptIfFailed::new();
    play_until_killed(LOSES, killed.path(), "about to record:1");
    assert_eq!(counts(killed.path()), Some(EndpointAttempts { retried: 3, lost: 0 }));
}

/// What is retried until the kill, and its retries, are those of one attempt.
#[test]
fn a_killed_attempt_keeps_how_often_it_was_retried() {
    if let Some(room) = std::env::var_os(PLAYS) {
        let folder = Path::new(&room).join("run");
        let mut settings = common::settings(&folder, &["restful_server_gen_iterative.attempt_limit=1"]);
        let base_url = common::refuses("400 Bad Request", "{}");
        settings.endpoint = EndpointSettings::Gateway { base_url, key: gateway::keys::KeySource::None };
        settings.model = Some("m".to_owned());
        play_here(settings);
        return;
    }
    let room = KeptIfFailed::new();
    let folder = room.path().join("run");
    play_until_killed(RETRIES, room.path(), "agent about to start:3");
    let before = runner::live::read(&folder).unwrap().endpoint.unwrap();
    assert!(before.retried > 0, "{before:?}");

    // Without containers nothing is resumed that asks a real endpoint: the simulated model takes over.
    let record = folder.join(".stamina/run.json");
    let mut run: Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    run["settings"]["endpoint"] = serde_json::json!({ "mode": "oracle" });
    std::fs::write(&record, run.to_string()).unwrap();
    let known = runner::origin::identity(&folder).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let resumed = runner::resume(folder.clone(), Vec::new(), known, Arc::new(|_| {}));
    assert_eq!(runtime.block_on(resumed).unwrap(), Finish::Finished);
    let attempt = first_attempt(&folder);
    assert_eq!(attempt["repeats"], before.retried, "{attempt}");
}
