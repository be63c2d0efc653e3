//! Names and marks of runs in a figure, and published numbers in it.

use serde::{Deserialize, Serialize};

/// The name and the marks of a run, or of a group of runs, in a figure.
///
/// There are two channels: color for the model, dash and marker for the harness. If only one of them varies, use the same index
/// for both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SeriesLabel {
    /// Its name, which may be any text. Long names lose their middle if there is no room.
    pub name: String,
    /// Index of the color from 0: blue, vermillion, green, purple, black, sky blue, orange, yellow. Larger indexes repeat them.
    #[serde(default)]
    pub color: u8,
    /// Index of dash pattern and marker from 0: solid and circle, 6-2 square, 2-2 triangle, 6-2-2-2 diamond, 10-3 cross,
    /// and three more. Larger indexes repeat them.
    #[serde(default)]
    pub mark: u8,
    /// Index of the marker if it differs from `mark`. Runs of one harness share their dash, so only their markers distinguish them
    /// without color.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<u8>,
    /// Made by a simulation. The figure marks its name.
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

/// A published number, drawn as a hollow mark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The value, in the unit of the figure.
    pub value: f64,
    /// Its source: `StaminaBench, arXiv 2606.19613`. Equal sources share one note under the figure.
    pub source: String,
}

/// The scale of a value axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Equal steps.
    #[default]
    Linear,
    /// Equal factors. Values that are not positive are left out and named.
    Log,
}
