//! Episodes: one row holds all that a grid, a curve and a score need, so that those never touch turns or attempts.

use model::{Artifact, EndReason, Episode, Extra, Timing, Tokens};

use crate::{EpisodeId, Result, RunId, Store, TurnEntry};

/// An episode as the grid, the curve and the scores need it.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeEntry {
    /// Number in the store.
    pub id: EpisodeId,
    /// Stable name inside its run, used in links.
    pub slug: String,
    /// Identity inside its run.
    pub key: String,
    /// Scenario.
    pub scenario: String,
    /// A nicer name, where the source has one.
    pub title: Option<String>,
    /// 1, or the how-manieth time the run plays the scenario.
    pub repeat: u32,
    /// Planned turns; `None` = the source does not say.
    pub planned_turns: Option<u32>,
    /// The last turn known to exist: planned, or the highest seen.
    pub known_turns: u32,
    /// Consecutive turns passed from turn 1.
    pub stamina: u32,
    /// First turn not passed; `None` = every known turn was passed.
    pub failed_turn: Option<u32>,
    /// Why the observation ended ([`Episode::end`]).
    pub end_reason: EndReason,
    /// A letter ([`model::TurnState::letter`]) a turn, from turn 1 to `known_turns` (at most [`crate::limits::GRID_TURNS`]).
    pub cells: String,
    /// Failing tests a turn at the final attempt, as long as `cells`; `None` = unknown or none.
    pub failing: Vec<Option<u32>>,
    /// Turns passed, whether or not one before them failed: Σ p of EvoCode's dataset score.
    pub passed_turns: u32,
    /// Σ passed/total over turns whose final attempt has both and total > 0: the sum that StaminaBench's score and
    /// EvoCode's case score divide by the planned turns.
    pub ratio_sum: f64,
    /// How many turns are in `ratio_sum`.
    pub ratio_turns: u32,
    /// Σ of the final attempts' rewards, and how many turns have one.
    pub reward: (f64, u32),
    /// Turns with at least one attempt.
    pub reached_turns: u32,
    /// Attempts.
    pub attempts: u32,
    /// Tokens: of the episode, else summed over its attempts.
    pub tokens: Tokens,
    /// Cost in US dollars: of the episode, else summed over its attempts.
    pub cost_usd: Option<f64>,
    /// Tool calls, summed over the attempts of which they are known.
    pub tool_calls: Option<u32>,
}

/// An episode with its turns, without their attempts.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeRecord {
    /// What the grid shows.
    pub entry: EpisodeEntry,
    /// Its run.
    pub run: RunId,
    /// The turns that the source describes, in order; later ones up to `known_turns` were not reached.
    pub turns: Vec<TurnEntry>,
    /// What the source reports of the episode.
    pub reported: Vec<(String, f64)>,
    /// Exception of the whole episode: type and message.
    pub exception: Option<(String, String)>,
    /// When.
    pub timing: Timing,
    /// Logs of the whole episode.
    pub artifacts: Vec<Artifact>,
    /// Unknown fields.
    pub extra: Extra,
}

impl Store {
    /// The episodes of a run, by slug, without touching turns and attempts.
    pub fn episodes(&self, run: RunId) -> Result<Vec<EpisodeEntry>> {
        todo!()
    }

    /// The episode of this slug with its turns.
    pub fn episode(&self, run: RunId, slug: &str) -> Result<Option<EpisodeRecord>> {
        todo!()
    }

    /// An episode as it was put, with every attempt and test.
    pub fn whole_episode(&self, episode: EpisodeId) -> Result<Option<Episode>> {
        todo!()
    }
}
