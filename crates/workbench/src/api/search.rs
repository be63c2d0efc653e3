//! Search in names, requests and failure messages.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Looks in names, requests and failure messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Search {
    /// Words.
    pub text: String,
    /// Most hits to give; 0 = 20.
    pub limit: u32,
}

/// One hit of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SearchHit {
    /// What it is: `run`, `episode`, `request`, `failure`.
    pub kind: String,
    /// First line.
    pub title: String,
    /// Second line; for text hits the surrounding words.
    pub detail: String,
    /// Id of the run.
    pub run: String,
    /// Id of the episode.
    pub episode: Option<String>,
    /// The turn.
    pub turn: Option<u32>,
    /// The attempt.
    pub attempt: Option<u32>,
    /// The test.
    pub test: Option<String>,
    /// Whether a scripted model stood in in that run.
    pub simulated: bool,
}

/// Hits of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SearchHits {
    /// Best first.
    pub hits: Vec<SearchHit>,
    /// Whether the text of every source is searchable yet.
    pub complete: bool,
}
