//! Search in names, requests and failure messages, and in transcripts and logs.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use store::{SearchHit, SearchHits};

/// Looks in names, requests and failure messages, or in transcripts and logs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SearchRequest {
    /// Words.
    pub text: String,
    /// Most hits to give; 0 = 20.
    pub limit: u32,
}

/// In what a text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// A change request.
    Request,
    /// A failing test.
    Failure,
    /// A step of the agent.
    Transcript,
    /// A line of a log.
    Log,
}

/// A place that holds every word, or the most of them in a file that holds every one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TextHit {
    /// What it is.
    pub kind: TextKind,
    /// Id of the run.
    pub run: String,
    /// Id of the episode.
    pub episode: String,
    /// The scenario.
    pub scenario: String,
    /// Name of the episode for people.
    pub title: String,
    /// The turn; `None` = a log of the whole episode.
    pub turn: Option<u32>,
    /// The attempt; `None` = what was found belongs to the turn or the episode.
    pub attempt: Option<u32>,
    /// The failing test.
    pub test: Option<String>,
    /// The step of the transcript, as `get_transcript` counts.
    pub step: Option<u32>,
    /// The log, as `read_text` calls it.
    pub log: Option<String>,
    /// The line of the log, from 1.
    pub line: Option<u32>,
    /// The place in words: `transcript, step 12`, `Server log, line 40`.
    pub place: String,
    /// The words with what stands around them, in one line.
    pub snippet: String,
    /// Whether a simulated model stood in in that run.
    pub simulated: bool,
}

/// Places in texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TextHits {
    /// Those with all words as a phrase first, then those with every word; the latest runs first.
    pub hits: Vec<TextHit>,
    /// Whether the transcripts and logs of every source are searchable yet.
    pub complete: bool,
    /// Episodes of which only a part of the texts is searchable, because they are too many.
    pub in_part: u32,
    /// Whether there may be more places than were asked for or looked at.
    pub has_more: bool,
}
