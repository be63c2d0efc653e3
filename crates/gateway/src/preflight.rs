//! Whether an endpoint would do, asked with one cheap request before a run is paid for.

use std::time::{Duration, Instant};

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::forward::said;
use crate::upstream::{Base, Endpoint, Reply, Unreached, own};
use crate::usage::{Meter, short};
use crate::{Route, Upstream, overflow};

/// How long the one request may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// The least that the responses API takes.
pub(crate) const LEAST: u32 = 16;
/// As much of the answer is read.
const LONGEST_ANSWER: usize = 1 << 20;

/// An endpoint that answered as it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// From the request to the end of its answer.
    pub after: Duration,
    /// Whether it told its usage; without it tokens and costs of a run are unknown.
    pub tells_usage: bool,
}

/// What is wrong with an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Its address can not be read.
    Address,
    /// Its host has no address (DNS).
    Name,
    /// Nothing listens there.
    Refused,
    /// No secure connection (TLS).
    Secure,
    /// It can not be reached, or the connection breaks off.
    Unreachable,
    /// It says nothing.
    Silent,
    /// The key is missing or wrong (401, 403).
    Key,
    /// The account has nothing left (402, quota).
    Account,
    /// It does not know the model.
    Model,
    /// It does not speak this API (404, 405, or an answer in other words).
    Api,
    /// It is busy (429).
    Busy,
    /// It has a fault (5xx).
    Fault,
    /// It does not take the request (another 4xx).
    Request,
}

/// Why an endpoint would not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}. {hint}")]
pub struct PreflightError {
    /// What kind of trouble.
    pub trouble: Trouble,
    /// What happened and where.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// Asks for a few tokens over the API that the harness speaks. The scripted model always answers. `model` is put in as the
/// model's name, unless the upstream has one.
pub async fn preflight(upstream: &Upstream, route: Route, model: &str) -> Result<Answered, PreflightError> {
    let Upstream::Http { base_url, key, model: own_model } = upstream else {
        return Ok(Answered { after: Duration::ZERO, tells_usage: true });
    };
    let wrong = |trouble: Trouble, message: String, hint: &str| PreflightError {
        trouble,
        message,
        hint: hint.to_owned(),
    };
    let address = |why: String| {
        wrong(Trouble::Address, why, "Give the address as https://host, with a path if it has one.")
    };
    let base = Base::parse(base_url)
        .map_err(|why| address(format!("The endpoint's address can not be used: {why}")))?;
    let endpoint = Endpoint::new(base_url, key.clone(), None).map_err(|error| address(error.to_string()))?;
    let model = own_model.as_deref().unwrap_or(model);
    let scrub = |text: String| key.as_ref().map_or(text.clone(), |key| key.scrub(&text));

    let started = Instant::now();
    let (status, text) = match tokio::time::timeout(PATIENCE, ask(&endpoint, route, model, LEAST)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(failure)) => {
            let message = scrub(format!("{} can not be reached: {}", base.host, failure.message));
            return Err(PreflightError {
                trouble: failure.trouble,
                message,
                hint: hint(failure.trouble, route),
            });
        }
        Err(_) => {
            let message = format!("{} said nothing for {} s", base.host, PATIENCE.as_secs());
            return Err(PreflightError {
                trouble: Trouble::Silent,
                message,
                hint: hint(Trouble::Silent, route),
            });
        }
    };
    verdict(&base, route, model, status, &text, started.elapsed())
        .map_err(|error| PreflightError { message: scrub(error.message), ..error })
}

/// Asks for one word, in an answer of at most so many tokens. What was answered.
pub(crate) async fn ask(
    endpoint: &Endpoint,
    route: Route,
    model: &str,
    most: u32,
) -> Result<(StatusCode, String), Unreached> {
    let mut limit = "max_tokens";
    loop {
        let (status, text) = read(endpoint.ask(&own(route, &cheap(route, model, limit, most))).await?).await;
        if status == StatusCode::BAD_REQUEST
            && limit == "max_tokens"
            && text.contains("max_completion_tokens")
        {
            // OpenAI's reasoning models want it by this name.
            limit = "max_completion_tokens";
            continue;
        }
        return Ok((status, text));
    }
}

/// A request that costs next to nothing.
fn cheap(route: Route, model: &str, limit: &str, most: u32) -> Value {
    let ask = "Answer with the word yes.";
    match route {
        Route::ChatCompletions => {
            json!({ "model": model, limit: most, "messages": [{ "role": "user", "content": ask }] })
        }
        Route::Responses => {
            json!({ "model": model, "max_output_tokens": most, "input": ask, "store": false })
        }
        Route::Messages => {
            json!({ "model": model, "max_tokens": most, "messages": [{ "role": "user", "content": ask }] })
        }
    }
}

