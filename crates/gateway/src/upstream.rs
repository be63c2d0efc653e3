//! What stands behind the gateway: an endpoint over HTTP, or the scripted model.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use bytes::Bytes;
use model::Tokens;
use serde_json::json;

use crate::oracle::{Oracle, Task};
use crate::request::{Ask, Kind};
use crate::usage::short;
use crate::{GatewayError, Route, Secret, Trouble, Upstream};

/// How long a connection may take to come up.
const CONNECT: Duration = Duration::from_secs(20);
/// The version of the messages API that is asked for where the agent names none.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Something that answers requests.
#[derive(Debug)]
pub(crate) enum Backend {
    /// An endpoint.
    Http(Endpoint),
    /// The scripted model.
    Oracle(Arc<Oracle>),
}

/// An endpoint over HTTP.
pub(crate) struct Endpoint {
    client: reqwest::Client,
    base: Base,
    bearer: Option<HeaderValue>,
    plain: Option<HeaderValue>,
    /// To take it out of whatever the endpoint says.
    pub(crate) key: Option<Secret>,
    /// Put in place of what the agent asks for.
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

/// An address of an endpoint, split where `/v1` goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Base {
    text: String,
    /// It names a version itself, so `/v1` of the request is left out.
    versioned: bool,
    /// Its host, for messages to people.
    pub(crate) host: String,
    /// On this machine: no proxy in between.
    local: bool,
}

impl Base {
    /// Reads an address.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let trimmed = text.trim().trim_end_matches('/');
        let trimmed = trimmed.strip_suffix("/v1").unwrap_or(trimmed).trim_end_matches('/');
        let url = reqwest::Url::parse(trimmed)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .ok_or("an endpoint's address begins with http:// or https:// and names a host")?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                "an endpoint's address carries no user or password; give the key apart from it".to_owned()
            );
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("an endpoint's address has no `?` and no `#`".to_owned());
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

    /// The address of `/v1/…`.
    pub(crate) fn join(&self, target: &str) -> String {
        let target = if self.versioned { target.strip_prefix("/v1").unwrap_or(target) } else { target };
        format!("{}{target}", self.text)
    }
}

/// An answer whose body is still to come.
#[derive(Debug)]
pub(crate) struct Reply {
    /// Its status.
    pub(crate) status: StatusCode,
    /// Its headers, all of them.
    pub(crate) headers: HeaderMap,
    /// Its body.
    pub(crate) body: Source,
    /// What the scripted model counts, which knows it before it speaks.
    pub(crate) told: Option<Tokens>,
}

/// A body that comes in pieces.
#[derive(Debug)]
pub(crate) enum Source {
    /// Of an endpoint.
    Http(Box<reqwest::Response>),
    /// Of the scripted model.
    Scripted {
        /// What is still to come.
        chunks: VecDeque<Bytes>,
        /// Nothing comes after, not even an end.
        stalls: bool,
    },
}

