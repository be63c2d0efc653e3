//! Work in the background, and what came of it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::ImageOutcome;

/// Names a job.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct JobRef {
    /// Number, for as long as this process runs.
    pub job: u64,
}

/// The jobs of this process, latest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct JobList {
    /// Running and ended.
    pub jobs: Vec<Job>,
}

/// Work in the background.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Job {
    /// Number, for as long as this process runs.
    pub job: u64,
    /// What kind of work.
    pub kind: JobKind,
    /// What is done: `Validate sample-pack`.
    pub title: String,
    /// Source that it is about.
    pub source: Option<i64>,
    /// Path that it writes to; of a validation the pack's place in its source.
    pub place: Option<String>,
    /// How it is doing.
    pub state: JobState,
    /// Done and to do: turns of a pack, steps of an image's build.
    pub progress: (u32, u32),
    /// Seconds since it began.
    pub seconds: f64,
    /// Seconds that are left, from the pace so far; unknown at first.
    pub seconds_left: Option<f64>,
    /// Why it failed.
    pub error: Option<String>,
    /// Of a validation that has ended: what came of it.
    pub validation: Option<Validation>,
    /// Of a generation: what was made.
    pub generated: Option<Generated>,
    /// Of work that asks a model: what became of its answers so far.
    pub answers: Option<AnswerCounts>,
    /// Of images: how each came out so far.
    pub images: Vec<ImageOutcome>,
    /// The last lines that it said; control characters are escaped.
    pub log: Vec<String>,
}

/// What became of the answers of a model that fills in scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AnswerCounts {
    /// Answers that were taken.
    pub taken: u32,
    /// Answers that were refused, or never came.
    pub refused: u32,
    /// Parts that were generated from the seed instead, because every answer was refused.
    pub filled: u32,
}

/// A kind of work in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// Of a pack.
    Validation,
    /// Of a pack.
    Generation,
    /// Of the pack that a run plays, by a model, before the run begins.
    Sampling,
    /// Building images.
    ImageBuild,
    /// Trying images.
    ImageTest,
}

/// How a job is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// At work.
    Running,
    /// Ended well.
    Done,
    /// Ended with an error.
    Failed,
    /// Stopped by the user.
    Stopped,
}

/// What a validation found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Validation {
    /// Scenarios looked at.
    pub scenarios: u32,
    /// Turns looked at.
    pub turns: u32,
    /// Whether all of it is as it must be: sound, stated, not vacuous, sensitive, and what the manifest says.
    pub good: bool,
    /// Cases that the reference fails.
    pub reference_failures: u64,
    /// The first hundred of them: (place, message).
    pub failures: Vec<(String, String)>,
    /// Demands of suites that no text states.
    pub unstated_demands: u64,
    /// The first hundred of them: (place, what is not said).
    pub unstated: Vec<(String, String)>,
    /// Turns whose suite the reference of the turn before passes.
    pub vacuous_turns: Vec<String>,
    /// Mutants tried.
    pub mutants: u32,
    /// Mutants that the suite noticed.
    pub killed: u32,
    /// For each operator: name, mutants, killed.
    pub operators: Vec<(String, u32, u32)>,
    /// The first hundred mutants that nobody noticed: (place, what is wrong with them).
    pub survivors: Vec<(String, String)>,
    /// Places that are not what the manifest says.
    pub damages: u32,
    /// The first hundred of them.
    pub damaged: Vec<String>,
}

/// What a generation made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Generated {
    /// Where it lies.
    pub path: String,
    /// Scenarios.
    pub scenarios: u32,
    /// Turns of each.
    pub turns: u32,
    /// Bytes.
    pub bytes: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// Hash of the content.
    pub sha256: String,
}
