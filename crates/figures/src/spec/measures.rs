//! One number a run, and two of them against each other.

use analysis::survival::deserialize_horizon;
use serde::{Deserialize, Serialize};

use super::label::{Published, Scale, SeriesLabel};
use crate::display_names::clean;

/// One measure of several runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bars {
    /// What is measured: `Cost per survived turn`.
    pub measure: String,
    /// Its unit, as the axis name says it: `$`, `tokens`, `min`. `None` = a plain number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// One bar a run.
    pub rows: Vec<BarRow>,
}

/// One bar.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BarRow {
    /// The run.
    pub label: SeriesLabel,
    /// The measure; `None` = unknown, and the figure says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Lower end of its interval, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_high: Option<f64>,
    /// What stands in place of a value that is not there for another reason than that it is unknown: `no turn survived`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// A word about the value that stands behind it: `n = 20`, `12 of 20 episodes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What others published for the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
}

/// Mean stamina against cost, or another measure if it has a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pareto {
    /// The runs.
    pub points: Vec<ParetoPoint>,
    /// What the x axis measures: `Cost per episode`. Less is better.
    pub cost: String,
    /// Its unit: `$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// How the x axis runs.
    #[serde(default)]
    pub scale: Scale,
    /// Horizon of mean stamina, for the name of the y axis.
    #[serde(default, deserialize_with = "deserialize_horizon", skip_serializing_if = "Option::is_none")]
    pub tau: Option<u32>,
    /// The measure of the y axis: `Pass rate`. `None` = mean stamina.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// The unit of that measure: `%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure_unit: Option<String>,
}

impl Pareto {
    /// The name of the measure of the y axis, without its unit.
    pub(crate) fn measure(&self) -> String {
        self.measure.as_deref().map_or_else(|| "Mean stamina".to_owned(), clean)
    }
}

/// One run between cost and stamina.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParetoPoint {
    /// The run.
    pub label: SeriesLabel,
    /// Its cost; `None` = unknown: it is named under the plot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Mean stamina, or the other measure; `None` = unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Lower end of its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_high: Option<f64>,
    /// Number of episodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u32>,
}
