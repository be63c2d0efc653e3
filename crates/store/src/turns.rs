//! Turns and attempts: what was asked, what was tried, what each test said.

use model::{Turn, TurnState};

use crate::{EpisodeId, Result, Store};

/// A turn as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnEntry {
    /// From 1.
    pub number: u32,
    /// A short name.
    pub title: Option<String>,
    /// State of its cell.
    pub state: TurnState,
    /// Tests passed at the final attempt.
    pub passed: Option<u32>,
    /// Tests run at the final attempt.
    pub total: Option<u32>,
    /// Attempts made.
    pub attempts: u32,
}

impl Store {
    /// A turn with its attempts and every test.
    pub fn turn(&self, episode: EpisodeId, number: u32) -> Result<Option<Turn>> {
        todo!()
    }
}
