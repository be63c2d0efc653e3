//! Questions to a model, and failures of its endpoint.
//!
//! A [`Model`] makes one call and returns its outcome. It neither waits nor retries; [`crate::model_calls`] does this for all
//! endpoints.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde_json::Value;

/// One question to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The conversation for an endpoint without support of a form.
    pub prose: Conversation,
    /// The conversation for an endpoint with support of a form.
    pub shaped: Conversation,
    /// The form: a JSON schema in the subset of strict structured outputs.
    pub schema: Value,
    /// Most tokens of an answer in the form, without those of reasoning.
    pub most_tokens: u32,
    /// The temperature, from 0 to 1. It rises with every refusal, so that answers do not repeat.
    pub temperature: f64,
}

/// A conversation that ends with a message of the sampler.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversation {
    /// The task and the rules.
    pub system: String,
    /// Alternating messages of the sampler and the model. The first and the last are of the sampler. None is empty.
    pub messages: Vec<Message>,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The author.
    pub speaker: Speaker,
    /// The text.
    pub text: String,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The sampler.
    Sampler,
    /// The model.
    Model,
}

/// How a call can fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// A retry may succeed: too many requests, or an error of the server.
    Busy {
        /// The message of the endpoint.
        message: String,
        /// The wait that the endpoint asks for.
        after: Option<Duration>,
    },
    /// No answer in time.
    TimedOut,
    /// No connection. A retry may succeed.
    Unreachable(String),
    /// A retry cannot succeed: no credentials, unknown model, unsupported request.
    Final(String),
    /// A response that violates the API, or is too long.
    Garbled(String),
}

/// Most tokens of an answer in prose. A first schema needs the most, about 5,000.
pub(crate) const PROSE_TOKENS: u32 = 12_000;

/// Tokens for reasoning before an answer in a form, after an answer was cut without them.
pub(crate) const THINKING_TOKENS: u32 = 8_000;

/// The name of the form in a request.
pub(crate) const FORM_NAME: &str = "answer";

/// Most characters of a message of an endpoint.
pub(crate) const ERROR_CHARS: usize = 400;

/// A message of an endpoint in one line.
pub(crate) fn error_line(text: &str) -> String {
    model::one_line(text, ERROR_CHARS - 1)
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy { message, .. }
            | Self::Unreachable(message)
            | Self::Final(message)
            | Self::Garbled(message) => f.write_str(message),
            Self::TimedOut => f.write_str("no answer in time"),
        }
    }
}

/// An error with its causes in one line, each text once.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    error_line(&text)
}

/// A call in flight.
pub type Call<'a> = Pin<Box<dyn Future<Output = Result<String, Failure>> + Send + 'a>>;

/// A model behind an endpoint.
pub trait Model: Send + Sync {
    /// Its name in messages: "gpt-5 at <http://localhost:8080/v1>".
    fn description(&self) -> String;

    /// What to check when it cannot be reached or refuses requests.
    fn advice(&self) -> String;

    /// Sends one request. The text is the complete answer of the model. The caller limits the time.
    fn ask<'a>(&'a self, question: &'a Question) -> Call<'a>;
}
