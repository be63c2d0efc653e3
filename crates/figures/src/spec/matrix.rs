//! Harness × model.

use analysis::survival::deserialize_horizon;
use serde::{Deserialize, Serialize};

use super::label::Published;

/// A heat-grid of mean stamina.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// What the rows are: `Harness`.
    pub rows_name: String,
    /// What the columns are: `Model`.
    pub columns_name: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The cells with a run or a published number. All others show "no run".
    pub cells: Vec<MatrixCell>,
    /// Means of the rows, at the right: one per row, or none.
    #[serde(default)]
    pub row_means: Vec<Margin>,
    /// Means of the columns, at the bottom: one per column, or none.
    #[serde(default)]
    pub column_means: Vec<Margin>,
    /// The measure of the cells: `Mean stamina (turns)`.
    pub measure: String,
    /// Horizon of mean stamina.
    #[serde(default, deserialize_with = "deserialize_horizon", skip_serializing_if = "Option::is_none")]
    pub tau: Option<u32>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatrixCell {
    /// Index of its row.
    pub row: u32,
    /// Index of its column.
    pub column: u32,
    /// The mean; `None` = unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Lower end of its interval; `None` = no variation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_high: Option<f64>,
    /// Number of episodes; 0 without a mean and with published numbers = there is no run.
    pub n: u32,
    /// Made by a simulation.
    #[serde(default)]
    pub simulated: bool,
    /// Whether the number is less certain than it looks. It then gets a star, and the caption explains it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubtful: bool,
    /// Published numbers for the same pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
}

impl MatrixCell {
    /// Whether it has only published numbers and no run. It then has no episodes and no mean.
    pub fn is_published_only(&self) -> bool {
        self.n == 0 && self.mean.is_none() && !self.published.is_empty()
    }
}

/// The mean of a row or of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Margin {
    /// The mean; `None` = no cell has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Number of its cells.
    pub cells: u32,
}
