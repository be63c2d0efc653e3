//! A scripted endpoint with the APIs of OpenAI-compatible servers and of Amazon Bedrock, and with their failures.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Response, StatusCode};
use serde_json::{Value, json};

/// An address without a server, at a port that the system assigns to no process.
pub(crate) const UNUSED_ADDRESS: &str = "http://127.0.0.1:9";

/// The reply to a call.
pub(crate) enum Reply {
    /// An answer of the model.
    Says(String),
    /// A call of the tool for the answer.
    Calls(Value),
    /// Any other response: status, headers, body.
    Http(u16, Vec<(&'static str, String)>, String),
    /// No response for a long time.
    Hangs,
}

/// A received call, in one form for both APIs.
#[derive(Debug, Clone)]
pub(crate) struct ModelRequest {
    /// From 0.
    pub(crate) number: usize,
    /// Path of the request.
    pub(crate) path: String,
    /// The `authorization` header.
    pub(crate) authorization: String,
    /// The text of the system message.
    pub(crate) system: String,
    /// (role, text), in order.
    pub(crate) messages: Vec<(String, String)>,
    /// The whole request.
    pub(crate) body: Value,
}

impl ModelRequest {
    /// The last message.
    pub(crate) fn last(&self) -> &str {
        self.messages.last().map_or("", |(_, text)| text.as_str())
    }

    /// Whether this is the first attempt of a question.
    pub(crate) fn is_first_attempt(&self) -> bool {
        self.messages.len() == 1
    }

    /// The example of the question, which is its last line.
    pub(crate) fn example(&self) -> Value {
        let question = self.messages.first().map_or("", |(_, text)| text.as_str());
        serde_json::from_str(question.lines().last().unwrap_or_default()).unwrap_or_default()
    }

    /// The requested form of the answer, if any.
    pub(crate) fn form(&self) -> Option<&Value> {
        [
            &self.body["response_format"]["json_schema"]["schema"],
            &self.body["tools"][0]["function"]["parameters"],
            &self.body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"],
        ]
        .into_iter()
        .find(|form| form.is_object())
    }

    /// An answer in the form: the first choice, with a new name in every place.
    pub(crate) fn in_form(&self) -> Value {
        let answer = &self.form().expect("a form")["properties"]["answer"];
        let choice = answer["anyOf"].get(0).unwrap_or(answer);
        let places = choice["properties"].as_object().expect("places");
        let word = |index: usize| -> String {
            let number = self.number * 100 + index;
            [17_576, 676, 26, 1].iter().map(|size| char::from(b'a' + (number / size % 26) as u8)).collect()
        };
        let texts = places.iter().enumerate().map(|(index, (label, place))| {
            let pattern = place["pattern"].as_str().unwrap_or_default();
            let text = match (place["enum"].get(0), pattern) {
                (Some(only), _) => only.clone(),
                (None, pattern) if pattern.starts_with("^[A-Z]") => json!("Made By Model"),
                (None, pattern) if pattern.contains(' ') => json!("a thing of a model"),
                (None, _) => json!(format!("model_{}", word(index))),
            };
            (label.clone(), text)
        });
        json!({"answer": texts.collect::<serde_json::Map<_, _>>()})
    }

    /// A good answer to a question for a change: the example with other names.
    pub(crate) fn good_change(&self) -> String {
        let mut change = self.example();
        for part in ["field", "action", "analytic", "entity"] {
            if let Some(part) = change.get_mut(part).filter(|part| part.is_object()) {
                for name in ["name", "plural"] {
                    if let Some(Value::String(name)) = part.get_mut(name) {
                        name.push_str("_of_model");
                    }
                }
            }
        }
        if let Some(Value::String(name)) = change.get_mut("name") {
            name.push_str("_of_model");
        }
        if let Some(Value::String(name)) = change.get_mut("plural") {
            name.push_str("_of_model");
        }
        let value = match change["change"].as_str() {
            Some("add_enum_value") => "value",
            Some("rename_enum_value") => "to",
            _ => "",
        };
        if let Some(Value::String(name)) = change.get_mut(value) {
            name.push_str("_of_model");
        }
        change.to_string()
    }
}

/// A listening endpoint. It stops when it is dropped.
pub(crate) struct Endpoint {
    port: u16,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
    _runtime: tokio::runtime::Runtime,
}

impl Endpoint {
    /// Starts an endpoint that refuses forms. It does not count these calls, and replies to all others from the script.
    pub(crate) fn start(script: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::taking(&[], script)
    }

    /// The same, but it accepts the given keys of a request: `response_format`, `tools`, `toolConfig`.
    pub(crate) fn taking(
        forms: &'static [&'static str],
        script: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("threads");
        let requests: Arc<Mutex<Vec<ModelRequest>>> = Arc::default();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let request_log = Arc::clone(&requests);
        let script = Arc::new(script);
        let app = axum::Router::new().fallback(move |request: Request| {
            let (request_log, script) = (Arc::clone(&request_log), Arc::clone(&script));
            async move { answer(request, forms, &request_log, &*script).await }
        });
        runtime.spawn(async move { axum::serve(listener, app).await });
        Self { port, requests, _runtime: runtime }
    }

    /// Base URL of the OpenAI-compatible interface.
    pub(crate) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Endpoint of Bedrock.
    pub(crate) fn endpoint_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// All calls so far.
    pub(crate) fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().expect("no panic elsewhere").clone()
    }
}

