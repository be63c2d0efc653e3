//! What answers the requests: an endpoint over HTTP, or the simulated model.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use bytes::Bytes;
use model::Tokens;
use serde_json::json;

use crate::error::{EndpointProblem, GatewayError};
use crate::request::{OutgoingRequest, RequestKind};
use crate::secret::Secret;
use crate::settings::Upstream;
use crate::simulated_model::{SimulatedModel, Task};
use crate::text::one_line;

/// How long it may take to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long an idle connection is kept. Shorter than endpoints keep it, so that no request meets one that is closing.
const IDLE_TIME: Duration = Duration::from_secs(20);
/// The same of programs on this machine: llama.cpp closes a connection after 5 seconds.
const LOCAL_IDLE_TIME: Duration = Duration::from_secs(4);
/// Version of the messages API, where the agent names none.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// What answers requests.
#[derive(Debug)]
pub(crate) enum Backend {
    /// An endpoint.
    Http(Endpoint),
    /// The simulated model.
    Simulated(Arc<SimulatedModel>),
}

/// An endpoint over HTTP.
pub(crate) struct Endpoint {
    client: reqwest::Client,
    base: BaseUrl,
    bearer: Option<HeaderValue>,
    plain_key: Option<HeaderValue>,
    /// To remove it from texts of the endpoint.
    pub(crate) key: Option<Secret>,
    /// Replaces the model that the agent asks for.
    pub(crate) model: Option<String>,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("base", &self.base)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// The address of an endpoint, to which `/v1/…` is appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BaseUrl {
    text: String,
    /// It names a version, so the `/v1` of requests is dropped.
    versioned: bool,
    /// Its host, for messages to people.
    pub(crate) host: String,
    /// On this machine: no proxy in between.
    local: bool,
}

impl BaseUrl {
    /// Parses an address.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let trimmed = text.trim().trim_end_matches('/');
        let trimmed = trimmed.strip_suffix("/v1").unwrap_or(trimmed).trim_end_matches('/');
        let url = reqwest::Url::parse(trimmed)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .ok_or("the address of an endpoint starts with http:// or https:// and names a host")?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                "the address of an endpoint has no user and no password; set the key separately".to_owned()
            );
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("the address of an endpoint has no `?` and no `#`".to_owned());
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let local = host == "localhost"
            || host
                .trim_matches(['[', ']'])
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback());
        let version = |segment: &str| {
            segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let versioned = url.path_segments().is_some_and(|mut segments| segments.any(version));
        Ok(Self { text: trimmed.to_owned(), versioned, host, local })
    }

    /// Whether a program of one's own may serve it, which has paths beside those of the API: the address has no version, and no
    /// provider on the internet is at `http://`.
    pub(crate) fn has_own_paths(&self) -> bool {
        let is_plain = self.text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("http://"));
        !self.versioned && is_plain
    }

    /// The address of `/v1/…`.
    pub(crate) fn join(&self, target: &str) -> String {
        let target = if self.versioned { target.strip_prefix("/v1").unwrap_or(target) } else { target };
        format!("{}{target}", self.text)
    }
}

/// An answer whose body is still to be read.
#[derive(Debug)]
pub(crate) struct Reply {
    /// Its status.
    pub(crate) status: StatusCode,
    /// Its headers, all of them.
    pub(crate) headers: HeaderMap,
    /// Its body.
    pub(crate) body: Source,
    /// The tokens that the simulated model counts in advance.
    pub(crate) simulated_tokens: Option<Tokens>,
}

/// A body that arrives in pieces.
#[derive(Debug)]
pub(crate) enum Source {
    /// From an endpoint.
    Http(Box<reqwest::Response>),
    /// From the simulated model.
    Simulated {
        /// What is left of it.
        chunks: VecDeque<Bytes>,
        /// Nothing follows, not even an end.
        stalls: bool,
    },
}

impl Source {
    /// The next piece; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, String> {
        match self {
            Self::Http(response) => response.chunk().await.map_err(|error| explain(&error).message),
            Self::Simulated { chunks, stalls } => match chunks.pop_front() {
                None if *stalls => std::future::pending().await,
                chunk => Ok(chunk),
            },
        }
    }
}

impl Backend {
    /// Prepares an upstream.
    pub(crate) fn new(upstream: Upstream) -> Result<Self, GatewayError> {
        Ok(match upstream {
            Upstream::Http { base_url, key, model } => Self::Http(Endpoint::new(&base_url, key, model)?),
            Upstream::Simulated(model) => Self::Simulated(model),
        })
    }

