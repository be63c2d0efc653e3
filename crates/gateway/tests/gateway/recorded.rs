//! The gateway before a real model server, whose bytes were recorded (`tests/llama-cpp/README.md`).

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use gateway::{AttemptSummary, ModelList, Record, ServerKind, Speeds, StopReason, Termination};

use crate::endpoint::{attempt, client, post};
use crate::passing::tokens;
use crate::recorded_server::{End, Exchange, Piece, Server, session};

const CHAT: &str = "/v1/chat/completions";

/// Sends one request of an agent; what it got, and what was counted.
async fn send_one_request(exchange: &Exchange, body: String) -> (u16, Option<String>, AttemptSummary) {
    let server = Server::start(vec![exchange.clone()]).await;
    let gateway = server.gateway().await;
    let attempt = gateway.open(attempt(1), None);
    let answer = post(&attempt, &exchange.path, body).await;
    let status = answer.status().as_u16();
    let text = answer.text().await.ok();
    assert_eq!(server.request_count(), 1, "{}: one request", exchange.name);
    (status, text, attempt.close())
}

#[tokio::test]
async fn whole_answers_pass_byte_for_byte_and_are_counted_as_the_server_counts_them() {
    let session = session();
    for name in [
        "plain",
        "stream_with_usage",
        "tool_not_called",
        "json_schema",
        "json_schema_stream",
        "probabilities_stream",
        "responses_stream",
        "messages_stream",
        "kept_alive_first",
        "kept_alive_second",
        "filled_while_writing",
        "slow_first_token",
        "slot_taken",
        "slot_waited_for",
    ] {
        let exchange = &session[name];
        let (status, text, summary) = send_one_request(exchange, exchange.request_body()).await;
        assert_eq!((status, text), (200, Some(exchange.answer())), "{name}");
        // The server tells no timings of messages.
        let expected = exchange.own_tokens().unwrap_or(tokens(34, 33, 12));
        assert_eq!(summary.spent.tokens, expected, "{name}");
        assert_eq!((summary.spent.requests, summary.spent.unmetered), (1, 0), "{name}");
        let record = &summary.records[0];
        assert_eq!((record.retries, record.termination, record.reports_error), (0, None, false), "{name}");
        // Of a plain answer the server tells how long it took.
        let server_timings = exchange.timings().filter(|_| !exchange.is_chunked());
        assert!(record.stream.is_some() && server_timings.is_some() != exchange.is_chunked(), "{name}");
        if let (Some(server_timings), Some(times)) = (server_timings, record.stream) {
            let ms = [times.first_seconds * 1000.0, times.rest_seconds * 1000.0];
            for (ms, name) in ms.into_iter().zip(["prompt_ms", "predicted_ms"]) {
                assert!((ms - server_timings[name].as_f64().unwrap()).abs() < 1e-6, "{name}: {ms}");
            }
        }
        assert_eq!(summary.stop_reason, None, "{name}");
    }
}

#[tokio::test]
async fn usage_that_was_not_asked_for_is_counted_and_kept_back() {
    let exchange = &session()["stream_with_usage"];
    let (_, text, summary) = send_one_request(exchange, r#"{"stream":true,"messages":[]}"#.to_owned()).await;
    let events = exchange.answer();
    let events_without_usage: String =
        events.split_inclusive("\n\n").filter(|event| !event.contains("\"usage\":{")).collect();
    assert!(events_without_usage.len() < events.len() && events_without_usage.ends_with("data: [DONE]\n\n"));
    assert_eq!(text, Some(events_without_usage));
    assert_eq!(summary.spent.tokens, exchange.own_tokens().unwrap());
}

#[tokio::test]
async fn a_stream_without_usage_is_whole_and_its_tokens_are_unknown() {
    let exchange = &session()["stream_without_usage"];
    let (status, text, summary) = send_one_request(exchange, exchange.request_body()).await;
    assert_eq!((status, text), (200, Some(exchange.answer())));
    assert!(summary.spent.tokens.is_unknown() && summary.spent.cost_usd.is_none());
    assert_eq!(
        (summary.spent.requests, summary.spent.unmetered, summary.records[0].termination),
        (1, 1, None)
    );
}

#[tokio::test]
async fn a_context_that_is_exceeded_is_the_agents_and_is_not_tried_again() {
    for name in ["overflow", "overflow_stream"] {
        let exchange = &session()[name];
        let (status, text, summary) = send_one_request(exchange, exchange.request_body()).await;
        assert_eq!((status, text), (400, Some(exchange.answer())), "{name}");
        let reason = summary.stop_reason;
        assert!(
            matches!(&reason, Some(StopReason::ContextOverflow { message }) if message.contains("1024 tokens")),
            "{reason:?}"
        );
        assert_eq!((summary.records[0].retries, summary.spent.unmetered), (0, 0), "{name}");
    }
    let exchange = &session()["no_messages"];
    let (status, _, summary) = send_one_request(exchange, exchange.request_body()).await;
    assert_eq!((status, summary.stop_reason), (400, None), "another error of a request ends nothing");
}

#[tokio::test]
async fn a_server_that_loads_its_model_is_waited_for() {
    let session = session();
    let loading = session["loading"].clone();
    let server = Server::start(vec![loading.clone(), loading, session["plain"].clone()]).await;
    let gateway = server.gateway().await;
    let attempt = gateway.open(attempt(1), None);
    let answer = post(&attempt, CHAT, session["plain"].request_body()).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.text().await.unwrap(), session["plain"].answer());
    let summary = attempt.close();
    assert_eq!(summary.records[0].faults, [503, 503]);
    assert_eq!((summary.spent.requests, summary.stop_reason), (1, None));
}

