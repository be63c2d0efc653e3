//! A strict reading of the three APIs, independent of the code that writes them: whole answers and streams. Whatever a
//! careful client would trip over is a failed assertion.

use gateway::{Answer, Route};
use serde_json::{Value, json};

/// What an answer says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedAnswer {
    /// Of the response.
    pub(crate) id: String,
    /// Its text.
    pub(crate) text: String,
    /// (id, tool, arguments as text).
    pub(crate) calls: Vec<(String, String, String)>,
    /// (input with what was cached, cached, output); unknown where a stream was not asked for it.
    pub(crate) usage: Option<(u64, u64, u64)>,
}

/// Reads an answer to a request.
pub(crate) fn read(route: Route, request: &Value, answer: &Answer) -> ParsedAnswer {
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(!answer.stalls);
    let streamed = request["stream"] == json!(true);
    assert_eq!(answer.content_type, if streamed { "text/event-stream" } else { "application/json" });
    let parsed = if streamed {
        let events: Vec<&str> =
            answer.chunks.iter().map(|chunk| std::str::from_utf8(chunk).expect("UTF-8")).collect();
        match route {
            Route::ChatCompletions => chat_stream(request, &events),
            Route::Responses => responses_stream(&named_events(&events)),
            Route::Messages => messages_stream(&named_events(&events)),
        }
    } else {
        assert_eq!(answer.chunks.len(), 1);
        let body: Value = serde_json::from_slice(&answer.chunks[0]).expect("JSON");
        assert_eq!(body["model"], request["model"]);
        match route {
            Route::ChatCompletions => chat(&body),
            Route::Responses => response(&body),
            Route::Messages => message(&body),
        }
    };
    let counted = (answer.tokens.input, answer.tokens.cached, answer.tokens.output);
    if let Some((input, cached, output)) = parsed.usage {
        assert_eq!(counted, (Some(input), Some(cached), Some(output)));
        assert!(cached <= input && output > 0, "{counted:?}");
    }
    parsed
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("a text: {value}")).to_owned()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a number: {value}"))
}

/// Each event says its name, in its head and in its data.
fn named_events(events: &[&str]) -> Vec<(String, Value)> {
    events
        .iter()
        .map(|event| {
            let event = event.strip_suffix("\n\n").expect("an empty line ends it");
            let (head, data) = event.split_once('\n').expect("two lines");
            let name = head.strip_prefix("event: ").expect("a name").to_owned();
            let data: Value =
                serde_json::from_str(data.strip_prefix("data: ").expect("data")).expect("JSON on one line");
            assert_eq!(data["type"], json!(name));
            (name, data)
        })
        .collect()
}

fn chat_usage(usage: &Value) -> (u64, u64, u64) {
    let (input, output) = (number(&usage["prompt_tokens"]), number(&usage["completion_tokens"]));
    assert_eq!(number(&usage["total_tokens"]), input + output);
    (input, number(&usage["prompt_tokens_details"]["cached_tokens"]), output)
}

fn chat(body: &Value) -> ParsedAnswer {
    assert_eq!(body["object"], "chat.completion");
    assert_eq!(body["choices"].as_array().map(Vec::len), Some(1));
    let choice = &body["choices"][0];
    let message = &choice["message"];
    assert_eq!((&choice["index"], &message["role"]), (&json!(0), &json!("assistant")));
    let calls: Vec<_> = message["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| {
            assert_eq!(call["type"], "function");
            let function = &call["function"];
            (text(&call["id"]), text(&function["name"]), text(&function["arguments"]))
        })
        .collect();
    assert_eq!(choice["finish_reason"], if calls.is_empty() { "stop" } else { "tool_calls" });
    ParsedAnswer {
        id: text(&body["id"]),
        text: text(&message["content"]),
        calls,
        usage: Some(chat_usage(&body["usage"])),
    }
}

