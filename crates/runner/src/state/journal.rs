//! `journal.json`: what the next attempt of an episode needs that lies in no volume.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::RunError;
use crate::disk::{self, Durability};

/// Which attempt a snapshot was made for: `before/label.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Label {
    pub(crate) turn: u32,
    pub(crate) attempt: u32,
}

/// `journal.json`: what an attempt needs that lies in no volume.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Journal {
    /// The state before the attempt that was being recorded.
    pub(crate) before: SessionState,
    /// The state once the trajectory names it.
    pub(crate) after: Option<StateAfterAttempt>,
}

/// The state after an attempt is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StateAfterAttempt {
    pub(crate) turn: u32,
    pub(crate) attempt: u32,
    pub(crate) known: SessionState,
}

/// The state of an episode between attempts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SessionState {
    /// Of the agent.
    pub(crate) session: Option<harness::Session>,
    /// The session when the turn began: attempts that begin from the same snapshot continue it.
    pub(crate) session_before: Option<harness::Session>,
    /// Calls of the agent so far, for the names of its logs.
    pub(crate) calls: u32,
    /// Whether the harness's program could be started in a call before.
    pub(crate) worked: bool,
    /// Feedback on the last attempt, if the next one is a retry.
    pub(crate) feedback: Option<String>,
    /// Wall seconds in which the episode was played.
    pub(crate) seconds: f64,
    /// Spent so far.
    pub(crate) spent: gateway::Spent,
}

impl Journal {
    /// The valid state, given the last attempt that the trajectory names.
    pub(crate) fn valid_state(self, last: Option<(u32, u32)>) -> SessionState {
        match self.after {
            Some(after) if last == Some((after.turn, after.attempt)) => after.known,
            _ => self.before,
        }
    }

    pub(crate) fn read(state: &Path) -> Result<Self, RunError> {
        Ok(disk::read_json(&state.join("journal.json"), disk::LARGEST_JSON)?.unwrap_or_default())
    }

    pub(crate) fn write(&self, state: &Path) -> Result<(), RunError> {
        disk::write_json(&state.join("journal.json"), self, Durability::Synced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_follows_the_trajectory() {
        let known = |calls| SessionState { calls, ..SessionState::default() };
        let journal = Journal {
            before: known(4),
            after: Some(StateAfterAttempt { turn: 2, attempt: 3, known: known(5) }),
        };
        assert_eq!(journal.clone().valid_state(Some((2, 3))).calls, 5);
        assert_eq!(journal.clone().valid_state(Some((2, 2))).calls, 4);
        assert_eq!(journal.valid_state(None).calls, 4);
    }
}
