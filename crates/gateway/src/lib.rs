//! The only way from an agent to a model.
//!
//! A [`Gateway`] listens where boxes can reach it. Every attempt gets an address and a key of its own
//! ([`Gateway::open`]), which are worth nothing outside it and stop working when it ends ([`Attempt::close`]). Requests
//! are forwarded to the [`Upstream`] with the real key put in, answers are passed on as they come (streams as streams),
//! and every request is recorded: model, tokens, latency, status, retries ([`Record`]). Faults of the endpoint are
//! retried here with back-off; where they persist the attempt is over with [`Over::Endpoint`], and it is not the agent's
//! failure. Only what the agent has no hand in counts as one (`blame.rs`), and where an attempt ran out of time while its agent
//! waited for the endpoint, [`Attempt::blame`] says so (`waits.rs`). Budgets are enforced here: no request is forwarded once one is spent ([`Over::Budget`]).
//!
//! Three APIs pass through as they are: `OpenAI` chat completions and responses, Anthropic messages. They are not
//! translated into each other: the endpoint has to speak what the harness speaks.
//!
//! One upstream is the [`oracle`], a scripted model that needs no endpoint.

mod attempt;
mod blame;
pub mod clock;
mod fields;
mod flight;
mod forward;
pub mod keys;
mod ledger;
mod log;
pub mod oracle;
mod overflow;
mod preflight;
mod price;
mod refusal;
mod request;
mod retry;
mod route;
mod secret;
mod serve;
mod socket;
mod sse;
mod stream;
mod tools;
mod upstream;
mod usage;
mod waits;

pub use attempt::Attempt;
pub use log::{Begun, Counted, Faulted, Line, count};
pub use preflight::{Answered, PreflightError, Trouble, preflight};
pub use price::PriceTable;
pub use route::{Answer, Route};
pub use secret::Secret;
pub use serve::Gateway;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use model::Tokens;
use serde::{Deserialize, Serialize};

/// Where requests go.
#[derive(Debug, Clone)]
pub enum Upstream {
    /// An endpoint: everything after the attempt's prefix is appended to `base_url` (so `…/v1/chat/completions`).
    Http {
        /// `https://api.openai.com`, without `/v1`. One that names a version of its own (`…/paas/v4`,
        /// `…/v1beta/openai`) takes the place of `/v1`.
        base_url: String,
        /// Put in as `Authorization: Bearer` and, for `/v1/messages`, `x-api-key` (which alone at Anthropic's own).
        key: Option<Secret>,
        /// The model's name at the endpoint, put in place of what the agent asks for; `None` = as asked.
        model: Option<String>,
    },
    /// The scripted model.
    Oracle(Arc<oracle::Oracle>),
}

/// US dollars for a million tokens of one model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input that was not cached.
    pub input: f64,
    /// Input that was read from the cache; without it as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Input that was written to the cache, where the endpoint counts it (Anthropic); without it as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// Output.
    pub output: f64,
}

/// What may be spent. `None` = no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Input and output tokens together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars; can only be watched where prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Wall seconds: of an attempt, in which its agent works; of an episode and of the run, in which they are played, pauses
    /// left out. The clocks of the latter two are kept by whoever plays: [`Gateway::open_for`] is told how much is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

/// The budgets that hold at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Budgets {
    /// Of each attempt.
    #[serde(default)]
    pub attempt: Budget,
    /// Of each episode.
    #[serde(default)]
    pub episode: Budget,
    /// Of the whole run.
    #[serde(default)]
    pub run: Budget,
}

/// How faults of the endpoint are retried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retry {
    /// Tries in all.
    pub tries: u32,
    /// Wait before the second; doubled each time, with seeded jitter; `Retry-After` wins if it is longer. An endpoint
    /// that asks for more than ten minutes is not waited for.
    pub first_wait: Duration,
    /// Longest wait.
    pub longest_wait: Duration,
    /// Longest silence of the endpoint, before its answer and within a stream.
    pub silence: Duration,
    /// An agent that takes nothing of an answer for as long does not read: where the connection breaks after that, the
    /// endpoint did not break it. Pieces wait in the buffers of two connections besides, so one that works on them while it
    /// reads does not come near it.
    pub reads: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            tries: 6,
            first_wait: Duration::from_secs(2),
            longest_wait: Duration::from_mins(1),
            silence: Duration::from_mins(10),
            reads: Duration::from_secs(20),
        }
    }
}

/// What a gateway is started with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where requests go.
    pub upstream: Upstream,
    /// The APIs that the harness speaks. What goes wrong on another one is none of the endpoint's faults, because the
    /// harness has no need of it; empty = any of the three.
    pub routes: Vec<Route>,
    /// Whether tools pass that the endpoint runs itself (web search and the like): where agents reach the internet anyway.
    pub hosted_tools: bool,
    /// Of the upstream's model; `None` = unknown cost.
    pub price: Option<Price>,
    /// What may be spent.
    pub budgets: Budgets,
    /// How faults are retried.
    pub retry: Retry,
    /// What earlier parts of a resumed run have spent already.
    pub spent: Spent,
    /// The same of its episodes, for their budgets.
    pub episodes: BTreeMap<String, Spent>,
    /// Values that boxes are given and that nobody is to read: taken out of what is recorded, because an agent can put one
    /// into the name of a model or a path, or have it repeated in an error.
    pub hidden: Vec<Secret>,
    /// Each record is appended here as a line of JSON, without bodies; `None` = not written.
    pub log: Option<PathBuf>,
}