async fn read(reply: Reply) -> (StatusCode, String) {
    let Reply { status, mut body, .. } = reply;
    let mut read = Vec::new();
    while let Ok(Some(bytes)) = body.next().await {
        read.extend_from_slice(&bytes);
        if read.len() > LONGEST_ANSWER {
            break;
        }
    }
    (status, String::from_utf8_lossy(&read).into_owned())
}

fn verdict(
    base: &Base,
    route: Route,
    model: &str,
    status: StatusCode,
    text: &str,
    after: Duration,
) -> Result<Answered, PreflightError> {
    let host = &base.host;
    let words = text.to_lowercase();
    let says = |all: &[&str]| all.iter().any(|one| words.contains(one));
    let told = said(text);
    let fail = |trouble: Trouble, message: String| {
        Err(PreflightError { trouble, message, hint: hint(trouble, route) })
    };
    match status.as_u16() {
        200..300 => {
            let field = match route {
                Route::ChatCompletions => "choices",
                Route::Responses => "output",
                Route::Messages => "content",
            };
            let body = serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
            if body.get(field).is_none() {
                let message = format!("{host} answered {}, but not as this API does: {told}", route.path());
                return fail(Trouble::Api, message);
            }
            let mut meter = Meter::new(Some(route), false);
            meter.push(text.as_bytes(), None);
            meter.end();
            Ok(Answered { after, tells_usage: meter.tally().is_whole() })
        }
        // The answer did not fit into 16 tokens, which is as good as one.
        400 if says(&["output limit was reached", "max_tokens or model output limit"]) => {
            Ok(Answered { after, tells_usage: false })
        }
        300..400 => fail(Trouble::Address, format!("{host} sends on to another address ({status})")),
        401 | 403 => fail(Trouble::Key, format!("{host} does not take the key ({status}: {told})")),
        402 => fail(Trouble::Account, format!("{host} wants to be paid ({status}: {told})")),
        400 | 429 if says(&["insufficient_quota", "quota", "credit balance", "insufficient balance"]) => {
            fail(Trouble::Account, format!("The account at {host} has nothing left ({status}: {told})"))
        }
        404 | 400 | 422 if says(&["model"]) && !overflow::is_meant(text) => fail(
            Trouble::Model,
            format!("{host} does not take the model {} ({status}: {told})", short(model)),
        ),
        404 | 405 | 501 => {
            fail(Trouble::Api, format!("{host} has no {} ({status}: {told})", base.join(route.path())))
        }
        429 => fail(Trouble::Busy, format!("{host} is busy, or limits how much is asked ({status}: {told})")),
        500.. => fail(Trouble::Fault, format!("{host} has a fault ({status}: {told})")),
        _ => fail(Trouble::Request, format!("{host} does not take a plain request ({status}: {told})")),
    }
}

fn hint(trouble: Trouble, route: Route) -> String {
    match trouble {
        Trouble::Address => "Check the endpoint's address in the settings.".to_owned(),
        Trouble::Name => "Check the spelling of the address, and the network.".to_owned(),
        Trouble::Refused => "Start the server, or check host and port of the address.".to_owned(),
        Trouble::Secure => {
            "Check that the address begins with https:// only where the server speaks it; behind an inspecting proxy, set \
SSL_CERT_FILE to its certificates."
                .to_owned()
        }
        Trouble::Unreachable => "Check the network, and whether a proxy is needed (HTTPS_PROXY).".to_owned(),
        Trouble::Silent => "The model may still be loading; try again, or choose another endpoint.".to_owned(),
        Trouble::Key => "Check where the key is taken from, and that it is one of this endpoint.".to_owned(),
        Trouble::Account => "Top up the account, or use another key.".to_owned(),
        Trouble::Model => "Check the model's name as this endpoint writes it.".to_owned(),
        Trouble::Api => format!(
            "This harness speaks {}: choose an endpoint that offers it, and check the path of the address.",
            match route {
                Route::ChatCompletions => "OpenAI chat completions",
                Route::Responses => "OpenAI responses",
                Route::Messages => "Anthropic messages",
            }
        ),
        Trouble::Busy => "Wait, or run fewer episodes at once.".to_owned(),
        Trouble::Fault => "Try again later.".to_owned(),
        Trouble::Request => "Check the model's name and what the endpoint asks for.".to_owned(),
    }
}
