//! Mean stamina with what always accompanies it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Median;

/// Restricted mean stamina, see `docs/metrics.md`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Stamina {
    /// Mean over turns 1..=τ of the survival function, summed; `None` = nobody was at risk.
    pub mean: Option<f64>,
    /// Lower end of the 95 % interval; `None` = no variation.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// Whether the interval is by a bootstrap that draws scenarios, since some scenario has several episodes, which are
    /// alike; `false` = Greenwood's.
    #[serde(default)]
    pub clustered: bool,
    /// The horizon in turns; `None` = nobody was at risk.
    pub tau: Option<u32>,
    /// Episodes.
    pub n: u32,
    /// Episodes that ended in an event.
    pub events: u32,
    /// Episodes that were censored.
    pub censored: u32,
    /// Median stamina, in turns passed: one less than the first turn at which survival is at most one half; `null` =
    /// unknown, nobody was at risk.
    pub median: Median,
}
