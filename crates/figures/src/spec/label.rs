//! How runs are named and told apart in a figure, and what is laid over from elsewhere.

use serde::{Deserialize, Serialize};

/// A run or a group of runs as a figure names and marks it.
///
/// Two channels: color says the model, dash and marker say the harness. Where only one of the two varies, give both the
/// same index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SeriesLabel {
    /// Its name: anything may stand in it. Long names lose their middle where there is no room.
    pub name: String,
    /// Index of the color from 0: blue, vermillion, green, purple, black, sky blue, orange, yellow; then from the start.
    #[serde(default)]
    pub color: u8,
    /// Index of dash pattern and marker from 0: solid and circle, 6-2 square, 2-2 triangle, 6-2-2-2 diamond, 10-3 cross,
    /// and three more; then from the start.
    #[serde(default)]
    pub mark: u8,
    /// Index of the marker where it is not that of `mark`: runs of one harness share their dash, and without color only
    /// their markers tell them apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<u8>,
    /// Made by a simulation: the figure says so wherever it names it.
    #[serde(default)]
    pub simulated: bool,
}

impl SeriesLabel {
    /// A run that differs from the others of its figure in both channels: color and mark of the same index.
    pub fn new(name: impl Into<String>, index: u8) -> Self {
        Self { name: name.into(), color: index, mark: index, marker: None, simulated: false }
    }

    /// Index of its marker.
    pub(crate) fn marker(&self) -> u8 {
        self.marker.unwrap_or(self.mark)
    }
}

/// A number that others published, laid over as a hollow mark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The value, in the unit of the figure's own.
    pub value: f64,
    /// Where it stands: `StaminaBench, arXiv 2606.19613`. Equal sources share one note under the figure.
    pub source: String,
}

/// How a value axis runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Equal steps.
    #[default]
    Linear,
    /// Equal factors; values that are not positive are left out and named.
    Log,
}
