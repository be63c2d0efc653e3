//! What a figure is, as data: everything that is needed to draw it again.
//!
//! Numbers come in computed: this crate places and words them. What is not known is `None` and is written as a word.
//! Fields with a default may be left out of a spec that is written by hand.

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

use std::borrow::Cow;

use analysis::survival::{StaminaSummary, SurvivalPoint};
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::caption::with_method;
use crate::table::Table;
use crate::theme::Theme;

pub use comparison::{
    Bands, DifferenceRow, Differences, FirstFailuresComparison, SeriesData, SurvivalComparison,
};
pub use failures::{FailureClass, FailureGroup, FailureShares, SharesForm};
pub use label::{Published, Scale, SeriesLabel};
pub use layout::{Fonts, Layout};
pub use matrix::{Margin, Matrix, MatrixCell};
pub use measures::{BarRow, Bars, Pareto, ParetoPoint};
pub use method::{Bootstrap, EpisodeCounts, Method, SOFTWARE};
pub use paired::{Pair, Paired, PairedMean};
pub use plane::{Plane, PlanePoint};
pub use retries::{PublishedPoint, Retries, RetryPoint, RetrySeries};

/// The version that [`FigureSpec::version`] carries. Raised when an old spec would be drawn differently.
pub const SPEC_VERSION: u32 = 1;

/// A figure with its data, its place and its colors. Serialises to JSON and stands beside every export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureSpec {
    /// [`SPEC_VERSION`] when it was made; reading a later one is an error.
    #[serde(deserialize_with = "known_version")]
    pub version: u32,
    /// What is drawn.
    pub figure: Figure,
    /// Where it stands and how large it is.
    pub layout: Layout,
    /// Colors.
    pub theme: Theme,
    /// How the numbers were made, for the caption.
    #[serde(default)]
    pub method: Method,
}

impl FigureSpec {
    /// A figure of the current version, made by this software; nothing else is said about its method.
    pub fn new(figure: Figure, layout: Layout, theme: Theme) -> Self {
        Self { version: SPEC_VERSION, figure, layout, theme, method: Method::default() }
    }

    /// The same figure with its method.
    #[must_use]
    pub fn with_method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// The table that this is, as it is printed and drawn: its last note says how its numbers were made. `None` = it is
    /// no table.
    pub fn table(&self) -> Option<Cow<'_, Table>> {
        match &self.figure {
            Figure::Table(table) => Some(with_method(table, self)),
            _ => None,
        }
    }
}

/// What the error of a spec of another version begins with; after it comes a number.
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
    /// Kaplan–Meier curve of one run with its band; in print with the at-risk row.
    Survival(RunData),
    /// Bars of first failures (events) and thin bars of censorings by turn, of one run.
    FirstFailures(RunData),
    /// Kaplan–Meier curves of several runs over their at-risk table.
    SurvivalComparison(SurvivalComparison),
    /// Forest plot: differences (or ratios) to a reference run with their intervals.
    Differences(Differences),
    /// Two runs on the scenarios that both have, scenario by scenario.
    Paired(Paired),
    /// First failures by turn as small multiples on shared axes.
    FirstFailuresComparison(FirstFailuresComparison),
    /// One measure, one bar a run.
    Bars(Bars),
    /// Mean stamina against cost, with the front of what is not beaten in both.
    Pareto(Pareto),
    /// Two measures against each other, without a front.
    Plane(Plane),
    /// Harness × model: mean stamina in each cell.
    Matrix(Matrix),
    /// Mean stamina as a function of the number of retries allowed.
    Retries(Retries),
    /// Classes of failures as shares of each group's failures.
    FailureShares(FailureShares),
    /// A table.
    Table(Table),
}

/// The data of the figures of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunData {
    /// The run, for the summary: `Claude-Opus-4.8 · terminus-2`. Anything may stand in it.
    pub name: String,
    /// The Kaplan–Meier table from turn 1.
    pub points: Vec<SurvivalPoint>,
    /// Mean stamina, n, events, censored.
    pub summary: StaminaSummary,
    /// Name of the censoring policy under which the table was made: `default` or `custom`.
    pub policy: String,
}
