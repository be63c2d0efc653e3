//! What goes through the gateway, and what is counted of it.
#![allow(missing_docs, reason = "tests")]

mod endpoint;

use endpoint::{Act, End, Endpoint, REAL_KEY, attempt, client, gateway, post};
use gateway::{Over, Route, Seen};
use model::Tokens;

const CHAT: &str = r#"{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050,"prompt_tokens_details":{"cached_tokens":600}}}"#;
const CHAT_EVENTS: &str = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"h\\u00e9\"}}],\"usage\":null}\n\n: ping\n\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":null}\n\ndata: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":50,\"prompt_tokens_details\":{\"cached_tokens\":600}}}\n\ndata: [DONE]\n\n";
const RESPONSE: &str = r#"{"id":"r","object":"response","status":"completed","error":null,"output":[],"usage":{"input_tokens":1000,"input_tokens_details":{"cached_tokens":600},"output_tokens":50,"total_tokens":1050}}"#;
const RESPONSE_EVENTS: &str = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"status\":\"in_progress\",\"error\":null,\"usage\":null}}\n\nevent: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"error\":null,\"usage\":{\"input_tokens\":1000,\"input_tokens_details\":{\"cached_tokens\":600},\"output_tokens\":50}}}\n\n";
const MESSAGE: &str = r#"{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":300,"cache_creation_input_tokens":100,"cache_read_input_tokens":600,"output_tokens":50}}"#;
const MESSAGE_EVENTS: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":300,\"cache_creation_input_tokens\":100,\"cache_read_input_tokens\":600,\"output_tokens\":1}}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":50}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

fn tokens(input: u64, cached: u64, output: u64) -> Tokens {
    Tokens { input: Some(input), cached: Some(cached), output: Some(output) }
}

/// Sends one request to an endpoint with one answer; what the agent got, what was seen.
async fn once(act: Act, route: Route, body: &'static str) -> (String, Seen, Endpoint) {
    let endpoint = Endpoint::start(vec![act]).await;
    let gateway = gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    let answer = post(&attempt, route.path(), body).await;
    assert_eq!(answer.status(), 200);
    let text = answer.text().await.expect("the answer comes whole");
    (text, attempt.close(), endpoint)
}

#[tokio::test]
async fn every_api_passes_byte_for_byte_and_is_metered() {
    let streamed = r#"{"model":"m","stream":true,"stream_options":{"include_usage":true}}"#;
    let anthropic = (300.0 + 100.0 * 1.25 + 600.0 * 0.1 + 50.0 * 2.0) / 1e6;
    let openai = (400.0 + 600.0 * 0.1 + 50.0 * 2.0) / 1e6;
    for (route, plain, events, cost) in [
        (Route::ChatCompletions, CHAT, CHAT_EVENTS, openai),
        (Route::Responses, RESPONSE, RESPONSE_EVENTS, openai),
        (Route::Messages, MESSAGE, MESSAGE_EVENTS, anthropic),
    ] {
        let acts = [
            (Act::json(200, plain), plain),
            (Act::events(events), events),
            (Act::pieces(events, 7, End::Whole), events),
            (Act::pieces(events, 1 << 20, End::Whole), events),
        ];
        for (act, expected) in acts {
            let shown = format!("{route:?} {act:?}");
            let (text, seen, endpoint) = once(act, route, streamed).await;
            assert_eq!(text, expected, "{shown}");
            assert_eq!(seen.spent.tokens, tokens(1000, 600, 50), "{shown}");
            assert_eq!((seen.spent.requests, seen.spent.unmetered), (1, 0), "{shown}");
            assert!((seen.spent.cost_usd.unwrap() - cost).abs() < 1e-12, "{shown}");
            let record = &seen.records[0];
            assert_eq!(record.route, format!("POST {}", route.path()));
            assert_eq!(record.model.as_deref(), Some("m"));
            assert_eq!((record.status, record.retries, record.cut), (200, 0, None), "{shown}");
            assert_eq!(endpoint.got()[0].body, streamed.as_bytes(), "{shown}");
            assert_eq!(seen.over, None::<Over>);
        }
    }
}

#[tokio::test]
async fn the_real_key_is_put_in_and_the_agents_is_not_passed_on() {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT)]).await;
    let gateway = gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    for route in [Route::ChatCompletions, Route::Messages] {
        let answer = client()
            .post(format!("{}{}?beta=true", attempt.base_url(0), route.path()))
            .header("x-api-key", attempt.key())
            .header("anthropic-version", "2099-01-01")
            .body("{}")
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 200);
    }
    let got = endpoint.got();
    assert_eq!(got[0].target, "/v1/chat/completions?beta=true");
    assert_eq!(got[0].headers["authorization"], format!("Bearer {REAL_KEY}"));
    assert!(!got[0].headers.contains_key("x-api-key"));
    assert_eq!(got[1].headers["x-api-key"], REAL_KEY);
    assert_eq!(got[1].headers["anthropic-version"], "2099-01-01");
    for got in got {
        assert!(!format!("{got:?}").contains(attempt.key()));
    }
}
