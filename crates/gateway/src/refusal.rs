//! Answers that the gateway gives by itself, in the words of the API that was asked.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Response, StatusCode};
use serde_json::json;

use crate::{Over, Route, Scope};

/// Why a request is not forwarded, or came to nothing.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    /// What the agent gets.
    pub(crate) status: StatusCode,
    /// A sentence.
    pub(crate) message: String,
}

impl Refusal {
    /// A status and a sentence.
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// The attempt is over. 403, because every client takes that for final: none of them tries again.
    pub(crate) fn over(over: &Over) -> Self {
        let message = match over {
            Over::Budget { scope, of } => {
                let scope = match scope {
                    Scope::Attempt => "attempt",
                    Scope::Episode => "episode",
                    Scope::Run => "run",
                };
                format!("The budget of this {scope} ({of}) is spent: no further request is answered.")
            }
            Over::Endpoint { message } => {
                format!("The model's endpoint failed: {message}. No further request is answered.")
            }
            Over::ContextOverflow { message } => format!("The context is too long: {message}"),
        };
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// As the API writes errors.
    pub(crate) fn answer(&self, route: Option<Route>) -> Response<Body> {
        let kind = match self.status {
            StatusCode::UNAUTHORIZED => "authentication_error",
            StatusCode::FORBIDDEN => "permission_error",
            StatusCode::NOT_FOUND | StatusCode::GONE => "not_found_error",
            StatusCode::PAYLOAD_TOO_LARGE => "request_too_large",
            _ => "invalid_request_error",
        };
        let error = json!({ "type": kind, "message": self.message });
        let body = if route == Some(Route::Messages) {
            json!({ "type": "error", "error": error })
        } else {
            json!({ "error": { "message": self.message, "type": kind, "param": null, "code": kind } })
        };
        let mut response = Response::new(Body::from(body.to_string()));
        *response.status_mut() = self.status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}
