//! Several runs over turns, and their differences.

use analysis::survival::{StaminaSummary, SurvivalPoint, deserialize_horizon};
use serde::{Deserialize, Serialize};

use super::label::{Scale, SeriesLabel};

/// One run among others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeriesData {
    /// Its name and marks.
    pub label: SeriesLabel,
    /// Its Kaplan–Meier table from turn 1.
    pub points: Vec<SurvivalPoint>,
    /// Mean stamina, n, events, censored.
    pub summary: StaminaSummary,
    /// `false` = drawn as a thin gray line in the background.
    #[serde(default = "default_true")]
    pub highlight: bool,
}

const fn default_true() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives the field as it is")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// The runs with a drawn confidence band.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bands {
    /// All with one or two series and in panels, else the reference.
    #[default]
    Auto,
    /// Only the reference.
    Reference,
    /// All highlighted runs.
    All,
    /// No band.
    None,
}

/// Kaplan–Meier curves of several runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SurvivalComparison {
    /// The runs, in the order of the table. More than eight have a panel each, unless some are in the background
    /// ([`SeriesData::highlight`]).
    pub series: Vec<SeriesData>,
    /// Index of the run that the others are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<u32>,
    /// Horizon of mean stamina, drawn as a dashed rule.
    #[serde(default, deserialize_with = "deserialize_horizon", skip_serializing_if = "Option::is_none")]
    pub tau: Option<u32>,
    /// The runs with a drawn band.
    #[serde(default)]
    pub bands: Bands,
    /// Whether the table of numbers at risk is under the axis.
    #[serde(default = "default_true")]
    pub at_risk: bool,
    /// Whether the table has a column with mean stamina and its interval, if it fits.
    #[serde(default)]
    pub means: bool,
    /// Whether the table has a column with events of n, if it fits, for papers with their own captions.
    #[serde(default, skip_serializing_if = "is_false")]
    pub events: bool,
}

/// Histograms of the turn of first failure, as small multiples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FirstFailuresComparison {
    /// The runs.
    pub series: Vec<SeriesData>,
}

/// A forest plot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Differences {
    /// Name of the run that the rows are compared with.
    pub reference: SeriesLabel,
    /// One row per run.
    pub rows: Vec<DifferenceRow>,
    /// Name of the axis: `Difference in mean stamina (turns)`, `Ratio of mean stamina`.
    pub axis: String,
    /// `Linear` for differences (no difference = 0), `Log` for ratios (no difference = 1).
    #[serde(default)]
    pub scale: Scale,
    /// The meaning of the left side: `fails earlier`. Empty = no text.
    #[serde(default = "fails_earlier")]
    pub low: String,
    /// The meaning of the right side: `lasts longer`.
    #[serde(default = "lasts_longer")]
    pub high: String,
    /// Head of the column of p values: `p (log-rank, Holm)`. `None` = no such column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_name: Option<String>,
}

fn fails_earlier() -> String {
    "fails earlier".to_owned()
}

fn lasts_longer() -> String {
    "lasts longer".to_owned()
}

/// One run compared with the reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DifferenceRow {
    /// The run.
    pub label: SeriesLabel,
    /// Run − reference, or run ÷ reference; `None` = unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Lower end of its 95 % interval; `None` = no variation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_high: Option<f64>,
    /// p value; `None` = not computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
}
