//! Classes of failures.

use serde::{Deserialize, Serialize};

use super::label::SeriesLabel;

/// Classes of failures in several groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailureShares {
    /// The classes, in the order in which they are drawn.
    pub classes: Vec<FailureClass>,
    /// The groups: runs, harnesses, turns, first and later attempts.
    pub groups: Vec<FailureGroup>,
    /// What is counted, as a plural in `s`: `failed attempts`.
    pub unit: String,
    /// How it is drawn.
    #[serde(default)]
    pub form: SharesForm,
}

/// Number of patterns of classes: color and hatch. Larger indexes repeat them.
pub const CLASS_PATTERNS: u8 = 36;

/// One class of failures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureClass {
    /// Its name: `wrong status`.
    pub name: String,
    /// Whether it is one of the harness rather than of the code that the agent wrote.
    #[serde(default)]
    pub harness: bool,
    /// Its pattern in stacked bars, from 0, so that it is drawn alike in every figure. `None` = the pattern of its place in this figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<u8>,
}

/// One group of failures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureGroup {
    /// Its name and color.
    pub label: SeriesLabel,
    /// Failures of each class, as many as classes.
    pub counts: Vec<u32>,
    /// What shares are of. A failure may have several classes, so this may be less than the sum of the counts; then
    /// the shares are drawn side by side, never stacked. `None` = the sum of the counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u32>,
}

/// How shares are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SharesForm {
    /// Stacked where each failure has one class and there are at most six, else side by side.
    #[default]
    Auto,
    /// One bar a group, cut into classes with patterns; classes beyond the sixth largest become "other".
    Stacked,
    /// One row a class, one column a group.
    SideBySide,
}
