//! What goes through the gateway, and what is counted of it.

use std::sync::Arc;

use gateway::simulated_model::{Ability, FaultInjection, Feedback, SimulatedModel, Task};
use gateway::{AttemptSummary, Route, StopReason, Termination, Upstream};
use model::Tokens;
use serde_json::{Value, json};

use crate::endpoint::{Act, End, Endpoint, REAL_KEY, attempt, client, post, start_gateway};

pub(crate) const CHAT: &str = r#"{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050,"prompt_tokens_details":{"cached_tokens":600}}}"#;
pub(crate) const CHAT_EVENTS: &str = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"h\\u00e9\"}}],\"usage\":null}\n\n: ping\n\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":null}\n\ndata: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":50,\"prompt_tokens_details\":{\"cached_tokens\":600}}}\n\ndata: [DONE]\n\n";
const RESPONSE: &str = r#"{"id":"r","object":"response","status":"completed","error":null,"output":[],"usage":{"input_tokens":1000,"input_tokens_details":{"cached_tokens":600},"output_tokens":50,"total_tokens":1050}}"#;
pub(crate) const RESPONSE_EVENTS: &str = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"status\":\"in_progress\",\"error\":null,\"usage\":null}}\n\nevent: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"error\":null,\"usage\":{\"input_tokens\":1000,\"input_tokens_details\":{\"cached_tokens\":600},\"output_tokens\":50}}}\n\n";
const MESSAGE: &str = r#"{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":300,"cache_creation_input_tokens":100,"cache_read_input_tokens":600,"output_tokens":50}}"#;
pub(crate) const MESSAGE_EVENTS: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":300,\"cache_creation_input_tokens\":100,\"cache_read_input_tokens\":600,\"output_tokens\":1}}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":50}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

pub(crate) fn tokens(input: u64, cached: u64, output: u64) -> Tokens {
    Tokens { input: Some(input), cached: Some(cached), output: Some(output) }
}

/// Sends one request to an endpoint with one answer; what the agent got, what was summary.
async fn send_one_request(act: Act, route: Route, body: &'static str) -> (String, AttemptSummary, Endpoint) {
    let endpoint = Endpoint::start(vec![act]).await;
    let gateway = start_gateway(endpoint.settings()).await;
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
            let (text, summary, endpoint) = send_one_request(act, route, streamed).await;
            assert_eq!(text, expected, "{shown}");
            assert_eq!(summary.spent.tokens, tokens(1000, 600, 50), "{shown}");
            assert_eq!((summary.spent.requests, summary.spent.unmetered), (1, 0), "{shown}");
            assert!((summary.spent.cost_usd.unwrap() - cost).abs() < 1e-12, "{shown}");
            let record = &summary.records[0];
            assert_eq!(record.route, format!("POST {}", route.path()));
            assert_eq!(record.model.as_deref(), Some("m"));
            assert_eq!((record.status, record.retries, record.termination), (200, 0, None), "{shown}");
            assert_eq!(endpoint.received()[0].body, streamed.as_bytes(), "{shown}");
            assert_eq!(summary.stop_reason, None);
        }
    }
}

#[tokio::test]
// docs/security.md: Agents
async fn the_real_key_is_put_in_and_the_agents_is_not_passed_on() {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT), Act::json(200, MESSAGE)]).await;
    let gateway = start_gateway(endpoint.settings()).await;
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
    let requests = endpoint.received();
    assert_eq!(requests[0].target, "/v1/chat/completions?beta=true");
    assert_eq!(requests[0].headers["authorization"], format!("Bearer {REAL_KEY}"));
    assert!(!requests[0].headers.contains_key("x-api-key"));
    assert_eq!(requests[1].headers["x-api-key"], REAL_KEY);
    assert_eq!(requests[1].headers["anthropic-version"], "2099-01-01");
    for requests in requests {
        assert!(!format!("{requests:?}").contains(attempt.key()));
    }
}

