//! Runs in real containers: the mock agent with the simulated model, in the base image; one with a real agent.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on has failed")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ingest::format_trait::Format as _;
use model::TurnState;
use runner::settings::RunSettings;
use runner::{Event, Finish, OnEvent};

use crate::common::{self, episodes, keep};

/// In containers, two episodes of two turns.
fn settings(folder: &Path, more: &[&str]) -> RunSettings {
    let always = [
        "use_docker=true",
        "restful_server_gen_iterative.n_scenarios=2",
        "restful_server_gen_iterative.n_turns=2",
        "restful_server_gen_iterative.num_changes_per_turn=2",
        "limits.cpus=1",
    ];
    common::settings(folder, &[&always, more].concat())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn an_able_model_passes_every_turn_in_containers() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("able");
    let settings = settings(&folder, &["batch_size=2"]);
    let (on_event, events) = keep();
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let episodes = episodes(&folder);
    assert_eq!(episodes.len(), 2);
    for episode in &episodes {
        assert_eq!(episode.stamina(), 2, "{:?}", episode.end());
    }
    let mut own_times: Vec<f64> = Vec::new();
    for event in events.lock().unwrap().iter() {
        if let Event::Attempt { own_seconds, agent_seconds, test_seconds, tokens, .. } = event {
            println!("own {own_seconds:.2} s, agent {agent_seconds:?}, tests {test_seconds:?}");
            assert!(tokens.input.is_some_and(|input| input > 0));
            own_times.push(*own_seconds);
        }
    }
    assert_eq!(own_times.len(), 4);
    // Taken over a busy machine; the benchmark holds the budget of 1 s.
    assert!(own_times.iter().all(|seconds| *seconds < 20.0), "{own_times:?}");
}

/// Where the settings open the network there is no relay: the gateway listens on a bridge.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn with_an_open_network_agents_reach_the_gateway_too() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("open");
    let pack_settings =
        ["restful_server_gen_iterative.n_scenarios=1", "restful_server_gen_iterative.n_turns=1"];
    let settings = settings(&folder, &[&pack_settings[..], &["limits.network=open"]].concat());
    let (on_event, _) = keep();
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let episode = episodes(&folder).into_iter().next().unwrap();
    assert_eq!(episode.stamina(), 1, "{:?}", episode.end());
    assert!(episode.turns[0].attempts[0].tokens.input.is_some_and(|input| input > 0), "the gateway counted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_stopped_run_continues_in_the_same_session() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("stopped");
    let settings = settings(&folder, &["oracle.defect_rate=1", "oracle.repair=1"]);
    let session_path = folder.clone();
    let stop_at_first: OnEvent = Arc::new(move |event| {
        if matches!(event, Event::Attempt { .. }) {
            let control_request = runner::control::ControlRequest { stop: true, ..Default::default() };
            runner::control::write(&session_path, &control_request).unwrap();
        }
    });
    assert_eq!(runner::run(settings, stop_at_first).await.unwrap(), Finish::Stopped);
    let live = runner::live::read(&folder).unwrap();
    assert_eq!(live.state, runner::live::RunState::Ended { finish: Finish::Stopped });
    let before: usize = episodes(&folder).iter().flat_map(|e| &e.turns).map(|turn| turn.attempts.len()).sum();
    assert!(before >= 1);
    // The mock agent keeps its messages in HOME, which goes when the episode is over.
    let session_path = folder.join(".stamina/state/scenario_0/live/home/.stamina/mock_session.json");
    let session = Arc::new(Mutex::new(String::new()));
    let (keep, events) = keep();
    let last = session.clone();
    let on_event: OnEvent = Arc::new(move |event| {
        keep(event);
        if matches!(event, Event::Attempt { episode, .. } if episode == "scenario_0") {
            *last.lock().unwrap() = std::fs::read_to_string(&session_path).unwrap();
        }
    });
    let known = runner::origin::identity(&folder).unwrap();
    let change = vec!["batch_size=2".to_owned()];
    let finish = runner::resume(folder.clone(), change, known, on_event).await.unwrap();
    assert_eq!(finish, Finish::Finished);
    assert!(matches!(events.lock().unwrap()[0], Event::Started { resumed: true, .. }));
    for episode in episodes(&folder) {
        let states: Vec<TurnState> = episode.turns.iter().map(model::Turn::state).collect();
        assert!(states.iter().all(|state| state.is_passed()), "{states:?}");
        assert!(states.contains(&TurnState::PassedAfterRetries), "{states:?}");
    }
    // A session that began anew would not know the first request any more.
    let session = session.lock().unwrap();
    assert!(
        session.matches("\"role\": \"user\"").count() >= 3,
        "all prompts of the episode are in one session"
    );
}

