//! What an endpoint can do, by stand-ins that answer as real programs do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::Response;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use gateway::{Abilities, Route, Secret, Upstream, abilities};
use serde_json::{Value, json};

use crate::endpoint::REAL_KEY;

type Script = fn(&Value) -> (u16, String);

/// Ends a body whose connection is reset there.
const RESET: &str = "<reset>";

/// Answers each request by its body, and keeps the bodies.
async fn stand_in(script: Script) -> (Upstream, Arc<Mutex<Vec<Value>>>) {
    let requests: Arc<Mutex<Vec<Value>>> = Arc::default();
    let kept_requests = Arc::clone(&requests);
    let router = Router::new().fallback(move |request: Request| {
        let kept_requests = Arc::clone(&kept_requests);
        async move {
            // Who asks may leave before the end.
            let Ok(bytes) = to_bytes(request.into_body(), 1 << 20).await else {
                return Response::new(Body::empty());
            };
            let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            let (status, text) = script(&body);
            kept_requests.lock().unwrap().push(body);
            let body = match text.strip_suffix(RESET) {
                Some(begin) => {
                    let begin = Bytes::from(begin.to_owned());
                    let pieces = stream::iter([Ok(begin), Err(std::io::Error::other("reset"))]);
                    // Hyper puts what is ready at once into one write, and an error in it swallows the rest.
                    Body::from_stream(pieces.then(|piece| async {
                        tokio::task::yield_now().await;
                        piece
                    }))
                }
                None => Body::from(text),
            };
            Response::builder().status(status).body(body).unwrap()
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let key = Some(Secret::new(REAL_KEY.to_owned()));
    (Upstream::Http { base_url, key, model: None }, requests)
}

async fn found(route: Route, script: Script) -> Abilities {
    let (upstream, _) = stand_in(script).await;
    abilities(&upstream, route, "m", Abilities::default()).await.unwrap()
}

fn is_stream(body: &Value) -> bool {
    body["stream"] == json!(true)
}

fn chat(message: &Value, end: &str) -> (u16, String) {
    let usage = json!({ "prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13, "prompt_tokens_details": { "cached_tokens": 0 } });
    let answer = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "usage": usage,
        "choices": [{ "index": 0, "finish_reason": end, "message": message }],
    });
    (200, answer.to_string())
}

/// As llama.cpp with `--jinja` answers.
fn complete_answer(body: &Value) -> (u16, String) {
    if is_stream(body) {
        let chunk = |rest: Value| {
            let mut chunk = json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [] });
            chunk.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            format!("data: {chunk}\n\n")
        };
        let text = [
            chunk(json!({ "choices": [{ "index": 0, "finish_reason": null, "delta": { "role": "assistant", "content": null } }] })),
            chunk(json!({ "choices": [{ "index": 0, "finish_reason": null, "delta": { "content": "Yes" } }] })),
            chunk(json!({ "choices": [{ "index": 0, "finish_reason": "stop", "delta": {} }] })),
            chunk(json!({
                "usage": { "prompt_tokens": 35, "completion_tokens": 2, "total_tokens": 37, "prompt_tokens_details": { "cached_tokens": 34 } },
                "timings": { "cache_n": 34, "prompt_n": 1, "predicted_per_second": 90.1 },
            })),
            "data: [DONE]\n\n".to_owned(),
        ]
        .concat();
        return (200, text);
    }
    if body.get("tools").is_some() {
        let call = json!({ "id": "1", "type": "function", "function": { "name": "report", "arguments": "{\"answer\":\"yes\"}" } });
        return chat(&json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls");
    }
    if body.get("response_format").is_some() {
        return chat(&json!({ "role": "assistant", "content": "{\n  \"answer\": \"yes\"\n}" }), "stop");
    }
    chat(&json!({ "role": "assistant", "content": "Yes" }), "stop")
}

#[tokio::test]
async fn an_endpoint_that_can_do_everything() {
    let (upstream, requests) = stand_in(complete_answer).await;
    let can = abilities(&upstream, Route::ChatCompletions, "m", Abilities::default()).await.unwrap();
    let all = Abilities {
        streams: Some(true),
        tools: Some(true),
        json_schema: Some(true),
        usage_in_stream: Some(true),
        cached: Some(true),
        tools_refused: None,
        tools_uncalled: false,
    };
    assert_eq!(can, all);
    let bodies = requests.lock().unwrap().clone();
    assert_eq!(bodies.len(), 3, "one request each");
    assert!(bodies.iter().all(|body| body["model"] == "m" && body["max_tokens"].as_u64().unwrap() <= 128));
    assert_eq!(bodies[0]["stream_options"], json!({ "include_usage": true }));

    // What is there is not asked again.
    abilities(&upstream, Route::ChatCompletions, "m", can.clone()).await.unwrap();
    assert_eq!(requests.lock().unwrap().len(), 3);
    // What is missing is: the server may have been started anew.
    let without_tools = Abilities { tools: Some(false), tools_refused: Some("no".to_owned()), ..can };
    assert_eq!(abilities(&upstream, Route::ChatCompletions, "m", without_tools).await.unwrap(), all);
    assert_eq!(requests.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn tools_that_are_refused_come_with_the_reason() {
    // llama.cpp without --jinja.
    let can = found(Route::ChatCompletions, |body| match body.get("tools") {
        Some(_) => (
            500,
            r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#
                .to_owned(),
        ),
        None => complete_answer(body),
    })
    .await;
    assert_eq!(can.tools, Some(false));
    assert!(can.tools_refused.unwrap().contains("--jinja"));
    // vLLM without --enable-auto-tool-choice, which repeats the key.
    let can = found(Route::ChatCompletions, |body| match body.get("tools") {
        Some(_) => {
            let message = format!(
                "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set {REAL_KEY}\u{1b}[2J"
            );
            (400, json!({ "error": { "message": message, "type": "BadRequestError", "param": null, "code": 400 } }).to_string())
        }
        None => complete_answer(body),
    })
    .await;
    let message = can.tools_refused.unwrap();
    assert!(
        message.contains("--enable-auto-tool-choice")
            && !message.contains(REAL_KEY)
            && !message.contains('\u{1b}'),
        "{message}"
    );
    // Ollama, for a model without them.
    let can = found(Route::ChatCompletions, |body| match body.get("tools") {
        Some(_) => (400, r#"{"error":{"message":"registry.ollama.ai/library/x does not support tools","type":"api_error"}}"#.to_owned()),
        None => complete_answer(body),
    })
    .await;
    assert_eq!(can.tools, Some(false));
}

#[tokio::test]
async fn what_is_not_shown_stays_unknown() {
    // It takes tools and only talks; busy for the schema; a stream without counts.
    let can = found(Route::ChatCompletions, |body| {
        if is_stream(body) {
            (200, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n".to_owned())
        } else if body.get("tools").is_some() {
            chat(&json!({ "role": "assistant", "content": "I would report yes." }), "stop")
        } else {
            (429, r#"{"error":{"message":"response_format: rate limit"}}"#.to_owned())
        }
    })
    .await;
    assert_eq!(
        can,
        Abilities {
            streams: Some(true),
            usage_in_stream: Some(false),
            tools_uncalled: true,
            ..Abilities::default()
        },
        "cached is unknown without usage"
    );
    // Cut at its limit: it may have kept to the schema.
    let can = found(Route::ChatCompletions, |body| match body.get("response_format") {
        Some(_) => chat(&json!({ "role": "assistant", "content": "{\"answer\"" }), "length"),
        None => complete_answer(body),
    })
    .await;
    assert_eq!(can.json_schema, None);
}

#[tokio::test]
async fn a_tool_is_not_called_only_where_an_answer_came_to_its_end() {
    // Busy, and cut at its limit while it thinks.
    let cases: [Script; 3] = [
        |body| match body.get("tools") {
            Some(_) => (429, r#"{"error":{"message":"too many tools in use"}}"#.to_owned()),
            None => complete_answer(body),
        },
        |body| match body.get("tools") {
            Some(_) => chat(&json!({ "role": "assistant", "content": "<think>The user" }), "length"),
            None => complete_answer(body),
        },
        |body| match body.get("tools") {
            Some(_) => (200, format!("{{\"choices\":[{{\"message\":{RESET}")),
            None => complete_answer(body),
        },
    ];
    for script in cases {
        let can = found(Route::ChatCompletions, script).await;
        assert_eq!((can.tools, can.tools_uncalled, can.streams), (None, false, Some(true)), "{can:?}");
    }
}

#[tokio::test]
async fn a_model_that_thinks_first_is_asked_again_for_more_tokens() {
    // llama.cpp and Ollama tell thoughts apart, vLLM without a --reasoning-parser does not.
    let thinks: Script = |body| {
        if is_stream(body) || body["max_tokens"].as_u64().unwrap() > 128 {
            complete_answer(body)
        } else if body.get("tools").is_some() {
            chat(&json!({ "role": "assistant", "content": null, "reasoning_content": "The user" }), "length")
        } else {
            chat(&json!({ "role": "assistant", "content": "<think>\nThe user" }), "length")
        }
    };
    let (upstream, requests) = stand_in(thinks).await;
    let can = abilities(&upstream, Route::ChatCompletions, "m", Abilities::default()).await.unwrap();
    assert_eq!((can.tools, can.tools_uncalled, can.json_schema), (Some(true), false, Some(true)));
    let most: Vec<u64> =
        requests.lock().unwrap().iter().map(|body| body["max_tokens"].as_u64().unwrap()).collect();
    assert_eq!(most, [128, 128, 1024, 128, 1024]);

    // One that only talks would talk on.
    let (upstream, requests) = stand_in(|body| match body.get("tools") {
        Some(_) => chat(&json!({ "role": "assistant", "content": "I would report" }), "length"),
        None => complete_answer(body),
    })
    .await;
    let can = abilities(&upstream, Route::ChatCompletions, "m", Abilities::default()).await.unwrap();
    assert_eq!((can.tools, requests.lock().unwrap().len()), (None, 3));
}

#[tokio::test]
async fn cached_tokens_that_are_told_where_there_are_some_are_asked_for_twice() {
    fn answer_without_details(body: &Value) -> (u16, String) {
        let (status, text) = complete_answer(body);
        (status, text.replace("prompt_tokens_details", "other_details"))
    }
    static STREAMS: AtomicUsize = AtomicUsize::new(0);
    static TRIES: AtomicUsize = AtomicUsize::new(0);
    // vLLM with --enable-prompt-tokens-details, SGLang with --enable-cache-report.
    let (upstream, requests) = stand_in(|body| {
        let is_first = is_stream(body) && STREAMS.fetch_add(1, Ordering::Relaxed) == 0;
        if is_first { answer_without_details(body) } else { complete_answer(body) }
    })
    .await;
    let can = abilities(&upstream, Route::ChatCompletions, "m", Abilities::default()).await.unwrap();
    assert_eq!((can.cached, can.usage_in_stream), (Some(true), Some(true)));
    let bodies = requests.lock().unwrap().clone();
    assert_eq!((bodies.len(), &bodies[0]), (4, &bodies[1]), "the same prompt");
    assert!(
        bodies[0]["messages"][0]["content"].as_str().unwrap().len() > 4 * 64,
        "more than a piece of a cache"
    );

    // Without these options, and where the second request fails.
    let (upstream, requests) = stand_in(answer_without_details).await;
    let can = abilities(&upstream, Route::ChatCompletions, "m", Abilities::default()).await.unwrap();
    assert_eq!((can.cached, requests.lock().unwrap().len()), (Some(false), 4));
    let can = found(Route::ChatCompletions, |body| {
        if is_stream(body) && TRIES.fetch_add(1, Ordering::Relaxed) > 0 {
            return (429, r#"{"error":{"message":"slow down"}}"#.to_owned());
        }
        answer_without_details(body)
    })
    .await;
    assert_eq!((can.cached, can.usage_in_stream), (None, Some(true)));
}

#[tokio::test]
async fn an_error_for_another_reason_refuses_nothing() {
    let can = found(Route::ChatCompletions, |body| {
        if is_stream(body) {
            (
                500,
                r#"{"error":{"message":"upstream connect error or disconnect/reset before headers"}}"#
                    .to_owned(),
            )
        } else if body.get("tools").is_some() {
            (500, r#"{"error":{"message":"the worker for tools is gone"}}"#.to_owned())
        } else {
            (400, r#"{"error":{"message":"Invalid request format"}}"#.to_owned())
        }
    })
    .await;
    assert_eq!(can, Abilities::default());
    let can = found(Route::ChatCompletions, |body| {
        let message = if is_stream(body) { "no healthy upstream" } else { "toolbox: schematic not found" };
        (404, json!({ "error": { "message": message } }).to_string())
    })
    .await;
    assert_eq!(can, Abilities::default());
    // What names a part of the request refuses it.
    let can = found(Route::ChatCompletions, |body| {
        let message = if is_stream(body) {
            "Streaming is not supported for this model."
        } else if body.get("tools").is_some() {
            "No endpoints found that support tool use."
        } else {
            "Unsupported parameter: 'response_format'."
        };
        (400, json!({ "error": { "message": message } }).to_string())
    })
    .await;
    assert_eq!((can.streams, can.tools, can.json_schema), (Some(false), Some(false), Some(false)));
}

#[tokio::test]
async fn a_stream_that_breaks_off_or_holds_an_error_tells_nothing_of_its_usage() {
    const PIECE: &str =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes\"},\"finish_reason\":null}]}\n\n";
    let cases: [(Script, Option<bool>); 3] = [
        // The connection is reset, the stream ends too early, and an error takes the place of the rest.
        (
            |body| if is_stream(body) { (200, format!("{PIECE}{RESET}")) } else { complete_answer(body) },
            Some(true),
        ),
        (|body| if is_stream(body) { (200, PIECE.to_owned()) } else { complete_answer(body) }, Some(true)),
        (
            |body| {
                let error = "data: {\"error\":{\"code\":500,\"message\":\"slot is gone\"}}\n\n";
                if is_stream(body) { (200, format!("{PIECE}{error}")) } else { complete_answer(body) }
            },
            None,
        ),
    ];
    for (script, streams) in cases {
        let can = found(Route::ChatCompletions, script).await;
        assert_eq!((can.streams, can.usage_in_stream, can.cached), (streams, None, None));
    }
}

#[tokio::test]
async fn what_was_known_outlives_an_endpoint_that_is_busy() {
    let busy: Script = |_| (429, r#"{"error":{"message":"slow down"}}"#.to_owned());
    let known = Abilities {
        streams: Some(true),
        tools: Some(false),
        json_schema: Some(false),
        usage_in_stream: Some(true),
        cached: Some(false),
        tools_refused: Some("tools param requires --jinja flag".to_owned()),
        tools_uncalled: false,
    };
    let (upstream, requests) = stand_in(busy).await;
    let can = abilities(&upstream, Route::ChatCompletions, "m", known.clone()).await.unwrap();
    assert_eq!((can, requests.lock().unwrap().len()), (known, 3), "asked again, and nothing is forgotten");
}

#[tokio::test]
async fn what_is_ignored_is_not_there() {
    // Neither streams nor keeps to schemas, and tells nothing of its cache.
    let can = found(Route::ChatCompletions, |body| {
        let usage = json!({ "prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": null });
        let message = json!({ "role": "assistant", "content": "yes" });
        let tools = if body.get("tools").is_some() { complete_answer(body).1 } else { String::new() };
        let plain = json!({ "choices": [{ "finish_reason": "stop", "message": message }], "usage": usage });
        (200, if tools.is_empty() { plain.to_string() } else { tools })
    })
    .await;
    assert_eq!((can.streams, can.usage_in_stream), (Some(false), None));
    assert_eq!((can.json_schema, can.cached, can.tools), (Some(false), Some(false), Some(true)));
}

#[tokio::test]
async fn the_other_apis_are_asked_in_their_own_form() {
    let can = found(Route::Responses, |body| {
        if is_stream(body) {
            return (200, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":3,\"output_tokens\":1,\"input_tokens_details\":{\"cached_tokens\":0}}}}\n\n".to_owned());
        }
        if body["tools"][0]["name"] == "report" {
            return (200, r#"{"output":[{"type":"function_call","name":"report","arguments":"{}"}]}"#.to_owned());
        }
        let kind = &body["text"]["format"]["type"];
        assert_eq!(kind, "json_schema");
        (200, r#"{"status":"completed","output":[{"type":"reasoning","content":[{"type":"reasoning_text","text":"No is a word."}]},{"type":"message","content":[{"type":"output_text","text":"{\"answer\":\"no\"}"}]}]}"#.to_owned())
    })
    .await;
    assert_eq!(
        (can.streams, can.tools, can.json_schema, can.cached),
        (Some(true), Some(true), Some(true), Some(true))
    );

    let can = found(Route::Messages, |body| {
        if is_stream(body) {
            let start = r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1,"cache_read_input_tokens":0}}}"#;
            let end = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#;
            return (200, format!("event: message_start\ndata: {start}\n\nevent: message_delta\ndata: {end}\n\nevent: message_stop\ndata: {{\"type\":\"message_stop\"}}\n\n"));
        }
        assert_eq!(body["tools"][0]["input_schema"]["type"], "object");
        (200, r#"{"type":"message","content":[{"type":"tool_use","id":"1","name":"report","input":{}}]}"#.to_owned())
    })
    .await;
    assert_eq!(
        (can.streams, can.usage_in_stream, can.tools, can.json_schema),
        (Some(true), Some(true), Some(true), None)
    );
}

#[tokio::test]
async fn nonsense_is_no_ability() {
    for script in [
        (|_| (200, "<html>welcome</html>".to_owned())) as Script,
        |_| (200, "data: data: data:\n\n".repeat(100_000)),
        |_| (200, "[".repeat(100_000)),
        |_| (200, "{\"choices\":[{\"message\":{\"tool_calls\":[7],\"content\":[]}}]}".to_owned()),
        |_| (302, String::new()),
        |_| (503, "{\"error\":\"loading\"}".to_owned()),
    ] {
        let can = found(Route::ChatCompletions, script).await;
        assert!(can.tools.is_none() && can.streams != Some(true) && can.json_schema != Some(true), "{can:?}");
    }
}
