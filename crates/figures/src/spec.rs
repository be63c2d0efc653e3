//! A figure as data: everything that a drawing needs.
//!
//! Numbers are computed elsewhere; this crate places and formats them. An unknown number is `None` and is shown as a word.
//! Fields with a default may be omitted in a handwritten spec.

mod comparison;
mod failures;
mod label;
mod layout;
mod matrix;
mod measures;
mod method;
mod paired;
mod plane;
mod retries;

use analysis::survival::{StaminaSummary, SurvivalPoint};
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::table::Table;
use crate::theme::Theme;

pub use comparison::{
    Bands, DifferenceRow, Differences, FirstFailuresComparison, SeriesData, SurvivalComparison,
};
pub use failures::{CLASS_PATTERNS, FailureClass, FailureGroup, FailureShares, SharesForm};
pub use label::{Published, Scale, SeriesLabel};
pub use layout::{Fonts, Layout};
pub use matrix::{Margin, Matrix, MatrixCell};
pub use measures::{BarRow, Bars, Pareto, ParetoPoint};
pub use method::{Bootstrap, EpisodeCounts, Method, SOFTWARE};
pub use paired::{Pair, PairedMean, PairedScenarios};
pub use plane::{Plane, PlanePoint};
pub use retries::{PublishedPoint, Retries, RetryPoint, RetrySeries};

/// The version in [`FigureSpec::version`]. It rises when an old spec would be drawn differently.
pub const SPEC_VERSION: u32 = 1;

/// A figure with its data, its layout and its colors. It serializes to JSON, and every export has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureSpec {
    /// [`SPEC_VERSION`] at the time of writing. Reading a later version is an error.
    #[serde(deserialize_with = "known_version")]
    pub version: u32,
    /// The content.
    pub figure: Figure,
    /// Its place and size.
    pub layout: Layout,
    /// Colors.
    pub theme: Theme,
    /// How the numbers were computed, for the caption.
    #[serde(default)]
    pub method: Method,
}

impl FigureSpec {
    /// A figure of the current version by this software, without other data about its method.
    pub fn new(figure: Figure, layout: Layout, theme: Theme) -> Self {
        Self { version: SPEC_VERSION, figure, layout, theme, method: Method::default() }
    }

    /// The same figure with its method.
    #[must_use]
    pub fn with_method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }
}

/// The start of the error about a spec of another version. A number follows it.
pub(crate) const UNKNOWN_VERSION: &str = "figure spec version";

fn known_version<'de, D: Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
    let version = u32::deserialize(input)?;
    if (1..=SPEC_VERSION).contains(&version) {
        return Ok(version);
    }
    Err(D::Error::custom(format!(
        "{UNKNOWN_VERSION} {version} is not known here; this Stamina Lab reads versions 1 to {SPEC_VERSION}"
    )))
}

/// The kinds of figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Figure {
    /// Kaplan–Meier curve of one run with its band, in print with the at-risk row.
    Survival(RunData),
    /// Bars of first failures (events) and thin bars of censorings by turn, of one run.
    FirstFailures(RunData),
    /// Kaplan–Meier curves of several runs over their at-risk table.
    SurvivalComparison(SurvivalComparison),
    /// Forest plot: differences (or ratios) to a reference run with their intervals.
    Differences(Differences),
    /// Two runs on shared scenarios, scenario by scenario.
    Paired(PairedScenarios),
    /// First failures by turn as small multiples on shared axes.
    FirstFailuresComparison(FirstFailuresComparison),
    /// One measure, with one bar per run.
    Bars(Bars),
    /// Mean stamina and cost, with the Pareto front.
    Pareto(Pareto),
    /// Two measures in a plane, without a front.
    Plane(Plane),
    /// Harness × model: mean stamina in each cell.
    Matrix(Matrix),
    /// Mean stamina by the number of allowed retries.
    Retries(Retries),
    /// Classes of failures as shares of the failures of each group.
    FailureShares(FailureShares),
    /// A table.
    Table(Table),
}

/// The data of the figures of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunData {
    /// The name of the run, for the summary: `Claude-Opus-4.8 · terminus-2`. It may be any text.
    pub name: String,
    /// The Kaplan–Meier table from turn 1.
    pub points: Vec<SurvivalPoint>,
    /// Mean stamina, n, events, censored.
    pub summary: StaminaSummary,
    /// Name of the censoring policy of the table: `default` or `custom`.
    pub policy: String,
}