/// What a run has made in the engine goes with it, also where it ends before it begins.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_run_that_cannot_begin_leaves_no_network() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("none");
    let settings = settings(&folder, &["docker.image_name=stamina/there-is-none:1"]);
    let (on_event, events) = keep();
    let error = runner::run(settings, on_event).await.unwrap_err();
    assert!(error.to_string().contains("there-is-none"), "{error}");
    let run = runner::live::read(&folder).unwrap();
    let engine = sandbox::Engine::connect().await.unwrap();
    let left: Vec<_> =
        engine.leftovers().await.unwrap().into_iter().filter(|left| left.run == run.id).collect();
    assert!(left.is_empty(), "{left:?}");
    let events = events.lock().unwrap();
    assert!(
        matches!(events.last(), Some(Event::Finished { how: Finish::Failed { .. }, .. })),
        "{:?}",
        events.last()
    );
}

/// An agent of somebody's own, as `docs/harnesses.md` describes one: its program is laid into HOME, it keeps its session
/// in a file of its own, and its output is lines of messages.
fn harness_file(room: &Path) -> std::path::PathBuf {
    // A word alone in braces would be a placeholder.
    let program = include_str!("../../harness/src/mock_agent.py").replace("{error}", "{error!s}");
    let content = format!(
        r#"
name = "own_agent"
title = "Own agent"
version = "0.3"
image = "stamina/base:1"
api = "chat_completions"
probe = ["python3", "--version"]

[commands]
first = ["python3", "-I", "{{home}}/own/agent.py", "{{prompt_file}}", "{{home}}/own/session.json", "{{workspace}}"]
later = ["python3", "-I", "{{home}}/own/agent.py", "{{prompt_file}}", "{{home}}/own/session.json", "{{workspace}}"]

[env]
STAMINA_BASE_URL = "{{base_url}}"
STAMINA_KEY = "{{key}}"
STAMINA_MODEL = "{{model}}"

[[files]]
path = "own/agent.py"
text = {}

[session]
from = "none"

[transcript]
reader = "openai-messages-jsonl"

[success]
exit_code = 0
last_line = {{ type = "result", status = "done" }}
"#,
        serde_json::Value::from(program)
    );
    let path = room.join("own_agent.toml");
    std::fs::write(&path, content).unwrap();
    path
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_harness_of_a_file_plays_a_run() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("own");
    let harness = format!("harness_file={}", harness_file(room.path()).display());
    let more = [
        "oracle.defect_rate=1",
        "oracle.repair=1",
        "agent=CUSTOM",
        "endpoint.mode=oracle",
        "restful_server_gen_iterative.execute_episodes=0",
        &harness,
    ];
    let settings = settings(&folder, &more);
    let (on_event, events) = keep();
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let episodes = episodes(&folder);
    let states: Vec<TurnState> = episodes[0].turns.iter().map(model::Turn::state).collect();
    assert_eq!(states, [TurnState::PassedAfterRetries; 2], "its session goes on: what failed is repaired");
    let attempts = episodes[0].turns.iter().flat_map(|turn| &turn.attempts);
    assert!(
        attempts.clone().all(|attempt| attempt.tool_calls.is_some_and(|calls| calls > 0)),
        "its transcript is read"
    );
    assert!(attempts.clone().all(|attempt| attempt.tokens.input.is_some_and(|input| input > 0)));
    let started = serde_json::to_value(&events.lock().unwrap()[0]).unwrap();
    assert_eq!(started["agent"], "own_agent", "{started}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn mischief_ends_with_its_own_reason() {
    // The mock agent has no shell to end itself with: real harnesses do so in docker_ends.rs.
    for (injection, minutes, reason) in [
        ("give_up", 10.0, model::EndReason::GaveUp),
        ("overflow", 10.0, model::EndReason::ContextOverflow),
        ("malformed", 10.0, model::EndReason::ToolCallFormat),
        // The simulated model is no endpoint: it plays an agent that does not end.
        ("stall", 0.1, model::EndReason::AgentTimeout),
    ] {
        let room = tempfile::tempdir().unwrap();
        let folder = room.path().join("bad");
        let more = [
            "endpoint.mode=oracle",
            "agent=MOCK",
            // words: ok: the keys keep their name.
            &format!("oracle.mischief.{injection}=1"),
            "restful_server_gen_iterative.attempt_limit=1",
            "restful_server_gen_iterative.execute_episodes=0",
            "fail_stop=true",
            &format!("limits.attempt_minutes={minutes}"),
        ];
        let settings = settings(&folder, &more);
        let (on_event, _) = keep();
        assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
        let episodes = episodes(&folder);
        let (turn, found) = episodes[0].end();
        assert_eq!(turn, Some(1), "{injection}");
        let gave_up = reason == model::EndReason::GaveUp
            && matches!(found, model::EndReason::NoChange | model::EndReason::GaveUp);
        assert!(found == reason || gave_up, "{injection}: {found:?}");
        assert_eq!(episodes[0].turns.len(), 1, "fail-stop ends the episode");
    }
}

/// What the model's endpoint does with a request.
#[derive(Clone, Copy, PartialEq)]
enum Act {
    /// Nothing, ever.
    Silence,
    /// `429`, and asks to be left alone for a minute.
    Busy,
}

/// Whether a request was read to its end.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    length.and_then(|length| length.trim().parse().ok()).is_none_or(|length: usize| body.len() >= length)
}

