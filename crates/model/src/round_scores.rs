//! Scores of EvoCode-Bench's paper over the rounds (turns) of tasks.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// MT@k, SR, Gap and Comp of a run, 0 to 100 (`docs/metrics.md`, "Scores of EvoCode-Bench's paper").
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct RoundScores {
    /// MT@k for k = 1, 2, …: over the first k trials by their start, up to the fewest of a task; or by round, up to the
    /// attempts that a round may have. Empty = not defined for this run.
    pub mt_at_k: Vec<f64>,
    /// Whether each round was repeated from one snapshot until an attempt passed, as in the paper, instead of whole tasks.
    pub round_by_round: bool,
    /// Whether each round started from the reference solutions of the rounds before it. Such a run has SR, and no score of
    /// chains.
    pub alone: bool,
    /// SR, of the first attempt at each round; `None` = no round started from reference solutions, or it is unknown.
    pub sr: Option<f64>,
    /// SR@k for k = 1, 2, … up to the attempts that a round may have: over the first k attempts.
    pub sr_at_k: Vec<f64>,
    /// SR − MT@4, in points, with MT@4 by round of runs of the same harness and model; `None` = one of them is unknown.
    pub gap: Option<f64>,
    /// Share of tasks whose last round has a reward of 1 in at least one trial or attempt; `None` = not defined or unknown.
    pub comp: Option<f64>,
    /// Why scores are missing, in sentences.
    pub missing: Vec<String>,
}