    /// Sends a request and waits for the head of its answer.
    pub(crate) async fn send(&self, request: &OutgoingRequest, task: Option<&Task>) -> Result<Reply, String> {
        match self {
            Self::Http(endpoint) => endpoint.send(request).await.map_err(|unreachable| unreachable.message),
            Self::Simulated(model) => simulate(model, request, task).await,
        }
    }

    /// The model that replaces the one that the agent asks for.
    pub(crate) fn model(&self) -> Option<&str> {
        match self {
            Self::Http(endpoint) => endpoint.model.as_deref(),
            Self::Simulated(_) => None,
        }
    }

    /// A text from outside, without the key.
    pub(crate) fn scrub(&self, text: &str) -> String {
        match self {
            Self::Http(Endpoint { key: Some(key), .. }) => key.scrub(text),
            _ => text.to_owned(),
        }
    }
}

impl Endpoint {
    /// Prepares a client. Fails where the key is not fit for a header.
    pub(crate) fn new(
        base_url: &str,
        key: Option<Secret>,
        model: Option<String>,
    ) -> Result<Self, GatewayError> {
        let invalid =
            |setting: &str, reason: String| GatewayError::Settings { setting: setting.to_owned(), reason };
        let base = BaseUrl::parse(base_url).map_err(|reason| invalid("the endpoint's address", reason))?;
        let header = |text: String| {
            let mut value = HeaderValue::from_str(&text).map_err(|_| {
                invalid(
                    "the endpoint's key",
                    "it has characters that no key has, such as line breaks".to_owned(),
                )
            })?;
            value.set_sensitive(true);
            Ok::<_, GatewayError>(value)
        };
        let key = key.filter(|key| !key.reveal().is_empty());
        let bearer = key.as_ref().map(|key| header(format!("Bearer {}", key.reveal()))).transpose()?;
        let plain_key = key.as_ref().map(|key| header(key.reveal().to_owned())).transpose()?;
        // It fails where another part of the process has installed a provider, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_nodelay(true)
            .pool_idle_timeout(if base.local { LOCAL_IDLE_TIME } else { IDLE_TIME });
        if base.local {
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| invalid("https", explain(&error).message))?;
        Ok(Self { client, base, bearer, plain_key, key, model })
    }

    /// Sends a request and waits for the head of its answer.
    pub(crate) async fn send(&self, request: &OutgoingRequest) -> Result<Reply, Unreachable> {
        let mut headers = request.headers.clone();
        let is_anthropic = self.base.host.ends_with("anthropic.com");
        let is_messages = request.target.starts_with("/v1/messages")
            || is_anthropic && request.target.starts_with("/v1/models");
        if is_messages {
            let version = HeaderName::from_static("anthropic-version");
            headers.entry(version).or_insert(HeaderValue::from_static(ANTHROPIC_VERSION));
            if let Some(key) = &self.plain_key {
                headers.insert(HeaderName::from_static("x-api-key"), key.clone());
            }
        }
        // Anthropic treats a bearer as another kind of token.
        if let Some(bearer) = &self.bearer
            && !(is_messages && is_anthropic)
        {
            headers.insert(AUTHORIZATION, bearer.clone());
        }
        let response = self
            .client
            .request(request.method.clone(), self.base.join(&request.target))
            .headers(headers)
            .body(request.body.clone())
            .send()
            .await
            .map_err(|error| explain(&error))?;
        Ok(Reply {
            status: response.status(),
            headers: response.headers().clone(),
            body: Source::Http(Box::new(response)),
            simulated_tokens: None,
        })
    }
}

