//! Harness × model.

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
    /// The cells that have a run, and those of which others published a number; all others say "no run".
    pub cells: Vec<MatrixCell>,
    /// Means of the rows, at the right; as many as rows, or none.
    #[serde(default)]
    pub row_means: Vec<Margin>,
    /// Means of the columns, at the bottom; as many as columns, or none.
    #[serde(default)]
    pub column_means: Vec<Margin>,
    /// What a cell holds: `Mean stamina (turns)`.
    pub measure: String,
    /// Horizon of mean stamina.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    /// Number of episodes; 0 with published numbers and no mean = there is no run, only those.
    pub n: u32,
    /// Made by a simulation.
    #[serde(default)]
    pub simulated: bool,
    /// Whether something makes the number less sure than it looks: it gets a star, and the caption says what.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubtful: bool,
    /// What others published for the same pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
}

impl MatrixCell {
    /// Whether nothing but published numbers stands here: no run was read. It has no episodes and no mean.
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
    /// Number of cells behind it.
    pub cells: u32,
}
