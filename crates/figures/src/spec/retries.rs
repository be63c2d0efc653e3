//! Mean stamina by retry budget.

use analysis::survival::deserialize_horizon;
use serde::{Deserialize, Serialize};

use super::comparison::Bands;
use super::label::SeriesLabel;

/// Mean stamina by the number of allowed retries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Retries {
    /// The runs.
    pub series: Vec<RetrySeries>,
    /// Index of the run that the others are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<u32>,
    /// The runs with drawn intervals: one as a band, several as whiskers.
    #[serde(default)]
    pub bands: Bands,
    /// Published numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedPoint>,
    /// Horizon of mean stamina.
    #[serde(default, deserialize_with = "deserialize_horizon", skip_serializing_if = "Option::is_none")]
    pub tau: Option<u32>,
}

/// One run over retry budgets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RetrySeries {
    /// The run.
    pub label: SeriesLabel,
    /// Its points, by ascending number of retries.
    pub points: Vec<RetryPoint>,
}

/// Mean stamina under one retry budget.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RetryPoint {
    /// Retries allowed, R: attempts − 1.
    pub retries: u32,
    /// Mean stamina; `None` = unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Lower end of its interval; `None` = no variation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_high: Option<f64>,
}

/// A published value, drawn as a hollow mark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedPoint {
    /// Its subject: `GLM-5 · OpenCode`.
    pub label: SeriesLabel,
    /// Retries allowed.
    pub retries: u32,
    /// Mean stamina.
    pub mean: f64,
    /// Its source. Equal sources share one note under the figure.
    pub source: String,
}
