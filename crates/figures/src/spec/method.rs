//! How a figure's numbers were made: what its caption says.

use serde::{Deserialize, Serialize};

/// The software that makes figures here, as captions name it.
pub const SOFTWARE: &str = concat!("Stamina Lab ", env!("CARGO_PKG_VERSION"));

/// How the numbers of a figure were computed. The caption states everything in it. It does not change the drawing, except
/// for τ, which is drawn if the figure has no τ itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Method {
    /// Name of the censoring policy: `default`, `custom`, or a name of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// What the policy says, one line a rule: `budget: failure`. For `default` usually empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policy_details: Vec<String>,
    /// Horizon of mean stamina, in turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tau: Option<u32>,
    /// How intervals were made: `Greenwood 95 % CI`. Survival figures say their own band without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<String>,
    /// How p values were made: `log-rank, Holm-adjusted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The bootstrap behind the intervals, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<Bootstrap>,
    /// How many episodes stand behind each run (cell, group) of figures whose data does not say so itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<EpisodeCounts>,
    /// Number of scenarios that the runs share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenarios: Option<u32>,
    /// Further sentences, without their full stops: `26 simulated episodes`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Hash of the data behind the figure.
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

/// How many episodes stand behind a run, and how they ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeCounts {
    /// The run as the figure names it; anything may stand in it.
    pub name: String,
    /// Episodes.
    pub n: u32,
    /// How many ended in an event; `None` = what is drawn does not depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<u32>,
    /// How many were censored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub censored: Option<u32>,
}

/// A bootstrap that can be repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bootstrap {
    /// Number of resamples.
    pub resamples: u32,
    /// Seed of the random numbers.
    pub seed: u64,
    /// What was drawn: `scenario`, `episode`.
    pub unit: String,
}
