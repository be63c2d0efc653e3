//! Scores of EvoCode-Bench's paper over the rounds (turns) of tasks.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// MT@k and Comp of a run, 0 to 100 (`docs/metrics.md`, "Scores of EvoCode-Bench's paper").
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct RoundScores {
    /// MT@k for k = 1, 2, … up to the fewest trials of a task, over the first k trials by their start.
    pub mt_at_k: Vec<f64>,
    /// Share of tasks of which some trial has a reward of 1 in the last round.
    pub comp: f64,
}
