//! Answers and errors.

use serde_json::{Map, Value};

use super::plan::ServerPlan;
use super::{Flaw, Response, World};
use crate::change::ErrorKind;
use crate::ir::ErrorShape;

/// Why a request fails.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) kind: ErrorKind,
    pub(super) message: String,
}

/// A result of a request, or why it fails.
pub(super) type Outcome<T> = Result<T, Failure>;

pub(super) fn invalid(message: impl Into<String>) -> Failure {
    Failure { kind: ErrorKind::Invalid, message: message.into() }
}

pub(super) fn not_found(message: impl Into<String>) -> Failure {
    Failure { kind: ErrorKind::NotFound, message: message.into() }
}

pub(super) fn conflict(message: impl Into<String>) -> Failure {
    Failure { kind: ErrorKind::Conflict, message: message.into() }
}

pub(super) fn refused(message: impl Into<String>) -> Failure {
    Failure { kind: ErrorKind::Refused, message: message.into() }
}

impl Response {
    pub(super) fn json(status: u16, body: Value) -> Self {
        Self { status, body: Some(body) }
    }

    pub(super) fn empty() -> Self {
        Self { status: 204, body: None }
    }
}

impl World {
    pub(super) fn error(&self, plan: &ServerPlan, failure: Failure) -> Response {
        let Failure { kind, message } = failure;
        let conventions = &plan.conventions;
        let (status, code) = match kind {
            ErrorKind::Invalid => (conventions.status.invalid, &conventions.codes.invalid),
            ErrorKind::NotFound => (404, &conventions.codes.not_found),
            ErrorKind::Conflict => (conventions.status.conflict, &conventions.codes.conflict),
            ErrorKind::Refused => (conventions.status.refused, &conventions.codes.refused),
        };
        let (outer, code_key, message_key) = match &conventions.error {
            ErrorShape::Flat { code, message } => (None, code, message),
            ErrorShape::Nested { key, code, message } => (Some(key), code, message),
        };
        let mut body = Map::with_capacity(2);
        if !self.has(Flaw::ErrorWithoutCode) {
            body.insert(code_key.clone(), Value::String(code.clone()));
        }
        if !self.has(Flaw::ErrorWithoutMessage) {
            body.insert(message_key.clone(), Value::String(message));
        }
        let body = match outer {
            Some(key) if !self.has(Flaw::ErrorFlattened) => {
                Value::Object(Map::from_iter([(key.clone(), Value::Object(body))]))
            }
            _ => Value::Object(body),
        };
        Response::json(status, body)
    }
}
