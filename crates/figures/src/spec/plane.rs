//! Two measures of runs and of what others published, where neither is a price of the other.

use serde::{Deserialize, Serialize};

use super::label::SeriesLabel;

/// Two measures against each other, without a front.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plane {
    /// Runs, what others published, and what they are to be held against.
    pub points: Vec<PlanePoint>,
    /// What the x axis measures: `Efficiency`.
    pub x: String,
    /// What the y axis measures: `Comprehension`.
    pub y: String,
    /// What stands under the plot wherever these numbers do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A point of a plane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanePoint {
    /// The run, or the model that was published.
    pub label: SeriesLabel,
    /// Its place on the x axis; `None` = unknown: it is named under the plot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    /// The interval of x: low, high.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x_ends: Option<(f64, f64)>,
    /// Its place on the y axis; `None` = unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
    /// The interval of y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y_ends: Option<(f64, f64)>,
    /// Number of scenarios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u32>,
    /// Where it was published; `None` = it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl PlanePoint {
    /// Where it stands in the plot, if both numbers are known.
    pub(crate) fn place(&self) -> Option<(f64, f64)> {
        Some((self.x.filter(|x| x.is_finite())?, self.y.filter(|y| y.is_finite())?))
    }
}
