//! Mean stamina by retry budget.

use serde::{Deserialize, Serialize};

use super::comparison::Bands;
use super::label::SeriesLabel;

/// Mean stamina as a function of the number of retries allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Retries {
    /// The runs.
    pub series: Vec<RetrySeries>,
    /// Index of the run that the others are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<u32>,
    /// Whose interval is drawn: one as a band, several as whiskers.
    #[serde(default)]
    pub bands: Bands,
    /// What others published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedPoint>,
    /// Horizon of mean stamina.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tau: Option<u32>,
}

/// One run over retry budgets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RetrySeries {
    /// The run.
    pub label: SeriesLabel,
    /// Its points, by rising number of retries.
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
    /// What it is about: `GLM-5 · OpenCode`.
    pub label: SeriesLabel,
    /// Retries allowed.
    pub retries: u32,
    /// Mean stamina.
    pub mean: f64,
    /// Where it stands. Equal sources share one note under the figure.
    pub source: String,
}