fn chat_stream(request: &Value, events: &[&str]) -> ParsedAnswer {
    let (last, events) = events.split_last().expect("events");
    assert_eq!(*last, "data: [DONE]\n\n");
    let with_usage = request["stream_options"]["include_usage"] == json!(true);
    let mut parsed = ParsedAnswer { id: String::new(), text: String::new(), calls: Vec::new(), usage: None };
    let mut reason: Option<String> = None;
    for (index, event) in events.iter().enumerate() {
        let data = event.strip_prefix("data: ").and_then(|rest| rest.strip_suffix("\n\n")).expect("an event");
        let chunk: Value = serde_json::from_str(data).expect("JSON on one line");
        assert_eq!((&chunk["object"], &chunk["model"]), (&json!("chat.completion.chunk"), &request["model"]));
        if index == 0 {
            parsed.id = text(&chunk["id"]);
            assert_eq!(chunk["choices"][0]["delta"]["role"], "assistant");
        }
        assert_eq!(chunk["id"], json!(parsed.id));
        let choices = chunk["choices"].as_array().expect("choices");
        if choices.is_empty() {
            assert!(with_usage && reason.is_some() && parsed.usage.is_none());
            parsed.usage = Some(chat_usage(&chunk["usage"]));
            continue;
        }
        assert_eq!(chunk.get("usage").is_some(), with_usage);
        assert!(chunk["usage"].is_null() && parsed.usage.is_none() && reason.is_none());
        let delta = &choices[0]["delta"];
        if let Some(more) = delta["content"].as_str() {
            assert!(parsed.calls.is_empty(), "text after a call");
            parsed.text.push_str(more);
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let call_index = number(&call["index"]) as usize;
            if call_index == parsed.calls.len() {
                assert_eq!(call["type"], "function");
                parsed.calls.push((text(&call["id"]), text(&call["function"]["name"]), String::new()));
            } else {
                assert!(call.get("id").is_none() && call["function"].get("name").is_none());
            }
            parsed.calls[call_index].2.push_str(call["function"]["arguments"].as_str().expect("a part"));
        }
        reason = choices[0]["finish_reason"].as_str().map(str::to_owned);
    }
    let expected = if parsed.calls.is_empty() { "stop" } else { "tool_calls" };
    assert_eq!(reason.as_deref(), Some(expected));
    assert_eq!(parsed.usage.is_some(), with_usage);
    parsed
}

/// A whole response, or the last event of a stream of it.
fn response(body: &Value) -> ParsedAnswer {
    assert_eq!((&body["object"], &body["status"]), (&json!("response"), &json!("completed")));
    let mut parsed =
        ParsedAnswer { id: text(&body["id"]), text: String::new(), calls: Vec::new(), usage: None };
    for item in body["output"].as_array().expect("output") {
        assert_eq!(item["status"], "completed");
        match item["type"].as_str() {
            Some("message") => {
                assert_eq!(item["role"], "assistant");
                for part in item["content"].as_array().expect("parts") {
                    assert_eq!(part["type"], "output_text");
                    assert!(part["annotations"].is_array());
                    parsed.text.push_str(part["text"].as_str().expect("a text"));
                }
            }
            Some("function_call") => {
                assert_ne!(item["id"], item["call_id"]);
                parsed.calls.push((text(&item["call_id"]), text(&item["name"]), text(&item["arguments"])));
            }
            other => panic!("an item of type {other:?}"),
        }
    }
    let usage = &body["usage"];
    let (input, output) = (number(&usage["input_tokens"]), number(&usage["output_tokens"]));
    assert_eq!(number(&usage["total_tokens"]), input + output);
    assert!(usage["output_tokens_details"]["reasoning_tokens"].is_u64());
    parsed.usage = Some((input, number(&usage["input_tokens_details"]["cached_tokens"]), output));
    parsed
}

fn responses_stream(events: &[(String, Value)]) -> ParsedAnswer {
    for (number, (_, data)) in events.iter().enumerate() {
        assert_eq!(data["sequence_number"], json!(number));
    }
    let mut events = events.iter().map(|(name, data)| (name.as_str(), data));
    let mut next = || events.next().expect("another event");
    let (name, created) = next();
    assert_eq!((name, &created["response"]["status"]), ("response.created", &json!("in_progress")));
    assert_eq!(created["response"]["output"], json!([]));
    assert_eq!(next().0, "response.in_progress");
    let mut items: Vec<Value> = Vec::new();
    let last = loop {
        let (name, data) = next();
        if name == "response.completed" {
            break data;
        }
        assert_eq!(name, "response.output_item.added");
        let (index, begun) = (&data["output_index"], &data["item"]);
        assert_eq!(*index, json!(items.len()));
        assert_eq!(begun["status"], "in_progress");
        let check_place = |data: &Value| {
            assert_eq!((&data["item_id"], &data["output_index"]), (&begun["id"], index));
        };
        let mut collected = String::new();
        let done = if begun["type"] == "message" {
            assert_eq!(begun["content"], json!([]));
            let (name, part) = next();
            check_place(part);
            assert_eq!((name, &part["part"]["text"]), ("response.content_part.added", &json!("")));
            let text = loop {
                let (name, data) = next();
                check_place(data);
                assert_eq!(data["content_index"], json!(0));
                if name == "response.output_text.done" {
                    break data;
                }
                assert_eq!(name, "response.output_text.delta");
                collected.push_str(data["delta"].as_str().expect("a part"));
            };
            assert_eq!(text["text"], json!(collected));
            let (name, part) = next();
            check_place(part);
            assert_eq!((name, &part["part"]["text"]), ("response.content_part.done", &json!(collected)));
            next()
        } else {
            assert_eq!((&begun["type"], &begun["arguments"]), (&json!("function_call"), &json!("")));
            loop {
                let (name, data) = next();
                check_place(data);
                if name == "response.function_call_arguments.done" {
                    assert_eq!(data["arguments"], json!(collected));
                    break;
                }
                assert_eq!(name, "response.function_call_arguments.delta");
                collected.push_str(data["delta"].as_str().expect("a part"));
            }
            next()
        };
        assert_eq!(done.0, "response.output_item.done");
        assert_eq!(done.1["output_index"], *index);
        let item = &done.1["item"];
        assert_eq!((&item["id"], &item["type"]), (&begun["id"], &begun["type"]));
        let complete =
            if item["type"] == "message" { &item["content"][0]["text"] } else { &item["arguments"] };
        assert_eq!(*complete, json!(collected));
        items.push(item.clone());
    };
    assert_eq!(events.next(), None, "nothing follows");
    assert_eq!(last["response"]["output"], json!(items));
    assert_eq!(last["response"]["id"], created["response"]["id"]);
    response(&last["response"])
}

