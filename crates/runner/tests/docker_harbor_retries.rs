//! Trials of tasks in real containers that are retried for their endpoint: one that sends no byte, one that fails at a later step, and
//! a kill before the container of the retry is there. Which faults are retried, and how often, is in
//! `docker_harbor_tasks/endpoint_faults.rs`.
//!
//! The harness is a stand-in that asks its model once ([`ASKS_ONCE`]): it starts at once, so that a limit of seconds is enough for it,
//! and the number of a request says which attempt has sent it. How real harnesses meet a fault is in `docker_faults.rs`.
//!
//! This program is two: the tests, and with [`PLAYS`] the process that plays a run and kills itself at a named point of the code
//! (`src/kill_points.rs`).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use model::{Episode, Verdict};
use runner::settings::{EndpointSettings, RunSettings};
use runner::{EndpointAttempts, Event, Finish};
use sandbox::images::HARNESS_PROGRAMS;
use serde_json::Value;

use crate::common::{self, episodes, keep, run_without_waits_of};
use crate::kept::KeptIfFailed;
use crate::tasks_of_harbor::{HARNESS, REWARD, settings, task};

/// The variable that names the folder in which the process plays a run.
const PLAYS: &str = "STAMINA_TEST_PLAYS";
/// The test by whose name that process starts.
const KILLED: &str =
    "docker_harbor_retries::a_trial_that_is_killed_before_its_retry_has_a_container_is_played_by_a_resume";

/// In place of mini-swe-agent in the container of a task: it sends one request, and does its step where the answer comes. It leaves a
/// line before it asks and one after the answer.
const ASKS_ONCE: &str = r#"#!/bin/bash
url=${OPENAI_BASE_URL#http://}
host=${url%%/*}
while [ $# -gt 0 ]; do
    if [ "$1" = -o ]; then out=$2; fi
    shift
done
rm -f "$out"
echo x >> /app/begun
body='{"model":"m","messages":[{"role":"user","content":"Do it."}]}'
exec 3<> "/dev/tcp/${host%:*}/${host#*:}" || exit 1
printf 'POST /%s/chat/completions HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %s\r\nConnection: close\r\n\r\n%s' \
    "${url#*/}" "$host" "$OPENAI_API_KEY" "${#body}" "$body" >&3
read -r _ status _ <&3
[ "$status" = 200 ] || exit 1
while read -r _ <&3; do :; done
echo x >> /app/played
mkdir -p "${out%/*}"
echo '{"info":{"exit_status":"Submitted"},"messages":[]}' > "$out"
"#;

/// What the endpoint sends to an agent and to a probe: status and body.
const ANSWERED: (&str, &str) = (
    "200 OK",
    r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}"#,
);
const REFUSED: (&str, &str) = ("401 Unauthorized", r#"{"error":{"message":"the key may not do this"}}"#);

/// How the endpoint fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It sends no byte, and answers the probe.
    Silence,
    /// It refuses the key, and so the probe.
    Refusal,
}

fn answer(stream: &mut TcpStream, (status, body): (&str, &str)) {
    let length = body.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
}

/// The address of an endpoint that fails at the second request of an agent, and at no other.
fn fails_once(fault: Fault) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut requests, mut refuses_probe) = (0_u32, false);
        // A connection on which nothing is said stays open.
        let mut held = Vec::new();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let Some(request) = common::read(&mut stream) else { continue };
            if request.contains("answer with the word yes") {
                let is_refused = std::mem::take(&mut refuses_probe);
                answer(&mut stream, if is_refused { REFUSED } else { ANSWERED });
                continue;
            }
            requests += 1;
            match fault {
                Fault::Silence if requests == 2 => held.push(stream),
                Fault::Refusal if requests == 2 => {
                    refuses_probe = true;
                    answer(&mut stream, REFUSED);
                }
                _ => answer(&mut stream, ANSWERED),
            }
        }
    });
    format!("http://{address}")
}

/// Writes a task that is played by [`ASKS_ONCE`]. Its step `n` passes where each step was begun and played once, as far as its
/// container knows.
fn asking_task(tasks: &Path, name: &str, toml: &str, steps: usize) {
    let judge = |number: usize| {
        format!(
            "[ $(wc -l < /app/begun) = {number} ] && [ $(wc -l < /app/played) = {number} ] && echo 1 {REWARD} || echo 0 {REWARD}"
        )
    };
    let judges: Vec<String> = (1..=steps).map(judge).collect();
    let steps: Vec<(&str, &str)> = judges.iter().map(|judge| ("true", judge.as_str())).collect();
    task(tasks, name, toml, &steps);
    // What is there is a link to the harness itself, which stays.
    let program = format!("{HARNESS_PROGRAMS}/mini");
    let setup = format!("rm -f {program}\ncat > {program} <<'END'\n{ASKS_ONCE}END\nchmod +x {program}\n");
    let workdir = tasks.join(name).join("steps/s0/workdir");
    fs::create_dir_all(&workdir).unwrap();
    fs::write(workdir.join("setup.sh"), setup).unwrap();
}

