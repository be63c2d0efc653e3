//! What a figure is, as data: everything that is needed to draw it again.

use analysis::survival::{StaminaSummary, SurvivalPoint};
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::theme::Theme;

/// The version that [`FigureSpec::version`] carries. Raised when an old spec would be drawn differently.
pub const SPEC_VERSION: u32 = 1;

/// A figure with its data, its place and its colours. Serialises to JSON and stands beside every export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureSpec {
    /// [`SPEC_VERSION`] when it was made; reading a later one is an error.
    #[serde(deserialize_with = "known_version")]
    pub version: u32,
    /// What is drawn.
    pub figure: Figure,
    /// Where it stands and how large it is.
    pub layout: Layout,
    /// Colours.
    pub theme: Theme,
}

impl FigureSpec {
    /// A figure of the current version.
    pub const fn new(figure: Figure, layout: Layout, theme: Theme) -> Self {
        Self { version: SPEC_VERSION, figure, layout, theme }
    }
}

fn known_version<'de, D: Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
    let version = u32::deserialize(input)?;
    if (1..=SPEC_VERSION).contains(&version) {
        return Ok(version);
    }
    Err(D::Error::custom(format!(
        "figure spec version {version} is not known here; this Stamina Lab reads versions 1 to {SPEC_VERSION}"
    )))
}

/// The kinds of figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Figure {
    /// Kaplan–Meier curve with its band; in print with the at-risk row.
    Survival(RunData),
    /// Bars of first failures (events) and thin bars of censorings by turn.
    FirstFailures(RunData),
}

/// What both kinds are drawn from.
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

/// Where a figure stands.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Layout {
    /// One track of the run page, in px, on a given turn axis.
    Screen {
        /// Width of the drawing.
        width: f64,
        /// Height of the drawing.
        height: f64,
        /// Left edge of turn 1's column. The y axis stands half a column left of it; its labels take 32 px more. What
        /// does not fit is drawn outside the drawing's box (`overflow="visible"`), not cut.
        plot_left: f64,
        /// Width of a turn's column.
        px_per_turn: f64,
        /// Number of turn columns.
        turns: u32,
    },
    /// A figure on paper, in pt (1/72 in), with axis names.
    Print {
        /// Width of the figure.
        width: f64,
        /// Height of the figure.
        height: f64,
        /// Number of turns on the axis.
        turns: u32,
    },
}