async fn answer(
    request: Request,
    forms: &[&str],
    request_log: &Mutex<Vec<ModelRequest>>,
    script: &(impl Fn(&ModelRequest) -> Reply + Send + Sync),
) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let authorization =
        request.headers().get("authorization").and_then(|value| value.to_str().ok()).unwrap_or("").to_owned();
    // The client may disconnect meanwhile. Then this does not count as a call.
    let Ok(body) = to_bytes(request.into_body(), 1 << 22).await else { return Response::new(Body::empty()) };
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let bedrock = path.starts_with("/model/");
    let refused = ["response_format", "tools", "toolConfig"]
        .into_iter()
        .find(|form| body.get(form).is_some() && !forms.contains(form));
    if let Some(form) = refused {
        let message = format!("`{form}` is not supported by this model");
        let error = json!({"message": message, "error": {"message": message}});
        return Response::builder()
            .status(StatusCode::BAD_REQUEST)
            .header("x-amzn-errortype", "ValidationException")
            .body(Body::from(error.to_string()))
            .expect("a response");
    }
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    let mut messages: Vec<(String, String)> = body["messages"]
        .as_array()
        .map(|messages| {
            messages
                .iter()
                .map(|message| (message["role"].as_str().unwrap_or_default().to_owned(), text(message)))
                .collect()
        })
        .unwrap_or_default();
    let system = if bedrock {
        body["system"][0]["text"].as_str().unwrap_or_default().to_owned()
    } else if messages.is_empty() {
        String::new()
    } else {
        messages.remove(0).1
    };
    let received = {
        let mut requests = request_log.lock().expect("no panic elsewhere");
        let received = ModelRequest { number: requests.len(), path, authorization, system, messages, body };
        requests.push(received.clone());
        received
    };
    let (status, headers, body) = match script(&received) {
        Reply::Hangs => {
            tokio::time::sleep(Duration::from_mins(10)).await;
            (500, Vec::new(), String::new())
        }
        Reply::Http(status, headers, body) => (status, headers, body),
        Reply::Calls(input) if bedrock => {
            let call = json!({"toolUse": {"toolUseId": "1", "name": "answer", "input": input}});
            let body = json!({
                "output": {"message": {"role": "assistant", "content": [call]}},
                "stopReason": "tool_use",
                "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
                "metrics": {"latencyMs": 1},
            });
            (200, Vec::new(), body.to_string())
        }
        Reply::Calls(input) => {
            let call = json!({
                "id": "1",
                "type": "function",
                "function": {"name": "answer", "arguments": input.to_string()},
            });
            let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
            let body = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]});
            (200, Vec::new(), body.to_string())
        }
        Reply::Says(text) if bedrock => {
            let body = json!({
                "output": {"message": {"role": "assistant", "content": [{"text": text}]}},
                "stopReason": "end_turn",
                "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
                "metrics": {"latencyMs": 1},
            });
            (200, Vec::new(), body.to_string())
        }
        Reply::Says(text) => {
            let body = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]});
            (200, Vec::new(), body.to_string())
        }
    };
    let mut response = Response::builder().status(StatusCode::from_u16(status).expect("a status"));
    response = response.header("content-type", "application/json");
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(Body::from(body)).expect("a response")
}
