//! Runs whose endpoint never answers an agent; without containers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use model::EndReason;
use runner::settings::EndpointSettings;
use runner::{EndpointAttempts, Event, Finish};

mod common;

/// A run of two episodes with an endpoint that refuses every real request.
async fn refused(
    status: &'static str,
    body: &'static str,
) -> (Finish, Vec<Event>, EndpointAttempts, serde_json::Value) {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("run");
    let mut settings = common::settings(&folder, &["restful_server_gen_iterative.n_scenarios=2"]);
    let base_url = common::refuses(status, body);
    settings.endpoint = EndpointSettings::Gateway { base_url, key: gateway::keys::KeySource::None };
    settings.model = Some("m".to_owned());
    let (on_event, events) = common::keep();
    let finish = common::run_without_waits(settings, on_event).await;
    let counts = runner::live::read(&folder).unwrap().endpoint;
    let report = std::fs::read_to_string(folder.join("report.json")).unwrap();
    let events = events.lock().unwrap().clone();
    (finish, events, counts, serde_json::from_str(&report).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_requests_are_all_refused_fails_and_says_what_to_check() {
    let error = r#"{"error":{"message":"unknown field `tools`"}}"#;
    let (finish, events, counts, report) = refused("400 Bad Request", error).await;
    let Finish::Failed { message } = &finish else { panic!("{finish:?}") };
    assert!(
        message.contains("unknown field `tools`") && message.contains("model and API, then resume"),
        "{message}"
    );
    assert_eq!(finish.code(), 1);
    assert_eq!(counts, EndpointAttempts { retried: 3, lost: 0 });
    assert_eq!(report["run"]["attempts_retried_for_endpoint"], 3);
    assert_eq!(report["run"]["attempts_lost_to_endpoint"], 0);
    assert!(!events.iter().any(|event| matches!(event, Event::Attempt { .. })), "nothing counts: {events:?}");
    let Some(Event::Finished { endpoint, .. }) = events.last() else { panic!("{events:?}") };
    assert_eq!(*endpoint, counts);
}

/// A context that is too long is the agent's, but a run of nothing else is not finished.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_in_which_no_answer_was_complete_is_never_finished() {
    let (finish, events, counts, _) = refused("413 Payload Too Large", "{}").await;
    let Finish::Failed { message } = &finish else { panic!("{finish:?}") };
    assert!(message.contains("size of its context"), "{message}");
    assert_eq!(counts, EndpointAttempts::default());
    let reasons: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Attempt { end_reason, .. } => Some(*end_reason),
            _ => None,
        })
        .collect();
    assert!(
        !reasons.is_empty() && reasons.iter().all(|reason| *reason == Some(EndReason::ContextOverflow)),
        "{reasons:?}"
    );
}