fn messages_usage(usage: &Value) -> (u64, u64) {
    let cached = number(&usage["cache_read_input_tokens"]);
    (number(&usage["input_tokens"]) + number(&usage["cache_creation_input_tokens"]) + cached, cached)
}

fn message(body: &Value) -> ParsedAnswer {
    assert_eq!((&body["type"], &body["role"]), (&json!("message"), &json!("assistant")));
    let mut parsed =
        ParsedAnswer { id: text(&body["id"]), text: String::new(), calls: Vec::new(), usage: None };
    for block in body["content"].as_array().expect("blocks") {
        match block["type"].as_str() {
            Some("text") => parsed.text.push_str(block["text"].as_str().expect("a text")),
            Some("tool_use") => {
                parsed.calls.push((text(&block["id"]), text(&block["name"]), block["input"].to_string()));
            }
            other => panic!("a block of type {other:?}"),
        }
    }
    assert_eq!(body["stop_reason"], if parsed.calls.is_empty() { "end_turn" } else { "tool_use" });
    assert!(body["stop_sequence"].is_null());
    let (input, cached) = messages_usage(&body["usage"]);
    parsed.usage = Some((input, cached, number(&body["usage"]["output_tokens"])));
    parsed
}

fn messages_stream(events: &[(String, Value)]) -> ParsedAnswer {
    let mut events = events.iter().map(|(name, data)| (name.as_str(), data));
    let mut next = || events.next().expect("another event");
    let (name, start) = next();
    assert_eq!(name, "message_start");
    let mut body = start["message"].clone();
    assert_eq!((&body["content"], &body["stop_reason"]), (&json!([]), &Value::Null));
    let mut blocks: Vec<Value> = Vec::new();
    let mut arguments: Vec<String> = Vec::new();
    let end = loop {
        let (name, data) = next();
        if name == "message_delta" {
            break data;
        }
        assert_eq!((name, &data["index"]), ("content_block_start", &json!(blocks.len())));
        let mut block = data["content_block"].clone();
        let mut collected = String::new();
        loop {
            let (name, data) = next();
            assert_eq!(data["index"], json!(blocks.len()));
            if name == "content_block_stop" {
                break;
            }
            assert_eq!(name, "content_block_delta");
            let (kind, part) = if block["type"] == "text" {
                ("text_delta", &data["delta"]["text"])
            } else {
                ("input_json_delta", &data["delta"]["partial_json"])
            };
            assert_eq!(data["delta"]["type"], kind);
            collected.push_str(part.as_str().expect("a part"));
        }
        if block["type"] == "text" {
            assert_eq!(block["text"], "");
            block["text"] = json!(collected);
        } else {
            assert_eq!(block["input"], json!({}));
            arguments.push(collected);
        }
        blocks.push(block);
    };
    assert_eq!(next().0, "message_stop");
    assert_eq!(events.next(), None, "nothing follows");
    body["content"] = json!(blocks);
    body["stop_reason"] = end["delta"]["stop_reason"].clone();
    body["usage"]["output_tokens"] = end["usage"]["output_tokens"].clone();
    let mut parsed = message(&body);
    for (call, arguments) in parsed.calls.iter_mut().zip(arguments) {
        call.2 = arguments;
    }
    parsed
}