/// An endpoint that does so with its first requests, and answers all others.
fn endpoint(acts: &'static [Act]) -> String {
    const ANSWER: &str = r#"{"choices":[{"message":{"role":"assistant","content":"I have nothing to do."}}],"usage":{"prompt_tokens":9,"completion_tokens":9}}"#;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut held = Vec::new();
        let mut acts = acts.iter();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
            // What is not read when it is closed takes the answer with it.
            let (mut read, mut piece) = (Vec::new(), vec![0; 64 << 10]);
            while !is_whole(&read)
                && stream.read(&mut piece).is_ok_and(|bytes| {
                    bytes > 0 && {
                        read.extend_from_slice(&piece[..bytes]);
                        true
                    }
                })
            {}
            // Whoever connects and asks nothing is no request.
            if !is_whole(&read) {
                continue;
            }
            let (head, body) = match acts.next() {
                Some(Act::Silence) => {
                    held.push(stream);
                    continue;
                }
                Some(Act::Busy) => ("429 Too Many Requests\r\nretry-after: 60", "{}"),
                None => ("200 OK", ANSWER),
            };
            let _ = write!(
                stream,
                "HTTP/1.1 {head}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    url
}

/// An attempt that ran out of time while its agent waited for the endpoint is retried, and says nothing of the agent;
/// meanwhile the live view says what it waits for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn time_that_the_endpoint_took_is_not_the_agents() {
    let (now, faults) = waited(&[Act::Busy], |live| !live.faults.is_empty()).await;
    assert_eq!((now.as_str(), faults.as_slice()), ("429 from the endpoint, try 2 of 6", &[(429, 1)][..]));
}

/// The same where the endpoint says nothing at all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn time_in_which_the_endpoint_was_silent_is_not_the_agents() {
    // Before the first answer of a run the gateway asks nothing of its own: silence is the endpoint's.
    let (now, _) = waited(&[Act::Silence], |_| true).await;
    assert!(now.contains("the endpoint had sent nothing for"), "{now}");
}

