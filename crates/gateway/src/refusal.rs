//! Answers of the gateway itself, in the format of the API.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Response, StatusCode};
use serde_json::json;

use crate::record::{Scope, StopReason};
use crate::route::Route;

/// Why a request is not forwarded, or failed.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    /// The status that the agent receives.
    pub(crate) status: StatusCode,
    /// One sentence.
    pub(crate) message: String,
}

impl Refusal {
    /// A refusal with this status.
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// The attempt is stopped. Every client treats 403 as final: none of them retries.
    pub(crate) fn stopped(reason: &StopReason) -> Self {
        let message = match reason {
            StopReason::Budget { scope, limit } => {
                let scope = match scope {
                    Scope::Attempt => "attempt",
                    Scope::Episode => "episode",
                    Scope::Run => "run",
                };
                format!("The budget of this {scope} ({limit}) is spent: no further request is answered.")
            }
            StopReason::Endpoint { message } => {
                format!("The model's endpoint failed: {message}. No further request is answered.")
            }
            StopReason::ContextOverflow { message } => format!("The context is too long: {message}"),
        };
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// The refusal as an error of the API.
    pub(crate) fn response(&self, route: Option<Route>) -> Response<Body> {
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
