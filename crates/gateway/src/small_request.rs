//! A request of the gateway's own that costs next to nothing.

use axum::http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use crate::request::OutgoingRequest;
use crate::route::Route;
use crate::upstream::{Endpoint, Reply, Unreachable, json_headers};

/// Fewest tokens of an answer that the responses API accepts.
pub(crate) const LEAST_TOKENS: u32 = 16;
/// Most bytes of the answer that are read.
const LONGEST_ANSWER: usize = 1 << 20;
/// What is asked for unless something is to be found out.
const PROMPT: &str = "Answer with the word yes.";

/// What a small request asks.
pub(crate) struct Question<'a> {
    /// The message of the user.
    pub(crate) prompt: &'a str,
    /// Most tokens of the answer.
    pub(crate) most_tokens: u32,
    /// Fields of the body beside model, limit and messages.
    pub(crate) fields: Map<String, Value>,
}

/// What came back for a question.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// Its body, or what was read of it.
    pub(crate) text: String,
    /// The body came to its end, within 1 MiB.
    pub(crate) is_whole: bool,
}

/// Asks for one word, in an answer of at most `most_tokens`. Returns status and body.
pub(crate) async fn send(
    endpoint: &Endpoint,
    route: Route,
    model: &str,
    most_tokens: u32,
) -> Result<(StatusCode, String), Unreachable> {
    let question = Question { prompt: PROMPT, most_tokens, fields: Map::new() };
    let Answer { status, text, .. } = ask(endpoint, route, model, &question).await?;
    Ok((status, text))
}

/// Asks a question. At most 1 MiB of the body is read.
pub(crate) async fn ask(
    endpoint: &Endpoint,
    route: Route,
    model: &str,
    question: &Question<'_>,
) -> Result<Answer, Unreachable> {
    let mut limit = "max_tokens";
    loop {
        let request = request(route, &body(route, model, limit, question));
        let answer = read(endpoint.send(&request).await?).await;
        let is_renamed = answer.status == StatusCode::BAD_REQUEST
            && limit == "max_tokens"
            && answer.text.contains("max_completion_tokens");
        if !is_renamed {
            return Ok(answer);
        }
        // The reasoning models of OpenAI want the limit under this name.
        limit = "max_completion_tokens";
    }
}

fn request(route: Route, body: &Value) -> OutgoingRequest {
    OutgoingRequest {
        method: Method::POST,
        target: route.path().to_owned(),
        headers: json_headers("application/json"),
        body: body.to_string().into(),
        kind: crate::request::RequestKind::Model(route),
    }
}

fn body(route: Route, model: &str, limit: &str, question: &Question<'_>) -> Value {
    let Question { prompt, most_tokens, fields } = question;
    let messages = json!([{ "role": "user", "content": prompt }]);
    let mut body = match route {
        Route::ChatCompletions => json!({ "model": model, limit: most_tokens, "messages": messages }),
        Route::Responses => {
            json!({ "model": model, "max_output_tokens": most_tokens, "input": prompt, "store": false })
        }
        Route::Messages => json!({ "model": model, "max_tokens": most_tokens, "messages": messages }),
    };
    if let Value::Object(body) = &mut body {
        body.extend(fields.clone());
    }
    body
}

async fn read(reply: Reply) -> Answer {
    let Reply { status, mut body, .. } = reply;
    let mut bytes = Vec::new();
    let is_whole = loop {
        match body.next().await {
            Ok(Some(piece)) => bytes.extend_from_slice(&piece),
            Ok(None) => break true,
            Err(_) => break false,
        }
        if bytes.len() > LONGEST_ANSWER {
            break false;
        }
    };
    Answer { status, text: String::from_utf8_lossy(&bytes).into_owned(), is_whole }
}
