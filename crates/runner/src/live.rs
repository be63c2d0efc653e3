//! What a run is doing now, read from its folder: `.stamina/run.json`, `.stamina/episodes/*.json`, `.stamina/events.jsonl`.
//!
//! Works the same for a run of this process, of another, and for one that was killed.

use serde::{Deserialize, Serialize};

/// A run as its folder tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiveRun {
    /// Id: 8 hex digits.
    pub id: String,
    /// Harness (lower-case word).
    pub agent: String,
    /// Model.
    pub model: Option<String>,
    /// Whether the oracle model stands in.
    pub simulated: bool,
    /// Whether a living process plays it.
    pub state: RunState,
    /// When it first began, RFC 3339.
    pub started_at: String,
    /// Wall seconds in which it ran, all parts.
    pub seconds: f64,
    /// Turns of each episode.
    pub turns: u32,
    /// Most attempts a turn.
    pub attempt_limit: u32,
    /// Spent so far.
    pub spent: gateway::Spent,
    /// Budgets.
    pub budgets: gateway::Budgets,
    /// In order of their numbers, queued ones too.
    pub episodes: Vec<LiveEpisode>,
    /// Seconds between events: the median over the run, for the stuck detector. `None` = too few.
    pub usual_gap: Option<f64>,
    /// Faults of the endpoint in the last ten minutes, by status (0 = no answer).
    pub faults: Vec<(u16, u32)>,
}

/// Whether a run is played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RunState {
    /// By a living process.
    Running,
    /// By a living process, which begins no new attempts.
    Paused,
    /// Told to stop and not there yet.
    Stopping,
    /// Over, in one of the ways.
    Ended {
        /// Which.
        finish: crate::Finish,
    },
    /// Its process is gone without a word: resume it.
    Lost,
}

/// An episode as its folder tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiveEpisode {
    /// `scenario_3`.
    pub name: String,
    /// What it is about.
    pub title: Option<String>,
    /// What it is doing.
    pub phase: Phase,
    /// Turn in play or last played; 0 = not begun.
    pub turn: u32,
    /// Attempt in play or last played.
    pub attempt: u32,
    /// States of the turns that were decided, in order.
    pub cells: Vec<model::TurnState>,
    /// Why it ended.
    pub end_reason: Option<model::EndReason>,
    /// Wall seconds in which it was played.
    pub seconds: f64,
    /// Spent so far.
    pub spent: gateway::Spent,
    /// Last sign of life (event, model request, output of the agent), RFC 3339.
    pub last_event_at: Option<String>,
    /// What it was, in a few words.
    pub now: Option<String>,
    /// Seconds left at the pace so far; `None` = unknown.
    pub eta_seconds: Option<f64>,
    /// Set if it may be stuck: one sentence why.
    pub stuck: Option<String>,
}

/// What an episode is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Waits for its turn among `batch_size`.
    Queued,
    /// Snapshots, boxes.
    Preparing,
    /// The agent works.
    Agent,
    /// The endpoint is being retried.
    Waiting,
    /// Its server starts, the suite runs.
    Testing,
    /// Paused between attempts.
    Paused,
    /// Over.
    Over,
}

/// Reads a run's folder.
pub fn read(_folder: &std::path::Path) -> Result<LiveRun, crate::RunError> {
    todo!()
}
