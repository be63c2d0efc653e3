//! What the last answer of an attempt is, and what counts as an answer of the run.

use std::time::Duration;

use gateway::{EndedBy, FaultTreatment, Route, StopReason};

use crate::attribution::{UNANSWERED, busy, hang_up_when, treatment};
use crate::endpoint::{Act, End, Endpoint, attempt, post, start_gateway};
use crate::kept::KeptIfFailed;
use crate::passing::{CHAT, CHAT_EVENTS, RESPONSE_EVENTS};

const PATH: &str = "/v1/chat/completions";
const HOUR: Duration = Duration::from_hours(1);
const STREAMED: &str = r#"{"stream":true,"stream_options":{"include_usage":true}}"#;

fn too_long() -> Act {
    Act::json(400, r#"{"error":{"message":"prompt is too long","code":"context_length_exceeded"}}"#)
}

/// A harness that compacts its context after an overflow, and then waits for the endpoint until its time is over.
#[tokio::test]
async fn an_overflow_decides_only_where_no_later_request_failed() {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT), too_long(), busy("60")]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    assert_eq!(post(&attempt, PATH, "{}").await.status(), 200);
    assert_eq!(post(&attempt, PATH, "{}").await.status(), 400);
    let overflow = attempt.summary().stop_reason;
    assert!(matches!(overflow, Some(StopReason::ContextOverflow { .. })), "{overflow:?}");
    for ended_by in [EndedBy::TimeLimit, EndedBy::HarnessReport, EndedBy::HarnessExit] {
        assert_eq!(attempt.endpoint_fault(HOUR, ended_by).await, None, "it is the last that happened");
    }
    let mut waiting = attempt.waiting();
    hang_up_when(&attempt, "{}", async { waiting.changed().await.unwrap() }).await;
    assert_eq!(attempt.close().stop_reason, None, "the context is not what ended it");
    for (ended_by, expected) in [
        (EndedBy::TimeLimit, FaultTreatment::Censored),
        (EndedBy::HarnessReport, FaultTreatment::Censored),
        (EndedBy::HarnessExit, FaultTreatment::RetriedThenAgent),
        (EndedBy::Finished, FaultTreatment::RetriedThenAgent),
    ] {
        assert_eq!(treatment(attempt.endpoint_fault(HOUR, ended_by).await), Some(expected), "{ended_by:?}");
    }
}

/// In a run in which no model has said a word it says more of the endpoint than of an agent.
#[tokio::test]
async fn an_overflow_of_a_run_that_was_never_answered_is_nobodys_end() {
    let endpoint = Endpoint::start(vec![too_long()]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    assert_eq!(post(&attempt, PATH, "{}").await.status(), 400);
    attempt.close();
    for ended_by in [EndedBy::TimeLimit, EndedBy::HarnessReport, EndedBy::HarnessExit, EndedBy::Agent] {
        let fault = attempt.endpoint_fault(HOUR, ended_by).await.expect("nothing is the agent's");
        assert!(fault.reason.contains("prompt is too long"), "{}", fault.reason);
        assert_eq!(treatment(Some(fault)), UNANSWERED);
    }
}

/// A harness whose answer broke off asks once more, with a request that is malformed, and ends.
#[tokio::test]
async fn a_harness_that_ends_on_an_error_after_a_broken_answer_ends_on_the_error() {
    let begin: String = CHAT_EVENTS.split_inclusive("\n\n").take(2).collect();
    let Act::Pieces { kind, pieces, .. } = Act::pieces(&begin, 1, End::Broken) else { unreachable!() };
    let broken = Act::Pieces { kind, pieces, gap: Duration::from_millis(20), end: End::Broken };
    let malformed = Act::json(400, r#"{"error":{"message":"messages[3] is malformed"}}"#);
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT), broken, malformed]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    assert_eq!(post(&attempt, PATH, "{}").await.status(), 200);
    let _ = post(&attempt, PATH, STREAMED).await.text().await;
    let fault = attempt.endpoint_fault(HOUR, EndedBy::HarnessExit).await;
    assert_eq!(treatment(fault), Some(FaultTreatment::Censored), "so far the broken answer is the last");
    assert_eq!(post(&attempt, PATH, "{}").await.status(), 400);
    attempt.close();
    assert_eq!(attempt.endpoint_fault(HOUR, EndedBy::HarnessExit).await, None);
}

/// A run that is resumed takes from its log what the gateway took from the answers themselves.
#[tokio::test]
async fn any_complete_answer_of_a_model_answers_the_run_also_by_its_log() {
    let in_stream = "data: {\"error\":{\"message\":\"no\",\"code\":\"invalid_prompt\"}}\n\n";
    for (path, act, is_answered) in [
        (PATH, Act::events(CHAT_EVENTS), true),
        // In an API that the harness's file does not name.
        ("/v1/responses", Act::events(RESPONSE_EVENTS), true),
        ("/v1/responses", Act::json(404, "{}"), false),
        (PATH, Act::json(400, "{}"), false),
        // Its status says that there is an answer, and there is none.
        (PATH, Act::events(in_stream), false),
    ] {
        let shown = format!("{path} {act:?}");
        let room = KeptIfFailed::new();
        let log = room.path().join("gateway.jsonl");
        let endpoint = Endpoint::start(vec![act]).await;
        let mut settings = endpoint.settings();
        settings.routes = vec![Route::ChatCompletions];
        settings.log = Some(log.clone());
        let gateway = start_gateway(settings).await;
        let attempt = gateway.open(attempt(1), None);
        let _ = post(&attempt, path, STREAMED).await.text().await;
        attempt.close();
        assert_eq!(gateway.is_run_answered(), Some(is_answered), "{shown}");
        let expected = if is_answered { None } else { UNANSWERED };
        assert_eq!(treatment(attempt.endpoint_fault(HOUR, EndedBy::HarnessExit).await), expected, "{shown}");
        drop((attempt, gateway));
        assert_eq!(gateway::read_totals(&log).unwrap().is_answered, is_answered, "{shown}");
    }
}

#[tokio::test]
async fn an_attempt_that_asked_no_model_says_so() {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT)]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    attempt.close();
    let fault = attempt.endpoint_fault(HOUR, EndedBy::HarnessExit).await.expect("nothing is the agent's");
    assert_eq!(fault.treatment, FaultTreatment::RunUnanswered { was_asked: false });
    assert_eq!(fault.reason, "it sent no request to a model");
}
