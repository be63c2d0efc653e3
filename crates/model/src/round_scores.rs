//! Scores of EvoCode-Bench's paper over the rounds (turns) of tasks.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// MT@k, SR, Gap and Comp of a run, 0 to 100 (`docs/metrics.md`, "Scores of EvoCode-Bench's paper").
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct RoundScores {
    /// MT@k for k = 1, 2, …: over the first k trials by their start, up to the fewest of a task; or round by round, up to the
    /// tries that a round may have. Empty = refused.
    pub mt_at_k: Vec<f64>,
    /// Whether each round was tried from one snapshot until a try passed, as in the paper, and not whole tasks.
    pub round_by_round: bool,
    /// SR; `None` = no round was played by itself.
    pub sr: Option<f64>,
    /// SR − MT@4, in points; `None` = one of the two is unknown.
    pub gap: Option<f64>,
    /// Share of tasks of which some trial, or some try at the last round, has a reward of 1 there; `None` = refused or unknown.
    pub comp: Option<f64>,
    /// Why what is missing is missing, in sentences.
    pub missing: Vec<String>,
}