/// Settings of a run whose harness asks this endpoint, one trial after the other.
fn asking_settings(folder: &Path, tasks: &Path, base_url: String, more: &[&str]) -> RunSettings {
    let mut asking = settings(folder, tasks, &[&HARNESS[..], &["batch_size=1"], more].concat());
    asking.endpoint = EndpointSettings::Gateway { base_url, key: gateway::keys::KeySource::None };
    asking.model = Some("m".to_owned());
    asking
}

/// The finished requests of a run, in the order in which they ended.
fn requests(folder: &Path) -> Vec<Value> {
    let log = fs::read_to_string(folder.join(".stamina/gateway.jsonl")).unwrap();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["route"].is_string()).collect()
}

fn is_probe(request: &Value) -> bool {
    request["probe"] == true
}

fn counts(folder: &Path) -> Option<EndpointAttempts> {
    runner::live::read(folder).unwrap().endpoint
}

fn verdicts(episode: &Episode) -> Vec<Vec<Verdict>> {
    let turn_verdicts = |turn: &model::Turn| -> Vec<Verdict> {
        turn.attempts.iter().map(|attempt| attempt.verdict).collect()
    };
    episode.turns.iter().map(turn_verdicts).collect()
}

/// How often the attempts of an episode were retried without a record, by step.
fn repeats(episode: &Episode) -> Vec<u64> {
    let attempts = episode.turns.iter().flat_map(|turn| &turn.attempts);
    attempts.map(|attempt| attempt.extra.get("repeats").and_then(Value::as_u64).unwrap_or(0)).collect()
}

/// What a run has in the engine.
async fn leftovers(folder: &Path) -> Vec<sandbox::Leftover> {
    let engine = sandbox::Engine::connect().await.unwrap();
    let id = runner::live::read(folder).unwrap().id;
    engine.leftovers().await.unwrap().into_iter().filter(|left| left.run == id).collect()
}

/// What came of a trial whose endpoint was silent.
#[derive(Debug, PartialEq)]
struct SilentTrial {
    verdicts: Vec<Vec<Verdict>>,
    repeats: Vec<u64>,
    /// How the endpoint answered the probes.
    probes: Vec<u64>,
    counts: Option<EndpointAttempts>,
}

