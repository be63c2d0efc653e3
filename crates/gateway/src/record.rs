//! What the gateway records of requests, attempts and spending.

use model::Tokens;
use serde::{Deserialize, Serialize};

/// Names an attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AttemptKey {
    /// `scenario_3`.
    pub episode: String,
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
}

/// One metered request. A line of `gateway.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The attempt that sent it.
    #[serde(flatten)]
    pub key: AttemptKey,
    /// When it arrived, RFC 3339.
    pub at: String,
    /// `POST /v1/chat/completions`.
    pub route: String,
    /// The model that the agent asked for.
    pub model: Option<String>,
    /// Tokens as the endpoint counts them. Unknown where it reports none.
    pub tokens: Tokens,
    /// Cost by the price. `None` = unknown.
    pub cost_usd: Option<f64>,
    /// Seconds until the last byte, waits included.
    pub seconds: f64,
    /// The status that the agent received. 499 = the agent hung up first, 410 = the attempt was closed first.
    pub status: u16,
    /// Tries after the first.
    pub retries: u32,
    /// Statuses of the tries that failed at the endpoint. 0 = no answer, or an answer that broke off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<u16>,
    /// Who ended the answer early. `None` = it is complete.
    #[serde(rename = "cut", default, skip_serializing_if = "Option::is_none")]
    pub termination: Option<Termination>,
    /// The answer itself reports an error, although its status says that it has none.
    #[serde(rename = "error", default, skip_serializing_if = "std::ops::Not::not")]
    pub reports_error: bool,
    /// How long the endpoint took: of an answer that was streamed to its end, and of a plain one where the endpoint tells it.
    /// `None` = unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamTimes>,
    /// The endpoint accepted the request and reported no usage, so its cost is unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmetered: bool,
    /// A probe of the gateway: its cost counts for the run and the episode, not for the attempt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub probe: bool,
    /// Position among the requests of its attempt, from 1. 0 = unknown.
    #[serde(default)]
    pub number: u64,
    /// What budgets count for an unmetered request.
    #[serde(default, skip_serializing_if = "Guess::is_zero")]
    pub guess: Guess,
}

/// How long the endpoint took for an answer, in its last try. Of a plain answer both are what the endpoint says itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StreamTimes {
    /// Seconds from sending the request to the first content. What a model thinks is content.
    #[serde(rename = "first")]
    pub first_seconds: f64,
    /// Seconds from there to the last byte. An agent that reads slowly makes them more.
    #[serde(rename = "rest")]
    pub rest_seconds: f64,
}

/// What budgets count in place of unknown spending. Never shown to users.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Guess {
    /// Input and output tokens together.
    pub tokens: u64,
    /// US dollars. 0 without a price.
    pub usd: f64,
}

impl Guess {
    /// Whether it adds nothing.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// The sum of two guesses.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_add(other.tokens), usd: self.usd + other.usd }
    }

    /// The difference of two guesses, at least zero.
    pub(crate) fn minus(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_sub(other.tokens), usd: (self.usd - other.usd).max(0.0) }
    }
}

/// Who ended an answer early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Termination {
    /// The agent hung up.
    Agent,
    /// The endpoint broke the connection, fell silent, or sent an error in the middle of a stream.
    Endpoint,
    /// The attempt was closed.
    Closed,
}

/// Which budget is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The budget of this attempt.
    Attempt,
    /// The budget of this episode.
    Episode,
    /// The budget of the run: everything stops.
    Run,
}

/// A request that waits for the endpoint after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingRequest {
    /// Status of the fault. 0 = no answer, or an answer that broke off.
    pub status: u16,
    /// Number of the next try, from 2.
    pub next_try: u32,
    /// Most tries.
    pub most_tries: u32,
}

/// Why no further request of an attempt is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "over")]
pub enum StopReason {
    /// A budget is spent.
    Budget {
        /// Which budget.
        scope: Scope,
        /// `tokens`, `usd` or `seconds`.
        #[serde(rename = "of")]
        limit: String,
    },
    /// The endpoint failed repeatedly, and the agent did not cause it.
    Endpoint {
        /// One line.
        message: String,
    },
    /// The endpoint reported that the context is too long, which is attributed to the agent. The agent may compact its
    /// context and continue, so this ends nothing: only [`AttemptSummary::stop_reason`] reports it, where it was the
    /// answer to the last request.
    ContextOverflow {
        /// One line.
        message: String,
    },
}

/// What was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Requests to a model that were answered (2xx).
    pub requests: u64,
    /// Their tokens, where reported.
    pub tokens: Tokens,
    /// Cost. `None` = unknown (no price, or an answer without usage).
    pub cost_usd: Option<f64>,
    /// The known part of the cost. Budgets compare with it.
    #[serde(default)]
    pub known_usd: f64,
    /// Requests that the endpoint accepted without reporting usage, or that were interrupted before it did.
    pub unmetered: u64,
    /// What budgets count for unmetered requests, so that budgets hold across a resume.
    #[serde(default, skip_serializing_if = "Guess::is_zero")]
    pub guess: Guess,
    /// Wall seconds. Of an attempt: how long it was open. Of an episode or a run: as counted by the caller (a gateway
    /// returns those that it was started with).
    pub seconds: f64,
}

impl Spent {
    /// The same without amounts below zero.
    ///
    /// A record that somebody else wrote may hold them, and with them no budget would ever be reached.
    #[must_use]
    pub fn without_negatives(self) -> Self {
        Self {
            cost_usd: self.cost_usd.map(|usd| usd.max(0.0)),
            known_usd: self.known_usd.max(0.0),
            guess: Guess { usd: self.guess.usd.max(0.0), ..self.guess },
            seconds: self.seconds.max(0.0),
            ..self
        }
    }

    /// Input and output tokens together, where they are reported.
    pub fn reported_tokens(&self) -> u64 {
        self.tokens.input.unwrap_or(0).saturating_add(self.tokens.output.unwrap_or(0))
    }
}

/// What the gateway observed of an attempt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AttemptSummary {
    /// Its requests in order, at most 10,000.
    pub records: Vec<Record>,
    /// Their sums.
    pub spent: Spent,
    /// Why the gateway stopped it, or [`StopReason::ContextOverflow`] where that was the last answer.
    pub stop_reason: Option<StopReason>,
}
