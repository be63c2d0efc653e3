//! How the numbers of a figure were computed, for its caption.

use analysis::survival::deserialize_horizon;
use serde::{Deserialize, Serialize};

/// The software in captions of figures.
pub const SOFTWARE: &str = concat!("Stamina Lab ", env!("CARGO_PKG_VERSION"));

/// How the numbers of a figure were computed. The caption states everything in it. It does not change the drawing, except
/// for τ, which is drawn if the figure has no τ itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Method {
    /// Name of the censoring policy: `default`, `custom`, or another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The rules of the policy, one line per rule: `budget: failure`. Usually empty for `default`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policy_details: Vec<String>,
    /// Horizon of mean stamina, in turns.
    #[serde(deserialize_with = "deserialize_horizon", skip_serializing_if = "Option::is_none")]
    pub tau: Option<u32>,
    /// How intervals were computed: `Greenwood 95 % CI`. Survival figures name their band without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<String>,
    /// How p values were computed: `log-rank, Holm-adjusted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The bootstrap of the intervals, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<Bootstrap>,
    /// The number of episodes of each run (cell, group), or of trials of runs of one turn, for figures whose data does not have
    /// it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<EpisodeCounts>,
    /// Number of scenarios (tasks, of runs of one turn) that the runs share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenarios: Option<u32>,
    /// Further sentences, without their full stops: `26 simulated episodes`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Hash of the data of the figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Name and version of the software that computed the numbers.
    pub software: String,
}

impl Default for Method {
    fn default() -> Self {
        Self {
            policy: None,
            policy_details: Vec::new(),
            tau: None,
            intervals: None,
            test: None,
            bootstrap: None,
            counts: Vec::new(),
            scenarios: None,
            notes: Vec::new(),
            data: None,
            software: SOFTWARE.to_owned(),
        }
    }
}

/// The number of episodes of a run, and how they ended. Of a run of one turn, its scored trials: those that did not pass
/// failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeCounts {
    /// The name of the run in the figure, which may be any text.
    pub name: String,
    /// Episodes, or scored trials.
    pub n: u32,
    /// How many ended in an event; `None` = the figure does not depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<u32>,
    /// How many were censored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub censored: Option<u32>,
    /// How many scored trials passed; `None` = the run is not of one turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<u32>,
    /// Trials of a run of one turn that are not scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unscored: Option<u32>,
    /// Tasks with a scored trial, of a run of one turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u32>,
}

/// A bootstrap that can be repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bootstrap {
    /// Number of resamples.
    pub resamples: u32,
    /// Seed of the random numbers.
    pub seed: u64,
    /// The resampled unit: `scenario`, `episode`.
    pub unit: String,
}
