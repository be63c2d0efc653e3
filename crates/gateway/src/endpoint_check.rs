//! One cheap request that checks an endpoint, before a run costs anything. All checks before a run: `workbench::runs::preflight`.

use std::time::{Duration, Instant};

use axum::http::StatusCode;
use serde_json::Value;

use crate::error::EndpointProblem;
use crate::overflow;
use crate::route::Route;
use crate::secret::Secret;
use crate::settings::Upstream;
use crate::small_request::{self, LEAST_TOKENS};
use crate::text::{error_message_without, one_line};
use crate::upstream::{BaseUrl, Endpoint};
use crate::usage::Meter;

/// How long the request may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// An endpoint that answered as expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsableEndpoint {
    /// From the request to the end of its answer.
    pub latency: Duration,
    /// Whether it reports its usage. Without usage, tokens and costs of a run are unknown.
    pub reports_usage: bool,
}

/// Why an endpoint is not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}. {hint}")]
pub struct UnusableEndpoint {
    /// What kind of problem.
    pub problem: EndpointProblem,
    /// What happened, and where.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl UnusableEndpoint {
    pub(crate) fn new(problem: EndpointProblem, message: String, route: Route) -> Self {
        Self { problem, message, hint: hint(problem, route) }
    }
}

/// Asks for a few tokens over the API that the harness speaks. The simulated model always answers. `model` is the name of the
/// model, unless the upstream names one.
pub async fn check_endpoint(
    upstream: &Upstream,
    route: Route,
    model: &str,
) -> Result<UsableEndpoint, UnusableEndpoint> {
    let Upstream::Http { base_url, key, model: own_model } = upstream else {
        return Ok(UsableEndpoint { latency: Duration::ZERO, reports_usage: true });
    };
    let invalid_address = |message: String| UnusableEndpoint {
        problem: EndpointProblem::Address,
        message,
        hint: "Set the address to https://host, with a path if it has one.".to_owned(),
    };
    let base = BaseUrl::parse(base_url)
        .map_err(|reason| invalid_address(format!("The address of the endpoint is invalid: {reason}")))?;
    let endpoint =
        Endpoint::new(base_url, key.clone(), None).map_err(|error| invalid_address(error.to_string()))?;
    let model = own_model.as_deref().unwrap_or(model);
    let scrub = |text: String| key.as_ref().map_or(text.clone(), |key| key.scrub(&text));

    let started = Instant::now();
    let sending = small_request::send(&endpoint, route, model, LEAST_TOKENS);
    let (status, text) = match tokio::time::timeout(PATIENCE, sending).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(unreachable)) => {
            let message = scrub(format!("{} cannot be reached: {}", base.host, unreachable.message));
            return Err(UnusableEndpoint::new(unreachable.problem, message, route));
        }
        Err(_) => {
            let message = format!("{} did not answer for {} s", base.host, PATIENCE.as_secs());
            return Err(UnusableEndpoint::new(EndpointProblem::Silent, message, route));
        }
    };
    judge_answer(&base, key.as_ref(), route, model, status, &text, started.elapsed())
        .map_err(|error| UnusableEndpoint { message: scrub(error.message), ..error })
}

fn judge_answer(
    base: &BaseUrl,
    key: Option<&Secret>,
    route: Route,
    model: &str,
    status: StatusCode,
    text: &str,
    latency: Duration,
) -> Result<UsableEndpoint, UnusableEndpoint> {
    use EndpointProblem::{Account, Address, Api, Busy, Fault, Key, Model, Request};

    let host = &base.host;
    let lower = text.to_lowercase();
    let contains = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    let detail = error_message_without(key, text);
    let fail =
        |problem: EndpointProblem, message: String| Err(UnusableEndpoint::new(problem, message, route));
    match status.as_u16() {
        200..300 => {
            let field = match route {
                Route::ChatCompletions => "choices",
                Route::Responses => "output",
                Route::Messages => "content",
            };
            let body = serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
            if body.get(field).is_none() {
                let path = route.path();
                return fail(
                    Api,
                    format!("{host} answered {path}, but not in the format of this API: {detail}"),
                );
            }
            let mut meter = Meter::new(Some(route), false);
            meter.push(text.as_bytes(), None);
            meter.end();
            Ok(UsableEndpoint { latency, reports_usage: meter.tally().is_complete() })
        }
        // The answer did not fit into 16 tokens, which proves as much.
        400 if contains(&["output limit was reached", "max_tokens or model output limit"]) => {
            Ok(UsableEndpoint { latency, reports_usage: false })
        }
        300..400 => fail(Address, format!("{host} redirects to another address ({status})")),
        401 | 403 => fail(Key, format!("{host} does not accept the key ({status}: {detail})")),
        402 => fail(Account, format!("{host} requires a payment ({status}: {detail})")),
        400 | 429 if contains(&["insufficient_quota", "quota", "credit balance", "insufficient balance"]) => {
            fail(Account, format!("The account at {host} is empty ({status}: {detail})"))
        }
        404 | 400 | 422 if contains(&["model"]) && !overflow::is_reported(text) => {
            let model = one_line(model);
            fail(Model, format!("{host} does not accept the model {model} ({status}: {detail})"))
        }
        404 | 405 | 501 => {
            fail(Api, format!("{host} has no {} ({status}: {detail})", base.join(route.path())))
        }
        429 => fail(Busy, format!("{host} is busy, or limits the rate of requests ({status}: {detail})")),
        500.. => fail(Fault, format!("{host} has an internal error ({status}: {detail})")),
        _ => fail(Request, format!("{host} does not accept a plain request ({status}: {detail})")),
    }
}

fn hint(problem: EndpointProblem, route: Route) -> String {
    let hint = match problem {
        EndpointProblem::Address => "Check the address of the endpoint in the settings.",
        EndpointProblem::Name => "Check the spelling of the address, and the network.",
        EndpointProblem::Refused => "Start the server, or check host and port of the address.",
        EndpointProblem::Secure => {
            "Check that the address starts with https:// only where the server supports it. Behind an inspecting proxy, set \
             SSL_CERT_FILE to its certificates."
        }
        EndpointProblem::Unreachable => "Check the network, and whether a proxy is needed (HTTPS_PROXY).",
        EndpointProblem::Silent => "The model may still be loading: try again, or choose another endpoint.",
        EndpointProblem::Key => "Check where the key comes from, and that it belongs to this endpoint.",
        EndpointProblem::Account => "Top up the account, or use another key.",
        EndpointProblem::Model => "Check the name of the model as this endpoint writes it.",
        EndpointProblem::Api => {
            let api = match route {
                Route::ChatCompletions => "OpenAI chat completions",
                Route::Responses => "OpenAI responses",
                Route::Messages => "Anthropic messages",
            };
            return format!(
                "This harness speaks {api}: choose an endpoint that offers it, and check the path of the address."
            );
        }
        EndpointProblem::Busy => "Wait, or run fewer episodes at once.",
        EndpointProblem::Fault => "Try again later.",
        EndpointProblem::Request => "Check the name of the model and the requirements of the endpoint.",
    };
    hint.to_owned()
}
