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
    /// Whether each round was played by itself, after the reference solutions of the rounds before it: then there is SR, and no
    /// score of chains.
    pub alone: bool,
    /// SR, of the first try at each round; `None` = no round was played by itself, or it is unknown.
    pub sr: Option<f64>,
    /// SR@k for k = 1, 2, … up to the tries that a round may have: of the first k.
    pub sr_at_k: Vec<f64>,
    /// SR − MT@4, in points, with MT@4 of runs of the same harness and model round by round; `None` = one of the two is unknown.
    pub gap: Option<f64>,
    /// Share of tasks of which some trial, or some try at the last round, has a reward of 1 there; `None` = refused or unknown.
    pub comp: Option<f64>,
    /// Why what is missing is missing, in sentences.
    pub missing: Vec<String>,
}
