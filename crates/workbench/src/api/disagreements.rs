//! Turns on which compared runs disagree: what the Compare page lists. Defined in `docs/metrics.md`, "Where they disagree".

use model::TurnState;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Member;

/// Which turns are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DisagreementMode {
    /// Every turn that any member reached.
    All,
    /// Turns that one passes and another fails, by its tests or by an end without a verdict that counts as a failure.
    #[default]
    Different,
    /// Turns that some member fails.
    Failures,
    /// Turns that ended without a verdict for some member.
    Errors,
}

/// How they are sorted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DisagreementSort {
    /// Turns that the reference fails and others pass, then by spread.
    #[default]
    ReferenceFails,
    /// Largest difference in the share of passed tests first.
    Spread,
    /// By scenario and turn.
    Scenario,
}

/// Asks where members disagree.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct DisagreementRequest {
    /// The members, in the order of the columns.
    pub members: Vec<Member>,
    /// Index of the reference.
    pub reference: u32,
    /// Which turns.
    pub mode: DisagreementMode,
    /// In which order.
    pub sort: DisagreementSort,
    /// Only scenarios whose name has these words.
    #[serde(default)]
    pub text: String,
    /// First row to give.
    pub offset: u32,
    /// Most rows to give; 0 = 200.
    pub limit: u32,
}

/// Turns on which members disagree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DisagreementPage {
    /// The asked rows.
    pub rows: Vec<DisagreementRow>,
    /// Rows in this mode.
    pub total: u32,
    /// Rows in each mode: all, different, failures, errors.
    pub counts: (u32, u32, u32, u32),
}

/// One turn of one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DisagreementRow {
    /// The scenario.
    pub scenario: String,
    /// A nicer name, where the source has one.
    pub title: Option<String>,
    /// From 1.
    pub turn: u32,
    /// One a member; `None` = it did not play the scenario.
    pub cells: Vec<Option<DisagreementCell>>,
    /// Difference between the highest and the lowest share of passed tests, 0 to 1; `None` = not counted for two members.
    pub spread: Option<f64>,
}

/// What one member did there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DisagreementCell {
    /// Id of the run.
    pub run: String,
    /// Id of the episode: the only one, or of several the one that did worst.
    pub episode: String,
    /// State of the turn in that episode.
    pub state: TurnState,
    /// Whether the agent failed it: by its tests, or by an end without a verdict that counts as a failure.
    pub failed: bool,
    /// Tests passed at its final attempt.
    pub passed: Option<u32>,
    /// Tests run at its final attempt.
    pub total: Option<u32>,
    /// Whether an earlier turn of this episode was already failed (then this turn does not count for stamina).
    pub after_failure: bool,
    /// How many episodes of this member played the scenario, and how many of them passed this turn.
    pub episodes: (u32, u32),
}