/// Asks the simulated model. It knows the three APIs, a list of one model, and a rough count of tokens.
async fn simulate(
    model: &Arc<SimulatedModel>,
    request: &OutgoingRequest,
    task: Option<&Task>,
) -> Result<Reply, String> {
    let plain = |status: StatusCode, body: serde_json::Value| Reply {
        status,
        headers: json_headers("application/json"),
        body: Source::Simulated { chunks: VecDeque::from([Bytes::from(body.to_string())]), stalls: false },
        simulated_tokens: None,
    };
    let RequestKind::Model(route) = request.kind else {
        return Ok(match (request.method.as_str(), request.target.split('?').next()) {
            ("GET" | "HEAD", Some("/v1/models")) => plain(
                StatusCode::OK,
                json!({ "object": "list", "data": [{ "id": "oracle", "object": "model", "owned_by": "stamina" }] }),
            ),
            ("POST", Some("/v1/messages/count_tokens" | "/v1/responses/input_tokens")) => {
                plain(StatusCode::OK, json!({ "input_tokens": request.body.len() / 4 }))
            }
            _ => plain(
                StatusCode::NOT_FOUND,
                json!({ "error": { "message": "The simulated model does not support this path.", "type": "not_found_error" } }),
            ),
        });
    };
    let Ok(body) = serde_json::from_slice::<serde_json::Value>(&request.body) else {
        return Ok(plain(
            StatusCode::BAD_REQUEST,
            json!({ "error": { "message": "The body is not JSON.", "type": "invalid_request_error" } }),
        ));
    };
    let task = task.cloned().ok_or("the attempt was opened without a task for the simulated model")?;
    let model = Arc::clone(model);
    let answer = tokio::task::spawn_blocking(move || model.answer(route, &body, &task))
        .await
        .map_err(|_| "the simulated model failed; this is a defect of Stamina Lab".to_owned())?;
    Ok(Reply {
        status: StatusCode::from_u16(answer.status).map_err(|error| error.to_string())?,
        headers: json_headers(answer.content_type),
        body: Source::Simulated { chunks: answer.chunks.into(), stalls: answer.stalls },
        simulated_tokens: Some(answer.tokens).filter(|tokens| !tokens.is_unknown()),
    })
}

pub(crate) fn json_headers(content_type: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers
}

/// Why an endpoint cannot be reached.
#[derive(Debug)]
pub(crate) struct Unreachable {
    pub(crate) problem: EndpointProblem,
    /// One line, without the address, which may be private.
    pub(crate) message: String,
}

/// What a failed connection means.
pub(crate) fn explain(error: &reqwest::Error) -> Unreachable {
    let mut causes = Vec::new();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    let mut refused = false;
    while let Some(error) = cause {
        refused |= error
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused);
        causes.push(error.to_string());
        cause = error.source();
    }
    let all = causes.join(": ").to_lowercase();
    let deepest = one_line(causes.last().map_or("unknown cause", String::as_str));
    let (problem, message) = if refused {
        (EndpointProblem::Refused, "the connection was refused: nothing listens there".to_owned())
    } else if all.contains("dns error") {
        (EndpointProblem::Name, format!("the host name does not resolve ({deepest})"))
    } else if ["certificate", "tls", "corrupt message", "handshake"].iter().any(|word| all.contains(word)) {
        (EndpointProblem::Secure, format!("no secure connection: {deepest}"))
    } else if error.is_timeout() {
        (EndpointProblem::Silent, "the connection timed out".to_owned())
    } else if error.is_connect() {
        (EndpointProblem::Unreachable, format!("no connection: {deepest}"))
    } else {
        (EndpointProblem::Unreachable, format!("the connection broke off: {deepest}"))
    };
    Unreachable { problem, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_at_the_version() {
        for (base, url) in [
            ("https://api.openai.com", "https://api.openai.com/v1/chat/completions"),
            ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"),
            ("https://a.b/anthropic/", "https://a.b/anthropic/v1/chat/completions"),
            ("https://a.b/api/paas/v4", "https://a.b/api/paas/v4/chat/completions"),
            ("https://a.b/v1beta/openai", "https://a.b/v1beta/openai/chat/completions"),
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/chat/completions"),
        ] {
            assert_eq!(BaseUrl::parse(base).unwrap().join("/v1/chat/completions"), url);
        }
        for base in ["", "api.openai.com", "ftp://a", "https://u:p@a.b", "https://a.b?x=1"] {
            assert!(BaseUrl::parse(base).is_err(), "{base}");
        }
        assert!(BaseUrl::parse("http://[::1]:80").unwrap().local);
    }

    #[test]
    fn only_plain_addresses_without_a_version_are_asked_for_paths_of_their_own() {
        for (base, has) in [
            ("http://127.0.0.1:8080", true),
            ("http://localhost:8080/v1/", true),
            ("HTTP://192.168.1.20:8080", true),
            ("https://localhost", false),
            ("https://127.0.0.1:8443", false),
            ("https://api.openai.com", false),
            ("http://127.0.0.1:8080/api/paas/v4", false),
        ] {
            assert_eq!(BaseUrl::parse(base).unwrap().has_own_paths(), has, "{base}");
        }
    }
}
