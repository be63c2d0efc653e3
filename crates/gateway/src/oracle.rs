//! The oracle model: a scripted model that answers a turn with its reference server, written out as code, with seeded
//! defects.
//!
//! It speaks all three APIs, streaming and not, and drives whatever tool the harness offers to run a command or write a
//! file. It makes the whole pipeline testable at no cost. Runs made with it are marked *simulated*.

use std::sync::Arc;

use scenario::change::Change;
use scenario::ir::Schema;
use serde::{Deserialize, Serialize};

/// How able it is and how it misbehaves. All choices derive from (seed, scenario, turn, attempt).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ability {
    /// Where its choices come from.
    pub seed: u64,
    /// Share of turns in which the first attempt carries defects, 0 to 1.
    pub defect_rate: f64,
    /// Defects in such a turn: 1 to this.
    pub most_defects: u32,
    /// Chance that feedback on a failed attempt repairs each defect, 0 to 1.
    pub repair: f64,
    /// Whether defects that were not repaired stay in later turns.
    pub carries_over: bool,
    /// What else it does, by share of attempts.
    pub mischief: Mischief,
    /// What the server is written in.
    pub stack: Stack,
}

impl Default for Ability {
    fn default() -> Self {
        Self {
            seed: 0,
            defect_rate: 0.0,
            most_defects: 3,
            repair: 1.0,
            carries_over: true,
            mischief: Mischief::default(),
            stack: Stack::Flask,
        }
    }
}

/// What the oracle's servers are written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stack {
    /// `server.py` with Flask.
    #[default]
    Flask,
    /// `schema.yaml`, served by `$STAMINA serve-reference --schema schema.yaml --port $PORT`: where there is no box.
    Native,
}

/// Misbehaviour by share of attempts, 0 to 1 each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mischief {
    /// Never answers a request.
    pub stall: f64,
    /// Says that the context is exceeded, as the endpoint would (400).
    pub overflow: f64,
    /// Sends a tool call whose arguments are no JSON, again and again.
    pub malformed: f64,
    /// Runs a broad `pkill` on the harness.
    pub kill: f64,
    /// Says it is done without doing anything.
    pub give_up: f64,
}

/// What is to be solved in an attempt.
#[derive(Debug, Clone)]
pub struct Task {
    /// Scenario, from 0.
    pub scenario: u32,
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
    /// The schema of each turn up to this one, and the changes that led to it (none for turn 1).
    pub turns: Arc<Vec<(Arc<Schema>, Vec<Change>)>>,
    /// How many attempts each turn before this one took, in order (shorter = 1 each): how often defects that carry over
    /// had a chance to be repaired.
    pub attempts_before: Vec<u32>,
    /// Ids of cases that failed in the attempts before, newest last; what a repair goes by.
    pub failed: Vec<Vec<String>>,
}

/// The scripted model.
#[derive(Debug)]
pub struct Oracle {
    /// How able.
    pub ability: Ability,
}

impl Oracle {
    /// Answers one request of an attempt. Called on a thread that may block; the same input gives the same answer.
    pub fn answer(&self, _route: crate::Route, _body: &serde_json::Value, _task: &Task) -> crate::Answer {
        todo!()
    }
}
