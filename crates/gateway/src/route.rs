//! The APIs, and what the simulated model answers: one request in, one [`Answer`] out.

use bytes::Bytes;
use model::Tokens;
use serde::{Deserialize, Serialize};

/// Which API a request uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// `POST /v1/chat/completions`.
    ChatCompletions,
    /// `POST /v1/responses`.
    Responses,
    /// `POST /v1/messages`.
    Messages,
}

impl Route {
    /// The route of a path such as `/v1/messages`, without a query. `None` for all others, such as the list of models.
    pub fn from_path(path: &str) -> Option<Self> {
        match path.trim_end_matches('/') {
            "/v1/chat/completions" => Some(Self::ChatCompletions),
            "/v1/responses" => Some(Self::Responses),
            "/v1/messages" => Some(Self::Messages),
            _ => None,
        }
    }

    /// Its path.
    pub const fn path(self) -> &'static str {
        match self {
            Self::ChatCompletions => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
        }
    }
}

/// What the simulated model answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// `application/json` or `text/event-stream`.
    pub content_type: &'static str,
    /// The body in the pieces in which it is sent: one for a plain answer, one per event for a stream.
    pub chunks: Vec<Bytes>,
    /// It never ends: after the pieces nothing is sent until the agent hangs up or the attempt is closed. Without pieces, not
    /// even a head is sent.
    pub stalls: bool,
    /// Its tokens, as in the `usage` of the body. Unknown for errors.
    pub tokens: Tokens,
}

impl Answer {
    /// A plain answer in JSON.
    pub fn json(status: u16, body: &serde_json::Value, tokens: Tokens) -> Self {
        Self {
            status,
            content_type: "application/json",
            chunks: vec![Bytes::from(body.to_string())],
            stalls: false,
            tokens,
        }
    }

    /// A stream of server-sent events.
    pub fn events(chunks: Vec<Bytes>, tokens: Tokens) -> Self {
        Self { status: 200, content_type: "text/event-stream", chunks, stalls: false, tokens }
    }

    /// No answer at all.
    pub fn silence() -> Self {
        Self {
            status: 200,
            content_type: "application/json",
            chunks: Vec::new(),
            stalls: true,
            tokens: Tokens::default(),
        }
    }
}