/// What the harnesses themselves send gets through, and only the model's name differs in it.
#[tokio::test]
async fn recorded_requests_of_harnesses_pass() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/requests");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 9);
    for file in files {
        let recorded: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let target = recorded["path"].as_str().unwrap();
        let route = Route::from_path(target.split('?').next().unwrap()).unwrap();
        let streams = recorded["body"]["stream"] == json!(true);
        let (plain, events) = match route {
            Route::ChatCompletions => (CHAT, CHAT_EVENTS),
            Route::Responses => (RESPONSE, RESPONSE_EVENTS),
            Route::Messages => (MESSAGE, MESSAGE_EVENTS),
        };
        let act = if streams { Act::events(events) } else { Act::json(200, plain) };
        let endpoint = Endpoint::start(vec![act]).await;
        let mut settings = endpoint.settings();
        if let Upstream::Http { model, .. } = &mut settings.upstream {
            *model = Some("real/model".to_owned());
        }
        let gateway = start_gateway(settings).await;
        let attempt = gateway.open(attempt(1), None);
        let answer = post(&attempt, target, recorded["body"].to_string()).await;
        assert_eq!(answer.text().await.unwrap(), if streams { events } else { plain }, "{}", file.display());
        let summary = attempt.close();
        assert_eq!(summary.spent.tokens, tokens(1000, 600, 50), "{}", file.display());
        assert_eq!(summary.records[0].model, recorded["body"]["model"].as_str().map(str::to_owned));
        let request = &endpoint.received()[0];
        assert_eq!(request.target, target);
        let mut expected = recorded["body"].clone();
        expected["model"] = json!("real/model");
        if let Some(tools) = expected.get_mut("tools").and_then(Value::as_array_mut) {
            // Codex offers hosted web search in every request. Nothing else is removed.
            tools.retain(|tool| tool["type"] != json!("web_search"));
        }
        assert_eq!(serde_json::from_slice::<Value>(&request.body).unwrap(), expected, "{}", file.display());
    }
}

