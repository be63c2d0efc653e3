//! Two measures of runs and published results, of which neither is a price of the other.

use serde::{Deserialize, Serialize};

use super::label::SeriesLabel;

/// Two measures in a plane, without a front.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plane {
    /// Runs, published results, and reference points.
    pub points: Vec<PlanePoint>,
    /// The measure of the x axis: `Efficiency`.
    pub x: String,
    /// The measure of the y axis: `Comprehension`.
    pub y: String,
    /// The notes under the plot, which always accompany these numbers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A point of a plane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanePoint {
    /// The run, or the published model.
    pub label: SeriesLabel,
    /// Its place on the x axis; `None` = unknown, and it is listed under the plot.
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
    /// Number of scenarios of x, where it is another than that of y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x_n: Option<u32>,
    /// Its source if it was published; `None` = it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl PlanePoint {
    /// Its place in the plot, if both numbers are known.
    pub(crate) fn place(&self) -> Option<(f64, f64)> {
        Some((self.x.filter(|x| x.is_finite())?, self.y.filter(|y| y.is_finite())?))
    }
}
