//! What a gateway is started with.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use model::Tokens;
use serde::{Deserialize, Serialize};

use crate::record::Spent;
use crate::route::Route;
use crate::secret::Secret;
use crate::simulated_model::SimulatedModel;

/// Where requests go.
#[derive(Debug, Clone)]
pub enum Upstream {
    /// An endpoint. The path after the attempt's prefix is appended to `base_url` (`…/v1/chat/completions`).
    Http {
        /// `https://api.openai.com`, without `/v1`. A version in the address (`…/paas/v4`, `…/v1beta/openai`) replaces
        /// `/v1`.
        base_url: String,
        /// Sent as `Authorization: Bearer` and, for `/v1/messages`, as `x-api-key` (only that at Anthropic).
        key: Option<Secret>,
        /// Name of the model at the endpoint. It replaces the one that the agent asks for. `None` = as asked.
        model: Option<String>,
    },
    /// The simulated model.
    Simulated(Arc<SimulatedModel>),
}

/// What a model costs: US dollars for a million tokens, or for an hour of the machine that serves it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input that was not cached.
    pub input: f64,
    /// Input read from the cache. Without it, `input` applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Input written to the cache, where the endpoint counts it (Anthropic). Without it, `input` applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// Output.
    pub output: f64,
    /// US dollars for an hour in which the endpoint works for the run. It stands alone: the prices of tokens are 0 then, and add
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_hour: Option<f64>,
}

impl Price {
    /// The price of a machine, by the hour.
    pub fn per_machine_hour(per_hour: f64) -> Self {
        Self { per_hour: Some(per_hour), ..Self::default() }
    }

    /// US dollars of an answer with these tokens, of which `written` were written to the cache. `None` = unknown: the input or
    /// the output is, or the price is by the hour.
    pub fn cost_of_tokens(&self, tokens: &Tokens, written: Option<u64>) -> Option<f64> {
        if self.per_hour.is_some() {
            return None;
        }
        let (input, output) = (tokens.input?, tokens.output?);
        // An endpoint may report more cached tokens than tokens: the cost must not become negative.
        let cached = tokens.cached.unwrap_or(0).min(input);
        let written = written.unwrap_or(0).min(input - cached);
        let plain = input - cached - written;
        Some(self.cost_of_amounts(plain as f64, cached as f64, written as f64, output as f64))
    }

    /// US dollars of so many tokens: of input that the cache does not concern, read from the cache and written to it, and of
    /// output.
    pub fn cost_of_amounts(&self, plain: f64, cached: f64, written: f64, output: f64) -> f64 {
        (plain * self.input
            + cached * self.cached.unwrap_or(self.input)
            + written * self.cache_write.unwrap_or(self.input)
            + output * self.output)
            / 1e6
    }
}

/// What may be spent. `None` = no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Input and output tokens together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars. Requires a known price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Wall seconds, without pauses. The gateway keeps the clock of an attempt. The caller keeps those of the episode and
    /// the run, and passes the remaining time to [`crate::Gateway::open_for`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

/// The budgets that apply together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Budgets {
    /// Per attempt.
    #[serde(default)]
    pub attempt: Budget,
    /// Per episode.
    #[serde(default)]
    pub episode: Budget,
    /// For the whole run.
    #[serde(default)]
    pub run: Budget,
}

/// How faults of the endpoint are retried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retry {
    /// Most tries of a request.
    pub tries: u32,
    /// Wait before the second try. It doubles each time, with seeded jitter. A longer `Retry-After` replaces it, up to ten
    /// minutes.
    pub first_wait: Duration,
    /// Longest wait.
    pub longest_wait: Duration,
    /// Longest silence of the endpoint, before its answer and within a stream.
    pub silence: Duration,
    /// An agent that accepts nothing of an answer for this long does not read. If the connection then breaks, the endpoint
    /// did not break it. Two connections buffer pieces in between, so an agent that works while it reads stays far below.
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
    /// The APIs that the harness speaks. Errors on other APIs are not attributed to the endpoint, because the harness does
    /// not need them. Empty = all three.
    pub routes: Vec<Route>,
    /// Whether hosted tools pass (web search and others that the endpoint runs): where agents reach the internet anyway.
    pub hosted_tools: bool,
    /// Price of the upstream's model. `None` = unknown cost.
    pub price: Option<Price>,
    /// What may be spent.
    pub budgets: Budgets,
    /// How faults are retried.
    pub retry: Retry,
    /// What earlier parts of a resumed run have spent.
    pub spent: Spent,
    /// What earlier parts have spent by episode.
    pub episodes: BTreeMap<String, Spent>,
    /// Whether a request of an agent was answered completely in an earlier part.
    pub is_run_answered: bool,
    /// Secrets that containers hold. They are removed from records, because an agent can put one into the name of a model
    /// or a path, or have it repeated in an error.
    pub hidden: Vec<Secret>,
    /// Each record is appended here as a line of JSON, without bodies. `None` = no log.
    pub log: Option<PathBuf>,
}
