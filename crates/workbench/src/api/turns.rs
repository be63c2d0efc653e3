//! An episode, a turn, an attempt: tests, logs, texts and code.

use model::{ArtifactKind, EndReason, Extra, GraderPlace, TestResult, Timing, Tokens, TurnState, Verdict};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use ingest::view::{CodeFile, FileChange, FileStatus, TextPage};
pub use store::TurnRow;

use super::{GridRow, RunRow, TestHistory};

/// Names an episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EpisodeRef {
    /// Id of the run.
    pub run: String,
    /// Id of the episode inside its run.
    pub episode: String,
}

/// An episode with its turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct EpisodeDetail {
    /// Its row in the grid.
    pub row: GridRow,
    /// Its place among the run's episodes in grid order by stamina, from 1, and how many there are.
    pub position: (u32, u32),
    /// The episodes before and after it in that order.
    pub neighbors: (Option<String>, Option<String>),
    /// Every turn, planned ones that were not reached included.
    pub turns: Vec<TurnRow>,
    /// Failing tests of the first turn not passed, at most five.
    pub first_failing: Vec<TestResult>,
    /// What the source reports of the episode.
    pub reported: Vec<(String, f64)>,
    /// Exception of the whole episode: type and message.
    pub exception: Option<(String, String)>,
    /// Tokens.
    pub tokens: Tokens,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// When.
    pub timing: Timing,
    /// Logs of the whole episode.
    pub logs: Vec<LogInfo>,
    /// Unknown fields.
    #[ts(type = "Record<string, unknown>")]
    pub extra: Extra,
}

/// Names a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct TurnRef {
    /// Id of the run.
    pub run: String,
    /// Id of the episode inside its run.
    pub episode: String,
    /// From 1.
    pub turn: u32,
}

/// A log, request or other file that can be read with `read_text`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LogInfo {
    /// What it is.
    pub kind: ArtifactKind,
    /// Its name for a tab.
    pub label: String,
    /// Path relative to the source; with `#` and a JSON pointer where a part of a file is meant.
    pub path: String,
    /// Size; `None` = not there any more, or a part of a file.
    pub bytes: Option<u64>,
}

/// One attempt with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct AttemptDetail {
    /// From 1.
    pub number: u32,
    /// What the tests said.
    pub verdict: Verdict,
    /// Why it ended.
    pub end_reason: Option<EndReason>,
    /// Tests passed.
    pub passed: Option<u32>,
    /// Tests run.
    pub total: Option<u32>,
    /// The grade, where the source grades.
    pub reward: Option<f64>,
    /// Failing tests that the source describes.
    pub failing: Vec<TestResult>,
    /// Failing tests that the source counts and does not describe.
    pub failing_not_described: u32,
    /// Ids of tests that passed, as far as known.
    pub passed_tests: Vec<String>,
    /// Ids of tests that neither passed nor failed, as far as known: they were skipped, or expected to fail.
    pub skipped_tests: Vec<String>,
    /// Whether tests that no list here names passed: the source names every other test, and not all that passed.
    pub unnamed_passed: bool,
    /// How each failing test stood before, in the same order.
    pub histories: Vec<TestHistory>,
    /// Tokens.
    pub tokens: Tokens,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// Tool calls.
    pub tool_calls: Option<u32>,
    /// Steps of the agent: calls of its model.
    pub steps: Option<u32>,
    /// When and how long.
    pub timing: Timing,
    /// Exception of the attempt: type and message.
    pub exception: Option<(String, String)>,
    /// Places of its task's verifier that the agent's tool calls name; `None` = it is no attempt at a task, or no transcript
    /// tells.
    pub grader_places: Option<Vec<GraderPlace>>,
    /// Logs.
    pub logs: Vec<LogInfo>,
    /// Whether the source has a transcript.
    pub has_transcript: bool,
    /// Whether the source has a snapshot of the code.
    pub has_code: bool,
    /// Unknown fields.
    #[ts(type = "Record<string, unknown>")]
    pub extra: Extra,
}

/// A turn with its attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct TurnDetail {
    /// The run.
    pub run: RunRow,
    /// The episode with all its turns.
    pub episode: EpisodeDetail,
    /// From 1.
    pub number: u32,
    /// A short name.
    pub title: Option<String>,
    /// State of its cell.
    pub state: TurnState,
    /// The request (Markdown); `None` = the source has none.
    pub request: Option<TextPage>,
    /// In order; empty = not reached.
    pub attempts: Vec<AttemptDetail>,
    /// Files of the turn itself: reference, suite, schema.
    pub files: Vec<LogInfo>,
}

/// Asks for a piece of a file of the source that some `LogInfo` or artifact names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ReadText {
    /// Id of the run.
    pub run: String,
    /// Id of the episode.
    pub episode: String,
    /// Turn; `None` for logs of the episode.
    pub turn: Option<u32>,
    /// Attempt; `None` for files of the turn.
    pub attempt: Option<u32>,
    /// The `path` of the `LogInfo`.
    pub path: String,
    /// Byte to begin at; negative counts from the end.
    pub offset: i64,
    /// Most bytes to give; 0 = 256 KiB; at most 2 MiB.
    pub limit: u32,
}

/// Names an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AttemptRef {
    /// Id of the run.
    pub run: String,
    /// Id of the episode.
    pub episode: String,
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
}

/// What code is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CodeRequest {
    /// The attempt whose code is shown.
    pub attempt: AttemptRef,
    /// Turn and attempt to compare with; `None` = the attempt before, or the last attempt of the turn before.
    pub against: Option<(u32, u32)>,
}

/// What changed in the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CodeChanges {
    /// What it is compared with; `None` = nothing before: everything is new.
    pub against: Option<(u32, u32)>,
    /// Everything it could be compared with, in order.
    pub choices: Vec<(u32, u32)>,
    /// Changed files first, then unchanged ones, each by path.
    pub files: Vec<FileChange>,
    /// Lines added in all files.
    pub added: u32,
    /// Lines removed in all files.
    pub removed: u32,
    /// Whether there are more files than are listed.
    pub cut: bool,
}

/// Asks for both sides of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CodeFileRequest {
    /// Which code.
    pub code: CodeRequest,
    /// Path inside the snapshot.
    pub path: String,
}
