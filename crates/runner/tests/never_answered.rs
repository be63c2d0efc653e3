//! Runs in which no model ever says a word; without containers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use runner::settings::{EndpointSettings, RunSettings};
use runner::{EndpointAttempts, Event, Finish};

use crate::common;

/// How a run ended, and what it told.
struct EndedRun {
    message: String,
    events: Vec<Event>,
    counts: Option<EndpointAttempts>,
    report: serde_json::Value,
}

/// Settings of a run of two episodes with an endpoint.
fn settings(folder: &Path, base_url: String) -> RunSettings {
    let more = ["restful_server_gen_iterative.n_scenarios=2", "restful_server_gen_iterative.attempt_limit=1"];
    let mut settings = common::settings(folder, &more);
    settings.endpoint = EndpointSettings::Gateway { base_url, key: gateway::keys::KeySource::None };
    settings.model = Some("m".to_owned());
    settings
}

/// Plays a run that fails.
async fn failed(settings: RunSettings) -> EndedRun {
    let folder = settings.output_dir.clone();
    let (on_event, events) = common::keep();
    let finish = Box::pin(common::run_without_waits(settings, on_event)).await;
    assert_eq!(finish.code(), 1);
    let Finish::Failed { message } = &finish else { panic!("{finish:?}") };
    let counts = runner::live::read(&folder).unwrap().endpoint;
    let report = std::fs::read_to_string(folder.join("report.json")).unwrap();
    let events = events.lock().unwrap().clone();
    assert!(!events.iter().any(|event| matches!(event, Event::Attempt { .. })), "nothing counts: {events:?}");
    let Some(Event::Finished { endpoint, .. }) = events.last() else { panic!("{events:?}") };
    assert_eq!(*endpoint, counts);
    EndedRun { message: message.clone(), events, counts, report: serde_json::from_str(&report).unwrap() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_requests_are_all_refused_fails_and_says_what_to_check() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("run");
    let base_url = common::refuses("400 Bad Request", r#"{"error":{"message":"unknown field `tools`"}}"#);
    let EndedRun { message, counts, report, .. } = failed(settings(&folder, base_url)).await;
    assert!(
        message.contains("unknown field `tools`") && message.contains("address, key, model and API"),
        "{message}"
    );
    assert_eq!(counts, Some(EndpointAttempts { retried: 3, lost: 0 }));
    assert_eq!(report["run"]["attempts_retried_for_endpoint"], 3);
    assert_eq!(report["run"]["attempts_lost_to_endpoint"], 0);
}

/// A context that is too long is the agent's, but a proxy that takes no request says nothing of an agent. A resume plays it all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_only_met_contexts_that_are_too_long_can_be_resumed() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("run");
    let base_url = common::refuses("413 Payload Too Large", "{}");
    let EndedRun { message, counts, .. } = failed(settings(&folder, base_url)).await;
    assert!(
        message.contains("413") && message.ends_with("the size of its context, then resume"),
        "{message}"
    );
    assert_eq!(counts, Some(EndpointAttempts { retried: 3, lost: 0 }));

    // Without containers nothing is resumed that asks a real endpoint: the simulated model takes over.
    let record = folder.join(".stamina/run.json");
    let mut run: serde_json::Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    run["settings"]["endpoint"] = serde_json::json!({ "mode": "oracle" });
    std::fs::write(&record, run.to_string()).unwrap();
    let known = runner::origin::identity(&folder).unwrap();
    let (on_event, events) = common::keep();
    assert_eq!(runner::resume(folder, Vec::new(), known, on_event).await.unwrap(), Finish::Finished);
    let events = events.lock().unwrap();
    let over = events.iter().filter(|event| matches!(event, Event::Episode { .. })).count();
    assert_eq!(over, 2, "{events:?}");
}

/// A harness that breaks before its first request: its own words say why, and nothing counts as retried for the endpoint.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_harness_that_asks_no_model_is_named_with_its_own_words() {
    let room = tempfile::tempdir().unwrap();
    let (folder, file) = (room.path().join("run"), room.path().join("my.toml"));
    let described = r#"
name = "my_agent"
title = "My agent"
version = "1"
image = "example/my-agent:1"
api = "chat_completions"
probe = ["true"]

[commands]
first = ["sh", "-c", "echo 'error: unknown option --modle' >&2; exit 2", "sh", "{base_url}", "{prompt_file}"]

[session]
from = "none"

[success]
exit_code = 0
last_line = { event = "end" }
"#;
    std::fs::write(&file, described).unwrap();
    // It would answer, if it were asked.
    let mut settings = settings(&folder, common::refuses("400 Bad Request", "{}"));
    settings.agent = "custom".to_owned();
    settings.harness_file = Some(file);
    let EndedRun { message, events, counts, report } = failed(settings).await;
    assert!(message.contains("it sent no request to a model"), "{message}");
    assert!(message.contains("My agent ended with: error: unknown option --modle"), "{message}");
    assert!(!message.contains("key"), "it was not the endpoint: {message}");
    assert_eq!(counts, Some(EndpointAttempts::default()));
    assert_eq!(report["run"]["attempts_retried_for_endpoint"], 0);
    assert!(matches!(events.first(), Some(Event::Started { .. })));
}
