//! Full-text search over names, requests and failing tests.

use crate::{Result, Store};

/// What a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchKind {
    /// A run, by model, harness, benchmark, source, tag or note.
    Run,
    /// An episode, by scenario or title.
    Episode,
    /// A change request.
    Request,
    /// A failing test, by id or message.
    Failure,
}

/// One hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// What it is.
    pub kind: MatchKind,
    /// First line: names of the run, scenario, title of the turn, id of the test.
    pub title: String,
    /// Second line; for requests and failures the words around the first one found.
    pub detail: String,
    /// Slug of the run.
    pub run: String,
    /// Slug of the episode.
    pub episode: Option<String>,
    /// The turn.
    pub turn: Option<u32>,
    /// The attempt.
    pub attempt: Option<u32>,
    /// Id of the test.
    pub test: Option<String>,
    /// How many other places hold the same text (a request that many runs play is one hit).
    pub also: u32,
}

/// Hits of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matches {
    /// Best first: runs, episodes, requests, failures.
    pub hits: Vec<Match>,
    /// Whether all text is indexed yet.
    pub complete: bool,
}

impl Store {
    /// Looks for texts that hold every word (the last letters of a word may be missing). At most `limit` hits.
    pub fn search(&self, text: &str, limit: u32) -> Result<Matches> {
        todo!()
    }

    /// Makes up to about `budget` more episodes searchable, in one short transaction. Gives whether any are left.
    /// Meant to be called again and again from the background while nothing is being read.
    pub fn index_text(&self, budget: u32) -> Result<bool> {
        todo!()
    }
}
