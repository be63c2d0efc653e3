//! Several runs over turns, and their differences.

use analysis::survival::{StaminaSummary, SurvivalPoint};
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
    /// `false` = drawn as a thin gray line in the background. With more than eight runs only the first five stay in
    /// front if all ask for it.
    #[serde(default = "yes")]
    pub highlight: bool,
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives the field as it is")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// Whose confidence band is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bands {
    /// With one or two series all, from three on the reference only.
    #[default]
    Auto,
    /// The reference only.
    Reference,
    /// All (that are highlighted).
    All,
    /// No band.
    None,
}

/// Kaplan–Meier curves of several runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SurvivalComparison {
    /// The runs, in the order of the table. One to eight are told apart; more are possible, see
    /// [`SeriesData::highlight`].
    pub series: Vec<SeriesData>,
    /// Index of the run that the others are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<u32>,
    /// Horizon of mean stamina, drawn as a dotted rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tau: Option<u32>,
    /// Whose band is drawn.
    #[serde(default)]
    pub bands: Bands,
    /// Whether the table of numbers at risk stands under the axis.
    #[serde(default = "yes")]
    pub at_risk: bool,
    /// Whether the table has a column with mean stamina and its interval, where it fits.
    #[serde(default)]
    pub means: bool,
    /// Whether the table has a column with events of n, where it fits: a paper that sets its own caption says them, too.
    #[serde(default, skip_serializing_if = "is_false")]
    pub events: bool,
}

/// Histograms of the turn of first failure, one under the other.
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
    /// One row a run.
    pub rows: Vec<DifferenceRow>,
    /// Name of the axis: `Difference in mean stamina (turns)`, `Ratio of mean stamina`.
    pub axis: String,
    /// `Linear` for differences (no difference = 0), `Log` for ratios (no difference = 1).
    #[serde(default)]
    pub scale: Scale,
    /// What the left side means: `fails earlier`. Empty = nothing is written.
    #[serde(default = "fails_earlier")]
    pub low: String,
    /// What the right side means: `lasts longer`.
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

/// One run against the reference.
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
