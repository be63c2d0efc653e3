//! What is asked of a model, and what can go wrong at its endpoint.
//!
//! A [`Model`] makes one call and says how it ended; it neither waits nor tries again. [`crate::live`] does that, the
//! same way for every endpoint.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde_json::Value;

/// One thing asked of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// How it is asked where the endpoint takes no form of the answer.
    pub prose: Conversation,
    /// How it is asked where the endpoint takes one.
    pub shaped: Conversation,
    /// The form: a JSON schema of the subset that strict structured outputs take.
    pub schema: Value,
    /// Tokens of an answer in the form, at most; what a model thinks before it comes on top.
    pub most_tokens: u32,
    /// From 0 to 1; it rises with every refusal, so that answers do not repeat.
    pub temperature: f64,
}

/// A conversation whose last word is ours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversation {
    /// What the model is for, and the rules.
    pub system: String,
    /// In turn, ours and the model's, beginning and ending with ours. None is empty.
    pub messages: Vec<Message>,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Whose it is.
    pub from: Speaker,
    /// What it says.
    pub text: String,
}

/// Whose a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// Ours.
    Us,
    /// The model's.
    Model,
}

/// How a call can fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It can be tried again: too many requests, or the server has trouble.
    Busy {
        /// What the endpoint said.
        what: String,
        /// How long it asks us to wait.
        after: Option<Duration>,
    },
    /// No answer in time.
    TimedOut,
    /// No connection: it can be tried again, but there may be nobody.
    Unreachable(String),
    /// Trying again is of no use: no credentials, no such model, a request that it does not take.
    Final(String),
    /// It answered, but not as its interface says, or at too great a length.
    Garbled(String),
}

/// Tokens of an answer in prose, at most: a first schema needs the most, about 5,000.
pub(crate) const PROSE_TOKENS: u32 = 12_000;

/// Tokens that a model may think before it answers in a form, if an answer was cut short without them.
pub(crate) const THINKING_TOKENS: u32 = 8_000;

/// What the form of an answer is called in a request.
pub(crate) const FORM_NAME: &str = "answer";

/// Most that is repeated of what an endpoint says.
pub(crate) const ERROR_CHARS: usize = 400;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy { what, .. } | Self::Unreachable(what) | Self::Final(what) | Self::Garbled(what) => {
                f.write_str(what)
            }
            Self::TimedOut => f.write_str("no answer in time"),
        }
    }
}

/// An error with its causes, each in its own words and said once, in one line.
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
    text.chars().filter(|c| !c.is_control()).take(ERROR_CHARS).collect()
}

/// A call under way.
pub type Call<'a> = Pin<Box<dyn Future<Output = Result<String, Failure>> + Send + 'a>>;

/// A model behind an endpoint.
pub trait Model: Send + Sync {
    /// How messages to people call it: "gpt-5 at <http://localhost:8080/v1>".
    fn described(&self) -> String;

    /// What a person can look at when it cannot be reached or refuses.
    fn advice(&self) -> String;

    /// Asks once. The text is what the model said, whole; the caller bounds its time.
    fn ask<'a>(&'a self, question: &'a Question) -> Call<'a>;
}