/// Plays two trials, in whichever order. The endpoint sends no byte to the first attempt of the later one. The earlier one was
/// answered, so the probe decides.
async fn played_in_silence(seconds: u32) -> SilentTrial {
    let room = KeptIfFailed::new();
    let (tasks, folder) = (room.path().join("tasks"), room.path().join("run"));
    for name in ["a", "b"] {
        asking_task(&tasks, name, &format!("[agent]\ntimeout_sec = {seconds}.0\n"), 1);
    }
    let asking = asking_settings(&folder, &tasks, fails_once(Fault::Silence), &[]);
    let (on_event, _) = keep();
    let finish = Box::pin(run_without_waits_of(&["scenario_0", "scenario_1"], asking, on_event)).await;
    assert_eq!(finish, Finish::Finished);
    let found = episodes(&folder);
    let requests = requests(&folder);
    let first = requests[0]["episode"].as_str().unwrap().to_owned();
    let (answered, silent) = if first == "scenario_0" { (0, 1) } else { (1, 0) };
    assert_eq!(verdicts(&found[answered]), [[Verdict::Passed]], "{:?}", found[answered]);
    let probes = requests.iter().filter(|request| request["episode"] != first && is_probe(request));
    SilentTrial {
        verdicts: verdicts(&found[silent]),
        repeats: repeats(&found[silent]),
        probes: probes.map(|probe| probe["status"].as_u64().unwrap()).collect(),
        counts: counts(&folder),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_trial_whose_endpoint_sends_no_byte_is_retried_and_has_not_run_out_of_time() {
    let expected = SilentTrial {
        verdicts: vec![vec![Verdict::Passed]],
        repeats: vec![1],
        probes: vec![200],
        counts: Some(EndpointAttempts { retried: 1, lost: 0 }),
    };
    let first_try = Box::pin(played_in_silence(3)).await;
    if first_try != expected {
        // On a busy machine the limit may strike before the only request of an attempt is out, which says nothing of the endpoint.
        assert_eq!(Box::pin(played_in_silence(60)).await, expected, "and within 3 s {first_try:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_retry_at_a_later_step_begins_from_the_snapshot_of_that_step() {
    let room = KeptIfFailed::new();
    let (tasks, folder) = (room.path().join("tasks"), room.path().join("run"));
    asking_task(&tasks, "chain", "", 2);
    let more = ["harbor.snapshots=each_step"];
    let asking = asking_settings(&folder, &tasks, fails_once(Fault::Refusal), &more);
    let (on_event, events) = keep();
    let finish = Box::pin(run_without_waits_of(&["scenario_0"], asking, on_event)).await;
    assert_eq!(finish, Finish::Finished);
    let episode = episodes(&folder).remove(0);
    // The second step finds what the first one left, and not the line that its own first attempt left before it asked.
    assert_eq!(verdicts(&episode), [[Verdict::Passed], [Verdict::Passed]], "{episode:?}");
    assert_eq!(repeats(&episode), [0, 1], "{episode:?}");
    let second = &episode.turns[1].attempts[0];
    assert_eq!(second.extra.get("resumed").and_then(Value::as_bool), Some(true), "{second:?}");
    assert_eq!(counts(&folder), Some(EndpointAttempts { retried: 1, lost: 0 }));
    // The first step is played once.
    let asked_turns: Vec<u64> = requests(&folder)
        .iter()
        .filter(|request| !is_probe(request))
        .filter_map(|request| request["turn"].as_u64())
        .collect();
    assert_eq!(asked_turns, [1, 2, 2]);
    let turn_of_attempt = |event: &Event| match event {
        Event::Attempt { turn, .. } => Some(*turn),
        _ => None,
    };
    let recorded_turns: Vec<u32> = events.lock().unwrap().iter().filter_map(turn_of_attempt).collect();
    assert_eq!(recorded_turns, [1, 2]);
    assert_eq!(leftovers(&folder).await, [], "a trial that is over keeps no snapshot");
}

/// Begins the run, or continues it; exits with its code.
fn play(room: &Path) -> ! {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let folder = room.join("run");
    let finish = runtime.block_on(async {
        let (on_event, _) = keep();
        if folder.join(".stamina/run.json").exists() {
            let known = runner::origin::identity(&folder).unwrap();
            return runner::resume(folder, Vec::new(), known, on_event).await.unwrap();
        }
        let base_url = fs::read_to_string(room.join("endpoint")).unwrap();
        let asking = asking_settings(&folder, &room.join("tasks"), base_url, &[]);
        Box::pin(run_without_waits_of(&["scenario_0", "scenario_1"], asking, on_event)).await
    });
    std::process::exit(i32::from(finish.code()));
}

/// Starts the process that plays; the code with which it ended. `None` = it was killed.
fn start(room: &Path, kill_at: Option<&str>) -> Option<i32> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([KILLED, "--exact", "--ignored", "--nocapture"]).env(PLAYS, room);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    if let Some(point) = kill_at {
        command.env("STAMINA_KILL_AT", point);
    }
    command.status().unwrap().code()
}

/// What is recorded of a trial; `None` = nothing.
fn recorded(folder: &Path, scenario: u32) -> Option<String> {
    fs::read_to_string(folder.join(format!("scenario_{scenario}/trajectory.json"))).ok()
}

#[test]
#[ignore = "needs a container engine"]
// docs/security.md: Tasks of Harbor
fn a_trial_that_is_killed_before_its_retry_has_a_container_is_played_by_a_resume() {
    if let Some(room) = std::env::var_os(PLAYS) {
        play(Path::new(&room));
    }
    let kept = KeptIfFailed::new();
    let (room, folder) = (kept.path(), kept.path().join("run"));
    let tasks = room.join("tasks");
    asking_task(&tasks, "a", "", 1);
    asking_task(&tasks, "b", "", 1);
    // It outlives the process that is killed.
    fs::write(room.join("endpoint"), fails_once(Fault::Refusal)).unwrap();
    let killed = start(room, Some("container about to be opened again:1"));
    assert_eq!(killed, None, "it ended; a release build has no such points");
    // The trial that is played first is recorded, and of the other one that its attempt was retried. Either may be the first.
    let first_number = u32::from(requests(&folder)[0]["episode"] == "scenario_1");
    let second_number = 1 - first_number;
    let first = recorded(&folder, first_number).unwrap();
    let second: Value =
        recorded(&folder, second_number).map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
    let attempts =
        second["turns"].as_array().into_iter().flatten().filter_map(|turn| turn["attempts"].as_array());
    assert_eq!(attempts.flatten().count(), 0, "{second}");
    let retried = Some(EndpointAttempts { retried: 1, lost: 0 });
    assert_eq!(counts(&folder), retried);
    let log = || fs::read_to_string(folder.join(".stamina/gateway.jsonl")).unwrap();
    let before = log();

    assert_eq!(start(room, None), Some(0));
    assert_eq!(recorded(&folder, first_number).unwrap(), first, "what is recorded stays");
    assert!(log().starts_with(&before), "and so does what the attempt before the kill has spent");
    // Its container was a new one: nothing of that attempt was in it.
    let found = episodes(&folder);
    let passed: Vec<_> = found.iter().map(verdicts).collect();
    assert_eq!(passed, [[[Verdict::Passed]], [[Verdict::Passed]]], "{found:?}");
    assert_eq!(counts(&folder), retried, "it is counted once");
    let repeated = [first_number, second_number].map(|number| repeats(&found[number as usize]));
    assert_eq!(repeated, [[0], [1]], "the retry before the kill is recorded");
    let asked_episodes: Vec<Value> = requests(&folder)
        .into_iter()
        .filter(|request| !is_probe(request))
        .map(|request| request["episode"].clone())
        .collect();
    let expected = [first_number, second_number, second_number].map(|number| format!("scenario_{number}"));
    assert_eq!(asked_episodes, expected, "the first trial is played once");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert_eq!(runtime.block_on(leftovers(&folder)), [], "nothing of the run is left in the engine");
}