#[tokio::test]
async fn usage_that_the_agent_did_not_ask_for_is_counted_and_kept_from_it() {
    for size in [1, 5, 1 << 20] {
        let act = Act::pieces(CHAT_EVENTS, size, End::Whole);
        let (text, summary, endpoint) =
            send_one_request(act, Route::ChatCompletions, r#"{"stream":true}"#).await;
        let usage = CHAT_EVENTS.find("data: {\"id\":\"c\",\"choices\":[],").unwrap();
        let end = CHAT_EVENTS.find("data: [DONE]").unwrap();
        assert_eq!(text, format!("{}{}", &CHAT_EVENTS[..usage], &CHAT_EVENTS[end..]));
        assert_eq!(summary.spent.tokens, tokens(1000, 600, 50));
        let request: Value = serde_json::from_slice(&endpoint.received()[0].body).unwrap();
        assert_eq!(request, json!({ "stream": true, "stream_options": { "include_usage": true } }));
    }
}

#[tokio::test]
async fn an_answer_without_usage_is_unmetered_and_its_cost_unknown() {
    let plain = r#"{"choices":[{"message":{"content":"hi"}}]}"#;
    let events = "data: {\"choices\":[{\"delta\":{}}]}\n\ndata: [DONE]\n\n";
    for act in [Act::json(200, plain), Act::events(events)] {
        let (_, summary, _) = send_one_request(act, Route::ChatCompletions, "{}").await;
        assert!(summary.spent.tokens.is_unknown());
        assert_eq!((summary.spent.requests, summary.spent.unmetered, summary.spent.cost_usd), (1, 1, None));
        assert_eq!(summary.records[0].cost_usd, None);
    }
}

#[tokio::test]
async fn a_list_of_models_passes_and_costs_nothing() {
    let endpoint = Endpoint::start(vec![Act::json(200, r#"{"data":[]}"#), Act::json(404, "{}")]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    for status in [200, 404] {
        let url = format!("{}/v1/models", attempt.base_url(0));
        let answer = client().get(url).bearer_auth(attempt.key()).send().await.unwrap();
        assert_eq!(answer.status(), status);
    }
    let summary = attempt.close();
    assert_eq!((summary.spent.requests, summary.spent.unmetered, summary.spent.cost_usd), (0, 0, Some(0.0)));
    assert_eq!(summary.records.len(), 2);
    assert_eq!(summary.stop_reason, None);
}

#[tokio::test]
async fn other_paths_do_not_pass() {
    let endpoint = Endpoint::start(vec![Act::json(200, "{}")]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    for path in
        ["/v1/files", "/v1/batches", "/v1/fine_tuning/jobs", "/", "/v1/models/%2e%2e/files", "/v2/messages"]
    {
        let answer = post(&attempt, path, "{}").await;
        assert_eq!(answer.status(), 404, "{path}");
    }
    assert_eq!(endpoint.received().len(), 0);
}

/// An unreadable body may contain anything, such as the name of another model.
#[tokio::test]
async fn an_unreadable_body_is_refused_in_the_format_of_its_api() {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT)]).await;
    let mut settings = endpoint.settings();
    if let Upstream::Http { model, .. } = &mut settings.upstream {
        *model = Some("real/model".to_owned());
    }
    let gateway = start_gateway(settings).await;
    let attempt = gateway.open(attempt(1), None);
    // `{"model":"mine"}`, compressed.
    let packed = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 202, 205, 79, 73, 205, 81, 178, 82, 202, 205, 204, 75, 85,
        170, 5, 0, 153, 140, 94, 43, 16, 0, 0, 0,
    ];
    for (path, body, encoding) in [
        ("/v1/chat/completions", &packed[..], Some("gzip")),
        ("/v1/chat/completions", &packed[..], None),
        ("/v1/messages", b"model=mine", None),
        ("/v1/responses", b"[]", None),
        ("/v1/messages", br#"{"model":"mine"}"#, Some("zstd")),
        ("/v1/embeddings", b"\xff\xfe{\0}\0", None),
    ] {
        let mut request = client()
            .post(format!("{}{path}", attempt.base_url(0)))
            .bearer_auth(attempt.key())
            .body(body.to_vec());
        if let Some(encoding) = encoding {
            request = request.header("content-encoding", encoding);
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 400, "{path}");
        let error: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        assert_eq!(error["error"]["type"], "invalid_request_error", "{path}");
        assert_eq!(error["type"] == "error", path == "/v1/messages", "{path}");
    }
    assert_eq!(endpoint.received().len(), 0);
    let summary = attempt.close();
    assert_eq!((summary.spent.requests, summary.spent.unmetered, summary.stop_reason), (0, 0, None));
}

/// The first piece arrives while the endpoint still holds the second one back.
#[tokio::test]
async fn a_stream_is_passed_on_piece_by_piece() {
    let endpoint = Endpoint::start(vec![Act::pieces(CHAT_EVENTS, 1, End::Silent)]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    let mut answer =
        post(&attempt, "/v1/chat/completions", r#"{"stream":true,"stream_options":{"include_usage":true}}"#)
            .await;
    let mut text = String::new();
    while text.len() < CHAT_EVENTS.len() {
        text.push_str(std::str::from_utf8(&answer.chunk().await.unwrap().unwrap()).unwrap());
    }
    assert_eq!(text, CHAT_EVENTS);
    // The endpoint has not ended the stream, and it counts all the same.
    drop(answer);
    let summary = attempt.close();
    assert_eq!((summary.spent.tokens, summary.records[0].termination), (tokens(1000, 600, 50), None));
}

/// Where the agent does not read, the gateway does not read either. Only sockets buffer in between.
#[tokio::test]
async fn a_slow_agent_slows_the_endpoint_down() {
    let piece = format!("data: {{\"choices\":[],\"x\":\"{}\"}}\n\n", "y".repeat(128 << 10));
    let events = piece.repeat(300);
    let endpoint = Endpoint::start(vec![Act::pieces(&events, 1, End::Whole)]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    let mut answer = post(&attempt, "/v1/chat/completions", "{}").await;
    let mut before = usize::MAX;
    // Until nothing moves: sockets on this machine buffer a few MiB each.
    loop {
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        if endpoint.sent() == before {
            break;
        }
        before = endpoint.sent();
    }
    assert!(before < 220, "{before} of 300 pieces were taken although nobody read");
    while endpoint.sent() == before {
        answer.chunk().await.unwrap().expect("there is more");
    }
}

#[tokio::test]
async fn an_agent_that_hangs_up_is_recorded() {
    let act = Act::pieces(MESSAGE_EVENTS, 1, End::Silent);
    let Act::Pieces { kind, mut pieces, gap, end } = act else { unreachable!() };
    // What has no content yet is held back for a while, in which the agent gets nothing.
    let content =
        pieces.iter().position(|piece| piece.windows(19).any(|part| part == b"content_block_delta"));
    pieces.truncate(content.unwrap() + 1);
    let endpoint = Endpoint::start(vec![Act::Pieces { kind, pieces, gap, end }]).await;
    let gateway = start_gateway(endpoint.settings()).await;
    let attempt = gateway.open(attempt(1), None);
    let mut answer = post(&attempt, "/v1/messages", r#"{"stream":true}"#).await;
    answer.chunk().await.unwrap();
    drop(answer);
    let summary = loop {
        let summary = attempt.summary();
        if !summary.records.is_empty() {
            break summary;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    };
    let record = &summary.records[0];
    assert_eq!((record.status, record.termination), (200, Some(Termination::Agent)));
    assert_eq!(record.tokens.output, None);
    assert_eq!((summary.spent.unmetered, summary.spent.cost_usd), (1, None));
}

/// The simulated model uses the same gateway, which counts its answers in the same way.
#[tokio::test]
async fn the_simulated_model_answers_through_the_gateway() {
    let task = Task {
        scenario: 0,
        turn: 1,
        attempt: 1,
        turns: Arc::new(Vec::new()),
        attempts_before: Vec::new(),
        feedback: Feedback::default(),
        solution: None,
    };
    let start_with = async |faults| {
        let mut settings = Endpoint::start(vec![Act::Silence]).await.settings();
        let model = SimulatedModel::new(Ability { fault_injection: faults, ..Ability::default() });
        settings.upstream = Upstream::Simulated(Arc::new(model));
        start_gateway(settings).await
    };
    let body =
        json!({ "model": "m", "messages": [{ "role": "user", "content": "build a server" }] }).to_string();

    let gateway = start_with(FaultInjection { give_up: 1.0, ..FaultInjection::default() }).await;
    let attempt = gateway.open(attempt(1), Some(task.clone()));
    let answer = post(&attempt, "/v1/chat/completions", body.clone()).await;
    assert_eq!(answer.status(), 200);
    let usage: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    let summary = attempt.close();
    assert_eq!(summary.spent.tokens.input, usage["usage"]["prompt_tokens"].as_u64());
    assert!(summary.spent.tokens.input.is_some() && summary.spent.unmetered == 0);

    let gateway = start_with(FaultInjection { overflow: 1.0, ..FaultInjection::default() }).await;
    let attempt = gateway.open(crate::endpoint::attempt(1), Some(task.clone()));
    assert_eq!(post(&attempt, "/v1/chat/completions", body.clone()).await.status(), 400);
    assert!(matches!(attempt.close().stop_reason, Some(StopReason::ContextOverflow { .. })));

    let gateway = start_with(FaultInjection { stall: 1.0, ..FaultInjection::default() }).await;
    let attempt = gateway.open(crate::endpoint::attempt(1), Some(task));
    let patience = std::time::Duration::from_millis(300);
    let waited = tokio::time::timeout(patience, post(&attempt, "/v1/chat/completions", body)).await;
    assert!(waited.is_err());

    let attempt = gateway.open(crate::endpoint::attempt(2), None);
    assert_eq!(post(&attempt, "/v1/chat/completions", "{}").await.status(), 403);
    assert!(matches!(attempt.close().stop_reason, Some(StopReason::Endpoint { .. })));
}
