//! A case, step by step: requests and responses.

use std::collections::HashMap;

use scenario::reference::Request;
use scenario::suite::{Builder, Case, Method, RecordStep, RequestStep, Step, Suite};
use serde_json::Value;

use super::assertions::check;
use super::captures::{Captures, InsertionBudget};
use super::message::{excerpt, excerpt_text, failure_message};

/// The greatest size of a request, and of the expectations of a step, with replaced captures: the limit of a server.
const REQUEST: usize = 1 << 20;
/// The greatest total size of all requests of a case, because a server in this process holds them all.
const REQUESTS: usize = 16 << 20;

/// A response.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Body,
}

/// The body of a response.
#[derive(Debug)]
pub(super) enum Body {
    Empty,
    Json(Value),
    /// Not JSON.
    Other(Vec<u8>),
    /// The raw bytes, which are parsed when a step needs them.
    Unread(Vec<u8>),
}

impl Answer {
    /// The same response with a parsed body.
    fn read(self) -> Self {
        let body = match self.body {
            Body::Unread(bytes) => serde_json::from_slice(&bytes).map_or(Body::Other(bytes), Body::Json),
            body => body,
        };
        Self { status: self.status, body }
    }

    /// For messages.
    fn describe(&self) -> String {
        match &self.body {
            Body::Empty => format!("status {} without a body", self.status),
            Body::Json(body) => format!("status {} with {}", self.status, excerpt(body)),
            Body::Other(bytes) | Body::Unread(bytes) => {
                format!("status {} with a body that is no JSON: {}", self.status, excerpt_text(bytes))
            }
        }
    }
}

/// The builders of a suite by the key of their entity.
#[derive(Debug)]
pub(super) struct Builders<'a>(HashMap<&'a str, &'a Builder>);

impl<'a> Builders<'a> {
    pub(super) fn new(suite: &'a Suite) -> Self {
        Self(suite.builders.iter().map(|builder| (builder.entity.as_str(), builder)).collect())
    }
}

/// Whether the response to a reset is a success, so that the case starts.
pub(super) fn after_reset(reset: &Request, answer: Answer) -> Result<(), String> {
    if answer.status < 400 {
        return Ok(());
    }
    let problem = format!("expected a status below 400, got {}", answer.read().describe());
    Err(failure_message(reset, None, &problem))
}

/// The state of a case.
#[derive(Debug)]
pub(super) struct Execution<'a> {
    builders: &'a Builders<'a>,
    steps: &'a [Step],
    /// How many steps were sent.
    sent: usize,
    request: Request,
    captures: Captures<'a>,
    /// The remaining size of requests.
    budget: usize,
}

impl<'a> Execution<'a> {
    pub(super) fn new(builders: &'a Builders<'a>) -> Self {
        let request = Request { method: Method::Get, path: String::new(), query: Vec::new(), body: None };
        Self { builders, steps: &[], sent: 0, request, captures: Captures::default(), budget: REQUESTS }
    }

    /// Starts a case.
    pub(super) fn begin(&mut self, case: &'a Case) {
        self.steps = &case.steps;
        self.sent = 0;
        self.captures.clear();
        self.budget = REQUESTS;
    }

    /// The next request; `None` at the end of the case. Fails if it cannot be built.
    pub(super) fn next(&mut self) -> Result<Option<&Request>, String> {
        let Some(step) = self.steps.get(self.sent) else { return Ok(None) };
        self.sent += 1;
        let mut budget = InsertionBudget::new(REQUEST.min(self.budget));
        let before = budget.bytes_left();
        let request = match step {
            Step::Record(make) => self.creation_request(make, &mut budget),
            Step::Request(send) => self.request_to_send(send, &mut budget),
        };
        self.budget -= before - budget.bytes_left();
        match request {
            Ok(request) => self.request = request,
            Err(reason) => return Err(format!("Step {}: the request cannot be made: {reason}", self.sent)),
        }
        Ok(Some(&self.request))
    }

    fn builder(&self, make: &RecordStep) -> Result<&'a Builder, String> {
        self.builders
            .0
            .get(make.make.as_str())
            .copied()
            .ok_or_else(|| format!("the suite does not say how {} are made", make.make))
    }

    fn creation_request(&self, make: &RecordStep, budget: &mut InsertionBudget) -> Result<Request, String> {
        let builder = self.builder(make)?;
        let body = (make.nth as usize)
            .checked_sub(1)
            .and_then(|index| builder.bodies.get(index))
            .ok_or_else(|| format!("the suite has no record {} of {}", make.nth, make.make))?;
        let body = match body {
            // A replaced field is not resolved, so its captures may be missing.
            Value::Object(body) if !make.with.is_empty() => {
                let mut out = serde_json::Map::with_capacity(body.len() + make.with.len());
                for (key, value) in body {
                    let value = make.with.get(key).unwrap_or(value);
                    out.insert(key.clone(), self.captures.replaced(value, budget)?);
                }
                for (key, value) in &make.with {
                    if !body.contains_key(key) {
                        out.insert(key.clone(), self.captures.replaced(value, budget)?);
                    }
                }
                Value::Object(out)
            }
            body => self.captures.replaced(body, budget)?,
        };
        Ok(Request {
            method: Method::Post,
            path: builder.path.clone(),
            query: Vec::new(),
            body: Some(Ok(body)),
        })
    }

    fn request_to_send(&self, send: &RequestStep, budget: &mut InsertionBudget) -> Result<Request, String> {
        let mut query = Vec::with_capacity(send.query.len());
        for (key, value) in &send.query {
            query.push((key.clone(), self.captures.text(value, budget)?));
        }
        let body = match &send.body {
            None => None,
            Some(body) => Some(Ok(self.captures.replaced(body, budget)?)),
        };
        Ok(Request { method: send.method, path: self.captures.text(&send.path, budget)?, query, body })
    }

    /// Takes the response to the last request. Fails if the step expects another one.
    pub(super) fn take(&mut self, answer: Answer) -> Result<(), String> {
        self.take_answer(answer).map_err(|problem| failure_message(&self.request, Some(self.sent), &problem))
    }

    fn take_answer(&mut self, answer: Answer) -> Result<(), String> {
        let (status, expect, keep) = match self.steps.get(self.sent.wrapping_sub(1)) {
            None => return Ok(()),
            Some(Step::Record(make)) => (self.builder(make)?.status, &[][..], Some(make.keep.as_str())),
            Some(Step::Request(send)) => (send.status, send.expect.as_slice(), send.keep.as_deref()),
        };
        if answer.status != status {
            return Err(format!("expected status {status}, got {}", answer.read().describe()));
        }
        // A body without assertions is not parsed.
        if expect.is_empty() && keep.is_none() {
            return Ok(());
        }
        let answer = answer.read();
        if !expect.is_empty() {
            let body = match &answer.body {
                Body::Empty => None,
                Body::Json(body) => Some(body),
                Body::Other(_) | Body::Unread(_) => {
                    return Err(format!("expected JSON, got {}", answer.describe()));
                }
            };
            let mut budget = InsertionBudget::new(REQUEST);
            expect.iter().try_for_each(|assertion| check(assertion, body, &self.captures, &mut budget))?;
        }
        if let Some(name) = keep {
            let body = match answer.body {
                Body::Json(body) => body,
                Body::Empty | Body::Other(_) | Body::Unread(_) => Value::Null,
            };
            self.captures.keep(name, body)?;
        }
        Ok(())
    }
}