/// Plays an attempt whose endpoint does so, until it was retried and has ended: what was shown, and which faults, when it
/// was seen to wait.
async fn waited(
    acts: &'static [Act],
    is_shown: impl Fn(&runner::live::LiveRun) -> bool,
) -> (String, Vec<(u16, u32)>) {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("waited");
    let more = [
        "endpoint.mode=gateway",
        &format!("endpoint.base_url={}", endpoint(acts)),
        "mock.model_id=m",
        "restful_server_gen_iterative.attempt_limit=1",
        "restful_server_gen_iterative.execute_episodes=0",
        "fail_stop=true",
        // Time enough to ask on a busy machine, and less than the minute that a busy endpoint asks for.
        "limits.attempt_minutes=0.6",
    ];
    let settings = settings(&folder, &more);
    let (on_event, _) = keep();
    let looking = async {
        loop {
            let live = runner::live::read(&folder).ok();
            if let Some(live) = live.filter(|live| live.episodes[0].phase == runner::live::Phase::Waiting)
                && is_shown(&live)
            {
                return (live.episodes[0].now.clone().unwrap_or_default(), live.faults);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let (finish, shown) =
        tokio::join!(runner::run(settings, on_event), tokio::time::timeout(Duration::from_mins(5), looking));
    let shown = shown.expect("it is seen waiting");
    assert_eq!(finish.unwrap(), Finish::Finished);
    let episodes = episodes(&folder);
    let attempt = &episodes[0].turns[0].attempts[0];
    assert_ne!(attempt.end_reason, Some(model::EndReason::AgentTimeout));
    assert!(episodes[0].end().1 != model::EndReason::Endpoint, "it was retried, and answered");
    assert_eq!(attempt.extra.get("repeats"), Some(&1.into()), "{:?}", attempt.extra);
    shown
}

/// The harness of [`harness_file`], with one text in the place of another.
fn changed_harness(room: &Path, changes: &[(&str, &str)]) -> std::path::PathBuf {
    let path = harness_file(room);
    let mut text = std::fs::read_to_string(&path).unwrap();
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    std::fs::write(&path, text).unwrap();
    path
}

/// An agent that does not say which session it has cannot go on in it: that is said, and is not hidden in the results.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_session_that_is_lost_is_recorded() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("lost");
    let changes = [
        ("from = \"none\"", "from = \"stdout\"\nkey = \"session_id\""),
        ("later = [", "later = [\"env\", \"SESSION={session}\", "),
    ];
    let harness = format!("harness_file={}", changed_harness(room.path(), &changes).display());
    let more =
        ["endpoint.mode=oracle", "agent=CUSTOM", &harness, "restful_server_gen_iterative.execute_episodes=0"];
    let settings = settings(&folder, &more);
    let (on_event, _) = keep();
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let tree = files::Tree::open(&folder).unwrap();
    let mut report = ingest::format_trait::Report::default();
    let format = ingest::formats::staminabench::StaminaBench;
    let survey = format.survey(&tree, "", &mut report);
    let read = format.read(&tree, "", &survey.parts[0], &mut report);
    let codes: Vec<&str> = report.warnings.iter().map(|warning| warning.code.as_str()).collect();
    assert_eq!(codes, ["session.restarted"]);
    let restarted: Vec<bool> = read[0]
        .episode
        .turns
        .iter()
        .map(|turn| turn.attempts[0].extra.contains_key("session_restarted"))
        .collect();
    assert_eq!(restarted, [false, true]);
    // The new session has no context, so the prompt describes the container again.
    let content =
        std::fs::read_to_string(folder.join("scenario_0/transcripts/turn_2_attempt_1.json")).unwrap();
    assert!(content.contains("## Your environment"), "{content}");
}

/// What a harness cannot take is not put down to its agent, which was never asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_request_that_a_harness_cannot_take_is_not_the_agents() {
    use scenario::pack::{Options, Pack, Part, Target, generate};
    let room = tempfile::tempdir().unwrap();
    let (folder, pack) = (room.path().join("long"), room.path().join("pack"));
    let run_settings = settings(&folder, &[]);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (target, sampler) = (Target::Folder(pack.clone()), scenario::sample::ProgrammaticSampler);
    generate(&run_settings.generation, &sampler, &target, &Options::default(), &|_| {}, &stop).unwrap();
    let request = Pack::open_path(&pack).unwrap().path(0, 1, Part::Request).unwrap();
    std::fs::write(pack.join(request), "long ".repeat(40_000)).unwrap();
    let changes = [("\"{prompt_file}\"", "\"{prompt_file}\", \"{prompt}\"")];
    let more = [
        "endpoint.mode=oracle",
        "agent=CUSTOM",
        &format!("harness_file={}", changed_harness(room.path(), &changes).display()),
        &format!("scenarios_dir={}", pack.display()),
        "restful_server_gen_iterative.execute_episodes=0",
    ];
    let settings = settings(&folder, &more);
    let (on_event, events) = keep();
    let finish = runner::run(settings, on_event).await.unwrap();
    assert!(matches!(finish, Finish::Failed { .. }), "no agent has ended anything: {finish:?}");
    let events = events.lock().unwrap();
    let attempts: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Attempt { verdict, end_reason, .. } => Some((*verdict, *end_reason)),
            _ => None,
        })
        .collect();
    assert_eq!(attempts, [(model::Verdict::Unfinished, Some(model::EndReason::Environment))]);
}