/// Which attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AttemptKey {
    /// `scenario_3`.
    pub episode: String,
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
}

/// One request as it was metered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Whose.
    #[serde(flatten)]
    pub key: AttemptKey,
    /// When it came, RFC 3339.
    pub at: String,
    /// `POST /v1/chat/completions`.
    pub route: String,
    /// What the agent asked for.
    pub model: Option<String>,
    /// Of the answer, as the endpoint counts. Unknown where it does not say.
    pub tokens: Tokens,
    /// By the price; `None` = unknown.
    pub cost_usd: Option<f64>,
    /// Until the last byte, waits included.
    pub seconds: f64,
    /// What the agent got; 499 = it hung up before, 410 = the attempt was closed before.
    pub status: u16,
    /// Tries beyond the first.
    pub retries: u32,
    /// Statuses of tries that failed at the endpoint, 0 = no answer, or one that broke off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<u16>,
    /// Who ended it before its end; `None` = it came to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// The endpoint took it and told no usage, so what it cost is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmetered: bool,
    /// The gateway's own question, whose fault an error of this attempt is: spent by the run, and none of the attempt's
    /// requests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub probe: bool,
    /// Which request of its attempt, from 1; 0 = not told.
    #[serde(default)]
    pub number: u64,
    /// What budgets count for an unmetered one.
    #[serde(default, skip_serializing_if = "Guess::is_nothing")]
    pub guess: Guess,
}

/// What budgets count in the place of what is not known. Nobody is shown it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Guess {
    /// Input and output tokens together.
    pub tokens: u64,
    /// US dollars; 0 without a price.
    pub usd: f64,
}

impl Guess {
    /// Whether there is nothing to guess.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_add(other.tokens), usd: self.usd + other.usd }
    }

    /// What is left of it without another.
    fn less(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_sub(other.tokens), usd: (self.usd - other.usd).max(0.0) }
    }
}

/// Who ended an answer before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// The agent hung up.
    Agent,
    /// The endpoint broke off, fell silent, or sent an error in the middle of a stream.
    Endpoint,
    /// The attempt was closed.
    Closed,
}

/// Which budget is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This attempt's.
    Attempt,
    /// This episode's.
    Episode,
    /// The run's: everything stops.
    Run,
}

/// A request waits for the endpoint after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// The fault; 0 = no answer, or one that broke off.
    pub status: u16,
    /// The next try, from 2.
    pub tries: u32,
    /// Tries in all.
    pub of: u32,
}

/// Why no further request of an attempt is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "over")]
pub enum Over {
    /// A budget is spent.
    Budget {
        /// Which.
        scope: Scope,
        /// `tokens`, `usd` or `seconds`.
        of: String,
    },
    /// The endpoint failed in a way that is not the agent's, and went on failing.
    Endpoint {
        /// One line.
        message: String,
    },
    /// The endpoint said that the context is too long: the agent's. It may compact and go on, so this cuts nothing off and
    /// [`Attempt::over`] never says it; [`Seen::over`] does where it was the answer to the last request of the attempt.
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
    /// Tokens of them, as far as they were told.
    pub tokens: Tokens,
    /// Cost; `None` = unknown (no price, or an answer without usage).
    pub cost_usd: Option<f64>,
    /// The part of the cost that is known; what budgets go by.
    #[serde(default)]
    pub known_usd: f64,
    /// Requests that the endpoint took and whose usage is not known: it told none, or they were cut off before.
    pub unmetered: u64,
    /// What budgets count for them, so that they hold over a resume as well.
    #[serde(default, skip_serializing_if = "Guess::is_nothing")]
    pub guess: Guess,
    /// Wall seconds: of an attempt, in which it was open; of an episode or the run, in which it was played, as whoever plays
    /// it counts them (a gateway gives back those that it was started with).
    pub seconds: f64,
}

/// What the gateway saw of an attempt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// Its requests in order, as far as 10,000.
    pub records: Vec<Record>,
    /// Their sums.
    pub spent: Spent,
    /// Why it was cut off, if it was; or [`Over::ContextOverflow`] where that was the last answer.
    pub over: Option<Over>,
}

/// What can go wrong with a gateway itself.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The address is taken or not ours, or its socket can not be made.
    #[error("the gateway can not listen on {at}: {why}")]
    Listen {
        /// The address, or the socket's path.
        at: String,
        /// Why.
        why: String,
    },
    /// The endpoint's address, the price table or the log.
    #[error("{what}: {why}")]
    Settings {
        /// Which setting.
        what: String,
        /// What is wrong with it.
        why: String,
    },
}
