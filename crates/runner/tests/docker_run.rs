//! Runs in real boxes: the mock agent with the scripted model, in the base image.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that can not go on has failed")]

use std::path::Path;
use std::sync::{Arc, Mutex};

use ingest::format::Format as _;
use model::{Episode, TurnState};
use runner::{Event, Finish, OnEvent};

fn values(folder: &Path, more: &[&str]) -> Vec<String> {
    let mut list = vec![format!("output_dir={}", folder.display())];
    let always = [
        "agent=MOCK",
        "use_docker=true",
        "restful_server_gen_iterative.n_scenarios=2",
        "restful_server_gen_iterative.n_turns=2",
        "restful_server_gen_iterative.num_changes_per_turn=2",
        "limits.cpus=1",
    ];
    list.extend(always.iter().chain(more).map(|&value| value.to_owned()));
    list
}

fn keep() -> (OnEvent, Arc<Mutex<Vec<Event>>>) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let to = kept.clone();
    (Arc::new(move |event: &Event| to.lock().unwrap().push(event.clone())), kept)
}

fn episodes(folder: &Path) -> Vec<Episode> {
    let tree = files::Tree::open(folder).unwrap();
    let mut report = ingest::format::Report::default();
    let format = ingest::formats::staminabench::StaminaBench;
    let survey = format.survey(&tree, "", &mut report);
    let mut episodes = Vec::new();
    for part in &survey.parts {
        episodes.extend(format.read(&tree, "", part, &mut report).into_iter().map(|read| read.episode));
    }
    assert_eq!(report.warnings, []);
    episodes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn an_able_model_passes_every_turn_in_boxes() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("able");
    let settings = runner::settings::resolve(&[], &values(&folder, &["batch_size=2"])).unwrap();
    let (on_event, events) = keep();
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let episodes = episodes(&folder);
    assert_eq!(episodes.len(), 2);
    for episode in &episodes {
        assert_eq!(episode.stamina(), 2, "{:?}", episode.end());
    }
    let mut own: Vec<f64> = Vec::new();
    for event in events.lock().unwrap().iter() {
        if let Event::Attempt { own_seconds, agent_seconds, test_seconds, tokens, .. } = event {
            println!("own {own_seconds:.2} s, agent {agent_seconds:.2} s, tests {test_seconds:?}");
            assert!(tokens.input.is_some_and(|input| input > 0));
            own.push(*own_seconds);
        }
    }
    assert_eq!(own.len(), 4);
    // Taken over a busy machine; the benchmark holds the budget of 1 s.
    assert!(own.iter().all(|seconds| *seconds < 20.0), "{own:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_run_that_was_stopped_goes_on_in_the_same_session() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("stopped");
    let settings =
        runner::settings::resolve(&[], &values(&folder, &["oracle.defect_rate=1", "oracle.repair=1"]))
            .unwrap();
    let at = folder.clone();
    let stop_at_first: OnEvent = Arc::new(move |event| {
        if matches!(event, Event::Attempt { .. }) {
            let wish = runner::control::Wish { stop: true, ..Default::default() };
            runner::control::write(&at, &wish).unwrap();
        }
    });
    assert_eq!(runner::run(settings, stop_at_first).await.unwrap(), Finish::Stopped);
    let live = runner::live::read(&folder).unwrap();
    assert_eq!(live.state, runner::live::RunState::Ended { finish: Finish::Stopped });
    let before: usize = episodes(&folder).iter().flat_map(|e| &e.turns).map(|turn| turn.attempts.len()).sum();
    assert!(before >= 1);
    let (on_event, events) = keep();
    let finish = runner::resume(folder.clone(), vec!["batch_size=2".to_owned()], on_event).await.unwrap();
    assert_eq!(finish, Finish::Finished);
    assert!(matches!(events.lock().unwrap()[0], Event::Started { resumed: true, .. }));
    for episode in episodes(&folder) {
        let states: Vec<TurnState> = episode.turns.iter().map(model::Turn::state).collect();
        assert!(states.iter().all(|state| state.is_passed()), "{states:?}");
        assert!(states.contains(&TurnState::PassedAfterRetries), "{states:?}");
    }
    // The mock agent keeps its messages in HOME: a session that began anew would not know the first request any more.
    let session = folder.join(".stamina/state/scenario_0/live/home/.stamina/mock_session.json");
    let session = std::fs::read_to_string(session).unwrap();
    assert!(
        session.matches("\"role\": \"user\"").count() >= 3,
        "all prompts of the episode are in one session"
    );
}

/// What a run has made in the engine goes with it, also where it ends before it begins.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_run_that_can_not_begin_leaves_no_network() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("none");
    let settings =
        runner::settings::resolve(&[], &values(&folder, &["docker.image_name=stamina/there-is-none:1"]))
            .unwrap();
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
    let told = format!(
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
    std::fs::write(&path, told).unwrap();
    path
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_harness_of_a_file_plays_a_run() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("own");
    let mut list = values(&folder, &["oracle.defect_rate=1", "oracle.repair=1"]);
    list.retain(|value| value != "agent=MOCK");
    list.push("agent=CUSTOM".to_owned());
    list.push("endpoint.mode=oracle".to_owned());
    list.push("restful_server_gen_iterative.execute_episodes=0".to_owned());
    list.push(format!("harness_file={}", harness_file(room.path()).display()));
    let settings = runner::settings::resolve(&[], &list).unwrap();
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
    for (mischief, reason) in [
        ("oracle.mischief.give_up=1", model::EndReason::GaveUp),
        ("oracle.mischief.overflow=1", model::EndReason::ContextOverflow),
        ("oracle.mischief.malformed=1", model::EndReason::ToolCallFormat),
        ("oracle.mischief.stall=1", model::EndReason::AgentTimeout),
    ] {
        let room = tempfile::tempdir().unwrap();
        let folder = room.path().join("bad");
        let more = [
            mischief,
            "restful_server_gen_iterative.attempt_limit=1",
            "restful_server_gen_iterative.execute_episodes=0",
            "fail_stop=true",
            "limits.attempt_minutes=0.1",
        ];
        let settings = runner::settings::resolve(&[], &values(&folder, &more)).unwrap();
        let (on_event, _) = keep();
        assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
        let episodes = episodes(&folder);
        let (turn, found) = episodes[0].end();
        assert_eq!(turn, Some(1), "{mischief}");
        let gave_up = reason == model::EndReason::GaveUp
            && matches!(found, model::EndReason::NoChange | model::EndReason::GaveUp);
        assert!(found == reason || gave_up, "{mischief}: {found:?}");
        assert_eq!(episodes[0].turns.len(), 1, "fail-stop ends the episode");
    }
}