impl Source {
    /// The next piece; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, String> {
        match self {
            Self::Http(response) => response.chunk().await.map_err(|error| explain(&error).message),
            Self::Scripted { chunks, stalls } => match chunks.pop_front() {
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
            Upstream::Oracle(oracle) => Self::Oracle(oracle),
        })
    }

    /// Sends a request and waits for the head of its answer.
    pub(crate) async fn ask(&self, ask: &Ask, task: Option<&Task>) -> Result<Reply, String> {
        match self {
            Self::Http(endpoint) => endpoint.ask(ask).await.map_err(|unreached| unreached.message),
            Self::Oracle(oracle) => scripted(oracle, ask, task).await,
        }
    }

    /// The model's name to put in.
    pub(crate) fn model(&self) -> Option<&str> {
        match self {
            Self::Http(endpoint) => endpoint.model.as_deref(),
            Self::Oracle(_) => None,
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
    /// Prepares a client. The key is checked to be fit for a header.
    pub(crate) fn new(
        base_url: &str,
        key: Option<Secret>,
        model: Option<String>,
    ) -> Result<Self, GatewayError> {
        let wrong = |what: &str, why: String| GatewayError::Settings { what: what.to_owned(), why };
        let base = Base::parse(base_url).map_err(|why| wrong("the endpoint's address", why))?;
        let header = |text: String| {
            let mut value = HeaderValue::from_str(&text).map_err(|_| {
                wrong(
                    "the endpoint's key",
                    "it has characters that no key has, such as line breaks".to_owned(),
                )
            })?;
            value.set_sensitive(true);
            Ok::<_, GatewayError>(value)
        };
        let key = key.filter(|key| !key.reveal().is_empty());
        let bearer = key.as_ref().map(|key| header(format!("Bearer {}", key.reveal()))).transpose()?;
        let plain = key.as_ref().map(|key| header(key.reveal().to_owned())).transpose()?;
        // An error says that another part of the process was quicker; then theirs is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .tcp_nodelay(true)
            // Fewer seconds than endpoints keep an idle connection: a request is not to meet one that is closing.
            .pool_idle_timeout(Duration::from_secs(20));
        if base.local {
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| wrong("https", explain(&error).message))?;
        Ok(Self { client, base, bearer, plain, key, model })
    }

    /// Sends a request and waits for the head of its answer.
    pub(crate) async fn ask(&self, ask: &Ask) -> Result<Reply, Unreached> {
        let mut headers = ask.headers.clone();
        let messages = ask.target.starts_with("/v1/messages");
        if messages {
            let version = HeaderName::from_static("anthropic-version");
            headers.entry(version).or_insert(HeaderValue::from_static(ANTHROPIC_VERSION));
            if let Some(key) = &self.plain {
                headers.insert(HeaderName::from_static("x-api-key"), key.clone());
            }
        }
        // Anthropic takes a bearer for a token of another kind than a key.
        if let Some(bearer) = &self.bearer
            && !(messages && self.base.host.ends_with("anthropic.com"))
        {
            headers.insert(AUTHORIZATION, bearer.clone());
        }
        let response = self
            .client
            .request(ask.method.clone(), self.base.join(&ask.target))
            .headers(headers)
            .body(ask.body.clone())
            .send()
            .await
            .map_err(|error| explain(&error))?;
        Ok(Reply {
            status: response.status(),
            headers: response.headers().clone(),
            body: Source::Http(Box::new(response)),
            told: None,
        })
    }
}

/// Asks the scripted model. It knows the three APIs, a list of one model, and how to count tokens roughly.
async fn scripted(oracle: &Arc<Oracle>, ask: &Ask, task: Option<&Task>) -> Result<Reply, String> {
    let plain = |status: StatusCode, body: serde_json::Value| Reply {
        status,
        headers: json_headers("application/json"),
        body: Source::Scripted { chunks: VecDeque::from([Bytes::from(body.to_string())]), stalls: false },
        told: None,
    };
    let Kind::Model(route) = ask.kind else {
        return Ok(match (ask.method.as_str(), ask.target.split('?').next()) {
            ("GET" | "HEAD", Some("/v1/models")) => plain(
                StatusCode::OK,
                json!({ "object": "list", "data": [{ "id": "oracle", "object": "model", "owned_by": "stamina" }] }),
            ),
            ("POST", Some("/v1/messages/count_tokens" | "/v1/responses/input_tokens")) => {
                plain(StatusCode::OK, json!({ "input_tokens": ask.body.len() / 4 }))
            }
            _ => plain(
                StatusCode::NOT_FOUND,
                json!({ "error": { "message": "The scripted model does not know this.", "type": "not_found_error" } }),
            ),
        });
    };
    let Ok(body) = serde_json::from_slice::<serde_json::Value>(&ask.body) else {
        return Ok(plain(
            StatusCode::BAD_REQUEST,
            json!({ "error": { "message": "The body is no JSON.", "type": "invalid_request_error" } }),
        ));
    };
    let task = task.cloned().ok_or("the attempt was opened without a task for the scripted model")?;
    let oracle = Arc::clone(oracle);
    let answer = tokio::task::spawn_blocking(move || oracle.answer(route, &body, &task))
        .await
        .map_err(|_| "the scripted model failed; this is a fault of the program".to_owned())?;
    Ok(Reply {
        status: StatusCode::from_u16(answer.status).map_err(|error| error.to_string())?,
        headers: json_headers(answer.content_type),
        body: Source::Scripted { chunks: answer.chunks.into(), stalls: answer.stalls },
        told: Some(answer.tokens).filter(|tokens| !tokens.is_unknown()),
    })
}

fn json_headers(content_type: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers
}

/// Why an endpoint could not be reached.
#[derive(Debug)]
pub(crate) struct Unreached {
    pub(crate) trouble: Trouble,
    /// In words of a person; without the address, which may be private.
    pub(crate) message: String,
}

/// What a failed connection means.
pub(crate) fn explain(error: &reqwest::Error) -> Unreached {
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
    let deepest = short(causes.last().map_or("unknown cause", String::as_str));
    let (trouble, message) = if refused {
        (Trouble::Refused, "the connection was refused: nothing listens there".to_owned())
    } else if all.contains("dns error") {
        (Trouble::Name, format!("the host's name is not known ({deepest})"))
    } else if ["certificate", "tls", "corrupt message", "handshake"].iter().any(|word| all.contains(word)) {
        (Trouble::Secure, format!("no secure connection: {deepest}"))
    } else if error.is_timeout() {
        (Trouble::Silent, "the connection took too long".to_owned())
    } else if error.is_connect() {
        (Trouble::Unreachable, format!("no connection: {deepest}"))
    } else {
        (Trouble::Unreachable, format!("the connection broke off: {deepest}"))
    };
    Unreached { trouble, message }
}

/// The APIs by their paths, for a request of our own.
pub(crate) fn own(route: Route, body: &serde_json::Value) -> Ask {
    Ask {
        method: axum::http::Method::POST,
        target: route.path().to_owned(),
        headers: json_headers("application/json"),
        body: Bytes::from(body.to_string()),
        kind: Kind::Model(route),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_joined_where_the_version_is() {
        for (base, url) in [
            ("https://api.openai.com", "https://api.openai.com/v1/chat/completions"),
            ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"),
            ("https://a.b/anthropic/", "https://a.b/anthropic/v1/chat/completions"),
            ("https://a.b/api/paas/v4", "https://a.b/api/paas/v4/chat/completions"),
            ("https://a.b/v1beta/openai", "https://a.b/v1beta/openai/chat/completions"),
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/chat/completions"),
        ] {
            assert_eq!(Base::parse(base).unwrap().join("/v1/chat/completions"), url);
        }
        for base in ["", "api.openai.com", "ftp://a", "https://u:p@a.b", "https://a.b?x=1"] {
            assert!(Base::parse(base).is_err(), "{base}");
        }
        assert!(Base::parse("http://[::1]:80").unwrap().local);
    }
}