#[tokio::test]
async fn signs_of_life_are_no_content() {
    let exchange = session()["slow_first_token"].clone();
    let server = Server::holding(exchange.clone()).await;
    let gateway = server.gateway().await;
    let attempt = gateway.open(attempt(1), None);
    // The gateway may keep the head of an answer back until there is content, so nobody waits for the signs of life.
    let answered = tokio::spawn({
        let (url, key, body) =
            (format!("{}{CHAT}", attempt.base_url(0)), attempt.key().to_owned(), exchange.request_body());
        async move { client().post(url).bearer_auth(key).body(body).send().await.unwrap().text().await.unwrap() }
    });
    while server.request_count() == 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    server.release.send(usize::MAX).unwrap();
    assert_eq!(answered.await.unwrap(), exchange.answer());
    let times = server.times.lock().unwrap()[0];
    let held = times.content.unwrap() - times.received;
    let record = attempt.summary().records[0].clone();
    let first = record.stream.unwrap().first_seconds;
    assert!(first >= held.as_secs_f64(), "{first} s, and content was held back for {held:?}");
    assert_eq!(record.faults, Vec::<u16>::new());
}

#[tokio::test]
async fn what_comes_after_the_first_content_is_timed_from_it() {
    const HELD: Duration = Duration::from_millis(100);
    let exchange = session()["slot_taken"].clone();
    let server = Server::holding(exchange.clone()).await;
    let gateway = server.gateway().await;
    let attempt = gateway.open(attempt(1), None);
    let begun = Instant::now();
    server.release.send(1).unwrap();
    let mut answer = post(&attempt, CHAT, exchange.request_body()).await;
    let mut received_text = String::new();
    while !received_text.contains("\"content\":\"") {
        received_text.push_str(std::str::from_utf8(&answer.chunk().await.unwrap().unwrap()).unwrap());
    }
    // The gateway saw the first content before this moment, and sees the last one after the pause.
    let first_came = begun.elapsed();
    tokio::time::sleep(HELD).await;
    server.release.send(usize::MAX).unwrap();
    while answer.chunk().await.unwrap().is_some() {}
    let stream = attempt.close().records[0].stream.unwrap();
    assert!(
        stream.first_seconds <= first_came.as_secs_f64(),
        "{stream:?}, first content after {first_came:?}"
    );
    assert!(stream.rest_seconds >= HELD.as_secs_f64(), "{stream:?}");
}

#[tokio::test]
async fn a_connection_that_the_server_keeps_is_used_again() {
    const REQUESTS: usize = 8;
    let session = session();
    let exchanges = [&session["kept_alive_first"], &session["kept_alive_second"]];
    let plan = (0..REQUESTS).map(|number| exchanges[number % 2].clone()).collect();
    let server = Server::start(plan).await;
    let gateway = server.gateway().await;
    let attempt = gateway.open(attempt(1), None);
    for number in 0..REQUESTS {
        let exchange = exchanges[number % 2];
        let answer = post(&attempt, CHAT, exchange.request_body()).await;
        assert_eq!((answer.status().as_u16(), answer.text().await.unwrap()), (200, exchange.answer()));
    }
    // A request that comes at once after an answer may meet the connection before it is free again, hence not exactly one.
    let opened = server.opened.load(Ordering::SeqCst);
    assert!(opened < REQUESTS, "{opened} connections for {REQUESTS} requests");
}

