//! The run page: survival table, episode × turn grid, and the figures drawn onto its turn axis.

use model::EndReason;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use figures::Hit as FigureHit;

/// One turn of a survival table (Kaplan–Meier).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct SurvivalRow {
    /// The turn, from 1.
    pub turn: u32,
    /// Episodes alive and observed just before this turn is graded.
    pub at_risk: u32,
    /// Episodes that failed at this turn.
    pub events: u32,
    /// Episodes censored after this turn (they passed it).
    pub censored: u32,
    /// S(t), the share still alive after this turn; `None` = unknown, nobody was at risk.
    pub survival: Option<f64>,
    /// Lower end of the 95 % log-log band; `None` = no variation.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
}

/// A survival table, turn by turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SurvivalTable {
    /// From turn 1 to the last turn of the axis.
    pub rows: Vec<SurvivalRow>,
}

/// Order of the grid's rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum GridSort {
    /// Stamina, longest first; ties: score, then name.
    #[default]
    Stamina,
    /// Scenario name.
    Scenario,
    /// Score, highest first.
    Score,
}

/// Asks for rows of the episode × turn grid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RunGridRequest {
    /// Id of the run.
    pub run: String,
    /// Order.
    #[serde(default)]
    pub sort: GridSort,
    /// First row to give.
    #[serde(default)]
    pub offset: u32,
    /// Most rows to give; 0 = all.
    #[serde(default)]
    pub limit: u32,
}

/// The episode × turn grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunGrid {
    /// Number of turn columns: the most planned or seen.
    pub turns: u32,
    /// Episodes in the run.
    pub total: u32,
    /// The asked rows.
    pub rows: Vec<GridRow>,
}

/// One episode in the grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct GridRow {
    /// Id of the episode inside its run, used in links.
    pub episode: String,
    /// Scenario.
    pub scenario: String,
    /// A nicer name, where the source has one.
    pub title: Option<String>,
    /// Repeat of the scenario in this run, from 1.
    pub repeat: u32,
    /// Planned turns.
    pub planned_turns: Option<u32>,
    /// One letter a turn, from turn 1: `p` passed, `r` passed after retries, `f` failed, `e` error, `n` not reached,
    /// `c` censored here.
    pub cells: String,
    /// Failing tests a turn (final attempt); `None` = unknown or none.
    pub failing: Vec<Option<u32>>,
    /// Turns passed before the first not passed.
    pub stamina: u32,
    /// Whether the policy counts the end as censored; then stamina reads `≥`.
    pub censored: bool,
    /// First turn not passed.
    pub failed_turn: Option<u32>,
    /// Why it ended.
    pub end_reason: EndReason,
    /// Whether that is the agent's only because the cause of an exception is not recognized.
    pub unrecognised: bool,
    /// Score of the episode, 0 to 100.
    pub score: Option<f64>,
    /// Why a user has withdrawn it; `None` = it counts. A withdrawn episode is in no number, that of its run included.
    pub invalid: Option<String>,
}

impl GridRow {
    /// What a trial of one turn came to.
    pub const fn outcome(&self) -> &'static str {
        if self.invalid.is_some() {
            return "withdrawn";
        }
        match (self.stamina, self.censored) {
            (1.., _) => "passed",
            (0, true) => "not scored",
            (0, false) => "failed",
        }
    }
}

/// The charts of the run page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// Kaplan–Meier curve with band, at-risk row below.
    Survival,
    /// First failures (events) and censorings by turn.
    FirstFailures,
}

/// Which set of tokens colors a figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FigureTheme {
    /// On white.
    #[default]
    Light,
    /// On the dark surface.
    Dark,
}

/// Asks for a figure drawn onto a given turn axis, so that it meets the grid to the pixel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunFigureRequest {
    /// Id of the run.
    pub run: String,
    /// Which figure.
    pub kind: FigureKind,
    /// Colors.
    pub theme: FigureTheme,
    /// Width of the drawing in px.
    pub width: f64,
    /// Height of the drawing in px.
    pub height: f64,
    /// Left edge of turn 1's column in px; turn t is drawn at its column's center.
    pub plot_left: f64,
    /// Width of a turn's column in px.
    pub px_per_turn: f64,
    /// Number of turn columns.
    pub turns: u32,
}

/// A drawn figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FigureDrawing {
    /// The SVG, drawn by the `figures` crate from numbers and escaped names only.
    pub svg: String,
    /// Width in px.
    pub width: f64,
    /// Height in px.
    pub height: f64,
    /// Where things are, for hover.
    pub hits: Vec<FigureHit>,
    /// The figure in words.
    pub summary: String,
}
