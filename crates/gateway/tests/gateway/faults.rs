//! Endpoints that fail.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use gateway::{Attempt, AttemptSummary, StopReason, Termination};

use crate::endpoint::{Act, End, Endpoint, REAL_KEY, SILENCE, attempt, post, start_gateway};
use crate::passing::{CHAT, CHAT_EVENTS, MESSAGE_EVENTS, RESPONSE_EVENTS, tokens};

const CHAT_PATH: &str = "/v1/chat/completions";
/// The head of a stream: it says who speaks, and no word.
const HEAD: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";

fn error(status: u16, text: &str) -> Act {
    Act::json(status, &format!(r#"{{"error":{{"message":"{text}"}}}}"#))
}

/// A gateway before these acts, one request: the agent's status and text, and what was summary.
async fn request_once(acts: Vec<Act>) -> (u16, String, AttemptSummary, Endpoint) {
    let falls_silent = acts.iter().any(Act::falls_silent);
    let endpoint = Endpoint::start(acts).await;
    let mut settings = endpoint.settings();
    if falls_silent {
        settings.retry.silence = SILENCE;
    }
    let gateway = start_gateway(settings).await;
    let attempt = gateway.open(attempt(1), None);
    let answer = post(&attempt, CHAT_PATH, "{}").await;
    let status = answer.status().as_u16();
    let text = answer.text().await.unwrap_or_else(|_| "(broken)".to_owned());
    (status, text, attempt.close(), endpoint)
}

fn is_endpoint(summary: &AttemptSummary, word: &str) -> bool {
    matches!(&summary.stop_reason, Some(StopReason::Endpoint { message }) if message.contains(word))
}

#[tokio::test]
async fn the_agent_does_not_see_transient_faults() {
    let broken_plain = Act::Pieces {
        kind: "application/json",
        pieces: vec![CHAT.as_bytes()[..40].to_vec().into()],
        gap: Duration::ZERO,
        end: End::Broken,
    };
    let silent_events =
        Act::Pieces { kind: "text/event-stream", pieces: Vec::new(), gap: Duration::ZERO, end: End::Silent };
    let html = vec![("content-type", "text/html".to_owned())];
    let web_page = Act::Answer { status: 200, headers: html, body: "<html>Sign in</html>".into() };
    let faults = [
        (error(429, "slow down"), 429),
        (error(500, "oops"), 500),
        (error(503, "overloaded"), 503),
        (
            Act::json(529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
            529,
        ),
        (error(408, "timeout"), 408),
        (Act::Silence, 0),
        (broken_plain, 0),
        (silent_events, 0),
        (Act::events(""), 0),
        (Act::events("data: {\"error\":{\"message\":\"upstream is gone\",\"code\":502}}\n\n"), 0),
        (Act::json(200, r#"{"error":{"message":"upstream is gone","code":502}}"#), 0),
        (web_page, 0),
        (Act::json(200, &CHAT[..40]), 0),
        (Act::json(200, r#"{"id":"c","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":0}}"#), 0),
        (Act::events("data: {\"choices\":[]}\n\ndata: [DONE]\n\n"), 0),
        // Their head has come, and nothing of the answer.
        (Act::pieces(HEAD, 1, End::Broken), 0),
        (Act::events(&format!("{HEAD}data: {{\"error\":{{\"message\":\"gone\",\"code\":502}}}}\n\n")), 0),
    ];
    // In parallel, because some of them wait.
    join_all(faults.map(|(fault, status)| async move {
        let shown = format!("{fault:?}");
        let says_nothing = fault.falls_silent();
        let mut acts = vec![fault.clone(), fault, Act::json(200, CHAT)];
        // A silent endpoint receives a probe, too.
        if says_nothing {
            acts.insert(1, error(503, "overloaded"));
            acts.insert(3, error(503, "overloaded"));
        }
        let asked_for = acts.len();
        let (answer_status, text, summary, endpoint) = request_once(acts).await;
        assert_eq!((answer_status, text.as_str()), (200, CHAT), "{shown}");
        assert_eq!(endpoint.received().len(), asked_for, "{shown}");
        let record = &summary.records[0];
        assert_eq!((record.retries, record.faults.as_slice()), (2, [status, status].as_slice()), "{shown}");
        assert_eq!(summary.spent.tokens, tokens(1000, 600, 50), "{shown}");
        assert_eq!((summary.spent.unmetered, &summary.stop_reason), (0, &None), "{shown}");
    }))
    .await;
}

#[tokio::test]
async fn an_agent_cannot_end_its_attempt_with_bad_requests() {
    let endpoint = Endpoint::start(vec![error(404, "Not Found"), Act::json(200, CHAT)]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    assert_eq!(post(&attempt, "/v1/embeddings", "{}").await.status().as_u16(), 404);
    assert_eq!(post(&attempt, CHAT_PATH, "{}").await.status().as_u16(), 200);
    assert_eq!(attempt.close().stop_reason, None);
}

#[tokio::test]
async fn persistent_faults_end_the_attempt_as_the_endpoints() {
    let (status, text, summary, endpoint) = request_once(vec![error(503, "no capacity")]).await;
    assert_eq!(status, 403, "agents do not retry a 403");
    assert!(text.contains("no capacity"), "{text}");
    assert!(
        is_endpoint(&summary, "503 Service Unavailable: no capacity (3 tries)"),
        "{:?}",
        summary.stop_reason
    );
    assert_eq!(endpoint.received().len(), 3);
    assert_eq!((summary.spent.requests, summary.spent.unmetered, summary.spent.cost_usd), (0, 0, Some(0.0)));
    assert_eq!((summary.records[0].status, summary.records[0].faults.len()), (403, 3));
}

#[tokio::test]
async fn persistent_faults_are_the_endpoints_although_probes_are_answered() {
    for fault in [error(429, "tokens per minute"), error(500, "internal"), error(529, "overloaded")] {
        let shown = format!("{fault:?}");
        let acts = vec![fault.clone(), fault.clone(), fault, Act::json(200, CHAT)];
        let (status, _, summary, endpoint) = request_once(acts).await;
        assert_eq!((status, endpoint.received().len()), (403, 3), "{shown}");
        assert!(is_endpoint(&summary, "3 tries"), "{shown}: {:?}", summary.stop_reason);
    }
}

#[tokio::test]
async fn an_address_without_a_listener_is_a_fault_of_the_endpoint() {
    let endpoint = Endpoint::start(vec![Act::Silence]).await;
    let mut settings = endpoint.settings();
    // A port that the system gives to nobody.
    if let gateway::Upstream::Http { base_url, .. } = &mut settings.upstream {
        "http://127.0.0.1:9".clone_into(base_url);
    }
    let gateway = start_gateway(settings).await;
    let attempt = gateway.open(attempt(1), None);
    let waiting = async {
        let stop_reason = attempt.stopped().await;
        matches!(stop_reason, StopReason::Endpoint { message } if message.contains("refused"))
    };
    let (answer, stop_reason) = tokio::join!(post(&attempt, CHAT_PATH, "{}"), waiting);
    assert_eq!(answer.status(), 403);
    assert!(stop_reason);
    // Later requests are refused without asking, and have no record.
    assert_eq!(post(&attempt, CHAT_PATH, "{}").await.status(), 403);
    assert_eq!(attempt.close().records.len(), 1);
}

#[tokio::test]
async fn a_confirmed_refusal_ends_the_attempt_at_once() {
    for act in [
        error(401, "Incorrect API key"),
        error(402, "Insufficient Balance"),
        error(403, "not allowed"),
        error(404, "The model `m` does not exist"),
        Act::json(
            429,
            r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
        ),
        Act::json(400, r#"{"error":{"message":"There is no model `m`","code":"model_not_found"}}"#),
        Act::json(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
        ),
        Act::Answer {
            status: 302,
            headers: vec![("location", "https://elsewhere/".to_owned())],
            body: "".into(),
        },
    ] {
        let shown = format!("{act:?}");
        let (status, _, summary, endpoint) = request_once(vec![act]).await;
        assert_eq!(status, 403, "{shown}");
        assert!(is_endpoint(&summary, ""), "{shown}");
        let requests = endpoint.received();
        assert_eq!(requests.len(), 2, "the agent's request and the probe: {shown}");
        assert!(requests[1].headers["authorization"].to_str().unwrap().contains(REAL_KEY), "{shown}");
    }
}

/// Requests that an agent can have refused, and the refusals.
fn provoked_refusals() -> Vec<(&'static str, &'static str, Act)> {
    let refused = |status, code: &str| {
        Act::json(status, &format!(r#"{{"error":{{"message":"no","code":"{code}","type":"{code}"}}}}"#))
    };
    vec![
        (CHAT_PATH, r#"{"model":"there-is-none"}"#, refused(404, "model_not_found")),
        (CHAT_PATH, r#"{"model":"there-is-none"}"#, refused(400, "model_not_found")),
        (CHAT_PATH, r#"{"tools":[{"type":"not-yours"}]}"#, refused(403, "permission_error")),
        (CHAT_PATH, r#"{"max_tokens":1000000000}"#, refused(402, "payment_required")),
        ("/v1/chat/completions?api-version=1999", "{}", refused(404, "not_found")),
        ("/v1/chat/completions?key=mine", "{}", refused(401, "invalid_api_key")),
    ]
}

#[tokio::test]
async fn a_refusal_that_the_agent_causes_censors_nothing() {
    for (path, body, refused) in provoked_refusals() {
        let Act::Answer { status, .. } = refused else { unreachable!() };
        // Its request, the probe, its request again; then a valid request.
        let acts =
            vec![refused.clone(), Act::json(200, CHAT), refused.clone(), refused, Act::json(200, CHAT)];
        let endpoint = Endpoint::start(acts).await;
        let gateway = start_gateway(endpoint.settings()).await;
        let attempt = gateway.open(attempt(1), None);
        assert_eq!(post(&attempt, path, body).await.status().as_u16(), status, "{path} {body}");
        assert_eq!(endpoint.received().len(), 3, "{path} {body}");
        let probe = String::from_utf8_lossy(&endpoint.received()[1].body).into_owned();
        assert!(!probe.contains("there-is-none") && probe.contains("\"default\""), "{probe}");
        // Repeating it costs no further probe.
        let again = post(&attempt, path, body).await;
        assert_eq!(again.status().as_u16(), 200, "the refusal was passing: {path} {body}");
        assert_eq!(endpoint.received().len(), 5, "no second probe: {path} {body}");
        let summary = attempt.close();
        assert_eq!(summary.stop_reason, None, "{path} {body}");
        assert_eq!(summary.records[0].status, status);
    }
}

#[tokio::test]
async fn a_key_that_is_revoked_in_between_ends_the_attempt() {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT), error(401, "revoked")]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    assert_eq!(post(&attempt, CHAT_PATH, "{}").await.status(), 200);
    assert_eq!(post(&attempt, CHAT_PATH, "{}").await.status(), 403);
    assert!(is_endpoint(&attempt.close(), "revoked"));
}

#[tokio::test]
async fn a_key_that_is_revoked_after_a_refusal_of_the_agent_ends_the_attempt() {
    let (path, body, refused) = provoked_refusals().remove(0);
    let acts = vec![refused.clone(), Act::json(200, CHAT), refused, error(401, "revoked")];
    let endpoint = Endpoint::start(acts).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    assert_eq!(post(&attempt, path, body).await.status(), 404, "its own");
    // The endpoint has just answered a probe, and now refuses everything.
    assert_eq!(post(&attempt, CHAT_PATH, "{}").await.status(), 403);
    assert!(is_endpoint(&attempt.close(), "revoked"));
}

#[tokio::test]
async fn faults_of_an_api_that_the_harness_does_not_speak_end_nothing() {
    for act in [
        error(401, "no"),
        error(404, "no such route"),
        error(501, "no"),
        error(503, "never"),
        Act::events(""),
    ] {
        let shown = format!("{act:?}");
        let endpoint = Endpoint::start(vec![act]).await;
        let mut settings = endpoint.settings();
        settings.routes = vec![gateway::Route::ChatCompletions];
        let gateway = start_gateway(settings).await;
        let attempt = gateway.open(attempt(1), None);
        for path in ["/v1/responses", "/v1/messages", "/v1/embeddings", "/v1/responses/compact"] {
            let answer = post(&attempt, path, r#"{"stream":true}"#).await;
            assert!(!answer.status().is_success(), "{shown} {path}");
        }
        assert_eq!(attempt.close().stop_reason, None, "{shown}");
    }
}

#[tokio::test]
async fn request_errors_pass_through() {
    let body = r#"{"error":{"message":"messages[3]: tool_call_id is missing","code":null}}"#;
    let (status, text, summary, endpoint) = request_once(vec![Act::json(400, body)]).await;
    assert_eq!((status, text.as_str()), (400, body));
    assert_eq!(
        (endpoint.received().len(), summary.stop_reason.is_none(), summary.spent.unmetered),
        (1, true, 0)
    );
}

#[tokio::test]
async fn a_context_overflow_is_the_agents_and_ends_nothing() {
    let too_long = || {
        Act::json(
            400,
            r#"{"error":{"message":"This model's maximum context length is 8 tokens","code":"context_length_exceeded"}}"#,
        )
    };
    let endpoint = Endpoint::start(vec![too_long(), Act::json(200, CHAT), too_long()]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    let overflown = |attempt: &Attempt| matches!(attempt.summary().stop_reason, Some(StopReason::ContextOverflow { message }) if message.contains("maximum context"));
    assert_eq!(post(&attempt, CHAT_PATH, "{}").await.status(), 400);
    assert!(overflown(&attempt));
    assert_eq!(post(&attempt, CHAT_PATH, "{}").await.status(), 200);
    assert!(!overflown(&attempt), "it continued");
    assert_eq!(post(&attempt, CHAT_PATH, "{}").await.status(), 400);
    assert!(overflown(&attempt));
    let waited = tokio::time::timeout(Duration::from_millis(50), attempt.stopped()).await;
    assert!(waited.is_err(), "it stops nothing");
}

#[tokio::test]
async fn a_broken_stream_breaks_for_the_agent_and_is_the_endpoints() {
    for (end, act) in [(End::Broken, CHAT_EVENTS), (End::Silent, CHAT_EVENTS)] {
        let Act::Pieces { kind, mut pieces, .. } = Act::pieces(act, 1, end) else { unreachable!() };
        pieces.truncate(2);
        let gap = Duration::from_millis(20);
        let (status, text, summary, endpoint) =
            request_once(vec![Act::Pieces { kind, pieces, gap, end }]).await;
        assert_eq!((status, text.as_str()), (200, "(broken)"), "{end:?}");
        assert_eq!(endpoint.received().len(), 1, "the agent has received a part of it: no retry");
        let record = &summary.records[0];
        assert_eq!(
            (record.termination, record.faults.as_slice()),
            (Some(Termination::Endpoint), [0].as_slice()),
            "{end:?}"
        );
        assert_eq!((summary.spent.unmetered, summary.spent.cost_usd, &summary.stop_reason), (1, None, &None));
    }
}

/// The connection closes cleanly, but the answer is incomplete: its API defines the last event.
#[tokio::test]
async fn a_stream_without_its_last_event_is_the_endpoints() {
    let events = |text: &str, event_count: usize| -> String {
        text.split_inclusive("\n\n").take(event_count).collect()
    };
    for (path, whole, event_count) in [
        (CHAT_PATH, CHAT_EVENTS, 2),
        ("/v1/responses", RESPONSE_EVENTS, 2),
        ("/v1/messages", MESSAGE_EVENTS, 4),
    ] {
        let endpoint =
            Endpoint::start(vec![Act::events(&events(whole, event_count)), Act::events(whole)]).await;
        let gateway = start_gateway(endpoint.settings()).await;
        let attempt = gateway.open(attempt(1), None);
        let body = r#"{"stream":true,"stream_options":{"include_usage":true}}"#;
        assert!(post(&attempt, path, body).await.text().await.is_err(), "{path}: the agent sees it, too");
        let good = post(&attempt, path, body).await.text().await.unwrap();
        assert_eq!(good, whole, "{path}");
        let summary = attempt.close();
        let cuts: Vec<_> =
            summary.records.iter().map(|record| (record.termination, record.faults.as_slice())).collect();
        assert_eq!(cuts, [(Some(Termination::Endpoint), [0].as_slice()), (None, &[])], "{path}");
    }
    // Nothing of it was passed on, so the request is retried.
    let cut = &CHAT_EVENTS[..40];
    let (status, text, summary, endpoint) =
        request_once(vec![Act::events(cut), Act::events(CHAT_EVENTS)]).await;
    assert_eq!((status, text.as_str(), endpoint.received().len()), (200, CHAT_EVENTS, 2));
    assert_eq!(summary.records[0].faults, [0]);
}

/// Some servers omit `[DONE]` and the counts. The answer is there.
#[tokio::test]
async fn a_stream_is_complete_after_its_finish_reason() {
    let stopped: String = CHAT_EVENTS.split_inclusive("\n\n").take(3).collect();
    let (status, text, summary, _endpoint) = request_once(vec![Act::events(&stopped)]).await;
    assert_eq!((status, text), (200, stopped));
    assert_eq!((summary.records[0].termination, summary.spent.unmetered), (None, 1));
}

/// Whatever the endpoint answers with that is no answer of its API, the attempt is not the agent's.
#[tokio::test]
async fn answers_that_are_none_end_the_attempt_as_the_endpoints() {
    for (act, word) in [
        (Act::json(200, "<html>Sign in</html>"), "not JSON"),
        (Act::json(200, &CHAT[..40]), "not JSON"),
        (Act::json(200, r#"{"choices":[]}"#), "no choice"),
    ] {
        let shown = format!("{act:?}");
        let (status, _, summary, endpoint) = request_once(vec![act]).await;
        assert_eq!((status, endpoint.received().len()), (403, 3), "{shown}");
        assert!(is_endpoint(&summary, word), "{shown}: {:?}", summary.stop_reason);
    }
}

/// A context that is full is the agent's, in whichever words.
#[tokio::test]
async fn each_way_to_say_that_the_context_is_full_is_one() {
    let stopped = MESSAGE_EVENTS.replace("end_turn", "model_context_window_exceeded");
    for (path, act) in [
        (CHAT_PATH, Act::json(413, "")),
        (CHAT_PATH, error(413, "Request Entity Too Large")),
        (CHAT_PATH, error(422, "prompt too long")),
        (CHAT_PATH, error(500, "the request exceeds the available context size")),
        ("/v1/messages", Act::events(&stopped)),
    ] {
        let shown = format!("{act:?}");
        let endpoint = Endpoint::start(vec![act]).await;
        let gateway = start_gateway(endpoint.settings()).await;
        let attempt = gateway.open(attempt(1), None);
        let _ = post(&attempt, path, r#"{"stream":true}"#).await.text().await;
        let reason = attempt.close().stop_reason;
        assert!(matches!(reason, Some(StopReason::ContextOverflow { .. })), "{shown}: {reason:?}");
        assert_eq!(endpoint.received().len(), 1, "{shown}");
    }
}

#[tokio::test]
async fn repeatedly_broken_streams_end_the_attempt() {
    let pieces = vec![CHAT_EVENTS[..80].to_owned().into()];
    let act =
        Act::Pieces { kind: "text/event-stream", pieces, gap: Duration::from_millis(10), end: End::Broken };
    let endpoint = Endpoint::start(vec![act]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    let mut requests = 0;
    while attempt.summary().stop_reason.is_none() {
        assert!(requests < 3, "three tries are allowed");
        // The first event never ends, so the stream breaks before the agent receives anything. These are retried, too.
        let _ = post(&attempt, CHAT_PATH, "{}").await.text().await;
        requests += 1;
    }
    assert!(is_endpoint(&attempt.close(), ""));
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_reaches_the_agent_and_is_the_endpoints() {
    let start: String = MESSAGE_EVENTS.split_inclusive("\n\n").take(3).collect();
    let failing = format!(
        "{start}event: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}}}\n\n"
    );
    let Act::Pieces { kind, pieces, end, .. } = Act::events(&failing) else { unreachable!() };
    let gap = Duration::from_millis(30);
    let endpoint = Endpoint::start(vec![Act::Pieces { kind, pieces, gap, end }]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    for number in 1..=3 {
        let answer = post(&attempt, "/v1/messages", r#"{"stream":true}"#).await;
        assert_eq!(answer.text().await.unwrap(), failing);
        assert_eq!(attempt.summary().stop_reason.is_some(), number == 3);
    }
    let summary = attempt.close();
    assert!(is_endpoint(&summary, "Overloaded"), "{:?}", summary.stop_reason);
    assert!(summary.records.iter().all(|record| record.termination == Some(Termination::Endpoint)));
}

#[tokio::test]
async fn retry_after_is_honored() {
    let busy = |seconds: &str| Act::Answer {
        status: 429,
        headers: vec![("retry-after", seconds.to_owned())],
        body: "{}".into(),
    };
    let started = Instant::now();
    let (status, ..) = request_once(vec![busy("1"), Act::json(200, CHAT)]).await;
    assert_eq!(status, 200);
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());

    let (status, _, summary, endpoint) = request_once(vec![busy("3600")]).await;
    assert_eq!((status, endpoint.received().len()), (403, 1));
    assert!(is_endpoint(&summary, "ten minutes"), "{:?}", summary.stop_reason);
}