#[tokio::test]
async fn a_connection_that_the_server_has_closed_meanwhile_costs_no_answer() {
    let session = session();
    let exchanges = ["kept_alive_first", "kept_alive_second"].map(|name| session[name].clone());
    let server = Server::closing(exchanges.to_vec()).await;
    let gateway = server.gateway().await;
    let attempt = gateway.open(attempt(1), None);
    for exchange in &exchanges {
        let answer = post(&attempt, CHAT, exchange.request_body()).await;
        assert_eq!((answer.status().as_u16(), answer.text().await.unwrap()), (200, exchange.answer()));
    }
    let summary = attempt.close();
    assert_eq!((summary.spent.requests, summary.spent.unmetered, summary.stop_reason), (2, 0, None));
}

#[tokio::test]
async fn a_client_that_goes_in_the_middle_closes_the_connection_to_the_server() {
    let exchange = session()["stopped_in_the_middle"].clone();
    assert_eq!(exchange.end, End::Agent);
    let mut server = Server::start(vec![exchange.clone()]).await;
    let gateway = server.gateway().await;
    let attempt = gateway.open(attempt(1), None);
    let mut answer = post(&attempt, CHAT, exchange.request_body()).await;
    let mut received_text = String::new();
    while received_text.matches("\"content\":\"").count() < 6 {
        received_text.push_str(std::str::from_utf8(&answer.chunk().await.unwrap().unwrap()).unwrap());
    }
    drop(answer);
    server.closed.wait_for(|closed| *closed == 1).await.unwrap();
    let summary = attempt.close();
    let record = &summary.records[0];
    assert_eq!((record.status, record.termination), (200, Some(Termination::Agent)));
    assert_eq!((record.tokens.output, summary.spent.unmetered, summary.spent.cost_usd), (None, 1, None));
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_is_the_endpoints_fault() {
    let exchange = session()["killed_in_the_middle"].clone();
    assert_eq!(exchange.end, End::Server);
    let (status, text, summary) = send_one_request(&exchange, exchange.request_body()).await;
    assert_eq!((status, text), (200, None), "the agent sees that the answer breaks off");
    let record = &summary.records[0];
    assert_eq!(record.termination, Some(Termination::Endpoint));
    assert_eq!((record.faults.as_slice(), summary.spent.unmetered), ([0].as_slice(), 1));
}

#[tokio::test]
async fn the_list_tells_the_context_of_a_slot_and_what_the_model_was_made_for() {
    let session = session();
    let server = Server::start(vec![session["models"].clone(), session["props"].clone()]).await;
    let list: ModelList =
        gateway::list_models(&server.base_url, None, Duration::from_secs(30)).await.unwrap();
    assert_eq!((list.server, list.slots), (Some(ServerKind::LlamaCpp), Some(1)));
    let model = &list.models[0];
    assert!(model.aliases.is_empty(), "its only other name is its name");
    assert_eq!(
        (model.id.as_str(), model.context, model.model_context),
        ("smollm2-135m", Some(1024), Some(8192))
    );
}

/// The gateway sees the stream from outside; the server times its own work. Both call the same number speed.
#[test]
fn the_speed_of_an_answer_is_the_one_that_the_server_measures() {
    let exchange = &session()["slot_taken"];
    let events: Vec<&Piece> =
        exchange.pieces.iter().filter(|piece| piece.text.contains("\"content\":\"")).collect();
    let (first, last) = (events[0].ms, exchange.pieces[exchange.pieces.len() - 1].ms);
    let expected = exchange.own_tokens().unwrap();
    let record: Record = serde_json::from_value(serde_json::json!({
        "episode": "scenario_1", "turn": 1, "attempt": 1, "at": "2026-11-27T10:00:00Z", "route": format!("POST {CHAT}"),
        "model": null, "tokens": expected, "cost_usd": null, "seconds": 9.0, "status": 200, "retries": 0,
        "stream": { "first": first as f64 / 1000.0, "rest": (last - first) as f64 / 1000.0 },
    }))
    .unwrap();
    let mut speeds = Speeds::default();
    speeds.add(&record);
    let outside = speeds.tokens_per_second().answer.unwrap().median;
    let inside = exchange.timings().unwrap()["predicted_per_second"].as_f64().unwrap();
    assert!((outside / inside - 1.0).abs() < 0.1, "{outside} tokens/s from outside, {inside} inside");
}
